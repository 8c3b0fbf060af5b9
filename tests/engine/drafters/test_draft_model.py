"""The draft model's cache follows the tokens that the target accepts, and proposals have its own distribution."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.draft_model import DraftModelDrafter
from engine.errors import DecodeError
from engine.interfaces import Rows, TokenIds
from engine.records import SamplingParams
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from tests.engine.sampling.test_constrained import Allowed
from tests.fake_model import MarkovModel, RecurrentModel
from tests.scripted_pair import unseeded

N_VOCAB = 10
LOGITS = np.random.default_rng(5).normal(0, 2, (N_VOCAB, N_VOCAB)).astype(np.float32)
NO_END: frozenset[int] = frozenset()


def narrow(count: int) -> MarkovModel:
    """A model that picks the likeliest tokens itself."""
    model = MarkovModel(LOGITS)
    model.num_candidates = count
    return model


def drafter_of(model: MarkovModel, eog_ids: frozenset[int] = NO_END, n_vocab: int = N_VOCAB) -> DraftModelDrafter:
    return DraftModelDrafter(CachedSequence(model), n_vocab, eog_ids)


def test_greedy_proposals_are_its_argmax_path() -> None:
    drafter = drafter_of(MarkovModel(LOGITS))
    history = np.array([1, 2, 3], dtype=np.int32)
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    expected, last = [], 3
    for _ in range(4):
        last = int(LOGITS[last].argmax())
        expected.append(last)
    draft = drafter.propose(history, 4)
    assert draft.ids == expected
    assert draft.q is None


@pytest.mark.parametrize(
    "sampling", [SamplingParams(temperature=0.0), SamplingParams(temperature=1.0, top_k=4, top_p=1.0, min_p=0.0)]
)
def test_the_likeliest_token_is_not_proposed_if_it_ends_the_answer(sampling: SamplingParams) -> None:
    history = np.array([3], dtype=np.int32)
    end = int(LOGITS[3].argmax())
    drafter = drafter_of(MarkovModel(LOGITS), frozenset({end}))
    drafter.begin(history, Sampler(sampling))
    for _ in range(20):
        assert drafter.propose(history, 5).ids == []
        drafter.observe(0)


def test_nothing_follows_an_end_token_that_was_drawn() -> None:
    history = np.array([3], dtype=np.int32)
    ends = frozenset(range(N_VOCAB)) - {int(LOGITS[3].argmax())}
    drafter = drafter_of(MarkovModel(LOGITS), ends)
    drafter.begin(history, Sampler(SamplingParams(temperature=3.0, top_k=N_VOCAB, top_p=1.0, min_p=0.0)))
    proposals = []
    for _ in range(60):
        proposals.append(drafter.propose(history, 1).ids)
        drafter.observe(0)
    assert any(ids[0] in ends for ids in proposals)  # sampled, so proposed
    assert all(len(ids) == 1 for ids in proposals)


def test_ids_beyond_the_targets_vocabulary_are_masked_in_q() -> None:
    history = np.array([0], dtype=np.int32)
    drafter = drafter_of(MarkovModel(LOGITS), n_vocab=4)
    drafter.begin(history, Sampler(SamplingParams(temperature=1.5, top_k=0, top_p=1.0, min_p=0.0)))
    for _ in range(20):
        draft = drafter.propose(history, 3)
        assert draft.q is not None
        assert max(draft.ids) < 4
        assert all(len(q.probs) == 4 for q in draft.q)
        drafter.observe(0)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_ids_that_only_the_target_has_are_read_as_another_token(temperature: float) -> None:
    reads: list[int] = []

    class Strict(MarkovModel):
        """Rejects ids outside its vocabulary, like llama.cpp."""

        def forward(self, ids: TokenIds, n_rows: int) -> Rows:
            assert all(0 <= token_id < N_VOCAB for token_id in ids)
            reads.extend(ids)
            return super().forward(ids, n_rows)

    drafter = drafter_of(Strict(LOGITS), n_vocab=N_VOCAB + 2)
    sampler = Sampler(SamplingParams(temperature=temperature, seed=1))
    history = np.array([1, N_VOCAB + 1, *([2] * 40), N_VOCAB], dtype=np.int32)  # more than one chunk
    drafter.begin(history[:-1], sampler)
    assert drafter.propose(history, 3).ids
    drafter.observe(0)
    history = np.append(history, np.int32(N_VOCAB))
    assert drafter.propose(history, 3).ids
    drafter.observe(0)
    drafter.begin(history[:-1], sampler)
    assert drafter.propose(history, 3).ids
    assert len(reads) > len(history)


def test_it_proposes_only_what_its_own_context_can_hold() -> None:
    history = np.arange(8, dtype=np.int32)
    drafter = drafter_of(MarkovModel(LOGITS, n_ctx=9))
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    assert len(drafter.propose(history, 5).ids) == 2
    longer = np.arange(10, dtype=np.int32) % N_VOCAB
    drafter.observe(2)
    assert drafter.propose(longer, 5).ids == []


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), max_size=12))
def test_its_cache_always_holds_a_prefix_of_the_history(turns: list[tuple[int, int, int]]) -> None:
    model = MarkovModel(LOGITS)
    drafter = drafter_of(model)
    ids = [1, 2]
    drafter.begin(np.array(ids, dtype=np.int32), Sampler(SamplingParams(temperature=1.0, seed=1)))
    for limit, wanted, recovered in turns:
        draft = drafter.propose(np.array(ids, dtype=np.int32), limit)
        kept = min(wanted, len(draft.ids))
        ids += [*draft.ids[:kept], recovered]
        drafter.observe(kept)
        assert model._ids == ids[: model.num_past]
        assert len(draft.ids) == limit


def test_a_long_prompt_is_read_behind_the_first_token_which_needs_no_draft() -> None:
    sequence = CachedSequence(MarkovModel(LOGITS, n_ctx=4096))
    drafter = DraftModelDrafter(sequence, N_VOCAB, NO_END)
    history = np.arange(1000, dtype=np.int32) % N_VOCAB
    drafter.begin(history[:-1], Sampler(SamplingParams(temperature=0.0)))
    assert drafter.propose(history[:-1], 4).ids == []
    assert sequence.num_past == 0
    drafter.observe(0)
    assert len(drafter.propose(history, 4).ids) == 4
    drafter.observe(0)
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    assert len(drafter.propose(history, 4).ids) == 4, "the next answer's prompt is read but for its end"


def test_a_stop_ends_the_reading_of_a_long_prompt_and_nothing_is_proposed() -> None:
    asked = iter([False, True])
    sequence = CachedSequence(MarkovModel(LOGITS, n_ctx=4096))
    drafter = DraftModelDrafter(sequence, N_VOCAB, NO_END, lambda: next(asked))
    history = np.arange(4000, dtype=np.int32) % N_VOCAB
    drafter.begin(history[:-1], Sampler(SamplingParams(temperature=0.0)))
    assert drafter.propose(history, 4).ids == []
    assert drafter.was_stopped
    assert 0 < sequence.num_past < 3999
    drafter.observe(0)
    asked = iter([False] * 1000)
    drafter.begin(history[:-1], Sampler(SamplingParams(temperature=0.0)))
    assert len(drafter.propose(history, 4).ids) == 4
    assert not drafter.was_stopped


def test_it_counts_the_prompt_it_read_but_not_the_answer_it_missed() -> None:
    drafter = drafter_of(MarkovModel(LOGITS, n_ctx=4096))
    told: list[float] = []
    drafter.on_prompt_read = told.append
    history = np.arange(1000, dtype=np.int32) % N_VOCAB
    drafter.begin(history[:-1], Sampler(SamplingParams(temperature=0.0)))
    drafter.propose(history, 1)
    drafter.observe(0)
    assert len(told) == 1
    assert told[0] > 0.0
    drafter.propose(np.arange(1200, dtype=np.int32) % N_VOCAB, 1)  # arrived while drafting was paused
    assert len(told) == 1


@pytest.mark.parametrize("count", [1, 4])
def test_of_candidates_it_proposes_the_argmax_path_too(count: int) -> None:
    history = np.array([1, 2, 3], dtype=np.int32)
    drafts = []
    for model in (MarkovModel(LOGITS), narrow(count)):
        drafter = drafter_of(model)
        drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
        drafts.append(drafter.propose(history, 6))
    assert drafts[0].ids == drafts[1].ids


def test_of_candidates_q_is_what_tokens_are_drawn_from() -> None:
    history = np.array([3], dtype=np.int32)
    drafter = drafter_of(narrow(4))
    drafter.begin(history, unseeded(SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=2)))
    counts = np.zeros(N_VOCAB)
    for _ in range(4000):
        draft = drafter.propose(history, 1)
        assert draft.q is not None
        counts[draft.ids[0]] += 1
        drafter.observe(0)
        drafter.begin(history, drafter.sampler or Sampler(SamplingParams()))
    likeliest = np.sort((-LOGITS[3]).argsort()[:4])
    weights = np.exp(LOGITS[3][likeliest].astype(np.float64))
    np.testing.assert_array_equal(draft.q[0].ids, likeliest)
    np.testing.assert_allclose(draft.q[0].probs, weights / weights.sum())
    np.testing.assert_allclose(counts[likeliest] / 4000, weights / weights.sum(), atol=0.03)
    assert counts.sum() == counts[likeliest].sum()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_candidates_that_the_target_does_not_know_end_the_proposal(temperature: float) -> None:
    history = np.array([0], dtype=np.int32)
    drafter = drafter_of(narrow(2), n_vocab=4)
    drafter.begin(history, Sampler(SamplingParams(temperature=temperature, seed=1)))
    last, known = 0, 0
    while (likeliest := [i for i in (-LOGITS[last]).argsort()[:2].tolist() if i < 4]) and known < 9:
        last, known = likeliest[0], known + 1
    draft = drafter.propose(history, 9)
    assert all(token_id < 4 for token_id in draft.ids)
    assert len(draft.ids) == known if temperature == 0.0 else len(draft.ids) < 9


class Failing(RecurrentModel):
    """Its passes fail after a given point."""

    fails = False

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        if self.fails:
            raise DecodeError("no room")
        return super().forward(ids, n_rows)


def failing(should_stop: Callable[[], bool] = bool) -> tuple[DraftModelDrafter, Failing, list[str]]:
    """A drafter that has proposed twelve tokens, its model, and its reported failures."""
    model, told = Failing(LOGITS), list[str]()
    drafter = DraftModelDrafter(CachedSequence(model), N_VOCAB, NO_END, should_stop)
    drafter.on_failure = told.append
    drafter.begin(HISTORY, GREEDY)
    assert len(drafter.propose(HISTORY, 12).ids) == 12
    return drafter, model, told


HISTORY, GREEDY = np.array([1, 2, 3], dtype=np.int32), Sampler(SamplingParams(temperature=0.0))


def test_a_draft_whose_kept_tokens_cannot_be_read_again_is_left_out() -> None:
    drafter, model, told = failing()
    model.fails = True
    drafter.observe(10)  # more than fit into the next pass: they are read at once
    assert told == ["no room"]
    assert model.num_past == 0
    model.fails = False
    assert drafter.propose(HISTORY, 3).ids == []


@pytest.mark.parametrize("stops", [True, False])
def test_a_pass_that_fails_because_it_was_stopped_is_no_failure(stops: bool) -> None:
    is_stopped: list[bool] = []
    drafter, model, told = failing(lambda: bool(is_stopped))
    drafter.observe(0)
    is_stopped.extend([True] * stops)
    model.fails = True
    assert drafter.propose(HISTORY, 3).ids == []
    assert told == ([] if stops else ["no room"])
    model.fails = False
    is_stopped.clear()
    assert len(drafter.propose(HISTORY, 3).ids) == (3 if stops else 0)


def test_nothing_is_proposed_if_the_draft_lacks_what_the_grammar_wants() -> None:
    drafter = drafter_of(MarkovModel(LOGITS))
    drafter.begin(HISTORY, Sampler(SamplingParams(temperature=0.0), constraint=Allowed({N_VOCAB + 5})))
    assert drafter.propose(HISTORY, 3).ids == []
    assert not drafter.failure
    drafter.begin(HISTORY, Sampler(SamplingParams(temperature=0.0), constraint=Allowed({4})))
    assert drafter.propose(HISTORY, 3).ids == [4, 4, 4]
