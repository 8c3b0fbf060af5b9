"""Drafts with another vocabulary keep the target's distribution: greedy or sampled, paced or not."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters.translation.comparison import Roles
from engine.drafters.translation.drafter import TranslatedDrafter
from engine.drafters.translation.sequence import TranslatedSequence
from engine.pacing.cost_curve import CostCurve
from engine.records import Mode, SamplingParams
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from tests.engine.decoding.test_exact_pass import DicePacer, Stage, errors
from tests.engine.drafters.translation.vocabularies import PieceTokenizer, translation_of
from tests.engine.pacing.test_drafter import FLAT
from tests.fake_model import MarkovModel
from tests.long_form import rounds
from tests.scripted_pair import N_VOCAB, P_LOGITS, chi_square_p, plain_distribution, unseeded

TARGET = PieceTokenizer([b"a", b"b", b"c", b"d", b"ab", b"cd", b" a", b"dd", b" ab", b"abc"])
DRAFT = PieceTokenizer([b"d", b"a", b"ba", b"c", b" a", b"b", b"cd", b"bcd", b" ", b"dd", b"aa"])
Q = np.random.default_rng(7).normal(0, 1.0, (DRAFT.n_vocab, DRAFT.n_vocab)).astype(np.float32)
NO_END: frozenset[int] = frozenset()


def drafter_of(
    target: PieceTokenizer = TARGET, draft: PieceTokenizer = DRAFT, num_candidates: int = 0
) -> TranslatedDrafter:
    """A drafter whose passes return ``num_candidates`` of a row, as on a GPU; 0 returns whole rows."""
    logits = Q[: draft.n_vocab, : draft.n_vocab]
    model = MarkovModel(logits, n_ctx=1024)
    model.num_candidates = num_candidates
    own = CachedSequence(model)
    return TranslatedDrafter(TranslatedSequence(own, translation_of(target, draft)), NO_END)


@pytest.mark.parametrize("num_candidates", [0, 3])
def test_all_outcomes_of_a_pass_together_are_the_targets_distribution(
    monkeypatch: pytest.MonkeyPatch, num_candidates: int
) -> None:
    target = PieceTokenizer([b"a", b"b", b"ab"])
    model = drafter_of(target, PieceTokenizer([b"b", b"a", b"ba", b"aa"]), num_candidates)
    kinds: Counter[str] = Counter()
    assert max(errors(Stage(monkeypatch), DicePacer(CostCurve(FLAT), 0.05), kinds, model)) < 1e-12
    assert kinds["draft"] > 20  # greedy proposals have no outcomes of their own, so there are few ways to play through


@pytest.mark.parametrize("temperature", [0.8, 1.0])
def test_tokens_are_distributed_as_plain_decoding_gives_them(temperature: float) -> None:
    # Probabilities that are off by 15 % (root mean square) are detected nine times of ten; smaller errors by the proof
    # above.
    num_answers, length = rounds(1_500, 4_000), 4
    target, drafter = CachedSequence(MarkovModel(P_LOGITS * np.float32(temperature))), drafter_of()
    prompt = np.array([2, 0, 1], dtype=np.int32)
    counts = np.zeros((length, N_VOCAB), dtype=np.int64)
    num_kept = 0
    sampler = unseeded(SamplingParams(temperature, 0, 1.0, 0.0, seed=11))
    for _ in range(num_answers):
        target.reuse(prompt)
        for _ in target.prefill(prompt[target.num_past : -1]):
            pass
        stats = StatsRecorder(Mode.DRAFT, 256)
        speculation = Speculation(target, drafter, sampler, stats, prompt, LoopConfig())
        ids: list[int] = []
        while len(ids) < length:
            ids += speculation.step(3, 10).ids
        num_kept += stats.snapshot().accepted
        counts[np.arange(length), ids[:length]] += 1
    assert num_kept > num_answers / 10
    for position in range(length):
        assert chi_square_p(counts[position], plain_distribution(prompt[-1], position)) > 0.001


@pytest.mark.parametrize("num_candidates", [0, 2])
def test_a_greedy_answer_is_the_plain_one(num_candidates: int) -> None:
    target = CachedSequence(MarkovModel(P_LOGITS))
    drafter = drafter_of(num_candidates=num_candidates)
    for first in range(N_VOCAB):
        prompt = np.array([3, first], dtype=np.int32)
        plain = [first]
        for _ in range(30):
            plain.append(int(P_LOGITS[plain[-1]].argmax()))
        target.reuse(prompt)
        for _ in target.prefill(prompt[target.num_past : -1]):
            pass
        sampler, stats = Sampler(SamplingParams(temperature=0.0)), StatsRecorder(Mode.DRAFT, 256)
        speculation = Speculation(target, drafter, sampler, stats, prompt, LoopConfig())
        while len(speculation.history) < len(prompt) + 30:
            speculation.step(4, 10)
        assert speculation.history[1:32].tolist() == plain


ENDING = PieceTokenizer([b"a", b"b", b"c"], controls=["<go>", "<stop>"], ends=["<stop>"])
STOP, GO = ENDING.control_id("<stop>"), ENDING.control_id("<go>")


def written(favourites: list[int], *, ignores_ends: bool, num_candidates: int) -> list[int]:
    """The proposal of a draft that prefers these tokens, in this order, after any other."""
    logits = np.zeros((ENDING.n_vocab, ENDING.n_vocab), dtype=np.float32)
    for place, token_id in enumerate(favourites):
        logits[:, token_id] = 9.0 - place
    model = MarkovModel(logits, n_ctx=64)
    model.num_candidates = num_candidates
    roles = Roles({STOP: (STOP,)}, {})
    sequence = TranslatedSequence(CachedSequence(model), translation_of(ENDING, ENDING, roles))
    drafter = TranslatedDrafter(sequence, frozenset({STOP}))
    history = np.array([1, 2], dtype=np.int32)
    sampler = Sampler(SamplingParams(temperature=0.0), frozenset({STOP}) if ignores_ends else frozenset())
    drafter.begin(history, sampler)
    return drafter.propose(history, 3).ids


@pytest.mark.parametrize("num_candidates", [0, 2, 4])
def test_neither_text_after_the_drafts_end_nor_control_tokens_are_written(num_candidates: int) -> None:
    propose = partial(written, num_candidates=num_candidates)
    assert propose([0, STOP], ignores_ends=False) == [0, 0, 0]
    assert propose([STOP, 0], ignores_ends=False) == []
    assert propose([STOP, 0], ignores_ends=True) == [0, 0, 0]
    assert propose([GO, 0], ignores_ends=False) == [0, 0, 0]
    only_two = num_candidates == 2
    assert propose([GO, STOP, 0], ignores_ends=True) == ([] if only_two else [0, 0, 0])
