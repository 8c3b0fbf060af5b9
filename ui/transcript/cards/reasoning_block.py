"""An answer's reasoning: folded to a line with its duration, built when opened."""

import time
from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from engine.records import Source
from ui.text.formatting import count, duration
from ui.text.language import Translator, locale
from ui.theme.theme import Theme
from ui.transcript.cards.body import AnswerBody
from ui.transcript.marks.provenance import SourceRuns
from ui.widgets.building import vbox

tr = Translator("ReasoningBlock")

INDENT_PX = 16
SLICE_S = 0.008
TICK_MS = 500


def _duration_words(seconds: float) -> str:
    """A duration; with tenths of a second from one second to a minute."""
    if not 1 <= seconds < 59.95:
        return duration(seconds)
    return tr("{seconds} s").format(seconds=locale().toString(seconds, "f", 1))


class _Header(QToolButton):
    """The fold button; Enter works like Space."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
            return
        super().keyPressEvent(event)


class ReasoningBlock(QWidget):
    """Shows the reasoning as it grows; lays out nothing while folded."""

    expanded = Signal()  # the user unfolded the reasoning
    link_activated = Signal(str)  # a link in the reasoning was clicked

    def __init__(self, theme: Theme, text_width: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._theme = theme
        self._clock = clock
        self._text_width = text_width
        self.text, self._base = "", 0
        self._num_fed = 0  # number of characters that the body has
        self._is_live = False
        self._since_s: float | None = None
        self.duration_ms: int | None = None
        self._provenance: tuple[str, SourceRuns, frozenset[Source]] = ("", SourceRuns(), frozenset())
        self.body: AnswerBody | None = None
        self.header = _Header()
        self.header.setObjectName("thoughtHeader")
        self.header.setCheckable(True)
        self.header.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.header.setIconSize(QSize(14, 14))
        self.header.setCursor(Qt.CursorShape.PointingHandCursor)
        self.header.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.set_font(self.header)
        self.header.toggled.connect(self._on_toggled)
        self._frame = QFrame()
        self._frame.setObjectName("thought")
        self._inner = vbox(parent=self._frame, margins=(INDENT_PX - 4, 2, 0, 0))
        self._frame.hide()
        vbox((self.header, 0, Qt.AlignmentFlag.AlignLeft), self._frame, parent=self, margins=0, spacing=2)
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._update_header)
        self._build_timer = QTimer(self)
        self._build_timer.setSingleShot(True)
        self._build_timer.timeout.connect(self._build_slice)
        theme.changed.connect(self._update_header)

    @property
    def is_open(self) -> bool:
        return self.header.isChecked()

    @property
    def is_building(self) -> bool:
        return self._build_timer.isActive()

    def set_open(self, is_open: bool) -> None:
        self.header.setChecked(is_open)

    def reopen(self) -> None:
        """Unfold the reasoning of a restored card, without a signal; `build_next` fills it."""
        with QSignalBlocker(self.header):
            self.header.setChecked(True)
        self._show_frame()
        self._prepare()
        self._update_header()

    def build_next(self) -> bool:
        """Build one more part; False if all are built."""
        return self.body is not None and self.body.build_next()

    def set_text(self, text: str, base: int, *, live: bool) -> None:
        """Show reasoning that starts at ``base`` of the raw text; ``live``: more text follows."""
        if (text, base, live) == (self.text, self._base, self._is_live) and (text or not live):
            return
        if base != self._base or not text.startswith(self.text):
            self._num_fed = 0
            if self.body is not None:
                self.body.restart(base)
        self.text, self._base = text, base
        if live and self._since_s is None:
            self._since_s = self._clock() - (self.duration_ms or 0) / 1000
            self._tick.start()
        if self._is_live and not live:
            self._tick.stop()
            self.duration_ms = round((self._clock() - (self._since_s or self._clock())) * 1000)
            self._since_s = None
            if self.body is not None and self._num_fed == len(text):
                self.body.finish()
        self._is_live = live
        self._update_body()
        self._update_header()

    def reset(self) -> bool:
        if self.body is not None or self.is_open or self._is_live:
            return False
        self.text, self._base, self._num_fed, self.duration_ms = "", 0, 0, None
        self._provenance = ("", SourceRuns(), frozenset())
        return True

    def set_duration(self, thinking_ms: int | None) -> None:
        if thinking_ms is not None:
            self.duration_ms = thinking_ms
            self._update_header()

    def finish(self) -> None:
        self.set_text(self.text, self._base, live=False)

    def mark_new_tokens(self, raw: str, runs: SourceRuns, wanted: frozenset[Source]) -> None:
        self._provenance = (raw, runs, wanted)
        if self.body is not None:
            self.body.mark_new_tokens(raw, runs, wanted)

    def mark(self, raw: str, runs: SourceRuns, wanted: frozenset[Source], *, afresh: bool = True) -> None:
        """Mark the tokens of the wanted sources, if unfolded."""
        self._provenance = (raw, runs, wanted)
        if self.body is not None and self.is_open:
            self.body.mark(raw, runs, wanted, afresh=afresh)

    def mark_next(self, raw: str, runs: SourceRuns, wanted: frozenset[Source]) -> bool:
        self._provenance = (raw, runs, wanted)
        return self.body is not None and self.is_open and self.body.mark_next(raw, runs, wanted)

    def _on_toggled(self, is_open: bool) -> None:
        self._show_frame()
        if is_open:
            self.expanded.emit()
            self._update_body()
            self._refresh_marks()
        self._update_header()

    def _show_frame(self) -> None:
        self._frame.setVisible(self.is_open)
        self.setContentsMargins(0, 0, 0, 8 if self.is_open else 0)

    def _ensure_body(self) -> AnswerBody:
        if self.body is not None:
            return self.body
        body = self.body = AnswerBody(self._theme, self._frame, max(self._text_width - INDENT_PX, 0))
        body.setProperty("kind", "thought")
        body.setAccessibleName(tr("Reasoning"))
        body.link_activated.connect(self.link_activated)
        self._inner.addWidget(body)
        return body

    def _update_body(self) -> None:
        """Update the body if unfolded: growing text in chunks, finished text in slices."""
        if not self.is_open or self._num_fed == len(self.text):
            return
        if self._is_live or self._num_fed:
            body = self._ensure_body()
            if not self._num_fed:
                body.restart(self._base)
            body.append(self.text[self._num_fed :])
            if not self._is_live:
                body.finish()
            self._num_fed = len(self.text)
        else:
            self._prepare()
            self._build_slice()

    def _prepare(self) -> None:
        self._ensure_body().prepare(self.text, self._base)
        self._num_fed = len(self.text)

    def _build_slice(self) -> None:
        until = time.perf_counter() + SLICE_S
        while self.body is not None and self.body.build_next():
            if time.perf_counter() >= until:
                self._build_timer.start(0)
                return
        self._refresh_marks()

    def _refresh_marks(self) -> None:
        if self.body is not None and self._provenance[2]:
            self.body.mark(*self._provenance)

    def _update_header(self) -> None:
        name = "chevron-down" if self.is_open else "chevron-right"
        self.header.setIcon(self._theme.icon(name, size=14))
        self.header.setText(self.heading)
        state = tr("open") if self.is_open else tr("folded")
        words = tr("Reasoning. {heading}, {state}")
        self.header.setAccessibleName(words.format(heading=self.heading, state=state))

    @property
    def heading(self) -> str:
        if self._is_live:
            seconds = int(self._clock() - (self._since_s or self._clock()))
            if not seconds:
                return tr("Thinking…")
            return tr("Thinking… {seconds} s").format(seconds=count(seconds))
        if self.duration_ms is None:
            return tr("Thought")
        return tr("Thought for {duration}").format(duration=_duration_words(self.duration_ms / 1000))
