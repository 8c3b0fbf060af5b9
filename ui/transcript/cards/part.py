"""One widget of an answer: what it shows, where that stands in the text, what is marked; and a pool of such widgets."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ui.markdown.source_map import SourceMap
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.marks.provenance import RangeLocator, SourceRuns
from ui.widgets.pyside_wrappers import wrap_viewport

MAX_POOLED = 8  # of prose, and of code


@dataclass(slots=True, eq=False)
class BodyPart:
    """A widget, what it shows and where that stands in the raw text; and what of it was marked."""

    widget: ProseView | CodeBlock
    source_map: SourceMap
    widgets: tuple[QWidget, ...]  # that are painted
    goes_on: bool = False  # the one below is more of the same list or table
    marked: SourceMap | None = None
    locator: RangeLocator = field(default_factory=lambda: RangeLocator(SourceRuns()))

    @property
    def view(self) -> ProseView | QPlainTextEdit:
        return view_of(self.widget)


def view_of(widget: ProseView | CodeBlock) -> ProseView | QPlainTextEdit:
    """What shows the text of a part."""
    return widget.view if isinstance(widget, CodeBlock) else widget


def painted_of(widget: ProseView | CodeBlock) -> tuple[QWidget, ...]:
    """What of a part is painted: prose has scroll bars that never show."""
    if isinstance(widget, ProseView):
        wrap_viewport(widget)
        return widget, widget.viewport()
    return widget, *widget.findChildren(QWidget)


class PartPool:
    """Widgets to be used again: making one and having it styled takes longer than filling it."""

    def __init__(self) -> None:
        self._parts: list[ProseView | CodeBlock] = []

    def __len__(self) -> int:
        return len(self._parts)

    def has(self, kind: type) -> bool:
        return any(isinstance(one, kind) for one in self._parts)

    def add(self, part: ProseView | CodeBlock) -> None:
        """Take in one that was just made."""
        part.hide()
        self._parts.append(part)

    def recycle(self, part: ProseView | CodeBlock) -> None:
        """Take in one that is not shown any more, as if made anew; delete it where it cannot be, or is one too many."""
        part.hide()
        num_alike = sum(type(one) is type(part) for one in self._parts)
        if num_alike < MAX_POOLED and part.reset():
            self._parts.append(part)
        else:
            part.deleteLater()

    def take(self, kind: type) -> ProseView | CodeBlock | None:
        """One of this kind, which is hidden; None where there is none."""
        found = next((one for one in self._parts if isinstance(one, kind)), None)
        if found is not None:
            self._parts.remove(found)
        return found

    def clear(self) -> None:
        for part in self._parts:
            part.deleteLater()
        self._parts = []
