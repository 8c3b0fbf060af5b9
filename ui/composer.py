"""Where a message is written and sent, with the switches that apply to the next answer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QStyledItemDelegate,
    QVBoxLayout,
    QWidget,
)

from engine.records import Mode
from ui.elided_label import ElidedLabel
from ui.formatting import context, hover
from ui.mode_switch import ModeSwitch
from ui.records import EngineState, EngineView
from ui.theme import Theme

MAX_LINES = 9
MAX_DEPTH = 16
CONTEXT_HELP = "Tokens of this conversation that the model holds, and how many it can hold."
NEARLY_FULL = 0.85
OVERFLOW_HELP = {
    "drop": "When it is full, the oldest turns are left out, and the answer says so.",
    "stop": "When it is full, no answer is made until a new chat is started or the context is made larger.",
}
NOT_READY = {
    EngineState.EMPTY: "No model is loaded; open one or use the built-in pair.",
    EngineState.LOADING: "The model is loading; the message can be sent in a moment.",
}
DEPTH_HELP = "How many tokens are proposed per pass. Auto lets Paceline choose from what it measures."


class _MessageEdit(QPlainTextEdit):
    """Grows with its lines up to `MAX_LINES`.

    Signals:
        send: Enter without Shift.
        focus_changed(bool): the caret came or went.
    """

    send = Signal()
    focus_changed = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("composerText")
        self.setAccessibleName("Message")
        self.setPlaceholderText("Message")
        self.setTabChangesFocus(True)
        theme.dress(self, 1)
        self.document().setDocumentMargin(0)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        lines = min(max(round(self.document().size().height()), 1), MAX_LINES)
        self.setFixedHeight(round(lines * QFontMetricsF(self.font()).lineSpacing()) + 4)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter sends, Shift+Enter breaks the line."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.send.emit()
        else:
            super().keyPressEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste text only; a dropped file goes to the window."""
        if source.hasText() and not source.hasUrls():
            self.insertPlainText(source.text())

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Files are the window's."""
        return source.hasText() and not source.hasUrls()

    def event(self, event: QEvent) -> bool:
        """Tell the card around it that the caret came or went."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.focus_changed.emit(event.type() == QEvent.Type.FocusIn)
        return super().event(event)


class Composer(QWidget):
    """The card at the lower edge.

    Signals:
        submitted(str): a message was sent; the box is empty again.
        stop_requested: the answer is to stop.
        mode_chosen(object), depth_chosen(object): for the next message.
        text_changed(str): what stands in the box.
    """

    submitted = Signal(str)
    stop_requested = Signal()
    mode_chosen = Signal(object)
    depth_chosen = Signal(object)
    text_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._engine_busy = False
        self._streaming = False
        self._ready = False
        self._not_ready = ""
        self.edit = _MessageEdit(theme)
        self.modes = ModeSwitch()
        self.depth_box = QComboBox()
        self.reason = ElidedLabel()
        self.context_label = QLabel()
        self.send_button = QPushButton(" Send")
        self.stop_button = QPushButton(" Stop")
        self._make_controls()
        self._arrange()
        self._connect()
        theme.changed.connect(self._recolor)
        self._recolor()
        self.set_engine(EngineView())

    def _make_controls(self) -> None:
        self.depth_box.setObjectName("depth")
        self.depth_box.setAccessibleName("Draft length")
        self.depth_box.setToolTip(hover(DEPTH_HELP))
        self.depth_box.addItem("Depth auto", None)
        for depth in range(1, MAX_DEPTH + 1):
            self.depth_box.addItem(f"Depth {depth}", depth)
        self.depth_box.setItemDelegate(QStyledItemDelegate(self.depth_box))  # draws as the stylesheet says
        self.depth_box.setMaxVisibleItems(MAX_DEPTH + 1)
        self.reason.setProperty("kind", "caption")
        self.context_label.setProperty("kind", "caption")
        self._theme.dress(self.context_label, -1)
        self.context_label.setToolTip(hover(CONTEXT_HELP))
        self.send_button.setProperty("kind", "primary")
        self.send_button.setToolTip("Send the message (Enter)")
        self.send_button.setAccessibleName("Send")
        self.stop_button.setToolTip("Stop the answer (Esc)")
        self.stop_button.setAccessibleName("Stop")
        for button in (self.send_button, self.stop_button):
            button.setIconSize(QSize(14, 14))
            button.setMinimumWidth(84)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.stop_button.hide()

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.modes)
        row.addWidget(self.depth_box)
        row.addStretch(1)
        row.addWidget(self.stop_button)
        row.addWidget(self.send_button)
        self.card = QFrame()
        self.card.setObjectName("composerCard")
        inner = QVBoxLayout(self.card)
        inner.setContentsMargins(12, 10, 8, 8)
        inner.setSpacing(8)
        inner.addWidget(self.edit)
        inner.addLayout(row)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.card)
        captions = QHBoxLayout()
        captions.setContentsMargins(12, 0, 12, 0)
        captions.setSpacing(16)
        captions.addWidget(self.reason, 1)
        captions.addWidget(self.context_label)
        layout.addLayout(captions)
        self.setFocusProxy(self.edit)

    def _connect(self) -> None:
        self.edit.send.connect(self.submit)
        self.edit.textChanged.connect(self._on_text)
        self.edit.focus_changed.connect(self._show_focus)
        self.send_button.clicked.connect(self.submit)
        self.stop_button.clicked.connect(self._stop)
        self.modes.chosen.connect(self._on_mode)
        self.depth_box.activated.connect(lambda _index: self.depth_chosen.emit(self.depth_box.currentData()))

    # ---- values ------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """What stands in the box."""
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Put a text in the box, the caret at its end."""
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def set_engine(self, view: EngineView) -> None:
        """What can be done now."""
        self._not_ready = NOT_READY.get(view.state, "")
        self._ready = view.state in (EngineState.READY, EngineState.READING, EngineState.ANSWERING)
        self._engine_busy = view.state in (EngineState.READING, EngineState.ANSWERING)
        self.modes.set_unavailable(view.unavailable)
        self._update()

    def set_streaming(self, streaming: bool) -> None:
        """An answer is being shown, or not any more."""
        self._streaming = streaming
        self._update()

    @property
    def is_busy(self) -> bool:
        """Whether there is something to stop."""
        return self._engine_busy or self._streaming

    def set_mode(self, mode: Mode) -> None:
        """Show the mode of the next message."""
        self.modes.set_mode(mode)
        self._update()

    def set_depth(self, depth: int | None) -> None:
        """Show the draft length of the next message; one beyond the list is added to it."""
        index = self.depth_box.findData(depth)
        if index < 0:
            self.depth_box.addItem(f"Depth {depth}", depth)
            index = self.depth_box.count() - 1
        self.depth_box.setCurrentIndex(index)

    def set_context(self, used: int, size: int) -> None:
        """How much of the context is taken."""
        full = size > 0 and used >= NEARLY_FULL * size
        words = " · nearly full" if full else ""
        self.context_label.setText(f"Context {context(used, size)}{words}" if size else "")
        self.context_label.setAccessibleName(f"Context used: {context(used, size)} tokens{words}")
        kind = "warning" if full else "caption"
        if self.context_label.property("kind") != kind:
            self.context_label.setProperty("kind", kind)
            self.context_label.style().unpolish(self.context_label)
            self.context_label.style().polish(self.context_label)

    def set_overflow(self, policy: str) -> None:
        """What will happen when the context is full: "drop" or "stop"."""
        self.context_label.setToolTip(hover(f"{CONTEXT_HELP} {OVERFLOW_HELP.get(policy, '')}".strip()))

    # ---- intentions --------------------------------------------------------------------------------------------

    def submit(self) -> None:
        """Send what stands in the box, if anything can answer."""
        text = self.text.strip("\n")
        if not text.strip() or self.is_busy or not self._ready:
            return
        self.edit.clear()
        self.submitted.emit(text)

    def _stop(self) -> None:
        if self.is_busy:
            self.stop_requested.emit()

    def _on_mode(self, mode: Mode) -> None:
        self._update()
        self.mode_chosen.emit(mode)

    def _on_text(self) -> None:
        self._update()
        self.text_changed.emit(self.text)

    def _update(self) -> None:
        had_focus = self.stop_button.hasFocus() or self.send_button.hasFocus()
        self.stop_button.setVisible(self.is_busy)
        self.send_button.setVisible(not self.is_busy)
        self.send_button.setEnabled(self._ready and bool(self.text.strip()))
        self.depth_box.setEnabled(self.modes.mode is not Mode.OFF)
        self.reason.setText(self.modes.reason if self._ready else self._not_ready)
        self.reason.setToolTip(hover(self.reason.text()))
        if had_focus and not (self.stop_button.hasFocus() or self.send_button.hasFocus()):
            self.edit.setFocus()

    def _show_focus(self, focused: bool) -> None:
        self.card.setProperty("focusWithin", "true" if focused else "false")
        self.card.style().unpolish(self.card)
        self.card.style().polish(self.card)

    def _recolor(self) -> None:
        tokens = self._theme.tokens
        self.send_button.setIcon(self._theme.icon("arrow-up", tokens.on_accent, 14))
        self.stop_button.setIcon(self._theme.icon("square", tokens.text, 14))
