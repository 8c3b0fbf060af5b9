"""Drafts with another vocabulary leave the target's distribution as it is: written or drawn, paced or not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
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
from tests.scripted_pair import N_VOCAB, P_LOGITS, chi_square_p, plain_distribution

TARGET = PieceTokenizer([b"a", b"b", b"c", b"d", b"ab", b"cd", b" a", b"dd", b" ab", b"abc"])
DRAFT = PieceTokenizer([b"d", b"a", b"ba", b"c", b" a", b"b", b"cd", b"bcd", b" ", b"dd", b"aa"])
Q = np.random.default_rng(7).normal(0, 1.0, (DRAFT.n_vocab, DRAFT.n_vocab)).astype(np.float32)
NO_END: frozenset[int] = frozenset()


def drafter_of(speaks: float, target: PieceTokenizer = TARGET, draft: PieceTokenizer = DRAFT) -> TranslatedDrafter:
    logits = Q[: draft.n_vocab, : draft.n_vocab]
    own = CachedSequence(MarkovModel(logits, n_ctx=1024))
    return TranslatedDrafter(TranslatedSequence(own, translation_of(target, draft, speaks)), NO_END)


@pytest.mark.parametrize("speaks", [0.0, 1.0], ids=["written", "drawn"])
def test_all_outcomes_of_a_pass_together_are_the_targets_distribution(
    monkeypatch: pytest.MonkeyPatch, speaks: float
) -> None:
    target = PieceTokenizer([b"a", b"b", b"ab"])
    model = drafter_of(speaks, target, PieceTokenizer([b"b", b"a", b"ba", b"aa"]))
    kinds: Counter[str] = Counter()
    assert max(errors(Stage(monkeypatch), DicePacer(CostCurve(FLAT), 0.05), kinds, model)) < 1e-12
    assert kinds["draft"] > 40  # what is written has no chance of its own, so few ways to play through


@pytest.mark.parametrize("temperature", [0.8, 1.0])
@pytest.mark.parametrize("speaks", [0.0, 1.0], ids=["written", "drawn"])
def test_tokens_are_distributed_as_plain_decoding_gives_them(speaks: float, temperature: float) -> None:
    num_answers, length = 4000, 4
    target, drafter = CachedSequence(MarkovModel(P_LOGITS * np.float32(temperature))), drafter_of(speaks)
    prompt = np.array([2, 0, 1], dtype=np.int32)
    counts = np.zeros((length, N_VOCAB), dtype=np.int64)
    num_kept = 0
    sampler = Sampler(SamplingParams(temperature, 0, 1.0, 0.0, seed=11))
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


@pytest.mark.parametrize("speaks", [0.0, 1.0])
def test_a_greedy_answer_is_the_plain_one(speaks: float) -> None:
    target, drafter = CachedSequence(MarkovModel(P_LOGITS)), drafter_of(speaks)
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
