"""A focus ring around widgets without one of their own."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from ui.theme.theme import Theme

RING_PX, RADIUS_PX = 2, 6
KEYBOARD_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
# Another window or a popup had the focus for a moment.
TEMPORARY_REASONS = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)


class FocusRing(QWidget):
    """Lies above a widget; takes no click. ``outset``: pixels outside of the widget, or inside if negative.

    A ring outside has the first large enough ancestor as its parent, and follows the widget's moves.
    """

    def __init__(self, theme: Theme, around: QWidget, outset: int) -> None:
        super().__init__(around)
        self._theme = theme
        self._around = around
        self._outset = outset
        self._by_keyboard = False
        self._followed: list[QWidget] = []
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def on_focus(self, event: QFocusEvent) -> None:
        """Handle the widget's focus events: shown for keyboard focus."""
        if event.reason() not in TEMPORARY_REASONS:
            self._by_keyboard = event.gotFocus() and event.reason() in KEYBOARD_REASONS
        for widget in self._followed:
            widget.removeEventFilter(self)
        self._followed = []
        self.hide()
        if self.parentWidget() is not self._around:
            self.setParent(self._around)
        if event.gotFocus() and self._by_keyboard:
            self._attach_to_host()
            self.follow_widget()
            self.show()
            self.raise_()

    def _attach_to_host(self) -> None:
        """Make the first large enough ancestor the parent, and watch the widgets up to it."""
        if self._outset <= 0:
            return
        host = self._around
        while (above := host.parentWidget()) is not None:
            self._followed.append(host)
            host = above
            if host.rect().contains(self._place_in(host)) or _scrolls(host) or host.isWindow():
                break
        for widget in self._followed:
            widget.installEventFilter(self)
        self.setParent(host)

    def _place_in(self, host: QWidget) -> QRect:
        gap = self._outset
        corner = self._around.mapTo(host, QPoint(0, 0)) if host is not self._around else QPoint(0, 0)
        return self._around.rect().translated(corner).adjusted(-gap, -gap, gap, gap)

    def follow_widget(self) -> None:
        self.setGeometry(self._place_in(self.parentWidget() or self._around))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self.follow_widget()
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.tokens.focus), RING_PX))
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), RADIUS_PX, RADIUS_PX)


def _scrolls(page: QWidget) -> bool:
    """Whether a scroll area moves this widget: a ring outside of the widget would stay behind."""
    viewport = page.parentWidget()
    return viewport is not None and isinstance(viewport.parentWidget(), QAbstractScrollArea)
