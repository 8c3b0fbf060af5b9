"""Has a draft of a model itself made, as a job of the engine's: light to import, as the engine's process imports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.records import JobEvent, Problem
from engine.requests import OnEvent
from engine.sandbox.self_draft_child import SelfDraftPlan, make_in_helper

if TYPE_CHECKING:  # NumPy and llama.cpp are for the engine's process
    from engine.tuning.self_draft import SelfDraft


@dataclass(frozen=True, slots=True)
class SelfDraftProgress(JobEvent):
    """A draft is being made: what is done, and how much of it."""

    what: str
    fraction: float


@dataclass(frozen=True, slots=True)
class SelfDraftJob:
    """Implements `engine.requests.Job`: the helper process has the machine, as the engine does nothing else meanwhile.

    It returns what was found, or why nothing was.
    """

    plan: SelfDraftPlan

    def run(
        self, _session: object, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> Sequence[SelfDraft] | Problem:
        """Make it."""

        def progress(what: str, fraction: float) -> None:
            on_event(SelfDraftProgress(what, fraction))

        def is_over() -> bool:
            between_steps()
            return should_stop()

        try:
            return make_in_helper(self.plan, progress, is_over)
        except EngineError as error:
            return error.problem
