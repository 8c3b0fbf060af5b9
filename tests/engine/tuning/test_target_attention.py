"""How a target on the processor attends: by what was asked, by room, by scripted times, and measured for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.paths import builtin_draft, builtin_target
from engine.errors import ModelLoadError
from engine.fit.fit import Verdict
from engine.loading import loading
from engine.loading.loading import LoadOptions
from engine.records import CacheType, ChatRequest, Finished, FlashAttention, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from engine.storage.cost_store import CostStore
from engine.tuning import target_attention
from engine.tuning.attention_stand_in import AttentionShape
from engine.tuning.target_attention import FILLS, PASSES, TargetAttention, Times, measured, pays

PATH = str(builtin_target())
USUAL = LoadOptions(2048, threads=1)
SHAPE = AttentionShape(1, 4, 2, 32)


def same(milliseconds: float) -> Times:
    """So many at every point."""
    return {fill: dict.fromkeys(PASSES, milliseconds) for fill in FILLS}


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Times, Times], list[AttentionShape]]:
    """Have both take what is said, whatever the model's size; gives the list of the shapes that were measured."""

    def take(fused: Times, separate: Times) -> list[AttentionShape]:
        shapes: list[AttentionShape] = []

        def times(shape: AttentionShape, _threads: int) -> tuple[Times, Times]:
            shapes.append(shape)
            return fused, separate

        monkeypatch.setattr(target_attention, "LEAST_HEADS", 1)
        monkeypatch.setattr(target_attention, "measured", times)
        return shapes

    return take


Scripted = Callable[[Times, Times], list[AttentionShape]]


def test_separate_steps_are_used_where_they_are_faster_and_measured_once(tmp_path: Path, scripted: Scripted) -> None:
    shapes = scripted(same(1.0), same(0.5))
    for _start in range(2):
        settled = TargetAttention(CostStore(tmp_path)).choose(PATH, USUAL)
        assert settled.flash_attention is FlashAttention.OFF
        assert settled.n_ctx == USUAL.n_ctx
    assert shapes == [AttentionShape(6, 4, 4, 64)]


def test_attention_stays_fused_where_that_is_as_fast(scripted: Scripted) -> None:
    scripted(same(1.0), same(0.95))
    assert TargetAttention(CostStore()).choose(PATH, USUAL) == USUAL


def test_it_pays_only_where_no_conversation_loses() -> None:
    assert pays(same(1.0), same(0.8))
    short_loses = same(0.5) | {min(FILLS): dict.fromkeys(PASSES, 1.1)}
    assert not pays(same(1.0), short_loses)
    plain_gains_nothing = same(0.5) | {max(FILLS): {1: 1.0, 8: 0.1}}
    assert not pays(same(1.0), plain_gains_nothing)
    assert not pays({}, {})


@pytest.mark.parametrize(
    "asked",
    [
        LoadOptions(2048, flash_attention=FlashAttention.ON),
        LoadOptions(2048, flash_attention=FlashAttention.OFF),
        LoadOptions(2048, cache_type=CacheType.Q8_0),
        LoadOptions(2048, key_type=CacheType.Q8_0),
    ],
)
def test_what_somebody_asked_for_is_left_as_it_is(scripted: Scripted, asked: LoadOptions) -> None:
    shapes = scripted(same(1.0), same(0.5))
    assert TargetAttention(CostStore()).choose(PATH, asked) == asked
    assert shapes == []


def test_on_a_gpu_nothing_is_tried(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = scripted(same(1.0), same(0.5))
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: True)
    assert TargetAttention(CostStore()).choose(PATH, USUAL) == USUAL
    assert shapes == []
    on_processor = LoadOptions(2048, threads=1, gpu_layers=0)
    assert TargetAttention(CostStore()).choose(PATH, on_processor).flash_attention is FlashAttention.OFF


def test_a_small_model_and_scores_without_room_stay_fused(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(same(1.0), same(0.5))
    monkeypatch.setattr(target_attention, "LEAST_HEADS", 25)  # the built-in target has 6 layers of 4
    assert TargetAttention(CostStore()).choose(PATH, USUAL) == USUAL
    monkeypatch.setattr(target_attention, "LEAST_HEADS", 24)
    monkeypatch.setattr(target_attention, "MOST_SCORES_BYTES", 4 * 2048 * 128 * 4 - 1)
    assert TargetAttention(CostStore()).choose(PATH, USUAL) == USUAL
    monkeypatch.setattr(target_attention, "MOST_SCORES_BYTES", 4 * 2048 * 128 * 4)
    assert TargetAttention(CostStore()).choose(PATH, USUAL) != USUAL


@pytest.mark.parametrize("verdict", [Verdict.TIGHT, Verdict.TOO_LARGE])
def test_where_memory_is_short_attention_stays_fused(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    scripted(same(1.0), same(0.5))
    estimate = loading.estimate
    share = {Verdict.TIGHT: 1.01, Verdict.TOO_LARGE: 0.9}[verdict]

    def of_little(*args: object, **kwargs: object) -> object:
        needed = estimate(*args, **kwargs).needed_bytes  # type: ignore[arg-type]
        return estimate(*args, available_bytes=int(needed * share), **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "estimate", of_little)
    assert TargetAttention(CostStore()).choose(PATH, USUAL) == USUAL


@pytest.mark.parametrize("error", [ModelLoadError("refused"), OSError("disk full")])
def test_what_cannot_be_measured_stays_as_it_was(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    scripted(same(1.0), same(0.5))

    def fail(_shape: AttentionShape, _threads: int) -> tuple[Times, Times]:
        raise error

    monkeypatch.setattr(target_attention, "measured", fail)
    assert TargetAttention(CostStore()).choose(PATH, USUAL) == USUAL


def test_a_real_measurement_knows_every_point() -> None:
    for times in measured(SHAPE, 1):
        assert sorted(times) == sorted(FILLS)
        for points in times.values():
            assert sorted(points) == sorted(PASSES)
            assert all(0.0 < milliseconds < 1000.0 for milliseconds in points.values())


def answer_of(session: Session, mode: Mode) -> tuple[str, int]:
    """A greedy answer and how many drafted tokens it kept."""
    question = (Message("user", "What is a draft model?"),)
    request = ChatRequest(question, mode, 5, SamplingParams(temperature=0.0), max_tokens=40)
    events = list(session.generate(request))
    text = "".join(event.text for event in events if hasattr(event, "text"))
    return text, next(event.stats.accepted for event in events if isinstance(event, Finished))


def test_a_session_answers_with_it_and_keeps_its_caches_and_costs_apart(scripted: Scripted, tmp_path: Path) -> None:
    scripted(same(1.0), same(0.5))
    texts, identities, keys = [], [], []
    for asked in (FlashAttention.AUTO, FlashAttention.ON):
        session = Session(cost_folder=tmp_path)
        ready = session.load(LoadRequest(PATH, str(builtin_draft()), flash_attention=asked))
        expected = FlashAttention.OFF if asked is FlashAttention.AUTO else FlashAttention.ON
        assert ready.target.flash_attention is expected
        plain, (drafted, accepted) = answer_of(session, Mode.OFF)[0], answer_of(session, Mode.DRAFT)
        assert drafted == plain
        assert accepted > 0
        texts.append(plain)
        identities.append(session.states._slots["target"].identity())
        keys.append(session._pair_costs()._target_key)
        session.close()
    assert texts[0] == texts[1]
    assert identities[0] != identities[1]
    assert keys[0] != keys[1]
