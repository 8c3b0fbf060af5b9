"""A value that is made once, at its first use. Thread-safe."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Lazy(Generic[Made]):
    """Call the object to get the value. The first call makes it; concurrent calls wait."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: tuple[Made] | None = None

    def __call__(self) -> Made:
        with self._lock:
            if self._made is None:
                self._made = (self._make(),)
            return self._made[0]

    @property
    def value(self) -> Made | None:
        """The value if it was made, else None; does not wait."""
        return self._made[0] if self._made is not None else None
