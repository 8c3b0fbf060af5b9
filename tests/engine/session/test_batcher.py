"""Tests the passes made from the requests of tasks, and their order, on scripted contexts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from greenlet import getcurrent

from engine.errors import DecodeError
from engine.interfaces import SINGLE_ANSWER, Rows
from engine.llama.context import LlamaContext, PassPart
from engine.session.batcher import Batcher

WIDTH = 4
Passes = list[list[tuple[int, int, int]]]  # for each part of each pass: sequence, tokens, rows


@dataclass(eq=False)
class ScriptedSequence:
    """A sequence of a context whose rows contain the sequence and the position."""

    handle: int
    seq_id: int
    passes: Passes
    num_past: int = 0
    n_ubatch: int = 32
    n_batch: int = 64
    max_rows: int = 64
    tap: object = None
    can_roll_back: bool = True
    failing: set[int] = field(default_factory=set)

    @property
    def params(self) -> SimpleNamespace:
        return SimpleNamespace(max_rows=self.max_rows)

    def forward(self, ids: Sequence[int], n_rows: int) -> Rows:
        return self.forward_joined([PassPart(cast("LlamaContext", self), ids, n_rows)])[0]

    def rollback(self, num_past: int) -> bool:
        self.num_past = num_past if self.can_roll_back else self.num_past
        return self.can_roll_back

    def clear(self) -> None:
        self.num_past = 0

    def forward_joined(self, parts: Sequence[PassPart]) -> list[Rows]:
        sequences = [cast("ScriptedSequence", part.sequence) for part in parts]
        if any(one.seq_id in self.failing for one in sequences):
            raise DecodeError("scripted")
        self.passes.append(
            [(one.seq_id, len(part.ids), part.n_rows) for one, part in zip(sequences, parts, strict=True)]
        )
        rows = []
        for sequence, part in zip(sequences, parts, strict=True):
            sequence.num_past += len(part.ids)
            rows.append(np.full((part.n_rows, WIDTH), sequence.seq_id, dtype=np.float32))
        return rows


@dataclass
class Place:
    """A batcher with sequences of a target and of a draft model."""

    batcher: Batcher = field(default_factory=Batcher)
    passes: Passes = field(default_factory=list)
    draft_passes: Passes = field(default_factory=list)

    def __post_init__(self) -> None:
        self.failing: set[int] = set()
        self.targets = [ScriptedSequence(1, i, self.passes, failing=self.failing) for i in range(4)]
        self.drafts = [ScriptedSequence(2, i, self.draft_passes) for i in range(4)]
        self.batcher.target = cast("LlamaContext", self.targets[0])
        self.batcher.read_budget = lambda _num_tokens: 10

    def forward(self, sequence: ScriptedSequence, num_tokens: int, n_rows: int = 0) -> tuple[Rows, Any]:
        return self.batcher.forward(cast("LlamaContext", sequence), range(num_tokens), n_rows)

    def start(self, *works: Callable[[], None]) -> None:
        for work in works:
            self.batcher.start(work)

    def run(self) -> None:
        for _ in range(1000):
            if not len(self.batcher):
                return
            self.batcher.step()
        raise AssertionError("it does not end")


@pytest.fixture
def place() -> Place:
    return Place()


def test_one_pass_is_made_of_what_all_want(place: Place) -> None:
    given = dict[int, list[float]]()

    def answer(lane: int, num_tokens: int) -> Callable[[], None]:
        def work() -> None:
            for _ in range(3):
                rows, made = place.forward(place.targets[lane], num_tokens, num_tokens)
                given.setdefault(lane, []).append(float(rows[0, 0]))
                assert made is not None
                assert (made.num_tokens, made.num_sequences) == (6, 3)

        return work

    place.start(answer(0, 1), answer(1, 2), answer(2, 3))
    place.run()
    assert place.passes == [[(0, 1, 1), (1, 2, 2), (2, 3, 3)]] * 3
    assert given == {0: [0.0] * 3, 1: [1.0] * 3, 2: [2.0] * 3}


def test_between_steps_it_refers_to_no_greenlet_of_its_thread(place: Place) -> None:
    def ask() -> None:
        place.forward(place.targets[0], 1, 1)

    place.start(ask, ask)
    place.batcher.step()
    assert len(place.batcher) == 2
    assert getcurrent() not in vars(place.batcher).values()
    place.run()


def test_draft_models_make_their_passes_first_and_together(place: Place) -> None:
    def drafting(lane: int, num_drafted: int) -> Callable[[], None]:
        def work() -> None:
            for _ in range(num_drafted):
                place.forward(place.drafts[lane], 1, 1)
            place.forward(place.targets[lane], num_drafted + 1, num_drafted + 1)

        return work

    place.start(drafting(0, 1), drafting(1, 3), drafting(2, 0))
    place.batcher.step()
    assert place.draft_passes == [[(0, 1, 1), (1, 1, 1)], [(1, 1, 1)], [(1, 1, 1)]]
    assert place.passes == [[(0, 2, 2), (1, 4, 4), (2, 1, 1)]]


def test_a_prompt_is_read_a_part_at_a_time_beside_answers(place: Place) -> None:
    def reading() -> None:
        place.forward(place.targets[1], 25)

    def answering() -> None:
        for _ in range(5):
            place.forward(place.targets[0], 1, 1)

    place.start(answering, reading)
    place.run()
    assert place.passes == [
        [(0, 1, 1), (1, 10, 0)],
        [(0, 1, 1), (1, 10, 0)],
        [(0, 1, 1), (1, 5, 0)],
        *[[(0, 1, 1)]] * 2,
    ]


def test_where_nobody_answers_prompts_are_read_in_whole_chunks(place: Place) -> None:
    place.start(*(lambda i=i: (place.forward(place.targets[i], 40), None)[1] for i in range(2)))  # type: ignore[misc]
    place.batcher.step()
    assert place.passes == [[(0, 16, 0), (1, 16, 0)]]


def test_a_prompt_of_the_draft_model_holds_nobody_up(place: Place) -> None:
    def drafting() -> None:
        place.forward(place.drafts[0], 200)

    def answering() -> None:
        for _ in range(4):
            place.forward(place.targets[1], 1, 1)

    place.start(drafting, answering)
    place.batcher.step()
    place.batcher.step()
    assert place.draft_passes == [[(0, 32, 0)], [(0, 32, 0)]]
    assert len(place.passes) == 2


def test_a_pass_has_no_more_tokens_and_rows_than_it_may(place: Place) -> None:
    for sequence in place.targets:
        sequence.max_rows = 5
    place.start(*(lambda i=i: (place.forward(place.targets[i], 3, 3), None)[1] for i in range(3)))  # type: ignore[misc]
    place.run()
    assert place.passes == [[(0, 3, 3)], [(1, 3, 3)], [(2, 3, 3)]]
    for sequence in place.targets:
        sequence.max_rows, sequence.n_batch = 64, 8
    place.passes.clear()
    place.start(*(lambda i=i: (place.forward(place.targets[i], 3, 3), None)[1] for i in range(3)))  # type: ignore[misc]
    place.start(lambda: (place.forward(place.targets[3], 9), None)[1])
    place.batcher.step()
    assert place.passes == [[(0, 3, 3), (1, 3, 3), (3, 2, 0)]]


def test_what_cannot_join_waits_until_the_rows_of_others_were_looked_at(place: Place) -> None:
    log = list[str]()

    def answering() -> None:
        rows, _ = place.forward(place.targets[0], 1, 1)
        log.append(f"looked at {rows[0, 0]:.0f}")
        place.forward(place.targets[0], 1, 1)

    def alone() -> None:
        place.forward(place.targets[1], 1, 1)
        log.append(place.batcher.call(lambda: log.append("alone") or "told"))

    place.start(alone, answering)
    place.run()
    assert log == ["looked at 0", "alone", "told"]


def test_a_pass_that_fails_fails_for_those_alone_that_cannot_be_computed(place: Place) -> None:
    place.failing.add(1)
    ended = dict[int, str]()

    def work(lane: int) -> Callable[[], None]:
        def run() -> None:
            try:
                for _ in range(2):
                    rows, _ = place.forward(place.targets[lane], 1, 1)
                    assert rows[0, 0] == lane
                ended[lane] = "whole"
            except DecodeError:
                ended[lane] = "failed"

        return run

    place.start(work(0), work(1), work(2))
    place.run()
    assert ended == {0: "whole", 1: "failed", 2: "whole"}


def test_one_alone_makes_its_own_passes_until_somebody_comes(place: Place) -> None:
    seen = list[bool]()
    arrivals = [False, False, True]
    place.batcher.has_arrivals = lambda: arrivals.pop(0)

    def work() -> None:
        for _ in range(3):
            seen.append(place.batcher.is_alone)

    place.start(work)
    place.run()
    assert seen == [True, True, False]
    assert place.batcher.is_alone  # without tasks there is nothing to share with


def test_what_others_put_into_a_pass_is_known(place: Place) -> None:
    seen = list[tuple[int, float, int]]()

    def answering(lane: int) -> Callable[[], None]:
        def work() -> None:
            for _ in range(40):
                place.batcher.composition(is_drafting=lane == 1)
                place.forward(place.targets[lane], lane + 2, lane + 2)
                place.targets[lane].num_past -= 1  # all but one of the proposed tokens are accepted

        return work

    def asking() -> None:
        for _ in range(30):
            beside = place.batcher.composition(is_drafting=False)
            seen.append((beside.num_tokens, beside.tokens, beside.num_drafting))
            place.forward(place.targets[0], 1, 1)

    place.start(asking, answering(1), answering(2))
    place.run()
    assert seen[0] == (0, 0, 0)  # nothing is known of tasks that have not begun
    num_tokens, tokens, num_drafting = seen[-1]
    assert (num_tokens, num_drafting) == (3 + 4, 1)
    assert tokens == pytest.approx(2 + 3, abs=0.01)
    assert place.batcher.composition(is_drafting=True) == SINGLE_ANSWER


@pytest.mark.parametrize(("can_roll_back", "left"), [(True, 7), (False, 0)])
def test_a_stop_ends_the_reading_of_a_prompt_at_the_next_pass(place: Place, *, can_roll_back: bool, left: int) -> None:
    told, stopped = list[str](), list[bool]()
    place.targets[1].can_roll_back, place.targets[1].num_past = can_roll_back, 7

    def answering() -> None:
        for _ in range(6):
            place.forward(place.targets[0], 1, 1)

    def reading() -> None:
        with pytest.raises(DecodeError, match="stopped"):
            place.forward(place.targets[1], 1000)
        told.append("stopped")

    place.batcher.start(answering)
    place.batcher.start(reading, lambda: bool(stopped))
    place.batcher.step()
    place.batcher.step()
    assert (place.targets[1].num_past, told) == (27, [])
    stopped.append(True)
    place.batcher.step()
    assert (place.targets[1].num_past, told) == (left, ["stopped"])
    assert place.passes[-1] == [(0, 1, 1)]
    place.run()


def test_what_was_read_of_a_prompt_that_fails_is_forgotten(place: Place) -> None:
    def answering() -> None:
        for _ in range(3):
            place.forward(place.targets[0], 1, 1)

    def reading() -> None:
        with pytest.raises(DecodeError, match="scripted"):
            place.forward(place.targets[1], 30)

    place.start(answering, reading)
    place.batcher.step()
    place.failing.add(1)
    place.batcher.step()
    assert place.targets[1].num_past == 0
    place.run()
