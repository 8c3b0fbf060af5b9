"""A small icon button that follows the palette, optionally hidden until hover or focus, and one with elided text."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPaintEvent
from PySide6.QtWidgets import QStyle, QStyleOptionToolButton, QStylePainter, QToolButton

from ui.text.formatting import without_markup
from ui.theme.theme import Theme

CONFIRM_MS = 1_500
MIN_WORD_PX = 16  # room for an elided text


class ElidedButton(QToolButton):
    """A button whose text is elided if it is narrower."""

    def _chrome_px(self) -> int:
        return self.sizeHint().width() - self.fontMetrics().horizontalAdvance(self.text()) - 1  # a rounded number

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self._chrome_px() + MIN_WORD_PX, self.sizeHint().width()), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter, option = QStylePainter(self), QStyleOptionToolButton()
        self.initStyleOption(option)
        room = self.width() - self._chrome_px()
        option.text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)


class IconButton(QToolButton):
    """An icon with an accessible name, and optionally a ``text`` beside it."""

    def __init__(
        self, theme: Theme, icon: str, name: str, action: Callable[[], object] | None = None, *, text: str = ""
    ) -> None:
        super().__init__()
        self._theme = theme
        self._icon_name = icon
        self._shown_icon = icon
        # A space separates text and icon; styles have no property for it.
        self._text = f" {text}" if text else ""
        self._revealed = True
        self._marked = ""  # palette field of its colour
        self.setAccessibleName(name)
        self.setToolTip(without_markup(name))
        self.setText(self._text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(16, 16))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        beside = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        self.setToolButtonStyle(beside if text else Qt.ToolButtonStyle.ToolButtonIconOnly)
        if action is not None:
            self.clicked.connect(lambda _checked=False: action())
        theme.changed.connect(self._recolor)
        self._recolor()

    def set_icon_name(self, icon: str) -> None:
        self._icon_name = self._shown_icon = icon
        self._recolor()

    def set_revealed(self, revealed: bool) -> None:
        """Show or hide the button without moving others; Tab reaches it in both cases."""
        if revealed != self._revealed:
            self._revealed = revealed
            self.update()

    def set_marked(self, marked: bool, tone: str = "accent_text") -> None:
        self._marked = tone if marked else ""
        self._recolor()

    def confirm(self, text: str) -> None:
        """Confirm an action briefly, also for screen readers."""
        self._shown_icon = "check"
        self._recolor()
        if self._text:
            self.setMinimumWidth(self.width())
            self.setText(f" {text}")
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))
        QTimer.singleShot(CONFIRM_MS, self, self._end_confirmation)

    def _end_confirmation(self) -> None:
        self._shown_icon = self._icon_name
        self.setText(self._text)
        self._recolor()

    def _recolor(self) -> None:
        color = getattr(self._theme.tokens, self._marked) if self._marked else ""
        if self._shown_icon != self._icon_name:
            color = self._theme.tokens.good
        self.setIcon(self._theme.icon(self._shown_icon, color))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._revealed or self.hasFocus():
            super().paintEvent(event)
