"""Owns what is known of one widget of an answer: what it shows, where that stands, what is marked. Knows no others."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ui.code_block import CodeBlock
from ui.known_viewport import know_viewport
from ui.markdown_places import Drawn
from ui.prose_view import ProseView
from ui.provenance import Locator, SourceRuns


@dataclass(slots=True, eq=False)
class Part:
    """A widget, what it shows and where that stands in the raw text; and what of it was marked."""

    widget: ProseView | CodeBlock
    drawn: Drawn
    widgets: tuple[QWidget, ...]  # that are painted
    goes_on: bool = False  # the one below is more of the same list or table
    marked: Drawn | None = None
    locator: Locator = field(default_factory=lambda: Locator(SourceRuns()))

    @property
    def view(self) -> ProseView | QPlainTextEdit:
        """Which shows the text."""
        return view_of(self.widget)


def view_of(widget: ProseView | CodeBlock) -> ProseView | QPlainTextEdit:
    """What shows the text of a part."""
    return widget.view if isinstance(widget, CodeBlock) else widget


def painted_of(widget: ProseView | CodeBlock) -> tuple[QWidget, ...]:
    """What of a part is painted: prose has scroll bars that never show."""
    if isinstance(widget, ProseView):
        know_viewport(widget)
        return widget, widget.viewport()
    return widget, *widget.findChildren(QWidget)
