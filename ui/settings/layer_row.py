"""A row of layered settings: its editor, where its value comes from, and the way back to what lies behind it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.core.domain.settings.fields import FieldKind, SettingField, SettingValue
from app.core.domain.settings.layers import Layer, LayeredValue
from engine.records import Mode
from ui.settings.rows import ChoiceRow, make_row
from ui.text.formatting import hover
from ui.text.language import mark, translate
from ui.text.mode_words import mode_words, not_now
from ui.widgets.building import Stretch, button, hbox, label, vbox
from ui.widgets.styling import set_style_property

PAUSE_MS = 300  # typing is one change, not one for each key

_ORIGINS: dict[Layer, str] = {
    Layer.CHAT: mark("ChatSettings", "this chat"),
    Layer.MODEL: mark("ChatSettings", "from the model"),
    Layer.GLOBAL: mark("ChatSettings", "from the settings"),
    Layer.DEFAULT: mark("ChatSettings", "default"),
}
_OWN: dict[Layer, str] = {
    Layer.CHAT: mark("ChatSettings", "this chat"),
    Layer.MODEL: mark("ChatSettings", "this model"),
    Layer.GLOBAL: mark("ChatSettings", "set for all"),
}
_HIDDEN: dict[Layer, str] = {
    Layer.CHAT: mark("ChatSettings", "overridden by this chat"),
    Layer.MODEL: mark("ChatSettings", "overridden by the model"),
}


class ModeChoiceRow(ChoiceRow):
    """One of the modes, in a list where its cards would be too tall; their words stand beside it and on hover."""

    def _show_reason(self) -> None:
        self.help.setTextFormat(Qt.TextFormat.PlainText)  # a reason may quote what a file says
        for place in range(self.combo.count()):
            lines = self._lines(place)
            self.combo.setItemData(place, hover("\n".join(lines)), Qt.ItemDataRole.ToolTipRole)
            if place == self.combo.currentIndex():
                self.help.setText("\n".join(lines))
                self.combo.setAccessibleDescription(" ".join(lines))

    def _lines(self, place: int) -> tuple[str, ...]:
        value = str(self.combo.itemData(place))
        lines = mode_words(Mode(value)).lines
        reason = not_now(self._reasons.get(value, ""))
        return (*lines, reason) if reason else lines


class LayerRow(QWidget):
    """One value as it holds at the layer that is being edited.

    Signals:
        edited(object): another value, once typing has paused.
        reset: the value of this layer's own is to go.
    """

    edited = Signal(object)
    reset = Signal()

    def __init__(self, field: SettingField) -> None:
        super().__init__()
        self.field = field
        # The cards are too tall among other rows; the settings have them, and this one their words.
        self.row = ModeChoiceRow(field, stacked=True) if field.kind is FieldKind.MODE else make_row(field, stacked=True)
        self.origin = label("", "key")
        self.hidden = label("", "caption")
        self.reset_button = button(translate("ChatSettings", "Reset"), self.reset.emit, kind="link")
        self._shown: SettingValue = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.flush)
        self.row.changed.connect(self._pause.start)
        self._arrange()

    def _arrange(self) -> None:
        signs = hbox(self.origin, self.hidden, self.reset_button, Stretch(), margins=(0, 4, 0, 0), spacing=8)
        self.row.words.insertLayout(2, signs)
        vbox(self.row, parent=self, margins=0)

    def set_value(self, value: LayeredValue, layer: Layer) -> None:
        """Show a value as it holds at ``layer``; what is being typed stays."""
        own = value.origin is layer
        words = translate("ChatSettings", (_OWN if own else _ORIGINS)[value.origin])
        self.origin.setText(words)
        set_style_property(self.origin, "own", "true" if own else "false")
        self.origin.setVisible(own)  # what is as it would be anyhow needs no sign: the hover says whose it is
        self.row.label.setToolTip(words)
        self.hidden.setText(translate("ChatSettings", _HIDDEN[value.hidden_by]) if value.hidden_by else "")
        self.hidden.setVisible(value.hidden_by is not None)
        self.reset_button.setVisible(own)
        name = translate("ChatSettings", "Reset {label}").format(label=self.field.label)
        self.reset_button.setAccessibleName(name)
        self.origin.setAccessibleName(
            translate("ChatSettings", "{label}: {origin}").format(label=self.field.label, origin=words)
        )
        self._shown = value.value
        if self._pause.isActive() or self._is_shown(value.value):
            return
        self._put(value.value)

    def _is_shown(self, value: SettingValue) -> bool:
        return not self.row.problem() and self.row.value() == value

    def _put(self, value: SettingValue) -> None:
        self.row.blockSignals(True)  # what is shown is no edit
        self.row.set_value(value)
        self.row.blockSignals(False)
        self.row.show_complaint()

    def force_value(self, value: LayeredValue, layer: Layer) -> None:
        """Show a value of another chat or layer; what was being typed was flushed before."""
        self._pause.stop()
        self.set_value(value, layer)

    def discard_pending(self) -> None:
        """Discard an edit that still waits for a pause in typing."""
        self._pause.stop()

    def flush(self) -> None:
        """Emit what was typed now, without waiting for a pause."""
        self._pause.stop()
        if self.row.problem():
            return
        value = self.row.value()
        if value != self._shown:
            self._shown = value
            self.edited.emit(value)
