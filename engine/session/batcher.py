"""Continuous batching: join the passes of answers that run side by side.

Each answer is a greenlet, so decoding loop, drafters and verifiers know nothing of it. A task stops where it wants a
pass; once all have stopped, one pass serves them all. Prompts are read in chunks beside the answers. A task that runs
alone makes its passes itself.

Orca (Yu et al. 2022, https://www.usenix.org/conference/osdi22/presentation/yu), with the chunked prompts of Sarathi
(Agrawal et al. 2024, arXiv 2403.02310).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from greenlet import getcurrent, greenlet

from engine.errors import CacheFullError, DecodeError
from engine.interfaces import NOBODY, Beside, JoinedPass, Rows, TokenIds
from engine.llama.context import LlamaContext, PassPart
from engine.sequence import CachedSequence, SequenceState

Result = TypeVar("Result")
LEAST_READ = 1  # tokens of prompts in a pass beside answers, whatever they cost: else a prompt would never be read
ROOM_TO_RETURN = 64  # tokens that must be free beside those that an answer held, before it returns to the cache
GAIN_RATE = 0.2  # weight of a pass in what an answer is expected to gain by its passes


@dataclass(slots=True)
class _Wish:
    """A pass that a task waits for, over ``ids``; ``done`` of them were read."""

    sequence: LlamaContext
    ids: TokenIds
    n_rows: int
    num_padding: int
    done: int = 0

    @property
    def is_prompt(self) -> bool:
        return not self.n_rows

    def part(self, most: int) -> PassPart:
        """Take at most ``most`` of the tokens that are left; never cut a pass with rows."""
        if self.n_rows:
            return PassPart(self.sequence, self.ids, self.n_rows, self.num_padding)
        return PassPart(self.sequence, self.ids[self.done : self.done + most], 0)

    def undo(self) -> None:
        """Forget what was read: who is told of a failure knows its sequence as it was before."""
        if self.done and not self.sequence.rollback(self.sequence.num_past - self.done):
            self.sequence.clear()


@dataclass(slots=True, eq=False)
class _Task:
    run: greenlet
    lane: int
    should_stop: Callable[[], bool]
    room_wanted: int = 0  # tokens, while it waits for room in a cache that others fill; 0: it does not wait
    kept: SequenceState | None = None  # what its sequence held, meanwhile
    wish: _Wish | None = None
    call: Callable[[], object] | None = None  # what it wants done while nobody looks at the rows of a pass
    answer: object = None
    error: BaseException | None = None
    past: dict[int, int] = field(default_factory=dict)  # tokens that a context held at its last pass with rows
    num_tokens: int = 0  # in its last pass of the target with rows
    gain: float = 1.0  # tokens by such a pass, on the average
    is_reading: bool = True
    is_drafting: bool = False
    num_missed: int = 0  # passes that had no room for its wish

    @property
    def is_stopped(self) -> bool:
        return self.wish is not None or self.call is not None or self.waits

    @property
    def waits(self) -> bool:
        return self.room_wanted > 0


class Batcher:
    """Run tasks side by side on the thread that calls `step`.

    Attributes:
        target: context in which the answers are made.
        has_arrivals: asked before each pass of a task alone; True makes it stop, so that the engine sees its queue.
        read_budget: tokens of answers in a pass -> tokens of prompts to read beside them.
        evict: empty the sequences of an idle lane.
        on_pass: told of each joined pass of the target: tokens, milliseconds, tokens of prompts among them.
    """

    def __init__(self) -> None:
        self._tasks: list[_Task] = []
        self._sequences: dict[tuple[int, int], CachedSequence] = {}  # by llama.cpp's context and number
        self._current: _Task | None = None
        self._hub: greenlet | None = None
        self.target: LlamaContext | None = None
        self.has_arrivals: Callable[[], bool] = lambda: False
        self.read_budget: Callable[[int], int] = lambda _num_tokens: 16
        self.evict: Callable[[int], None] = lambda _lane: None
        self.on_pass: Callable[[int, float, int], None] = lambda _num_tokens, _milliseconds, _num_read: None

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def is_alone(self) -> bool:
        """Whether the running code may make passes by itself."""
        return self._current is None or (len(self._tasks) == 1 and not self.has_arrivals())

    @property
    def is_answering(self) -> bool:
        """Whether the running code is a task."""
        return self._current is not None

    def add(self, context: LlamaContext, sequence: CachedSequence) -> None:
        """Join the passes of ``sequence`` with those of the others of ``context``; it may copy their prompts."""
        key = (context.handle, context.seq_id)
        self._sequences[key] = sequence

        def beside() -> list[CachedSequence]:
            return [one for other, one in self._sequences.items() if other[0] == key[0] and other != key]

        sequence.join(self, beside)

    def forget(self) -> None:
        """Drop all sequences before the models are closed."""
        self._sequences.clear()
        self.target = None

    @property
    def has_room(self) -> bool:
        """Whether no task was put out of the cache."""
        return not any(task.waits for task in self._tasks)

    def start(self, work: Callable[[], None], lane: int, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Add a task for the sequences numbered ``lane``; the next `step` begins it. ``work`` must not raise.

        Where ``should_stop`` says so, neither the rest of a prompt nor room in the cache is waited for: the pass fails.
        """
        num_missed = max((task.num_missed for task in self._tasks), default=0)
        self._tasks.append(_Task(greenlet(work), lane, should_stop, num_missed=num_missed))

    # ---- in a task --------------------------------------------------------------------------------------------------

    def forward(
        self, sequence: LlamaContext, ids: TokenIds, n_rows: int, num_padding: int
    ) -> tuple[Rows, JoinedPass | None]:
        """Wait for the joined pass; rows as of `LlamaContext.forward`. None in place of the pass: it was made alone.

        Raises:
            DecodeError: the pass failed.
        """
        if sequence.tap is not None:
            return self.call(lambda: sequence.forward(ids, n_rows, num_padding)), None
        self._task.wish = _Wish(sequence, ids, n_rows, num_padding)
        return self._stop()  # type: ignore[return-value]  # what `_take` gave

    def call(self, work: Callable[[], Result]) -> Result:
        """Wait until the other tasks have stopped, so that no rows are in use, then run ``work`` and its passes."""
        self._task.call = work
        return self._stop()  # type: ignore[return-value]  # what ``work`` returned

    def beside(self, *, is_drafting: bool) -> Beside:
        """Tell the running task what the others add to its passes; note whether it drafts with a model."""
        if self._current is None or len(self._tasks) == 1:
            return NOBODY
        self._task.is_drafting = is_drafting
        able = (task for task in self._tasks if task is not self._current and not task.waits)
        others = [task for task in able if not task.is_reading]
        num_tokens = sum(max(task.num_tokens, 1) for task in others)
        gain, num_drafting = sum(task.gain for task in others), sum(task.is_drafting for task in others)
        return Beside(len(self._tasks) - 1, num_tokens, gain, num_drafting)

    @property
    def _task(self) -> _Task:
        assert self._current is not None  # noqa: S101  (who stops is in a task)
        return self._current

    def _stop(self) -> object:
        assert self._hub is not None  # noqa: S101  (as above)
        self._hub.switch()
        task = self._task
        answer, error, task.answer, task.error = task.answer, task.error, None, None
        if error is not None:
            raise error
        return answer

    # ---- around them ------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Run every task up to its next pass, then make one pass of the target for all.

        Passes of draft models come first, as many as are wanted: the target verifies what they propose.
        """
        self._hub = getcurrent()
        try:
            self._make_passes()
        finally:
            # Of a thread that has ended greenlet frees it where nothing is found to refer to it, as while garbage is
            # collected: what does all the same is then a pointer to nothing (`~ThreadState`).
            self._hub = None

    def _make_passes(self) -> None:
        self._end_stopped()
        self._return_to_cache()
        self._resume()
        while wishes := self._wishes(lambda wish: not self._is_of_target(wish) and not wish.is_prompt):
            self._make(wishes, [])
            self._resume()
        for context_id in {self._context_of(wish) for _, wish in self._wishes(lambda w: not self._is_of_target(w))}:
            self._make([], self._wishes(lambda wish, own=context_id: self._context_of(wish) == own))  # type: ignore[misc]
        of_target = self._wishes(self._is_of_target)
        self._make([one for one in of_target if one[1].n_rows], [one for one in of_target if not one[1].n_rows])

    def _end_stopped(self) -> None:
        """Let tasks that are to stop go on, where they wait for more than one pass: for room, or for a prompt."""
        for task in self._tasks:
            if (task.waits or (task.wish is not None and task.wish.is_prompt)) and task.should_stop():
                self._fail(task, DecodeError("The answer was stopped.", "Ask again."))

    @staticmethod
    def _fail(task: _Task, error: DecodeError) -> None:
        if task.wish is not None:
            task.wish.undo()
        task.wish = task.call = task.kept = None
        task.room_wanted, task.error = 0, error

    def _resume(self) -> None:
        """Run each task that waits for nothing until it stops or ends, then the calls that were asked for.

        A task goes on right behind its call: the next pass of the context overwrites the rows that the call may have
        given.
        """
        for task in list(self._tasks):
            if not task.is_stopped:
                self._go_on(task)
        for task in list(self._tasks):
            if (work := task.call) is not None and not task.waits:
                try:
                    task.answer = work()
                except Exception as error:  # noqa: BLE001  (the task's own)
                    task.error = error
                task.call = None
                self._go_on(task)

    def _go_on(self, task: _Task) -> None:
        self._current = task
        try:
            task.run.switch()
        finally:
            self._current = None
            if task.run.dead:
                self._tasks.remove(task)

    def _wishes(self, wanted: Callable[[_Wish], bool]) -> list[tuple[_Task, _Wish]]:
        able = (task for task in self._tasks if not task.waits)
        return [(task, task.wish) for task in able if task.wish is not None and wanted(task.wish)]

    def _is_of_target(self, wish: _Wish) -> bool:
        return self.target is None or wish.sequence.handle == self.target.handle

    @staticmethod
    def _context_of(wish: _Wish) -> int:
        return wish.sequence.handle

    def _make(self, answers: list[tuple[_Task, _Wish]], prompts: list[tuple[_Task, _Wish]]) -> None:
        """Make one pass for each context: answers as far as they fit, prompts as far as the budget allows."""
        for handle in dict.fromkeys(self._context_of(wish) for _, wish in (*answers, *prompts)):
            chosen, num_tokens, num_rows = list[tuple[_Task, _Wish, PassPart]](), 0, 0
            wanted = [one for one in answers if self._context_of(one[1]) == handle]
            for task, wish in sorted(wanted, key=lambda one: -one[0].num_missed):
                size = len(wish.ids)
                fits = (
                    num_tokens + size <= wish.sequence.n_batch
                    and num_rows + wish.n_rows <= wish.sequence.params.max_rows
                )
                task.num_missed += not fits
                if fits:
                    chosen.append((task, wish, wish.part(size)))
                    num_tokens, num_rows = num_tokens + size, num_rows + wish.n_rows
            reading = [one for one in prompts if self._context_of(one[1]) == handle]
            for (task, wish), most in zip(reading, self._shares(reading, num_tokens), strict=True):
                if most:
                    chosen.append((task, wish, wish.part(most)))
            self._run(chosen)

    def _shares(self, reading: list[tuple[_Task, _Wish]], num_tokens: int) -> list[int]:
        """Split the budget beside ``num_tokens`` of answers: how many tokens to read of each prompt."""
        if not reading:
            return []
        budget = max(self.read_budget(num_tokens), LEAST_READ) if num_tokens else reading[0][1].sequence.n_ubatch
        left, shares = min(budget, reading[0][1].sequence.n_batch - num_tokens), list[int]()
        for i, (_, wish) in enumerate(reading):
            share = min(-(-left // (len(reading) - i)), len(wish.ids) - wish.done)
            shares.append(share)
            left -= share
        return shares

    def _run(self, chosen: list[tuple[_Task, _Wish, PassPart]]) -> None:
        if not chosen:
            return
        parts = [part for _, _, part in chosen]
        started = perf_counter()
        try:
            rows = parts[0].sequence.forward_joined(parts)
        except DecodeError as error:
            self._run_apart(chosen, error)
            return
        took_ms = (perf_counter() - started) * 1000.0
        num_tokens = sum(len(part.ids) for part in parts)
        if self._is_of_target(chosen[0][1]):
            self.on_pass(num_tokens, took_ms, sum(len(part.ids) for part in parts if not part.n_rows))
        made = JoinedPass(num_tokens, len(parts), took_ms)
        for (task, wish, part), given in zip(chosen, rows, strict=True):
            self._take(task, wish, part, given, made)

    def _run_apart(self, chosen: list[tuple[_Task, _Wish, PassPart]], error: DecodeError) -> None:
        """Repeat a joined pass that failed part by part, so that only the tasks that caused it fail.

        The rows of one part are overwritten by the next, so its task runs in between.
        """
        task, wish, part = chosen[0]
        if len(chosen) == 1:
            if not (isinstance(error, CacheFullError) and self._is_of_target(wish) and self._make_room(task)):
                self._fail(task, error)
            return
        self._run([(task, wish, part)])
        for one in chosen[1:]:
            if task.wish is None:  # it has its rows, which the next pass overwrites
                self._go_on(task)
            task = one[0]
            if not task.waits:  # one before it may have taken its room, and with that what its sequence held
                self._run([one])

    # ---- where answers share the cells of a cache -------------------------------------------------------------------

    def _make_room(self, task: _Task) -> bool:
        """Empty idle lanes, or move the newest answer's state out of the cache until others end.

        Return False where no other answer could go on instead, or the state cannot be exported.
        """
        if self._evict_idle():
            return True
        able = [one for one in self._tasks if not one.waits and (one is task or self._sequence(one).num_past)]
        if len(able) < 2:
            return False
        newest, sequence = able[-1], self._sequence(able[-1])
        if (wish := newest.wish) is not None and wish.done:  # a part of a prompt, which is read again then
            wish.sequence.rollback(sequence.num_past)
            wish.done = 0
        if sequence.num_past:
            newest.kept = sequence.export()
            if newest.kept is None:
                return False
            sequence.clear()
        held = len(newest.kept.ids) if newest.kept is not None else 0
        newest.room_wanted = held + (len(wish.ids) if wish is not None else 0) + ROOM_TO_RETURN
        return True

    def _evict_idle(self) -> bool:
        """Empty the lanes without an answer; return whether there were any."""
        lanes = {one.lane for one in self._tasks}
        idle = {lane for (_, lane), one in self._sequences.items() if lane not in lanes and one.num_past}
        for lane in idle:
            self.evict(lane)
        return bool(idle)

    def _return_to_cache(self) -> None:
        """Put the oldest waiting answer back once there is room for it."""
        waiting = next((task for task in self._tasks if task.waits), None)
        if waiting is None or self.target is None:
            return
        free = self.target.num_cells - sum(self._sequence(task).num_past for task in self._tasks)
        if free < waiting.room_wanted and not all(task.waits for task in self._tasks):
            return
        self._evict_idle()
        kept, waiting.kept, waiting.room_wanted = waiting.kept, None, 0
        if kept is not None and not self._sequence(waiting).adopt(kept):
            self._fail(waiting, DecodeError("An answer that waited for room could not go on.", "Ask again."))

    def _sequence(self, task: _Task) -> CachedSequence:
        assert self.target is not None  # noqa: S101  (it has no room)
        return self._sequences[self.target.handle, task.lane]

    def _take(self, task: _Task, wish: _Wish, part: PassPart, rows: Rows, made: JoinedPass) -> None:
        """Record a computed part of a wish; hand over the rows and update the task's gain when all of it is done."""
        wish.done += len(part.ids)
        if wish.done < len(wish.ids):
            return
        task.wish, task.answer = None, (rows, made)
        if not self._is_of_target(wish):
            return
        task.is_reading = wish.is_prompt
        if wish.n_rows:
            before, now = task.past.get(wish.sequence.handle), wish.sequence.num_past - len(wish.ids)
            if before is not None and now > before:
                task.gain += (now - before - task.gain) * GAIN_RATE
            task.past[wish.sequence.handle], task.num_tokens = now, len(wish.ids)
