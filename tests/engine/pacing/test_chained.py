"""Tests proposals that chain n-grams and a draft model: caches in step, sources per token, unchanged distribution."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter, SuffixRules
from engine.pacing.acceptance import text_kinds
from engine.pacing.chained import ChainedDrafter
from engine.records import SamplingParams, Source
from engine.sampling.sampler import History, Sampler
from engine.sequence import CachedSequence
from tests.engine.decoding.test_loop import N_VOCAB, P_LOGITS, Q_LOGITS, Run, likely_path, plain_distribution
from tests.engine.decoding.test_verifier import chi_square_p
from tests.fake_model import MarkovModel
from tests.scripted_pair import unseeded

RULES = SuffixRules(min_match=1, min_match_after_draft=1)
BEFORE = [1, 2, 3, 6, 8, 9, 0, 1, 3]  # long enough to be trusted when it repeats


def chained(model: MarkovModel | None = None, rules: SuffixRules = RULES) -> ChainedDrafter:
    model = model or MarkovModel(Q_LOGITS)
    return ChainedDrafter(SuffixDrafter(rules), DraftModelDrafter(CachedSequence(model), N_VOCAB, frozenset()))


def open_sampling(seed: int) -> SamplingParams:
    return SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)


def test_a_match_is_proposed_and_the_model_fills_the_depth() -> None:
    drafter = chained(rules=SuffixRules(tokens_per_match=1.0))
    history = np.array([7, *BEFORE, 4, 5, 6, *BEFORE], dtype=np.int32)
    drafter.begin(history, unseeded(open_sampling(1)))
    draft = drafter.propose(history, 12)
    assert draft.ids[:9] == [4, 5, 6, *BEFORE[:6]]
    assert draft.provenance[:10] == [Source.NGRAM] * 9 + [Source.DRAFT]
    assert draft.q is not None
    assert [draft.q[i].prob(token_id) for i, token_id in enumerate(draft.ids[:9])] == [1.0] * 9
    assert len(draft.q) == len(draft.ids) == 12


def test_the_model_drafts_where_a_match_is_too_short_to_be_trusted() -> None:
    drafter = chained()
    history = np.array([7, 1, 2, 3, 4, 5, 6, 1, 2], dtype=np.int32)
    drafter.begin(history, unseeded(open_sampling(1)))
    assert drafter.propose(history, 1).provenance == [Source.DRAFT]


def test_text_follows_what_the_model_has_drawn() -> None:
    drawn = int(Q_LOGITS[9].argmax())
    others = [x for x in range(N_VOCAB) if x not in (9, drawn)]
    before = [*BEFORE[:9], 9]
    history = np.array([*before, drawn, *others, *before], dtype=np.int32)
    drafter = chained(rules=SuffixRules(min_match=11, min_match_after_draft=11))
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    draft = drafter.propose(history, 3)
    assert draft.ids == [drawn, *others[:2]]
    assert draft.provenance == [Source.DRAFT, Source.NGRAM, Source.NGRAM]
    assert draft.q is None


def test_text_that_ends_an_answer_is_proposed_up_to_its_end() -> None:
    ends = frozenset({5})
    model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, ends)
    drafter = ChainedDrafter(SuffixDrafter(RULES, ends=ends), model)
    history = np.array([7, *BEFORE, 4, 5, 6, 8, 9, *BEFORE], dtype=np.int32)
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    proposed = drafter.propose(history, 8)
    assert proposed.ids[0] == 4
    assert 5 not in proposed.ids


def test_what_is_kept_decides_between_text_and_model() -> None:
    drafter = chained()
    history = np.array([*([1, 2, 3] * 5), 1, 2], dtype=np.int32)
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    sources = []
    for _ in range(40):
        sources.append(drafter.propose(history, 1).provenance[0])
        drafter.observe(int(sources[-1] is Source.DRAFT))
    assert sources[0] is Source.NGRAM
    assert set(sources[-20:]) == {Source.DRAFT}


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 9)), max_size=15), st.integers(0, 99))
def test_the_draft_models_cache_always_holds_a_prefix_of_the_history(
    turns: list[tuple[int, int, int]], seed: int
) -> None:
    model = MarkovModel(Q_LOGITS)
    drafter = chained(model)
    ids = [1, 2, 1, 2]
    drafter.begin(np.array(ids, dtype=np.int32), unseeded(open_sampling(seed)))
    for limit, wanted, recovered in turns:
        draft = drafter.propose(np.array(ids, dtype=np.int32), limit)
        assert len(draft.ids) == len(draft.provenance) == limit
        kept = min(wanted, len(draft.ids))
        ids += [*draft.ids[:kept], recovered]
        drafter.observe(kept)
        assert model._ids == ids[: model.num_past]


@pytest.mark.parametrize("depth", [1, 3, 7])
def test_greedy_output_is_the_argmax_path(depth: int) -> None:
    run = Run(chained(), SamplingParams(temperature=0.0), [3, 1, 4, 1])
    expected, last = [], 1
    for _ in range(60):
        last = int(P_LOGITS[last].argmax())
        expected.append(last)
    assert run.tokens(60, depth) == expected
    assert Source.DRAFT in run.stats.snapshot().provenance
    assert depth == 1 or Source.NGRAM in run.stats.snapshot().provenance


class EagerForText(ChainedDrafter):
    """Takes a token of every match, so that chains are long and of all kinds."""

    def likely_classes(self, text: Draft) -> list[int]:
        return text_kinds(text)[:1]


def test_sampled_output_is_distributed_as_plain_decoding() -> None:
    prompt = likely_path(12)
    counts = np.zeros((4, N_VOCAB), dtype=np.int64)
    model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset())
    drafter = EagerForText(SuffixDrafter(RULES), model)
    kinds: dict[tuple[Source, ...], int] = {}
    propose = drafter.propose

    def noting(history: History, limit: int) -> Draft:
        draft = propose(history, limit)
        kinds[tuple(draft.provenance)] = kinds.get(tuple(draft.provenance), 0) + 1
        if draft.q is not None:
            assert all(
                source is Source.DRAFT or (q.probs.tolist() == [1.0] and q.ids is not None and q.ids[0] == token_id)
                for token_id, q, source in zip(draft.ids, draft.q, draft.provenance, strict=True)
            )
        return draft

    drafter.propose = noting  # type: ignore[method-assign]
    for seed in range(6000):
        run = Run(drafter, open_sampling(seed), prompt)
        for position, token_id in enumerate(run.tokens(4, 3)):
            counts[position, token_id] += 1
    mixed = {kind: count for kind, count in kinds.items() if len(set(kind)) == 2}
    turns = {turn for kind in mixed for turn in pairwise(kind)}
    assert {(Source.NGRAM, Source.DRAFT), (Source.DRAFT, Source.NGRAM)} <= turns
    assert sum(mixed.values()) > 1000
    for position in range(4):
        assert chi_square_p(counts[position], plain_distribution(prompt[-1], position)) > 0.001
