"""The context meter in the header, and the estimated size of the next prompt."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from app.core.domain.context import ContextParts
from engine.records import MIN_ANSWER_TOKENS
from ui.text.formatting import count, percent, tooltip
from ui.text.language import Translator, mark, translate
from ui.theme.theme import Theme
from ui.widgets.icon_button import ElidedButton

tr = Translator("ContextMeter")

BAR = QSize(56, 8)
RADIUS_PX = 3.0
TEMPLATE_TOKENS_PER_MESSAGE = 8  # approximate length of the template's text around a message


def summary_words(parts: ContextParts) -> str:
    if not parts.size:
        return tr("Context: no model is loaded.")
    if parts.refused:
        return refused_words(parts)
    template = tr("Context: {used} of {size} tokens used{full}.")
    if parts.is_estimate:
        template = tr("Context: about {used} of {size} tokens used{full}.")
    full = ""
    if parts.nearly_full:
        full = tr(", full") if parts.full else tr(", nearly full")
    first = template.format(used=count(parts.used), size=count(parts.size), full=full)
    last = parts.last_answer
    rest = tr("System prompt {system}, conversation {conversation}, last answer {last} tokens.", None, last)
    if parts.has_tools:
        rest = tr(
            "System prompt and tools {system}, conversation {conversation}, last answer {last} tokens.", None, last
        )
    figures = {"system": parts.system, "conversation": parts.conversation, "last": last}
    return f"{first} {rest.format(**{name: count(number) for name, number in figures.items()})}"


def refused_words(parts: ContextParts) -> str:
    """The parts of the last question, which did not fit the context."""
    words = tr(
        "Too long: with the last question, the conversation takes {needed} tokens, but the context holds only {size}."
    )
    return words.format(needed=count(parts.refused), size=count(parts.size))


class ContextMeter(ElidedButton):
    """A small bar; with the percentage in words while the context is nearly full."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.parts = ContextParts()
        self.setObjectName("contextMeter")
        self.setIconSize(BAR)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._painted: tuple[object, ...] = ()  # the values from which the bar was painted
        theme.changed.connect(self._show)
        self._show()

    def set_parts(self, parts: ContextParts) -> None:
        if parts != self.parts:
            self.parts = parts
            self._show()

    def _show(self) -> None:
        parts, ratio = self.parts, self.devicePixelRatioF()
        warns = parts.nearly_full or parts.refused > 0
        filled = 1.0 if parts.refused else round(BAR.width() * ratio * parts.share) / (BAR.width() * ratio)
        painted = (self._theme.tokens, ratio, warns, filled)
        if painted != self._painted:
            self._painted = painted
            self.setIcon(QIcon(self._bar(filled, warns=warns)))
        text = f" {_short_words(parts)}" if warns else ""
        if text != self.text():  # Qt lays out the whole header after `setText`, even for the same text
            beside, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
            self.setToolButtonStyle(beside if text else alone)
            self.setText(text)
        words = summary_words(parts)
        self.setVisible(parts.size > 0)
        self.setToolTip(tooltip(words))
        self.setAccessibleName(words)

    def _bar(self, filled: float, *, warns: bool) -> QPixmap:
        palette, ratio = self._theme.tokens, self.devicePixelRatioF()
        pixmap = QPixmap(BAR * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(palette.caution if warns else palette.edge))
        painter.drawRoundedRect(QRectF(0.5, 0.5, BAR.width() - 1.0, BAR.height() - 1.0), RADIUS_PX, RADIUS_PX)
        color = QColor(palette.caution if warns else palette.accent)
        painter.fillRect(QRectF(2.0, 2.0, (BAR.width() - 4.0) * filled, BAR.height() - 4.0), color)
        painter.end()
        return pixmap


def _short_words(parts: ContextParts) -> str:
    if parts.refused:
        words = tr("{needed} of {size} · too long")
        return words.format(needed=count(parts.refused), size=count(parts.size))
    return f"{percent(parts.share)} · {tr('full') if parts.full else tr('nearly full')}"


_TOO_LONG_WARNINGS = mark(
    "ContextSum",
    "This message alone does not fit in the context. Remove an attachment, shorten the text, or choose a "
    "larger context in the settings.",
)
_POLICIES = {
    "stop": mark(
        "ContextSum",
        "This does not fit in the context. Remove an attachment, start a new chat, or choose a larger "
        "context in the settings.",
    ),
    "drop": mark(
        "ContextSum", "This does not fit in the context: the oldest messages will be left out, and the answer says so."
    ),
    "summarise": mark(
        "ContextSum",
        "This does not fit in the context: the oldest messages will be summarised first, and the answer says so.",
    ),
}


@dataclass(frozen=True, slots=True)
class ContextSum:
    """The tokens of the next prompt, estimated from its texts and what the last answer reported."""

    conversation: int
    attached: int
    typed: int
    size: int

    @property
    def total(self) -> int:
        return self.conversation + self.attached + self.typed

    @property
    def fits(self) -> bool:
        """Whether the prompt leaves space for an answer."""
        return self.total <= self.size - MIN_ANSWER_TOKENS


def sum_words(context_sum: ContextSum) -> str:
    """The sum in short: ``about 2,310 of 4,096 tokens``."""
    words = translate("ContextSum", "about {total} of {size} tokens")
    return words.format(total=count(context_sum.total), size=count(context_sum.size))


def warning(context_sum: ContextSum, policy: str) -> str:
    if context_sum.fits:
        return ""
    alone = ContextSum(0, context_sum.attached, context_sum.typed, context_sum.size)
    if not alone.fits and policy != "stop":
        return translate("ContextSum", _TOO_LONG_WARNINGS)
    return translate("ContextSum", _POLICIES.get(policy, _POLICIES["stop"]))
