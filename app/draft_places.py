"""What earlier starts found of drafts beside a target on a graphics processor: where each of them is faster.

Knows the settings that a model is loaded with; measures nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.cost_store import CostStore
from engine.draft_place import DraftPlace
from engine.loading import draft_options
from engine.records import LoadRequest


class DraftPlaces:
    """Reads what the engine kept, anew for each question: it may have measured meanwhile."""

    def __init__(self, request: Callable[[], LoadRequest], cost_folder: Path) -> None:
        """``request`` is what would be loaded now; ``cost_folder`` is where the engine keeps measured costs."""
        self._request = request
        self._folder = cost_folder

    def is_processor_faster(self, path: str) -> bool | None:
        """Of a draft's file; None where both places were never compared."""
        request = self._request()
        return DraftPlace(CostStore(self._folder)).is_processor_faster(path, draft_options(request, 0))
