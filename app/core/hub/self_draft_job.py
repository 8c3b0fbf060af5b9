"""Makes a self-draft as a job of the engine. Fast to import, since the window's process imports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.records import JobEvent, Problem
from engine.requests import OnEvent
from engine.sandbox.self_draft_child import SelfDraftPlan, make_in_helper

if TYPE_CHECKING:  # would import NumPy and llama.cpp in the window's process
    from engine.tuning.self_draft import SelfDraft


@dataclass(frozen=True, slots=True)
class SelfDraftProgress(JobEvent):
    """The current step and its progress."""

    what: str
    fraction: float


@dataclass(frozen=True, slots=True)
class SelfDraftJob:
    """Implements `engine.requests.Job`: a helper process works while the engine is idle.

    The result contains the drafts, or the reason if there is none.
    """

    plan: SelfDraftPlan

    def run(
        self, _session: object, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> Sequence[SelfDraft] | Problem:
        def progress(what: str, fraction: float) -> None:
            on_event(SelfDraftProgress(what, fraction))

        def is_over() -> bool:
            between_steps()
            return should_stop()

        try:
            return make_in_helper(self.plan, progress, is_over)
        except EngineError as error:
            return error.problem
