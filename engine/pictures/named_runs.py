"""Runs of places by their names, which outlive the program, and by their ids, which do not.

A name says which picture, which part of it and which encoder; so what was kept of a conversation means the same later.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Collection

from engine.errors import PictureError
from engine.interfaces import Run

MOST_NAMED = 8192  # runs; each takes some hundred bytes
_LEAST_ID = -(2**31)
# -1 parts conversations in `engine.drafters.suffix.index`. An id is given once, so that what is held of an older
# encoder means nothing else in a newer one.
_next_id = -2
_numbering = threading.Lock()


def _take_ids(count: int) -> int:
    """The first of so many new ids.

    Raises:
        PictureError: there are none left.
    """
    global _next_id  # noqa: PLW0603  (one numbering for all sessions of the program)
    with _numbering:
        first = _next_id
        if first - count < _LEAST_ID:
            raise PictureError("No more pictures can be told apart in one run of the program.", "Restart Paceline.")
        _next_id = first - count
    return first


class NamedRuns:
    """Those of one encoder."""

    def __init__(self) -> None:
        self._by_name: dict[str, Run] = {}
        self._names: dict[int, str] = {}  # by the first id
        self._begins: list[int] = []  # the first ids without their sign, ascending, as they were given

    def __len__(self) -> int:
        return len(self._by_name)

    def named(self, name: str, num_places: int, num_positions: int) -> Run:
        """See `Runs.named`. What has another size is another run."""
        run = self._by_name.get(name)
        if run is not None and (run.num_places, run.num_positions) == (num_places, num_positions):
            return run
        if run is not None:
            self._forget([run.first_id])
        run = self._by_name[name] = Run(_take_ids(num_places), num_places, num_positions)
        self._names[run.first_id] = name
        self._begins.append(-run.first_id)
        return run

    def name_of(self, run: Run) -> str | None:
        """See `Runs.name_of`."""
        return self._names.get(run.first_id)

    def at(self, place_id: int) -> Run | None:
        """See `Runs.run_of`."""
        number = bisect_right(self._begins, -place_id) - 1
        if number < 0:
            return None
        run = self._by_name[self._names[-self._begins[number]]]
        return run if place_id in run.ids else None

    def shrink(self, used: Collection[int]) -> None:
        """Forget the oldest where there are too many, but for those whose first ids are ``used``."""
        over = len(self) - MOST_NAMED
        if over > 0:
            self._forget([-begin for begin in self._begins[:over] if -begin not in used])

    def _forget(self, first_ids: Collection[int]) -> None:
        for first in first_ids:
            del self._by_name[self._names.pop(first)]
        self._begins = [begin for begin in self._begins if -begin in self._names]
