"""Creates and styles widgets of an answer ahead, in event loop iterations without painting."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from ui.theme.theme import Theme
from ui.transcript.cards.code_block import CodeBlock, CodeView
from ui.transcript.cards.prose_view import ProseView

POLISHED_PER_STEP = 5
PAUSE_MS = 7  # pause after the last painting and before the next
STEP_MS = 28  # time between two steps: while text arrives, each step has a frame to itself
# Event loop iterations: what a widget requests in the first is painted in the second, before the timers.
_NUM_TURNS = 2


class IdleTimer(QTimer):
    """Fires once, in an event loop iteration that does not paint earlier requests."""

    def __init__(self, parent: QObject, work: Callable[[], None]) -> None:
        super().__init__(parent, singleShot=True)
        self._work = work
        self._turns = 0
        self.timeout.connect(self._on_timeout)

    def begin(self, pause_ms: int) -> None:
        self._turns = _NUM_TURNS
        self.start(pause_ms)

    def _on_timeout(self) -> None:
        if self._turns:
            self._turns -= 1
            self.start(0)
        else:
            self._work()


def polish_widgets(unpolished: list[QWidget]) -> bool:
    """Style a few widgets from the end of a list; False if the list is empty."""
    some = unpolished[-POLISHED_PER_STEP:]
    del unpolished[-POLISHED_PER_STEP:]
    for widget in some:
        if isValid(widget):
            widget.ensurePolished()
    return bool(some)


class PartPrefetcher(QObject):
    """Keeps a prose run and a code block ready as hidden children of ``parent``."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parking_widget = parent
        self._prose: ProseView | None = None
        self._code: CodeBlock | None = None
        self._view: CodeView | None = None  # view of the next code block
        self._unpolished: list[QWidget] = []  # unstyled widgets of the last created part, the part itself last
        self._timer = IdleTimer(self, self._make_one)

    def prefetch(self) -> None:
        """Create the missing parts, soon and one at a time."""
        if (self._prose is None or self._code is None) and not self._timer.isActive():
            self._timer.begin(PAUSE_MS)

    def postpone(self) -> None:
        """Continue in a later frame."""
        if self.is_busy:
            self._timer.begin(STEP_MS)

    @property
    def is_busy(self) -> bool:
        return self._timer.isActive()

    def clear(self) -> None:
        self._timer.stop()
        for part in (self._prose, self._code, self._view):
            if part is not None:
                part.deleteLater()
        self._prose = self._code = self._view = None
        self._unpolished = []

    def prose(self) -> ProseView:
        part, self._prose = self._prose, None
        return part or ProseView(self._theme, self._parking_widget)

    def code(self) -> CodeBlock:
        part, self._code = self._code, None
        return part or CodeBlock(self._theme, self._parking_widget)

    def _make_one(self) -> None:
        if self._unpolished:
            # Style some widgets: styling takes as long as creating.
            polish_widgets(self._unpolished)
            if not self._unpolished:
                for part in (self._prose, self._code):
                    if part is not None:
                        part.sizeHint()
        elif self._prose is None:
            self._adopt(ProseView(self._theme, self._parking_widget))
        elif self._code is None and self._view is None:  # its view first: creating the whole block would take a frame
            self._view = CodeView(self._theme, self._parking_widget)
        elif self._code is None:
            view, self._view = self._view, None
            self._adopt(CodeBlock(self._theme, self._parking_widget, view))
        if self._unpolished or self._prose is None or self._code is None:
            self._timer.begin(STEP_MS)

    def _adopt(self, part: ProseView | CodeBlock) -> None:
        if isinstance(part, CodeBlock):
            self._code = part
        else:
            self._prose = part
        part.hide()
        self._unpolished = [*reversed(part.findChildren(QWidget)), part]
