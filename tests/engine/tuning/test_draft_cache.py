"""How a draft on the processor keeps its cache: by what was measured, real models, and scripted times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import ContextError, DecodeError
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.records import CacheType, ChatRequest, Finished, FlashAttention, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from engine.storage.cost_store import CostStore
from engine.tuning import draft_cache
from engine.tuning.draft_cache import KEY_TYPE, DraftCache
from tests.shared_files import shared_model

PATH = str(builtin_draft())
USUAL = LoadOptions(1024, threads=1)
SLOW_AND_FAST = [0.4, 0.1]


class OpenedPair:
    """Opens the built-in draft and says how, and which were closed."""

    def __init__(self, cache: DraftCache) -> None:
        self._cache = cache
        self.options: list[LoadOptions] = []
        self.models: list[LoadedModel] = []

    def open(self, options: LoadOptions) -> LoadedModel:
        wanted = self._cache.known_best(PATH, options)
        self.options.append(wanted)
        self.models.append(open_model(PATH, wanted))
        return self.models[-1]

    def settled(self, options: LoadOptions = USUAL) -> LoadedModel:
        """A draft as a session opens one."""
        return self._cache.open_best(PATH, self.open(options), options, self.open)


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[float]], list[int]]:
    """Have steps take what is said; gives the list of how full the caches were that were compared."""

    def take(steps_ms: list[float]) -> list[int]:
        fills: list[int] = []

        def steps(sequences: Sequence[draft_cache.CachedSequence]) -> list[float]:
            fills.extend(sequence.num_past for sequence in sequences)
            return steps_ms[: len(sequences)]

        monkeypatch.setattr(draft_cache, "_steps_ms", steps)
        return fills

    return take


def test_small_keys_are_used_where_they_are_faster_and_from_the_first_opening_on_the_next_time(
    tmp_path: Path, times: Callable[[list[float]], list[int]]
) -> None:
    fills = times(SLOW_AND_FAST)
    first = OpenedPair(DraftCache(CostStore(tmp_path)))
    draft = first.settled()
    assert not draft.context.threads_change_numbers  # attention is not fused
    draft.close()
    assert [options.key_type for options in first.options] == [None, KEY_TYPE]
    assert first.models[-1].info.key_type is KEY_TYPE
    assert fills == [512, 512]
    again = OpenedPair(DraftCache(CostStore(tmp_path)))
    again.settled().close()
    assert [options.key_type for options in again.options] == [KEY_TYPE]
    assert fills == [512, 512]  # nothing was measured anew


def test_the_cache_stays_as_usual_where_small_keys_gain_nothing_which_is_kept(
    tmp_path: Path, times: Callable[[list[float]], list[int]]
) -> None:
    fills = times([0.1, 0.099])
    for _ in range(2):
        opened = OpenedPair(DraftCache(CostStore(tmp_path)))
        draft = opened.settled()
        assert draft.info.key_type is None
        assert draft.sequence.num_past == 0  # what was tried on is gone
        draft.close()
        assert len(opened.options) == 1
    assert len(fills) == 2


@pytest.mark.parametrize(
    "options",
    [
        replace(USUAL, cache_type=CacheType.Q8_0),
        replace(USUAL, flash_attention=FlashAttention.ON),
        replace(USUAL, flash_attention=FlashAttention.OFF),
    ],
)
def test_what_a_person_asked_for_stays(
    tmp_path: Path, times: Callable[[list[float]], list[int]], options: LoadOptions
) -> None:
    fills = times(SLOW_AND_FAST)
    opened = OpenedPair(DraftCache(CostStore(tmp_path)))
    opened.settled(options).close()
    assert opened.options == [options]
    assert fills == []


def test_scores_too_large_to_be_held_at_once_leave_it_as_usual(
    tmp_path: Path, times: Callable[[list[float]], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft_cache, "_MOST_SCORES_BYTES", 3 * 1024 * 128 * 4 - 1)  # the draft has 3 heads
    fills = times(SLOW_AND_FAST)
    OpenedPair(DraftCache(CostStore(tmp_path))).settled().close()
    assert fills == []


def test_heads_that_are_no_whole_blocks_leave_it_as_usual(
    tmp_path: Path, times: Callable[[list[float]], list[int]]
) -> None:
    """llama.cpp makes such a cache, and reads other values than it has written."""
    fills = times(SLOW_AND_FAST)
    path = shared_model("babyllamaB-tok105-f16.gguf")  # heads of 16
    draft = open_model(path, USUAL)
    assert (
        DraftCache(CostStore(tmp_path)).open_best(path, draft, USUAL, lambda _options: pytest.fail("reopened")) is draft
    )
    draft.close()
    assert fills == []


def test_a_cache_that_says_something_else_is_not_used(
    tmp_path: Path, times: Callable[[list[float]], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    fills = times(SLOW_AND_FAST)
    monkeypatch.setattr(draft_cache, "_KEY_BLOCK", 1)  # as if nobody had looked at the heads
    path = shared_model("babyllamaB-tok105-f16.gguf")
    draft = open_model(path, USUAL)
    assert (
        DraftCache(CostStore(tmp_path)).open_best(path, draft, USUAL, lambda _options: pytest.fail("reopened")) is draft
    )
    draft.close()
    assert fills == [128]  # only the usual one, which is kept: it is not tried again
    other = open_model(path, USUAL)
    assert (
        DraftCache(CostStore(tmp_path)).open_best(path, other, USUAL, lambda _options: pytest.fail("reopened")) is other
    )
    other.close()
    assert fills == [128]


def test_a_draft_that_reads_slowly_is_not_tried_for_long_and_once_only(
    tmp_path: Path, times: Callable[[list[float]], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    fills = times(SLOW_AND_FAST)
    monkeypatch.setattr(draft_cache, "_BUDGET_S", 0.0)
    for _ in range(2):
        opened = OpenedPair(DraftCache(CostStore(tmp_path)))
        draft = opened.settled()
        assert len(opened.options) == 1
        assert draft.sequence.num_past == 0
        draft.close()
    assert fills == [0]


def test_a_pass_that_fails_closes_the_draft_and_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[LoadedModel] = []
    monkeypatch.setattr(LoadedModel, "close", lambda self: closed.append(self))  # noqa: PLW0108 (bound so)

    def fail(*_args: object) -> int:
        raise DecodeError("A pass failed.")

    monkeypatch.setattr(draft_cache, "_fill", fail)
    opened = OpenedPair(DraftCache(CostStore(tmp_path)))
    with pytest.raises(DecodeError, match="A pass failed"):
        opened.settled()
    assert closed == opened.models


def test_both_are_really_compared_and_the_trial_leaves_nothing_behind(tmp_path: Path) -> None:
    draft = open_model(PATH, USUAL)
    usual_ms, small_ms = draft_cache._compare(draft, USUAL)
    assert usual_ms > 0.0
    assert small_ms > 0.0
    assert draft.sequence.num_past == 0
    draft.close()


def test_small_keys_change_what_a_draft_says_a_little_only() -> None:
    """A q8_0 value is within half a step of 1/127 of its block's largest: the likeliest token stays nearly always."""
    ids = np.random.default_rng(0).integers(300, 4000, 400).astype(np.int32)
    rows = []
    for key_type in (None, KEY_TYPE):
        draft = open_model(PATH, replace(USUAL, key_type=key_type))
        kept = [draft.sequence.forward(ids[i : i + 50], 50).copy() for i in range(0, len(ids), 50)]
        rows.append(np.concatenate(kept))
        draft.close()
    same = (rows[0].argmax(axis=1) == rows[1].argmax(axis=1)).mean()
    assert not np.array_equal(*rows)
    assert same > 0.9


def test_answers_are_the_targets_own_whatever_the_drafts_cache_is(
    tmp_path: Path, times: Callable[[list[float]], list[int]]
) -> None:
    answers = []
    for mode, steps_ms in ((Mode.OFF, SLOW_AND_FAST), (Mode.DRAFT, SLOW_AND_FAST), (Mode.DRAFT, SLOW_AND_FAST[::-1])):
        times(steps_ms)
        session = Session(cost_folder=tmp_path / f"{mode}{steps_ms[0]}")
        ready = session.load(LoadRequest(str(builtin_target()), PATH, n_ctx=1024))
        assert ready.draft is not None
        assert ready.draft.key_type is (KEY_TYPE if steps_ms == SLOW_AND_FAST else None)
        question = (Message("user", "Tell me a story about a fox."),)
        request = ChatRequest(question, mode, 4, SamplingParams(temperature=0.0), max_tokens=64, tie_safe=True)
        ended = [event for event in session.generate(request) if isinstance(event, Finished)]
        assert mode is Mode.OFF or ended[0].stats.accepted > 10
        answers.append(ended[0].token_ids)
        session.close()
    assert len(answers[0]) > 10
    assert answers[0] == answers[1] == answers[2]


def test_where_there_is_no_memory_for_two_the_cache_stays_as_usual(
    tmp_path: Path, times: Callable[[list[float]], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object) -> object:
        raise ContextError("There is no memory for it.")

    fills = times(SLOW_AND_FAST)
    monkeypatch.setattr(draft_cache, "other_context", no_memory)
    opened = OpenedPair(DraftCache(CostStore(tmp_path)))
    draft = opened.settled()
    assert (draft.info.key_type, draft.sequence.num_past) == (None, 0)
    assert fills == [512]
    draft.close()


def test_where_filling_the_other_takes_too_long_the_cache_stays_as_usual(
    tmp_path: Path, times: Callable[[list[float]], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill, filled = draft_cache._fill, list[int]()

    def slower(sequence: draft_cache.CachedSequence, num_tokens: int) -> int:
        filled.append(fill(sequence, num_tokens if not filled else num_tokens // 2))
        return filled[-1]

    fills = times(SLOW_AND_FAST)
    monkeypatch.setattr(draft_cache, "_fill", slower)
    opened = OpenedPair(DraftCache(CostStore(tmp_path)))
    draft = opened.settled()
    assert draft.info.key_type is None
    assert (filled, fills) == ([512, 256], [512])
    draft.close()
