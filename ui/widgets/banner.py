"""Banners above the composer: a problem and its solution, a notice, or an offer to undo a deletion."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPlainTextEdit, QSizePolicy

from engine.records import Problem
from ui.text.language import translate
from ui.text.problem_words import explanation, in_language, in_words
from ui.theme.theme import Theme
from ui.widgets.building import button, hbox, label, show_text, vbox
from ui.widgets.icon_button import IconButton

MAX_NOTICES = 3
NOTICE_MS = 20_000  # a notice disappears after this; a problem stays
UNDO_SHOWN_MS = 8_000


class Banner(QFrame):
    """A banner with text and buttons; hidden while empty."""

    dismissed = Signal()  # closed by its button, or after a while

    def __init__(self, theme: Theme, *, problem: bool) -> None:
        super().__init__()
        self._theme = theme
        self._is_problem = problem
        self.problem: Problem | None = None
        self.setObjectName("problemBanner" if problem else "noticeBanner")
        self.icon = QLabel()
        self.icon.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.title = label("", "strong", wrap=True, selectable=True)
        self.message = label(wrap=True, selectable=True)
        self.close_button = IconButton(theme, "x", translate("Banner", "Dismiss"), self.dismiss)
        self.action_button = button("", self._on_action, name=translate("Banner", "Take the suggestion"))
        self.action_button.hide()
        self._action: Callable[[], object] | None = None
        for each in (self.title, self.message):
            each.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        words = vbox(
            self.title,
            self.message,
            margins=(0, 4, 0, 4),  # makes one line as high as the button
            spacing=2,
        )
        self.icon.setContentsMargins(0, 5, 0, 0)
        hbox(
            self.icon,
            (words, 1),
            (self.action_button, 0, Qt.AlignmentFlag.AlignVCenter),
            (self.close_button, 0, Qt.AlignmentFlag.AlignTop),
            parent=self,
            margins=(12, 6, 6, 6),
            spacing=10,
        )
        self._leave_timer = QTimer(self, singleShot=True)
        self._leave_timer.timeout.connect(self._keep_until_read)
        theme.changed.connect(self._recolor)
        self._recolor()
        self.hide()

    def show_problem(self, problem: Problem) -> None:
        self.problem = problem
        self._announce(in_words(problem).title, explanation(problem))

    def show_notice(self, text: str) -> None:
        """Show a notice; a message that was not dismissed stays above it."""
        text = in_language(text)
        is_notice = not self.isHidden() and self._action is None  # a suggestion is useless without its button
        kept = [line for line in self.message.text().split("\n") if is_notice and line != text]
        self._announce("", "\n".join([*kept, text][-MAX_NOTICES:]))
        self._leave_timer.start(NOTICE_MS)

    def show_suggestion(self, text: str, action: str, do: Callable[[], object]) -> None:
        """Show a suggestion with a button; it stays until it is accepted or dismissed."""
        self._announce("", text)
        self._leave_timer.stop()
        self._action = do
        self.action_button.setText(action)
        self.action_button.setAccessibleName(action)
        self.action_button.show()

    def withdraw_suggestion(self) -> None:
        if self._action is not None:
            self._action = None
            self.hide()

    def _on_action(self) -> None:
        do, self._action = self._action, None
        self.hide()
        if do is not None:
            do()

    def show_warning(self, text: str) -> None:
        """Show a warning until it is withdrawn or dismissed."""
        self._announce("", text)

    def _keep_until_read(self) -> None:
        """Disappear, unless the pointer is on the banner or the user has not seen it."""
        focus = QApplication.focusWidget()
        is_away = QApplication.applicationState() is not Qt.ApplicationState.ApplicationActive
        if is_away or self.underMouse() or (focus is not None and self.isAncestorOf(focus)):
            self._leave_timer.start()
        else:
            self.dismiss()

    def dismiss(self) -> None:
        if not self.isHidden():
            self.hide()
            self.dismissed.emit()

    def _announce(self, title: str, text: str) -> None:
        self._action = None
        self.action_button.hide()
        show_text(self.title, title)
        self.message.setText(text)
        self.setAccessibleName(title or translate("Banner", "Notice"))
        self.setAccessibleDescription(text)
        self.show()
        event = QAccessibleEvent(self, QAccessible.Event.Alert)
        QAccessible.updateAccessibility(event)

    def _recolor(self) -> None:
        tokens = self._theme.tokens
        name, color = ("triangle-alert", tokens.warning_text) if self._is_problem else ("info", tokens.text_muted)
        self.icon.setPixmap(self._theme.pixmap(name, color, 16, self.devicePixelRatioF()))


class UndoBar(Banner):
    """Offers to undo a deletion for some seconds. The deletion is final once the bar is ``dismissed``."""

    undone = Signal()  # undo the deletion

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, problem=False)
        self.action_button.setToolTip(translate("UndoBar", "Undo"))

    def show_deleted(self, words: str) -> None:
        self.dismiss()
        self.show_suggestion(words, translate("UndoBar", "Undo"), self.undone.emit)
        self._leave_timer.start(UNDO_SHOWN_MS)

    def undo(self) -> None:
        if not self.isHidden():
            self.action_button.click()

    def watch_editor(self, editor: QPlainTextEdit) -> None:
        """Use this bar for Ctrl+Z in an editor that has nothing to undo."""
        editor.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle Ctrl+Z: editors claim it even if they have nothing to undo."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and isinstance(watched, QPlainTextEdit)
            and not self.isHidden()
            and event.matches(QKeySequence.StandardKey.Undo)
            and not watched.document().isUndoAvailable()
        ):
            event.ignore()
            return True
        return super().eventFilter(watched, event)
