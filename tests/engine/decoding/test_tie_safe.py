"""Near ties: decided as plain decoding decides them, on a model whose logits remember the shape of every pass."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.decoding.tie_safe import SAFETY, TieBound, TieSafeVerifier, measure_shapes
from engine.drafters.base import Drafter, NoDrafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.errors import DecodeError
from engine.interfaces import Rows, TokenIds
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from engine.session.session import Session
from tests.fake_model import MarkovModel, RecurrentModel
from tests.shared_files import shared_model

SPECULATING = [mode for mode in Mode if mode not in (Mode.OFF, Mode.HEAD)]  # this pair has no head
N_VOCAB, N_CTX, DRIFT = 12, 512, 0.02


def near_ties(seed: int) -> NDArray[np.float32]:
    """Rows whose two best logits are often closer than the drift."""
    dice = np.random.default_rng(seed)
    logits = dice.normal(0, 1, (N_VOCAB, N_VOCAB)).astype(np.float32)
    for row in logits[::2]:
        best, second = np.argsort(row)[-1], np.argsort(row)[-2]
        row[second] = row[best] - np.float32(dice.uniform(0, DRIFT))
    return logits


class ShapedModel(MarkovModel):
    """Every token that was decoded beside others shifts all later logits a little, as rounding in a cache does."""

    def __init__(self, logits: NDArray[np.float32], drift: float = DRIFT) -> None:
        super().__init__(logits, N_CTX)
        self._drift = drift
        self._noise = np.random.default_rng(9).uniform(-1, 1, (N_CTX + 1, N_VOCAB)).astype(np.float32)
        self._beside: list[bool] = []

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        begin = self.num_past
        rows = super().forward(ids, n_rows, num_padding)
        self._beside[begin:] = [len(ids) > 1 and n_rows > 0] * len(ids)
        end = self.num_past - num_padding
        shifted = np.cumsum(self._beside)[end - n_rows : end]
        rows += (self._noise[shifted] * self._drift * (shifted > 0)[:, None]).astype(np.float32)
        return rows


def decode(
    drafter: Drafter, logits: NDArray[np.float32], depth: int, *, tie_safe: bool
) -> tuple[list[int], StatsRecorder]:
    target = CachedSequence(ShapedModel(logits))
    stats = StatsRecorder(Mode.OFF, N_CTX)
    sampler = Sampler(SamplingParams(temperature=0.0, repeat_penalty=1.05, penalty_last_n=8))
    prompt = np.array([3, 1, 4, 1, 5, 3, 1], dtype=np.int32)
    target.forward(prompt[:-1], 0)
    config = LoopConfig(tie_safe=TieSafeVerifier(target, sampler, TieBound(), stats) if tie_safe else None)
    speculation = Speculation(target, drafter, sampler, stats, prompt, config)
    ids: list[int] = []
    while len(ids) < 150:
        ids += speculation.step(depth, 150 - len(ids)).ids
        assert target.num_past == len(speculation.history) - 1
    return ids, stats


def drafter(name: str, logits: NDArray[np.float32]) -> Drafter:
    if name == "ngram":
        return PromptLookupDrafter(1, 3)
    other = logits + np.random.default_rng(8).normal(0, 0.05, logits.shape).astype(np.float32)
    return DraftModelDrafter(CachedSequence(MarkovModel(other, N_CTX)), N_VOCAB, frozenset())


@pytest.mark.parametrize("name", ["ngram", "draft"])
@pytest.mark.parametrize("depth", [1, 3, 8])
def test_near_ties_are_decided_as_in_plain_decoding(name: str, depth: int) -> None:
    different = checks = 0
    for seed in range(12):
        logits = near_ties(seed)
        plain = decode(NoDrafter(), logits, 0, tie_safe=False)[0]
        different += decode(drafter(name, logits), logits, depth, tie_safe=False)[0] != plain
        ids, stats = decode(drafter(name, logits), logits, depth, tie_safe=True)
        assert ids == plain
        assert stats.tie_tokens >= stats.tie_checks
        assert stats.snapshot().tie_checks == stats.tie_checks
        checks += stats.tie_checks
    assert different >= 6
    assert checks > 50


def test_plain_decoding_has_nothing_to_decide_again() -> None:
    ids, stats = decode(NoDrafter(), near_ties(1), 0, tie_safe=True)
    assert ids == decode(NoDrafter(), near_ties(1), 0, tie_safe=False)[0]
    assert stats.tie_checks == 0


def test_the_bound_is_measured_and_only_grows() -> None:
    sequence = CachedSequence(ShapedModel(near_ties(0)))
    sequence.forward([1, 2, 3], 0)
    num_rows, largest, spread = measure_shapes(sequence, 60.0)
    assert (num_rows, sequence.num_past) == (48, 3)
    assert 0.5 * DRIFT < largest <= 1.01 * DRIFT
    assert 0.5 < spread < 2.0
    bound = TieBound()
    bound.measure_at(sequence, 4)
    assert bound.margin == pytest.approx(SAFETY * largest)
    bound.observe(0.001)
    assert bound.margin == pytest.approx(SAFETY * largest)
    bound.observe(1.0)
    assert bound.margin == pytest.approx(SAFETY)


class SeldomShaped(ShapedModel):
    """Rows differ behind one token in 20 only, as where a cache of f16 hides the last bits."""

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`."""
        plain = MarkovModel.forward(self, ids, n_rows, num_padding)
        if len(ids) == 1 or self.num_past % 20 >= len(ids):
            return plain
        return plain + np.float32(DRIFT)


def test_a_look_goes_on_until_it_has_seen_differences() -> None:
    sequence = CachedSequence(SeldomShaped(near_ties(0)))
    sequence.forward([1, 2, 3], 0)
    num_rows, largest, _spread = measure_shapes(sequence, 60.0)
    assert num_rows > 48
    assert largest == pytest.approx(DRIFT, rel=0.01)
    assert sequence.num_past == 3
    alike = CachedSequence(MarkovModel(near_ties(0), N_CTX))
    assert measure_shapes(alike, 60.0)[:2] == (256, 0.0), "it ends where there are none"
    assert measure_shapes(alike, 1e-9)[0] == 16, "and where there is no time"


def test_the_bound_is_measured_again_where_kernels_may_change() -> None:
    sequence, looks = CachedSequence(MarkovModel(near_ties(0), N_CTX)), []
    bound = TieBound()
    sequence.forward([1] * 100, 0)
    for num_past in (101, 150, 256, 300, 511, 512):
        before = sequence._model.num_forwards  # type: ignore[attr-defined]
        bound.measure_at(sequence, num_past)
        looks.append(sequence._model.num_forwards > before)  # type: ignore[attr-defined]
    assert looks == [True, False, True, False, False, True]


def test_a_memory_that_cannot_go_back_is_one_sentence() -> None:
    model = RecurrentModel(near_ties(0), N_CTX)
    target, stats = CachedSequence(model), StatsRecorder(Mode.OFF, N_CTX)
    sampler, bound = Sampler(SamplingParams(temperature=0.0)), TieBound()
    bound.observe(100.0)
    target.forward([1], 0)
    tie_safe = TieSafeVerifier(target, sampler, bound, stats)
    tie_safe.plain_past = 0
    prompt = np.array([1, 2], dtype=np.int32)
    speculation = Speculation(target, NoDrafter(), sampler, stats, prompt, LoopConfig(tie_safe=tie_safe))
    with pytest.raises(DecodeError, match="near tie"):
        speculation.step(0, 5)


def test_chunks_depend_neither_on_the_clock_nor_on_what_was_cached() -> None:
    chunks: list[tuple[int, int]] = []

    class Listening(MarkovModel):
        def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
            chunks.append((self.num_past, len(ids)))
            return super().forward(ids, n_rows, num_padding)

    sequence = CachedSequence(Listening(near_ties(0), N_CTX))
    prompt = (np.arange(200) % N_VOCAB).astype(np.int32)

    def read(ids: NDArray[np.int32]) -> list[tuple[int, int]]:
        chunks.clear()
        begin = sequence.reuse(ids, canonical=True)
        assert begin % sequence.n_ubatch == 0
        list(sequence.prefill(ids[begin:-1]))
        return list(chunks)

    assert read(prompt) == [(0, 64), (64, 64), (128, 64), (192, 7)]
    sequence.forward(prompt[-1:], 1)
    sequence.forward([1, 2, 3, 4], 4)  # an answer, in a shape of its own
    assert read(np.append(prompt, [1, 2, 3, 4, 9]).astype(np.int32)) == [(192, 12)]
    assert read(prompt[:150]) == [(128, 21)]
    sequence.reuse(prompt[:10])
    list(sequence.prefill(prompt[9:120]))
    assert read(prompt[:130]) == [(0, 64), (64, 64), (128, 1)]


# ---- real models ----------------------------------------------------------------------------------------------------


def answer(session: Session, prompt: str, mode: Mode, depth: int | None = None) -> Finished:
    request = ChatRequest(
        raw_prompt=prompt,
        mode=mode,
        depth=depth,
        sampling=SamplingParams(temperature=0.0),
        max_tokens=128,
        ignore_eos=True,
        tie_safe=True,
    )
    (end,) = [event for event in session.generate(request) if isinstance(event, Finished)]
    return end


def test_a_prompt_that_differs_without_it_is_the_same_in_every_mode_with_it() -> None:
    session = Session()
    session.load(LoadRequest(shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf")))
    checks = 0
    for prompt in ("Write a short story about a stone and number 7. ", "Once upon a time"):
        plain = answer(session, prompt, Mode.OFF)
        assert plain.stats.tie_checks == 0
        for mode in SPECULATING:
            end = answer(session, prompt, mode, 3)
            checks += end.stats.tie_checks
            assert end.token_ids == plain.token_ids, (mode, prompt)
            assert any("tie-safe" in line for line in end.stats.decisions)
    assert checks >= len(SPECULATING)
    session.close()


def test_a_recurrent_model_decodes_plain_and_says_why() -> None:
    session = Session()
    session.load(LoadRequest(shared_model("tiny-rwkv7-834K-f32.gguf"), n_ctx=256))
    end = answer(session, "the cat and the", Mode.NGRAM)
    assert end.stats.mode is Mode.OFF
    assert any("tie-safe" in line for line in end.stats.decisions)
    session.close()


def test_above_temperature_zero_there_are_no_ties() -> None:
    session = Session()
    session.load(LoadRequest(shared_model("babyllama-tok105-f16.gguf")))
    request = ChatRequest(
        messages=(Message("user", "x"),), raw_prompt="Once", mode=Mode.NGRAM, max_tokens=20, tie_safe=True, depth=3
    )
    (end,) = [event for event in session.generate(request) if isinstance(event, Finished)]
    assert end.stats.tie_checks == 0
    assert not any("tie-safe" in line for line in end.stats.decisions)
    session.close()
