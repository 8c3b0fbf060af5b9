"""The panel beside a chat with the settings of the chat, its model and all chats, and the origin of each value.

Changes apply at once, from the next message on.
"""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QStyle, QWidget

from app.core.domain.settings.fields import FieldKind, SettingField, SettingValue
from app.core.domain.settings.layers import EDITABLE, Layer, LayeredValue, LayersView
from app.core.domain.settings.table import SPECULATION
from engine.records import Mode
from ui.settings.preset_menu import PresetMenu
from ui.settings.rows import ChoiceRow, make_row
from ui.text.formatting import without_markup
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import (
    PageSwitch,
    Stretch,
    button,
    hbox,
    label,
    scroll_area,
    separator,
    set_style_property,
    vbox,
)
from ui.widgets.icon_button import IconButton

tr = Translator("ChatSettings")

FIRST_FIELDS = ("system_prompt", "temperature")  # the most used settings

_TITLES: dict[Layer, str] = {
    Layer.CHAT: tr.mark("This chat"),
    Layer.PROJECT: tr.mark("This project"),
    Layer.MODEL: tr.mark("This model"),
    Layer.GLOBAL: tr.mark("All chats"),
}
_LAYER_EXPLANATIONS: dict[Layer, str] = {
    Layer.CHAT: tr.mark("Only for this chat. Anything not set here comes from the model or the settings."),
    Layer.PROJECT: tr.mark("For every chat in {project} that does not set its own value."),
    Layer.MODEL: tr.mark("For every chat with {model} that does not set its own value."),
    Layer.GLOBAL: tr.mark("For every chat, unless the chat or its model sets its own value."),
}
PAUSE_MS = 300  # a pause in typing ends a change

_ORIGINS: dict[Layer, str] = {
    Layer.CHAT: tr.mark("this chat"),
    Layer.PROJECT: tr.mark("from the project"),
    Layer.MODEL: tr.mark("from the model"),
    Layer.GLOBAL: tr.mark("from the settings"),
    Layer.MODEL_FILE: tr.mark("recommended for this model"),
    Layer.DEFAULT: tr.mark("default"),
}
_OWN_VALUE: dict[Layer, str] = {
    Layer.CHAT: tr.mark("this chat"),
    Layer.PROJECT: tr.mark("this project"),
    Layer.MODEL: tr.mark("this model"),
    Layer.GLOBAL: tr.mark("set for all"),
}
_HIDDEN: dict[Layer, str] = {
    Layer.CHAT: tr.mark("overridden by this chat"),
    Layer.PROJECT: tr.mark("overridden by the project"),
    Layer.MODEL: tr.mark("overridden by the model"),
}


class LayerRow(QWidget):
    """A setting at the edited layer."""

    edited = Signal(object)  # another value, after a pause in typing
    reset = Signal()  # remove this layer's own value

    def __init__(self, field: SettingField) -> None:
        super().__init__()
        self.field = field
        self.row = make_row(field, stacked=True)
        self.origin = label("", "key")
        self.hidden = label("", "caption")
        self.reset_button = button(tr("Reset"), self.reset.emit, kind="link")
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
        """Show the value at ``layer``; a pending edit is kept."""
        own = value.origin is layer
        words = tr((_OWN_VALUE if own else _ORIGINS)[value.origin])
        self.origin.setText(words)
        set_style_property(self.origin, "own", "true" if own else "false")
        self.origin.setVisible(own or value.origin is Layer.MODEL_FILE)  # inherited values are not marked
        self.row.label.setToolTip(words)
        self.hidden.setText(tr(_HIDDEN[value.hidden_by]) if value.hidden_by else "")
        self.hidden.setVisible(value.hidden_by is not None)
        self.reset_button.setVisible(own)
        name = tr("Reset {label}").format(label=self.field.label)
        self.reset_button.setAccessibleName(name)
        self.origin.setAccessibleName(tr("{label}: {origin}").format(label=self.field.label, origin=words))
        self._shown = value.value
        if self._pause.isActive() or (not self.row.problem() and self.row.value() == value.value):
            return
        self._set_control_value(value.value)

    def _set_control_value(self, value: SettingValue) -> None:
        self.row.blockSignals(True)  # showing a value is not an edit
        self.row.set_value(value)
        self.row.blockSignals(False)
        self.row.show_field_problem()

    def force_value(self, value: LayeredValue, layer: Layer) -> None:
        """Show the value of another chat or layer; its caller has emitted pending edits."""
        self._pause.stop()
        self.set_value(value, layer)

    def discard_pending(self) -> None:
        """Discard an edit that waits for a pause in typing."""
        self._pause.stop()

    def flush(self) -> None:
        self._pause.stop()
        if self.row.problem():
            return
        value = self.row.value()
        if value != self._shown:
            self._shown = value
            self.edited.emit(value)


class ChatSettingsPanel(QFrame):
    """The panel; shows one layer at a time."""

    # a `Layer`, and new values or the keys to remove
    changed = Signal(object, dict)
    reset = Signal(object, object)
    closed = Signal()

    def __init__(self, theme: Theme, view: LayersView, presets: PresetMenu) -> None:
        super().__init__()
        self.setObjectName("chatSettings")
        self.setAccessibleName(tr("Chat settings"))
        self._view = view
        self.layer = Layer.CHAT
        self.presets = presets
        self.rows: dict[str, LayerRow] = {}
        layers = [(layer, tr(_TITLES[layer])) for layer in EDITABLE]
        self.switch = PageSwitch(tr("Applies to"), layers)
        self.switch.chosen.connect(self._show_layer)
        self.explanation = label("", "caption", wrap=True)
        self._content = QWidget()
        self.reset_button = button("", lambda: self._on_reset(self._own_keys()))
        self.close_button = IconButton(theme, "x", tr("Close"), self.hide)
        self._arrange()
        self.presets.opening.connect(self.flush)
        self.presets.applied.connect(self._on_preset)
        self.set_view(view)

    def _arrange(self) -> None:
        title = label(tr("Chat settings"), "heading")
        top = hbox(title, Stretch(), self.close_button)
        head = vbox(
            top,
            self.switch,
            self.explanation,
            (self.presets, 0, Qt.AlignmentFlag.AlignLeft),
            margins=(16, 8, 8, 10),
            spacing=8,
        )
        foot = vbox(self.reset_button, margins=(16, 8, 16, 8))
        self._area = self._make_rows()
        vbox(head, separator(), (self._area, 1), separator(), foot, parent=self, margins=0, spacing=0)

    def _make_rows(self) -> QScrollArea:
        column = vbox(parent=self._content, margins=(16, 12, 16, 16), spacing=16)
        section = ""
        fields = [field for field in self._view.fields if field.kind is not FieldKind.SERVERS]  # in the menu of tools
        for field in sorted(fields, key=_place):
            if field.key in FIRST_FIELDS:
                if self.rows:
                    column.addWidget(separator())
            elif field.section != section:
                section = field.section
                heading = label(translate("Settings", section), "heading")
                column.addWidget(heading)
            else:
                column.addWidget(separator())
            row = self.rows[field.key] = LayerRow(field)
            row.edited.connect(partial(self._on_edited, field.key))
            row.reset.connect(partial(self._on_reset, (field.key,)))
            column.addWidget(row)
        column.addStretch(1)
        return scroll_area(self._content, tr("Values"), sideways=False)

    def focus_setting(self, key: str) -> None:
        """Focus a setting, and scroll to it once the panel is laid out."""
        row = self.rows[key]
        row.row.control.setFocus()
        QTimer.singleShot(0, row, lambda: self._area.ensureWidgetVisible(row))

    @property
    def minimum_width(self) -> int:
        """The minimum width in pixels at which no text is cut, in any language."""
        for widget in self.findChildren(QWidget):
            widget.ensurePolished()  # sets the widget's font
        for layout in self.findChildren(QLayout):
            layout.invalidate()  # hidden layouts are not invalidated by Qt
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        return max(self.minimumSizeHint().width(), self._content.minimumSizeHint().width() + bar)

    def set_view(self, view: LayersView, *, other: bool = False) -> None:
        """Show these values. ``other``: the values are another chat's, so pending edits are dropped."""
        self._view = view
        values = view.values.get(self.layer, {})
        for key, row in self.rows.items():
            if key in values:
                (row.force_value if other else row.set_value)(values[key], self.layer)
        model = view.model_name or tr("this model")
        self.switch.buttons[Layer.MODEL].setToolTip(without_markup(model))
        self.switch.buttons[Layer.PROJECT].setVisible(bool(view.project_name))
        if self.layer is Layer.PROJECT and not view.project_name:
            self._show_layer(Layer.CHAT)
            return
        words = tr(_LAYER_EXPLANATIONS[self.layer])
        self.explanation.setText(words.format(model=model, project=view.project_name))
        self.presets.set_values({key: value.value for key, value in values.items()})
        num_own = len(self._own_keys())
        self.reset_button.setText(tr("Reset all"))
        self.reset_button.setAccessibleName(tr("Reset all values of: {layer}").format(layer=tr(_TITLES[self.layer])))
        self.reset_button.setEnabled(num_own > 0)

    def set_unavailable(self, reasons: Mapping[Mode, str]) -> None:
        row = self.rows.get("mode")
        if row is not None and isinstance(row.row, ChoiceRow):
            row.row.explain({mode.value: reason for mode, reason in reasons.items()})

    def _own_keys(self) -> tuple[str, ...]:
        values = self._view.values.get(self.layer, {})
        return tuple(key for key, value in values.items() if value.origin is self.layer)

    def flush(self) -> None:
        for row in self.rows.values():
            row.flush()

    def _show_layer(self, layer: Layer) -> None:
        self.flush()
        self.layer = layer
        self.switch.buttons[layer].setChecked(True)
        self.set_view(self._view, other=True)

    def _on_edited(self, key: str, value: SettingValue) -> None:
        self.changed.emit(self.layer, {key: value})

    def _on_preset(self, values: Mapping[str, SettingValue]) -> None:
        self.flush()
        self.changed.emit(self.layer, dict(values))

    def _on_reset(self, keys: tuple[str, ...]) -> None:
        for key in self.rows.keys() & {*keys}:
            self.rows[key].discard_pending()
        self.reset.emit(self.layer, keys)

    def hideEvent(self, event: QHideEvent) -> None:
        """Emit pending edits, also if the panel is closed before the pause."""
        super().hideEvent(event)
        if not event.spontaneous() and self.isHidden():
            self.flush()
            self.closed.emit()


def _place(field: SettingField) -> tuple[int, bool]:
    """Sort key: first `FIRST_FIELDS`, speculation last, else the order of the table."""
    return FIRST_FIELDS.index(field.key) if field.key in FIRST_FIELDS else len(
        FIRST_FIELDS
    ), field.section == SPECULATION
