"""A race as a job for the engine's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.core.domain.speed.races import LaneProgress, RaceSetup
from app.core.storage.pair_speeds import PairSpeeds
from engine.records import ChatRequest
from engine.requests import OnEvent

if TYPE_CHECKING:  # not imported in the window's process: NumPy and llama.cpp
    from engine.session.session import Session


class RaceJob:
    """One race. A job can be submitted only once."""

    def __init__(self, setup: RaceSetup, request: ChatRequest, speeds: PairSpeeds) -> None:
        self._setup, self._request, self._speeds = setup, request, speeds

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> None:
        """Run the race and report its events; a failure is reported with the results so far."""
        from app.core.benchmark.race import Race  # noqa: PLC0415

        race = Race(self._setup, self._request, self._speeds)

        for event in race.events(session, should_stop):
            on_event(event)
            if isinstance(event, LaneProgress):
                between_steps()
