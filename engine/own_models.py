"""The models that the owner of a session chose, brought back where a job in the background had others loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.records import Event, LoadProgress, LoadRequest

if TYPE_CHECKING:
    from engine.session.session import Session


class OwnModels:
    """Lives on the engine's thread. Without an owner that loaded something, nothing is ever away."""

    def __init__(self) -> None:
        self._loaded: LoadRequest | None = None  # by which the session knows them
        self._wanted: LoadRequest | None = None  # the same, with the draft that was chosen since

    def note_loaded(self, session: Session) -> None:
        """The owner had loaded what is loaded now."""
        self._loaded = self._wanted = session.request

    def note_draft(self, path: str | None) -> None:
        """The owner chose another draft, or none."""
        if self._wanted is not None:
            self._wanted = replace(self._wanted, draft=path)

    def are_away(self, session: Session) -> bool:
        """Whether the session holds other models, or none, in their place."""
        if self._wanted is None:
            return False
        return not session.is_loaded or session.request not in (self._loaded, self._wanted)

    def bring_back(
        self, session: Session, on_event: Callable[[Event], None], is_cancelled: Callable[[], bool], number: int = 0
    ) -> None:
        """Load them again where they are away; ``on_event`` hears `LoadProgress` with this number, and nothing else.

        Raises:
            EngineError: they cannot be loaded, or it was given up; then nothing is loaded.
        """
        wanted = self._wanted
        if wanted is None or not self.are_away(session):
            return

        def on_progress(path: str, fraction: float) -> bool:
            on_event(LoadProgress(path, fraction, number))
            return not is_cancelled()

        on_progress(wanted.target, 0.0)
        session.unload()  # both might not fit
        session.is_load_cancelled = is_cancelled
        session.load(wanted, on_progress)
        self.note_loaded(session)
