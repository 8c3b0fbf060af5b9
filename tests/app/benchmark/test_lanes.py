"""Lanes of a race: their words, the memory of all together, what is refused before anything runs."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest

from app.benchmark import lanes
from app.benchmark.lanes import open_lanes, read_lanes, settle_memory
from app.benchmark.race import LaneFailedError
from app.benchmark.runs import AUTO, PLAIN, Variant
from app.paths import builtin_draft, builtin_target
from engine.errors import DraftRefusedError, ModeUnavailableError, NotEnoughMemoryError
from engine.llama import library
from engine.loading.loading import AUTOMATIC_N_CTX
from engine.records import EngineReady, FlashAttention, LoadRequest, Mode, ModelInfo
from engine.session.session import Progress, Session

DRAFT = Variant(Mode.DRAFT.value, 3)
PAIR = LoadRequest(str(builtin_target()), str(builtin_draft()))
INFO = ModelInfo("m.gguf", "m", "llama", 1, 2, 3, 512, 512, 2, 0, "from the model")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("off,auto", (PLAIN, AUTO)),
        ("plain, draft:3", (PLAIN, DRAFT)),
        ("suffix", (PLAIN, Variant("suffix"))),
        ("draft:3,draft:5,auto", (DRAFT, Variant("draft", 5), AUTO)),
    ],
)
def test_lanes_are_modes_with_or_without_a_depth(text: str, found: tuple[Variant, ...]) -> None:
    assert read_lanes(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("off", "two or three different lanes"),
        ("", "two or three different lanes"),
        ("auto,auto", "two or three different lanes"),
        ("off,ngram,suffix,auto", "two or three different lanes"),
        ("off,fast", "There is no mode fast"),
        ("off,auto:3", "The lane auto:3 has no depth"),
        ("off,draft:x", "The lane draft:x has no depth"),
        ("off,draft:999", "The depth must be between 0 and"),
    ],
)
def test_other_words_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_lanes(text)


@pytest.fixture
def on_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "supports_gpu", lambda: False)


@pytest.mark.usefixtures("on_processor")
def test_all_lanes_get_one_context_that_fits_them_together() -> None:
    whole = settle_memory((PLAIN, AUTO), PAIR)
    assert whole.n_ctx is not None
    assert whole.n_ctx <= AUTOMATIC_N_CTX
    needed = lanes._needed((PLAIN, AUTO, DRAFT), PAIR, whole.n_ctx, 1).needed_bytes
    assert settle_memory((PLAIN, AUTO, DRAFT), PAIR, needed).n_ctx == whole.n_ctx
    with pytest.raises(NotEnoughMemoryError) as refused:
        settle_memory((PLAIN, AUTO, DRAFT), replace(PAIR, n_ctx=whole.n_ctx), needed - 1)
    assert refused.value.message.startswith("Each of the 3 lanes loads its own models. It needs about ")
    assert "Race two lanes" in refused.value.advice


@pytest.mark.usefixtures("on_processor")
def test_a_draft_counts_in_the_lanes_that_use_it() -> None:
    needed = [
        lanes._needed(chosen, PAIR, 512, 1).needed_bytes
        for chosen in ((PLAIN, Variant("ngram")), (PLAIN, DRAFT), (AUTO, DRAFT))
    ]
    assert needed[1] - needed[0] == needed[2] - needed[1] > 0


class ScriptedSession(Session):
    """Loads at once, and says what it is told to."""

    def __init__(self, ready: EngineReady, log: list[str], threads: int = 2) -> None:
        super().__init__()
        self._told, self._log, self._threads = ready, log, threads
        log.append("opened")

    @property
    def threads(self) -> int:
        return self._threads

    def load(self, request: LoadRequest, progress: Progress = lambda _path, _fraction: True) -> EngineReady:
        self._log.append("with draft" if request.draft else "without draft")
        self._threads = request.threads or self._threads
        return replace(self._told, draft=INFO if request.draft and self._told.draft else None)

    def measure(self, *_arguments: object, **_options: object) -> None:
        self._log.append("measured")

    def close(self) -> None:
        self._log.append("closed")


def test_each_lane_is_made_after_the_one_before_has_measured_those_with_a_draft_first() -> None:
    log: list[str] = []
    with ExitStack() as stack:
        found = open_lanes((PLAIN, AUTO), PAIR, lambda: ScriptedSession(EngineReady(INFO, INFO), log), stack)
        assert [lane.variant for lane in found] == [PLAIN, AUTO]
        assert log == ["opened", "with draft", "measured", "opened", "without draft", "measured"]
    assert log[6:] == ["closed", "closed"]


def test_lanes_that_chose_other_numbers_of_threads_are_loaded_again_alike() -> None:
    log: list[str] = []
    numbers = iter([1, 2, 1, 1])
    with ExitStack() as stack:
        found = open_lanes(
            (PLAIN, AUTO), PAIR, lambda: ScriptedSession(EngineReady(INFO, INFO), log, next(numbers)), stack
        )
        assert [lane.session.threads for lane in found] == [2, 2]
        assert log.count("opened") == 4
        assert log.count("closed") == 2
    assert log.count("closed") == 4


def test_a_lane_that_cannot_run_as_asked_is_refused() -> None:
    cannot = dict.fromkeys((Mode.DRAFT, Mode.HYBRID, Mode.AUTO), "This model runs plain.")
    for ready, kind in (
        (EngineReady(INFO, None, {Mode.DRAFT: "The draft has other tokens."}), DraftRefusedError),
        (EngineReady(INFO, INFO, cannot), ModeUnavailableError),
    ):
        log: list[str] = []
        with ExitStack() as stack, pytest.raises(LaneFailedError) as failed:
            open_lanes((PLAIN, AUTO), PAIR, lambda ready=ready, log=log: ScriptedSession(ready, log), stack)  # type: ignore[misc]
        assert isinstance(failed.value.error, kind)
        assert failed.value.variant == AUTO
        assert log[-1] == "closed"


def test_lanes_that_lie_elsewhere_are_not_compared() -> None:
    for other in (replace(INFO, gpu_layers=9), replace(INFO, flash_attention=FlashAttention.OFF)):
        infos = iter([INFO, other])
        with ExitStack() as stack, pytest.raises(LaneFailedError) as failed:
            open_lanes(
                (PLAIN, AUTO), PAIR, lambda kept=infos: ScriptedSession(EngineReady(next(kept), INFO), []), stack
            )  # type: ignore[misc]
        assert "is not placed as that of the first lane" in failed.value.error.message
