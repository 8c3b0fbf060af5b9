"""A line above the chat: the system prompt that is in use, and whose it is. A click opens it to be changed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from app.core.domain.settings.layers import Layer, LayeredValue
from ui.text.formatting import hover
from ui.text.language import mark, translate
from ui.text.one_line import cut
from ui.theme.theme import Theme

PAD_PX = 16
_SAID: dict[Layer, str] = {
    Layer.CHAT: mark("PromptLine", "System prompt of this chat: {text}"),
    Layer.MODEL: mark("PromptLine", "System prompt of this model: {text}"),
    Layer.GLOBAL: mark("PromptLine", "System prompt of all chats: {text}"),
}


class PromptLine(QPushButton):
    """Away while there is none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._words = ""
        self.setObjectName("promptInUse")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.updateGeometry)
        self.setAccessibleName(translate("PromptLine", "System prompt"))
        self.hide()

    def show_prompt(self, prompt: LayeredValue | None) -> None:
        """Tell this one, as it holds for the open chat."""
        text = str(prompt.value or "").strip() if prompt is not None else ""
        self.setVisible(bool(text) and prompt is not None and prompt.origin in _SAID)
        if not self.isHidden() and prompt is not None:
            self._words = translate("PromptLine", _SAID[prompt.origin]).format(text=" ".join(text.split()))
            self.setAccessibleName(self._words)
            self.setAccessibleDescription(translate("PromptLine", "Opens it to be changed"))
            self.setToolTip(hover(text))
            self.update()

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(120, round(self._theme.text_height(-1)) + 12)

    def minimumSizeHint(self) -> QSize:
        """It may be narrow."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """As much of it as fits, on the ground of a button."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setFont(self._theme.paint_cache.font(-1))
        painter.setPen(self._theme.paint_cache.color(self._theme.tokens.text_muted))
        rect = self.rect().adjusted(PAD_PX, 0, -PAD_PX, 0)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(rect, left, cut(self._words, painter.fontMetrics(), rect.width()))
