"""Says what the built-in models are wherever they are in use, and only there: in the header and on the empty page.

Knows where the app's own models lie and whether the copy at real weight is in use; decides nothing about models.
"""

from __future__ import annotations

from pathlib import Path

from ui.empty_state import EmptyState
from ui.header import DEMO_NOTE, TINY_NOTE, Header
from ui.language import translate
from ui.records import EngineView


class BuiltinNote:
    """Outlives the parts that it speaks in: they are given with every call."""

    def __init__(self, assets_dir: Path) -> None:
        self._assets_dir = assets_dir
        self._demo_active = False

    def set_demo(self, state: str) -> None:
        """How far the demo at real weight is: "absent", "making", "ready" or "active"."""
        self._demo_active = state == "active"

    def show(self, view: EngineView, header: Header, empty: EmptyState) -> None:
        """Show it, or nothing where other models are in use."""
        target = view.target
        tiny = target is not None and Path(target.path).is_relative_to(self._assets_dir)
        note = DEMO_NOTE if self._demo_active else TINY_NOTE if tiny else ""
        header.set_note(translate("Header", note) if note else "")
        empty.set_engine(view, builtin=tiny or self._demo_active)
