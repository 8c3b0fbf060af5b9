"""Looks for garbage in cycles once there may be enough of it."""

from __future__ import annotations

import gc

ENOUGH = 20_000  # objects made and not deleted since the last time: those of ten windows, which hold some 60 MB


def collect_some() -> None:
    """Collect, where it pays."""
    if gc.get_count()[0] > ENOUGH:
        gc.collect()
