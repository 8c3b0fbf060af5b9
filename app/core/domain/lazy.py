"""A value that is made when it is first asked for, once, on whatever thread that is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Lazy(Generic[Made]):
    """Call it to have the thing; the first call makes it, others that come meanwhile wait."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: tuple[Made] | None = None

    def __call__(self) -> Made:
        """Give the thing; whatever its making raises is raised, and the next call tries again."""
        with self._lock:
            if self._made is None:
                self._made = (self._make(),)
            return self._made[0]

    @property
    def made(self) -> Made | None:
        """The thing, where it was made; never makes it, and waits for nobody who does."""
        return self._made[0] if self._made is not None else None
