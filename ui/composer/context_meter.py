"""The context meter in the header, and its panel: parts of the context, and the choice for a full context.

Parts differ in pattern as well as in shade, and are also described in words.
"""

import math
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QIcon, QKeyEvent, QPainter, QPainterPath, QPixmap
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QLabel, QRadioButton, QSizePolicy, QWidget

from app.core.domain.context import ContextParts
from engine.records import MIN_ANSWER_TOKENS
from ui.text.formatting import count, percent, tooltip
from ui.text.language import Translator, mark, translate
from ui.theme.palette import Palette
from ui.theme.theme import Theme
from ui.widgets.building import grid, label, vbox
from ui.widgets.icon_button import CompactButton
from ui.widgets.popups import Popup

tr = Translator("ContextMeter")

BAR = QSize(56, 8)
RADIUS_PX = 3.0
SWATCH = QSize(14, 10)
PANEL_PX = 320
TEMPLATE_TOKENS_PER_MESSAGE = 8  # approximate length of the template's text around a message
BORDERS_PX = 2  # both side borders of the panel
POLICIES = {
    "drop": tr.mark("Leave out the oldest messages"),
    "summarise": tr.mark("Summarise the oldest messages"),
    "stop": tr.mark("Stop and tell me"),
}
POLICY_HELP = {
    "drop": tr.mark("The answer says how many messages were left out."),
    "summarise": tr.mark("The model first writes a summary that is sent in their place. You can read and undo it."),
    "stop": tr.mark("No more answers until there is room."),
}
SYSTEM, CONVERSATION, LAST, FREE, REFUSED = range(5)


def part_words(parts: ContextParts) -> list[tuple[str, str]]:
    free = max(0, parts.size - parts.used)
    tools = tr("System prompt and tools")
    return [
        (tools if parts.has_tools else tr("System prompt"), count(parts.system)),
        (tr("Conversation"), count(parts.conversation)),
        (tr("Last answer"), count(parts.last_answer)),
        (tr("Free"), count(free)),
    ]


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


def paint_part(painter: QPainter, area: QRectF, part: int, palette: Palette) -> None:
    """Paint one part of the bar: system prompt dark, conversation in the accent colour, last answer hatched."""
    if part == SYSTEM:
        painter.fillRect(area, QColor(palette.text_muted))
    elif part == CONVERSATION:
        painter.fillRect(area, QColor(palette.accent))
    elif part == LAST:
        painter.fillRect(area, QColor(palette.page))
        painter.fillRect(area, QBrush(QColor(palette.accent_text), Qt.BrushStyle.BDiagPattern))
    elif part == REFUSED:
        painter.fillRect(area, QColor(palette.page))
        painter.fillRect(area, QBrush(QColor(palette.caution), Qt.BrushStyle.DiagCrossPattern))


class ContextMeter(CompactButton):
    """A small bar with a percentage; hidden in a narrow window until it is nearly full."""

    policy_chosen = Signal(str)  # what to do when the context is full: "drop", "summarise" or "stop"
    parts_changed = Signal(object)
    hides_when_compact = True

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.parts = ContextParts()
        self._policy = "drop"
        self.usual_words = (percent(1.0),)
        self.setObjectName("contextMeter")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(BAR)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.panel: ContextPanel | None = None
        self.clicked.connect(self.open_panel)
        self._painted_values: tuple[object, ...] = ()  # the values from which the bar was painted
        theme.changed.connect(self._show)
        self._show()

    def set_parts(self, parts: ContextParts) -> None:
        if parts != self.parts:
            self.parts = parts
            self._show()
            self.parts_changed.emit(parts)

    def set_policy(self, policy: str) -> None:
        self._policy = policy
        self._show()

    def set_compact(self, compact: bool) -> None:
        """Hide the meter in a narrow header, unless it shows a warning."""
        self._compact = compact
        self.setVisible(self.width_px(compact=compact) > 0)

    def width_px(self, *, compact: bool) -> int:
        """The width in pixels; 0 if the meter is hidden."""
        is_gone = not self.parts.size or (compact and not self._is_warning)
        return 0 if is_gone else super().width_px(compact=False)

    def sizeHint(self) -> QSize:
        """The width with text, also while hidden."""
        return QSize(super().width_px(compact=False), super().sizeHint().height())

    def open_panel(self) -> None:
        panel = self.panel = ContextPanel(self._theme, self.parts, self._policy, self)
        panel.policy_chosen.connect(self._choose)
        panel.open_from(self, at_right=True)
        panel.focus_choice()

    def _choose(self, policy: str) -> None:
        self.set_policy(policy)
        self.policy_chosen.emit(policy)

    def _show(self) -> None:
        parts = self.parts
        self.set_compact(self._compact)
        painted = (self._theme.tokens, self.devicePixelRatioF(), self._is_warning, *self._bar_parts())
        if painted != self._painted_values:
            self._painted_values = painted
            self.setIcon(QIcon(self._bar()))
        text = f" {_short_words(parts)}"
        if text != self.text():  # Qt lays out the whole header after `setText`, even for the same text
            self.setText(text)
        words = summary_words(parts)
        after = tr("When it is full: {policy}.").format(policy=tr(POLICIES.get(self._policy, POLICIES["drop"])))
        self.setToolTip(tooltip(f"{words} {after}"))
        self.setAccessibleName(words)
        self.setAccessibleDescription(after)

    @property
    def _is_warning(self) -> bool:
        return self.parts.nearly_full or self.parts.refused > 0

    def _bar_parts(self) -> list[tuple[int, float, float]]:
        """The parts of the bar from the left, each with its begin and end, rounded to pixels of the screen."""
        parts, ratio, left = self.parts, self.devicePixelRatioF(), 1.0
        held = ((SYSTEM, parts.system), (CONVERSATION, parts.conversation), (LAST, parts.last_answer))
        found = []
        for part, tokens in ((REFUSED, parts.size),) if parts.refused else held:
            share = min(tokens / parts.size if parts.size else 0.0, 1.0)
            right = min(left + (BAR.width() - 2.0) * share, BAR.width() - 1.0)
            begin, end = (math.floor(edge * ratio + 0.5) / ratio for edge in (left, right))
            found.append((part, begin, end))
            left = right
        return found

    def _bar(self) -> QPixmap:
        palette, ratio = self._theme.tokens, self.devicePixelRatioF()
        pixmap = QPixmap(BAR * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(0.5, 0.5, BAR.width() - 1.0, BAR.height() - 1.0)
        shape = QPainterPath()
        shape.addRoundedRect(area, RADIUS_PX, RADIUS_PX)
        painter.fillPath(shape, QColor(palette.border))
        painter.setClipPath(shape)
        for part, begin, end in self._bar_parts():
            paint_part(painter, QRectF(begin, 1.0, end - begin, BAR.height() - 2.0), part, palette)
        if self._is_warning:
            painter.setClipping(False)
            painter.setPen(QColor(palette.caution))
            painter.drawPath(shape)
        painter.end()
        return pixmap


class ContextPanel(Popup):
    policy_chosen = Signal(str)  # see `ContextMeter`
    parts_changed = Signal(object)

    def __init__(self, theme: Theme, parts: ContextParts, policy: str, parent: QWidget) -> None:
        super().__init__(tr("Context"), parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading = label(tr("Context, in tokens"), "section")
        column = vbox(heading, parent=self, margins=(16, 12, 16, 12), spacing=4)
        if parts.refused:
            refused = label(refused_words(parts), "warning", wrap=True)
            column.addWidget(refused)
        column.addLayout(self._table(theme, parts))
        column.addSpacing(8)
        question = label(tr("When it is full"), "section")
        column.addWidget(question)
        self.choices = QButtonGroup(self)
        self.radios: dict[str, QRadioButton] = {}
        for key, text in POLICIES.items():
            radio = self.radios[key] = QRadioButton(tr(text))
            radio.setAccessibleDescription(tr(POLICY_HELP[key]))
            radio.setChecked(key == policy)
            radio.clicked.connect(lambda _checked, key=key: self._choose(key))
            self.choices.addButton(radio)
            column.addWidget(radio)
        self.help = label("", "caption", wrap=True)
        column.addSpacing(4)
        self.help.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.MinimumExpanding)
        column.addWidget(self.help)
        self._show_policy_help(policy)
        for widget in self.findChildren(QWidget):
            widget.ensurePolished()  # applies the text size, on which the width of unbreakable lines depends
        column.invalidate()
        self.setFixedWidth(max(PANEL_PX, column.minimumSize().width() + BORDERS_PX))

    @staticmethod
    def _table(theme: Theme, parts: ContextParts) -> QGridLayout:
        table = grid(gaps=(8, 4))
        for row, (name, tokens) in enumerate(part_words(parts)):
            swatch, figure = QLabel(), QLabel(tokens)
            ratio = swatch.devicePixelRatioF()
            palette = theme.tokens
            pixmap = QPixmap(SWATCH * ratio)
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(QColor(palette.page))
            painter = QPainter(pixmap)
            paint_part(painter, QRectF(1.0, 1.0, SWATCH.width() - 2.0, SWATCH.height() - 2.0), row, palette)
            painter.setPen(QColor(palette.border_strong))
            painter.drawRect(QRectF(0.5, 0.5, SWATCH.width() - 1.0, SWATCH.height() - 1.0))
            painter.end()
            swatch.setPixmap(pixmap)
            figure.setAlignment(Qt.AlignmentFlag.AlignRight)
            figure.setAccessibleName(f"{name}: {tokens}")
            table.addWidget(swatch, row, 0)
            table.addWidget(QLabel(name), row, 1)
            table.addWidget(figure, row, 2)
        table.setColumnStretch(1, 1)
        return table

    def focus_choice(self) -> None:
        chosen = self.choices.checkedButton()
        if chosen is not None:
            chosen.setFocus(Qt.FocusReason.PopupFocusReason)

    def _choose(self, policy: str) -> None:
        self._show_policy_help(policy)
        self.policy_chosen.emit(policy)

    def _show_policy_help(self, policy: str) -> None:
        self.help.setText(tr(POLICY_HELP.get(policy, "")) if policy in POLICY_HELP else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter applies the choice and closes; Escape closes."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            self.close()
        else:
            super().keyPressEvent(event)


def _short_words(parts: ContextParts) -> str:
    if parts.refused:
        words = tr("{needed} of {size} · too long")
        return words.format(needed=count(parts.refused), size=count(parts.size))
    share = percent(parts.share)
    if not parts.nearly_full:
        return share
    full = tr("full") if parts.full else tr("nearly full")
    return f"{share} · {full}"


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


def parts_words(context_sum: ContextSum) -> str:
    typed = context_sum.typed
    words = translate(
        "ContextSum", "Conversation {conversation}, attachments {attached}, this message {typed} tokens.", None, typed
    )
    return words.format(
        conversation=count(context_sum.conversation), attached=count(context_sum.attached), typed=count(typed)
    )


def warning(context_sum: ContextSum, policy: str) -> str:
    if context_sum.fits:
        return ""
    alone = ContextSum(0, context_sum.attached, context_sum.typed, context_sum.size)
    if not alone.fits and policy != "stop":
        return translate("ContextSum", _TOO_LONG_WARNINGS)
    return translate("ContextSum", _POLICIES.get(policy, _POLICIES["stop"]))
