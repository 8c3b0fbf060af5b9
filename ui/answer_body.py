"""The body of an answer: Markdown segments as widgets, changed only where the text changed."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHelpEvent
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QVBoxLayout, QWidget

from engine.records import Source
from ui.code_block import CodeBlock
from ui.language import translate
from ui.markdown_blocks import Block, BlockStream, Segment, plan_segments
from ui.markdown_places import Drawn
from ui.marks import paint_marks
from ui.pass_tip import pass_tip, pass_words
from ui.prose_view import ProseView
from ui.provenance import SourceRuns, formula_units, place_at, refused_at
from ui.spare_parts import SpareParts
from ui.theme import Theme

SEGMENT_SPACING = 10


class AnswerBody(QWidget):
    """Takes text in pieces.

    Signals:
        link_activated(str): a link of the answer was activated.
    """

    link_activated = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None, text_width: int = 0) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text_width = text_width  # expected, so that the first layout is right
        self._stream = BlockStream()
        self._spares = SpareParts(theme, self)  # while text arrives
        self._open_blocks: list[Block] = []  # final, but in a run that may still take more
        self._sealed = 0  # widgets that will not change any more
        self._widgets: list[ProseView | CodeBlock] = []
        self._drawn: list[Drawn] = []  # what each widget shows, and where it stands in the raw text
        self._num_marked = 0  # widgets that are marked and will not change any more
        self._waiting: list[Segment] = []  # of a whole text, not built yet
        self._told: tuple[str, SourceRuns, frozenset[Source]] = ("", SourceRuns(), frozenset())
        self._shows_refused = False
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(SEGMENT_SPACING)

    @property
    def segments(self) -> list[ProseView | CodeBlock]:
        """The widgets from top to bottom."""
        return list(self._widgets)

    def append(self, text: str) -> None:
        """Show the next piece of the answer."""
        self._open_blocks += self._stream.feed(text)
        self._show()
        self._spares.make_soon()

    def finish(self) -> None:
        """No more text will come."""
        self._open_blocks += self._stream.finish()
        self._show()
        self._spares.drop()

    def restart(self, base: int = 0) -> None:
        """Begin anew without any text; the first piece will stand at ``base`` of the raw text."""
        while self._widgets:
            self._drop(len(self._widgets) - 1)
        self._stream, self._open_blocks, self._waiting = BlockStream(base), [], []
        self._sealed = self._num_marked = 0

    def set_text(self, text: str, base: int = 0) -> None:
        """Show a whole text at once."""
        self.prepare(text, base)
        while self.build_one():
            pass

    def prepare(self, text: str, base: int = 0) -> None:
        """Take a whole text; its widgets are made by `build_one`. It begins at ``base`` of the raw text."""
        self.restart()
        stream = BlockStream(base)
        self._waiting = plan_segments(stream.feed(text) + stream.finish())
        self._sealed = len(self._waiting)

    def build_one(self) -> bool:
        """Make the last widget that is still missing, above those there; False where none is."""
        if not self._waiting:
            return False
        segment = self._waiting.pop()
        self._make(segment, 0)
        self._fill(0, segment)
        return True

    def show_refused(self, wanted: bool) -> None:
        """Show proposals that were refused above the tokens that came in their place; `mark` draws them."""
        self._shows_refused = wanted

    def mark(self, raw: str, runs: SourceRuns, wanted: frozenset[Source], *, afresh: bool = True) -> None:
        """Mark what came from the wanted sources; ``raw`` is the whole text.

        While an answer grows, ``afresh`` False leaves the widgets that will not change any more as they are marked.
        """
        if afresh:
            self._num_marked = 0
        self._told = (raw, runs, wanted)
        for index in range(self._num_marked, len(self._widgets)):
            self._mark_one(index)
        self._num_marked = min(self._sealed, len(self._widgets))

    def _mark_one(self, index: int) -> None:
        raw, runs, wanted = self._told
        view = self._views()[index]
        fits = len(runs.sources) == len(raw)
        text = view.toPlainText()
        found = runs.locate(text, self._drawn[index]) if wanted and fits else []
        ranges = [item for item in found if item.source in wanted]
        units = formula_units(text)
        paint_marks(view, (item for item in ranges if item.start not in units), self._theme.tokens)
        if isinstance(view, ProseView):
            view.mark_formulas({item.start: item.source for item in ranges if item.start in units})
            refused = runs.rejections() if self._shows_refused and fits else []
            view.set_refused(refused_at(text, self._drawn[index], refused) if refused else [])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While sources are marked, the pointer on a token tells of its pass."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._told[2]:
            for index, view in enumerate(self._views()):
                if view.viewport() is watched:
                    self._tell_pass(index, view, event)
                    return True
        return super().eventFilter(watched, event)

    def _tell_pass(self, index: int, view: QTextEdit | QPlainTextEdit, event: QHelpEvent) -> None:
        raw, runs, _wanted = self._told
        cursor = view.cursorForPosition(event.pos())
        # A cursor stands between characters: the one before it is under the pointer where the pointer is left of it.
        right_of = event.pos().x() >= view.cursorRect(cursor).x()
        position = cursor.position() - (0 if right_of else 1)
        place = place_at(view.toPlainText(), self._drawn[index], position)
        found = None if place is None or len(runs.sources) != len(raw) else runs.pass_at(raw, place)
        if found is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(event.globalPos(), pass_tip(found), view)
            if QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, pass_words(found)))

    def _views(self) -> list[ProseView | QPlainTextEdit]:
        return [part.view if isinstance(part, CodeBlock) else part for part in self._widgets]

    def _show(self) -> None:
        plan = plan_segments([*self._open_blocks, *self._stream.tail])
        for index, segment in enumerate(plan):
            self._put(self._sealed + index, segment)
        while len(self._widgets) > self._sealed + len(plan):
            self._drop(len(self._widgets) - 1)
        self._seal(plan)

    def _seal(self, plan: list[Segment]) -> None:
        """Forget the blocks of every segment that is followed by a final block: nothing can join it any more."""
        for segment in plan[:-1]:
            if segment.num_blocks >= len(self._open_blocks):
                return
            self._open_blocks = self._open_blocks[segment.num_blocks :]
            self._sealed += 1

    def _put(self, index: int, segment: Segment) -> None:
        existing = self._widgets[index] if index < len(self._widgets) else None
        if existing is not None and isinstance(existing, CodeBlock) != segment.is_code:
            for position in range(len(self._widgets) - 1, index - 1, -1):
                self._drop(position)
            existing = None
        if existing is None:
            self._make(segment, index)
        self._fill(index, segment)

    def _fill(self, index: int, segment: Segment) -> None:
        widget = self._widgets[index]
        self._drawn[index] = segment.drawn
        if isinstance(widget, CodeBlock):
            widget.set_code(segment.code, segment.language, closed=segment.closed)
        else:
            widget.set_html(segment.html)

    def _make(self, segment: Segment, index: int) -> None:
        widget: ProseView | CodeBlock
        if segment.is_code:
            widget = self._spares.code()
        else:
            widget = self._spares.prose()
            widget.setProperty("kind", self.property("kind"))
            widget.fit(self._text_width)
            widget.setAccessibleName(self.accessibleName() or translate("AnswerBody", "Answer text"))
            widget.link_activated.connect(self.link_activated)
            widget.drawn_again.connect(partial(self._on_drawn_again, widget))
        view = widget.view if isinstance(widget, CodeBlock) else widget
        view.viewport().installEventFilter(self)
        self._widgets.insert(index, widget)
        self._drawn.insert(index, segment.drawn)
        self._layout.insertWidget(index, widget)
        widget.show()  # a layout would show it one turn of the event loop later

    def _on_drawn_again(self, widget: ProseView) -> None:
        if (self._told[2] or self._shows_refused) and widget in self._widgets:
            self._mark_one(self._widgets.index(widget))

    def _drop(self, index: int) -> None:
        widget = self._widgets.pop(index)
        del self._drawn[index]
        self._layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()
