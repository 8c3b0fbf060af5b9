"""The models that the owner of a session chose, brought back where a job in the background had others loaded."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.records import Event, LoadProgress, LoadRequest

if TYPE_CHECKING:
    from engine.session.session import Session

log = logging.getLogger(__name__)


class OwnModels:
    """Lives on the engine's thread. Without an owner that loaded something, nothing is ever away.

    ``on_event`` hears `LoadProgress` while they are brought back, and nothing else; ``is_closing`` ends that.
    """

    def __init__(self, on_event: Callable[[Event], None], is_closing: Callable[[], bool]) -> None:
        self._on_event, self._is_closing = on_event, is_closing
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

    def bring_back(self, session: Session, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        """Load them again where they are away.

        Raises:
            EngineError: they cannot be loaded, or it was given up; then nothing is loaded.
        """
        wanted = self._wanted
        if wanted is None or not self.are_away(session):
            return

        def is_over() -> bool:
            return self._is_closing() or is_cancelled()

        def on_progress(path: str, fraction: float) -> bool:
            self._on_event(LoadProgress(path, fraction))
            return not is_over()

        on_progress(wanted.target, 0.0)
        session.unload()  # both might not fit
        session.is_load_cancelled = is_over
        session.load(wanted, on_progress)
        self.note_loaded(session)

    def try_to_bring_back(self, session: Session, is_cancelled: Callable[[], bool]) -> None:
        """The same where nobody waits for it, nor for its failure."""
        try:
            self.bring_back(session, is_cancelled)
        except EngineError as error:
            log.warning("the models in use could not be loaded again: %s", error.message)
