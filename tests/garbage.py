"""Looks for garbage in cycles once there may be enough of it."""

from __future__ import annotations

import gc

ENOUGH = 20_000  # objects made and not deleted since the last time: those of ten windows, which hold some 60 MB
EVERYTHING = 20  # looks at what is new for one at all that is there, which takes as long as the process is large

_looks = 0


def collect_some() -> None:
    """Collect, where it pays: what came since the last look, and now and then what was held then by a fixture."""
    global _looks  # noqa: PLW0603  (of the process, as the garbage is)
    if gc.get_count()[0] > ENOUGH:
        _looks += 1
        gc.collect(2 if _looks % EVERYTHING == 0 else 1)
