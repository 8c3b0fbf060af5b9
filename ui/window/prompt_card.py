"""An example to try: a button with an icon, a title and the words that would be sent, cut where they do not fit."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.elided_label import ElidedLabel

HEIGHT_PX = 60  # at the least
BETWEEN_PX, BESIDE_PX = 2, 16  # the lines, and above and below them together
LEAST_PX = 200


class PromptCard(QPushButton):
    """Draws its words with labels, which a plain button cannot elide."""

    def __init__(self, theme: Theme, icon: str, title: str, prompt: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon_name = icon
        self.prompt = prompt
        self.setProperty("kind", "prompt")
        self.setAccessibleName(f"{title}: {prompt}")
        self.setToolTip(translate("PromptCard", "Send “{prompt}”").format(prompt=prompt))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._mark = QLabel()
        heading = ElidedLabel(title)
        heading.setProperty("kind", "strong")
        words = ElidedLabel(" ".join(prompt.split()))
        words.setProperty("kind", "caption")
        column = QVBoxLayout()
        column.setSpacing(BETWEEN_PX)
        column.addStretch(1)
        column.addWidget(heading)
        column.addWidget(words)
        column.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(10)
        row.addWidget(self._mark)
        row.addLayout(column, 1)
        for label in (self._mark, heading, words):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self.recolor)
        self.recolor()

    def sizeHint(self) -> QSize:
        """As wide as the page gives."""
        return QSize(240, self._height)

    def minimumSizeHint(self) -> QSize:
        """Narrower in a narrow page; the prompt is cut, and whole in the hover."""
        return QSize(LEAST_PX, self._height)

    @property
    def _height(self) -> int:
        words = ceil(self._theme.text_height()) + ceil(self._theme.text_height(-1))
        return max(HEIGHT_PX, words + BETWEEN_PX + BESIDE_PX)

    def recolor(self) -> None:
        """Take the palette in force, and the height that its words need."""
        self.setFixedHeight(self._height)
        ratio = self.devicePixelRatioF()
        self._mark.setPixmap(self._theme.pixmap(self._icon_name, self._theme.tokens.accent_text, 18, ratio))
