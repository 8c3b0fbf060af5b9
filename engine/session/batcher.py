"""Continuous batching: joins the passes of parallel answers.

Each answer is a greenlet, so the decoding loop, drafters and verifiers need no changes. A task pauses when it needs a
pass; once all tasks have paused, one pass computes all their tokens. Prompts are read in chunks in the same passes. A
single task makes its own passes.

The method is that of Orca (Yu et al. 2022, https://www.usenix.org/conference/osdi22/presentation/yu), with the chunked
prefill of Sarathi (Agrawal et al. 2024, arXiv 2403.02310).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from greenlet import getcurrent, greenlet

from engine.errors import DecodeError
from engine.interfaces import SINGLE_ANSWER, BatchComposition, JoinedPass, Rows, TokenIds
from engine.llama.context import LlamaContext, PassPart
from engine.sequence import CachedSequence

Result = TypeVar("Result")
MIN_PROMPT_TOKENS = 1  # least prompt tokens in a pass with answers, so that prompts make progress
GAIN_WEIGHT = 0.2  # weight of a pass in the average tokens per pass of an answer


@dataclass(slots=True)
class _PassRequest:
    """A pass over ``ids`` that a task waits for; the first ``num_done`` ids were read."""

    context: LlamaContext
    ids: TokenIds
    n_rows: int
    num_done: int = 0

    @property
    def is_prompt(self) -> bool:
        return not self.n_rows

    def part(self, most: int) -> PassPart:
        """The next tokens, at most ``most``; a request with rows is never split."""
        if self.n_rows:
            return PassPart(self.context, self.ids, self.n_rows)
        return PassPart(self.context, self.ids[self.num_done : self.num_done + most], 0)

    def undo(self) -> None:
        """Reset the progress after a failure, which leaves the sequence as before the request."""
        if self.num_done and not self.context.rollback(self.context.num_past - self.num_done):
            self.context.clear()


@dataclass(slots=True, eq=False)
class _Task:
    run: greenlet
    should_stop: Callable[[], bool]
    request: _PassRequest | None = None
    call: Callable[[], object] | None = None  # runs once no rows are in use
    result: object = None
    error: BaseException | None = None
    # Cached tokens by context at the last pass with rows.
    num_past_by_context: dict[int, int] = field(default_factory=dict)
    num_tokens: int = 0  # tokens in the last pass of the target with rows
    tokens_per_pass: float = 1.0  # average emitted tokens per such pass
    is_reading: bool = True
    is_drafting: bool = False
    num_missed: int = 0  # passes without space for the request

    @property
    def is_paused(self) -> bool:
        return self.request is not None or self.call is not None


class Batcher:
    """Runs tasks concurrently on the thread that calls `step`.

    Attributes:
        target: the target's context.
        has_arrivals: called before each pass of a single task; True makes it pause, so that the engine checks its
            queue.
        read_budget: number of answers' tokens in a pass -> number of prompt tokens to add.
        on_pass: called after each joined pass of the target with tokens, milliseconds, and prompt tokens among them.
    """

    def __init__(self) -> None:
        self._tasks: list[_Task] = []
        self._sequences: dict[tuple[int, int], CachedSequence] = {}  # by llama.cpp's context and sequence id
        self._current: _Task | None = None
        self._scheduler: greenlet | None = None
        self.target: LlamaContext | None = None
        self.has_arrivals: Callable[[], bool] = lambda: False
        self.read_budget: Callable[[int], int] = lambda _num_tokens: 16
        self.on_pass: Callable[[int, float, int], None] = lambda _num_tokens, _milliseconds, _num_read: None

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def is_alone(self) -> bool:
        """True if the running code may make passes without the batcher."""
        return self._current is None or (len(self._tasks) == 1 and not self.has_arrivals())

    def add(self, context: LlamaContext, sequence: CachedSequence) -> None:
        """Join the passes of ``context`` with other sequences of ``context``, which may share prefixes of prompts."""
        key = (context.handle, context.seq_id)
        self._sequences[key] = sequence

        def beside() -> list[CachedSequence]:
            return [one for other, one in self._sequences.items() if other[0] == key[0] and other != key]

        sequence.join_batch(self, beside)

    def forget(self) -> None:
        """Remove all sequences; called before the models are closed."""
        self._sequences.clear()
        self.target = None

    def start(self, work: Callable[[], None], should_stop: Callable[[], bool] = lambda: False) -> None:
        """Add a task, which the next `step` begins. ``work`` must not raise.

        If ``should_stop`` returns True, a task that waits for its prompt fails.
        """
        num_missed = max((task.num_missed for task in self._tasks), default=0)
        self._tasks.append(_Task(greenlet(work), should_stop, num_missed=num_missed))

    # ---- in a task --------------------------------------------------------------------------------------------------

    def forward(self, sequence: LlamaContext, ids: TokenIds, n_rows: int) -> tuple[Rows, JoinedPass | None]:
        """Wait for the joined pass; return rows as `LlamaContext.forward` does, and the pass (None if not joined).

        Raises:
            DecodeError: the pass failed.
        """
        if sequence.tap is not None:
            return self.call(lambda: sequence.forward(ids, n_rows)), None
        self._task.request = _PassRequest(sequence, ids, n_rows)
        return self._pause()  # type: ignore[return-value]  # set by `_deliver`

    def call(self, work: Callable[[], Result]) -> Result:
        """Run ``work``, which makes passes itself, once other tasks have paused and no rows are in use."""
        self._task.call = work
        return self._pause()  # type: ignore[return-value]  # the result of ``work``

    def composition(self, *, is_drafting: bool) -> BatchComposition:
        """The other tasks' share of the running task's passes. Records whether the running task drafts with a model."""
        if self._current is None or len(self._tasks) == 1:
            return SINGLE_ANSWER
        self._task.is_drafting = is_drafting
        others = [task for task in self._tasks if task is not self._current and not task.is_reading]
        num_tokens = sum(max(task.num_tokens, 1) for task in others)
        gain, num_drafting = sum(task.tokens_per_pass for task in others), sum(task.is_drafting for task in others)
        return BatchComposition(len(self._tasks) - 1, num_tokens, gain, num_drafting)

    @property
    def _task(self) -> _Task:
        assert self._current is not None  # noqa: S101  (only a task pauses)
        return self._current

    def _pause(self) -> object:
        assert self._scheduler is not None  # noqa: S101  (as above)
        self._scheduler.switch()
        task = self._task
        result, error, task.result, task.error = task.result, task.error, None, None
        if error is not None:
            raise error
        return result

    # ---- around them ------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Run every task up to its next pass, then make one pass of the target for all tasks.

        All requested passes of draft models run first, since the target verifies their proposals.
        """
        self._scheduler = getcurrent()
        try:
            self._make_passes()
        finally:
            # If the thread has ended, greenlet may free the hub during a garbage collection despite references, which
            # would then dangle (`~ThreadState`).
            self._scheduler = None

    def _make_passes(self) -> None:
        for task in self._tasks:  # a prompt is read in several passes
            if task.request is not None and task.request.is_prompt and task.should_stop():
                self._fail(task, DecodeError("The answer was stopped.", "Ask again."))
        self._resume()
        while requests := self._requests(lambda request: not self._is_of_target(request) and not request.is_prompt):
            self._make_pass(requests, [])
            self._resume()
        for handle in {request.context.handle for _, request in self._requests(lambda r: not self._is_of_target(r))}:
            self._make_pass([], self._requests(lambda request, own=handle: request.context.handle == own))  # type: ignore[misc]
        of_target = self._requests(self._is_of_target)
        self._make_pass([one for one in of_target if one[1].n_rows], [one for one in of_target if not one[1].n_rows])

    @staticmethod
    def _fail(task: _Task, error: DecodeError) -> None:
        if task.request is not None:
            task.request.undo()
        task.request = task.call = None
        task.error = error

    def _resume(self) -> None:
        """Run each ready task until it pauses or ends, then the requested calls.

        A task continues right after its call, since the next pass of the context overwrites the call's rows.
        """
        for task in list(self._tasks):
            if not task.is_paused:
                self._continue(task)
        for task in list(self._tasks):
            if (work := task.call) is not None:
                try:
                    task.result = work()
                except Exception as error:  # noqa: BLE001  (the task's own)
                    task.error = error
                task.call = None
                self._continue(task)

    def _continue(self, task: _Task) -> None:
        self._current = task
        try:
            task.run.switch()
        finally:
            self._current = None
            if task.run.dead:
                self._tasks.remove(task)

    def _requests(self, wanted: Callable[[_PassRequest], bool]) -> list[tuple[_Task, _PassRequest]]:
        return [(task, task.request) for task in self._tasks if task.request is not None and wanted(task.request)]

    def _is_of_target(self, request: _PassRequest) -> bool:
        return self.target is None or request.context.handle == self.target.handle

    def _make_pass(self, answers: list[tuple[_Task, _PassRequest]], prompts: list[tuple[_Task, _PassRequest]]) -> None:
        """Make one pass for each context, with the answers that fit and prompt tokens within the budget."""
        for handle in dict.fromkeys(request.context.handle for _, request in (*answers, *prompts)):
            chosen, num_tokens, num_rows = list[tuple[_Task, _PassRequest, PassPart]](), 0, 0
            wanted = [one for one in answers if one[1].context.handle == handle]
            for task, request in sorted(wanted, key=lambda one: -one[0].num_missed):
                size = len(request.ids)
                fits = (
                    num_tokens + size <= request.context.n_batch
                    and num_rows + request.n_rows <= request.context.params.max_rows
                )
                task.num_missed += not fits
                if fits:
                    chosen.append((task, request, request.part(size)))
                    num_tokens, num_rows = num_tokens + size, num_rows + request.n_rows
            reading = [one for one in prompts if one[1].context.handle == handle]
            for (task, request), most in zip(reading, self._prompt_shares(reading, num_tokens), strict=True):
                if most:
                    chosen.append((task, request, request.part(most)))
            self._run(chosen)

    def _prompt_shares(self, reading: list[tuple[_Task, _PassRequest]], num_tokens: int) -> list[int]:
        """How many tokens of each prompt to read in a pass with ``num_tokens`` of answers."""
        if not reading:
            return []
        budget = max(self.read_budget(num_tokens), MIN_PROMPT_TOKENS) if num_tokens else reading[0][1].context.n_ubatch
        left, shares = min(budget, reading[0][1].context.n_batch - num_tokens), list[int]()
        for i, (_, request) in enumerate(reading):
            share = min(-(-left // (len(reading) - i)), len(request.ids) - request.num_done)
            shares.append(share)
            left -= share
        return shares

    def _run(self, chosen: list[tuple[_Task, _PassRequest, PassPart]]) -> None:
        if not chosen:
            return
        parts = [part for _, _, part in chosen]
        started = perf_counter()
        try:
            rows = parts[0].sequence.forward_joined(parts)
        except DecodeError as error:
            self._run_separately(chosen, error)
            return
        took_ms = (perf_counter() - started) * 1000.0
        num_tokens = sum(len(part.ids) for part in parts)
        if self._is_of_target(chosen[0][1]):
            self.on_pass(num_tokens, took_ms, sum(len(part.ids) for part in parts if not part.n_rows))
        made = JoinedPass(num_tokens, len(parts))
        for (task, request, part), given in zip(chosen, rows, strict=True):
            self._deliver(task, request, part, given, made)

    def _run_separately(self, chosen: list[tuple[_Task, _PassRequest, PassPart]], error: DecodeError) -> None:
        """Repeat a failed joined pass part by part, so that only the tasks that caused the failure fail.

        A task runs right after its part, since the next part overwrites the rows.
        """
        task, request, part = chosen[0]
        if len(chosen) == 1:
            self._fail(task, error)
            return
        self._run([(task, request, part)])
        for one in chosen[1:]:
            if task.request is None:  # complete: use the rows before the next pass overwrites them
                self._continue(task)
            task = one[0]
            self._run([one])

    def _deliver(self, task: _Task, request: _PassRequest, part: PassPart, rows: Rows, made: JoinedPass) -> None:
        """Record a computed part; once the request is complete, pass on the rows and update the task's gain."""
        request.num_done += len(part.ids)
        if request.num_done < len(request.ids):
            return
        task.request, task.result = None, (rows, made)
        if not self._is_of_target(request):
            return
        task.is_reading = request.is_prompt
        if request.n_rows:
            handle = request.context.handle
            before, now = task.num_past_by_context.get(handle), request.context.num_past - len(request.ids)
            if before is not None and now > before:
                task.tokens_per_pass += (now - before - task.tokens_per_pass) * GAIN_WEIGHT
            task.num_past_by_context[handle], task.num_tokens = now, len(request.ids)
