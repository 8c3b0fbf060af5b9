"""Sends requests to an engine with one method per user action, cancels them by kind, and waits for events."""

import itertools
import queue
from dataclasses import replace
from typing import TypeVar

from engine.records import ChatRequest, Event, LoadRequest, Mode, SamplingParams
from engine.requests import (
    Engine,
    ForgetPast,
    ForgetState,
    Job,
    OnEvent,
    Request,
    RunJob,
    SetDraft,
    SetStateLimit,
)

FIRST = 1_000_000  # tests number their own answers and counts from 1
WAIT_S = 60.0
_E = TypeVar("_E")


class Events(queue.Queue[Event]):
    """The events of an engine, in order."""

    def next(self) -> Event:
        return self.get(timeout=WAIT_S)

    def wait_for(self, kind: type[_E]) -> _E:
        """The next event of this kind; earlier ones are dropped."""
        while not isinstance(event := self.next(), kind):
            pass
        return event


def question(number: int, max_tokens: int = 8) -> ChatRequest:
    """A request for a greedy answer of this number of tokens."""
    sampling = SamplingParams(temperature=0.0)
    return ChatRequest(
        raw_prompt="Once", mode=Mode.OFF, sampling=sampling, max_tokens=max_tokens, ignore_eos=True, request_id=number
    )


class Driver:
    """Drives one engine. Each method that submits returns the number of its request."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._numbers = itertools.count(FIRST)
        self._asked: dict[type, list[int]] = {}

    def start(self) -> None:
        self.engine.start()

    def submit(self, request: Request, on_event: OnEvent | None = None) -> int:
        if not (isinstance(request, RunJob) and request.background):
            self._asked.setdefault(type(request), []).append(request.request_id)
        self.engine.submit(request, on_event)
        return request.request_id

    def load(self, request: LoadRequest) -> int:
        return self.submit(replace(request, request_id=next(self._numbers)))

    def set_draft(self, path: str | None) -> int:
        return self.submit(SetDraft(path, next(self._numbers)))

    def generate(self, request: ChatRequest) -> int:
        return self.submit(request)

    def run_job(self, job: Job, *, in_background: bool = False, on_event: OnEvent | None = None) -> int:
        return self.submit(RunJob(job, in_background, next(self._numbers)), on_event)

    def forget_past(self) -> None:
        self.submit(ForgetPast(next(self._numbers)))

    def forget_state(self, conversation_id: int) -> None:
        self.submit(ForgetState(conversation_id, next(self._numbers)))

    def set_state_limit(self, disk_bytes: int) -> None:
        self.submit(SetStateLimit(disk_bytes, next(self._numbers)))

    def stop(self) -> None:
        """Cancel every answer."""
        self._cancel(ChatRequest)

    def stop_loading(self) -> None:
        """Cancel every load."""
        self._cancel(LoadRequest, SetDraft)

    def stop_jobs(self) -> None:
        """Cancel every job that is not in the background."""
        self._cancel(RunJob)

    def skip_summary(self) -> None:
        for number in self._asked.get(ChatRequest, []):
            self.engine.skip_summary(number)

    def close(self, timeout_s: float) -> bool:
        return self.engine.close(timeout_s)

    def _cancel(self, *kinds: type) -> None:
        for number in sorted(number for kind in kinds for number in self._asked.get(kind, [])):
            self.engine.cancel(number)
