"""The rows of the settings dialog, one class per kind of field."""

import math
import re
from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QStyledItemDelegate,
    QVBoxLayout,
    QWidget,
)

from app.core.domain.settings.fields import FieldKind, SettingField, SettingValue
from app.core.domain.settings.table import value_problem
from app.core.domain.tools.servers import names_line, read_names
from engine.records import Mode
from ui.text.formatting import escape_mnemonics, number_text, tooltip, without_markup
from ui.text.language import Translator, locale, mark, translate
from ui.text.mode_words import mode_words, unavailable_text
from ui.text.problem_words import in_language
from ui.text.setting_words import in_words, sentence
from ui.widgets.building import Stretch, button, hbox, label, show_text, vbox
from ui.widgets.dialogs import open_dialog
from ui.widgets.exact_text import VerbatimTextEdit
from ui.widgets.popups import NoWheelComboBox, NoWheelSlider

tr = Translator("SettingRows")

CONTROL_PX = 240


class SettingRow(QWidget):
    """Label and help at the left, the control at the right, an error below."""

    changed = Signal()  # the value was edited
    is_wide = False  # a wide control is placed below its text

    def __init__(self, field: SettingField, *, stacked: bool = False) -> None:
        """``stacked``: the control goes below the text, for a narrow panel."""
        super().__init__()
        self.is_stacked = stacked
        self.field = in_words(field)
        self.label = QLabel(self.field.label)
        self.help = label(self.field.help, "caption", wrap=True)
        self.complaint = label("", "error", wrap=True)
        self.complaint.hide()
        self.control = self.make_control()
        self.words = words = vbox(self.label, self.help, Stretch(), spacing=2)
        right = vbox(self.control, self.complaint, Stretch(), spacing=4)
        self._arrange(words, right)
        self.changed.connect(self.show_field_problem)

    def _arrange(self, words: QVBoxLayout, right: QVBoxLayout) -> None:
        if self.is_wide or self.is_stacked:
            vbox(words, right, parent=self, margins=0, spacing=8)
            return
        self.set_control_px(CONTROL_PX)
        hbox((words, 1), right, parent=self, margins=0, spacing=24)

    def set_control_px(self, width: int) -> None:
        """Set the width of a control that is beside its text."""
        self.control.setFixedWidth(width)
        self.complaint.setFixedWidth(width)

    def make_control(self) -> QWidget:
        raise NotImplementedError

    def value(self) -> SettingValue:
        raise NotImplementedError

    def set_value(self, value: SettingValue) -> None:
        raise NotImplementedError

    def problem(self) -> str:
        """Why the value is invalid; empty if it is valid."""
        return ""

    def show_field_problem(self) -> None:
        text = self.problem()
        show_text(self.complaint, text)

    def name(self, widget: QWidget, suffix: str = "") -> None:
        """Set a control's accessible name, description and tool tip."""
        widget.setAccessibleName(f"{self.field.label}{suffix}")
        widget.setAccessibleDescription(self.field.help)


_GROUPED = re.compile(r"-?\d{1,3}([,.' \u00a0\u2009\u202f\u2019]\d{3})+")  # grouped thousands in any language


class NumberRow(SettingRow):
    def make_control(self) -> QWidget:
        box = QWidget(self)
        row = hbox(parent=box, margins=0, spacing=8)
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(_range_words(self.field))
        self.edit.setToolTip(f"{_range_words(self.field)} {self.field.unit}".strip())
        self.name(self.edit)
        self.edit.textChanged.connect(self.changed)
        self.automatic = QCheckBox(sentence(self.field.automatic), self)  # without a parent the box would be a window
        self.name(self.automatic, f", {self.field.automatic}")
        self.automatic.setVisible(bool(self.field.automatic))
        self.automatic.toggled.connect(self._on_automatic)
        self.slider = self._make_slider() if self.is_stacked and not self.field.automatic else None
        if self.slider is not None:
            self.edit.setFixedWidth(QFontMetrics(self.edit.font()).horizontalAdvance("0") * 10)
            row.addWidget(self.slider, 1)
        row.addWidget(self.edit, 0 if self.slider else 1)
        if self.field.unit:
            unit = label(self.field.unit, "caption")
            row.addWidget(unit)
        self._manual = box
        if self.field.automatic:
            outer = QWidget()
            vbox(self.automatic, box, parent=outer, margins=0, spacing=4)
            QWidget.setTabOrder(self.automatic, self.edit)
            return outer
        return box

    def _make_slider(self) -> NoWheelSlider | None:
        """A slider over the field's range in its steps; the box beside it accepts any value."""
        low, high, step = self.field.minimum, self.field.maximum, self.field.step
        if low is None or high is None or not step:
            return None
        slider = NoWheelSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, round((high - low) / step))
        self.name(slider, translate("NumberRow", ", slider"))
        slider.valueChanged.connect(lambda place: self.edit.setText(self._text_at(place)))
        self.edit.textChanged.connect(self._follow_text)
        return slider

    def _text_at(self, place: int) -> str:
        value = round((self.field.minimum or 0) + place * (self.field.step or 1), 6)
        return number_text(value if self.field.kind is FieldKind.NUMBER else int(value), grouped=False)

    def _follow_text(self) -> None:
        if self.slider is None or self.problem():
            return
        value = self.value()
        if isinstance(value, int | float):
            self.slider.blockSignals(True)
            self.slider.setValue(round((value - (self.field.minimum or 0)) / (self.field.step or 1)))
            self.slider.blockSignals(False)

    def _on_automatic(self, automatic: bool) -> None:
        self._manual.setVisible(not automatic)
        self.changed.emit()
        if not automatic and self.isVisible():
            self.edit.setFocus()

    def value(self) -> SettingValue:
        if self.field.automatic and self.automatic.isChecked():
            return None
        text = self.edit.text().strip().replace(",", ".") if self.field.kind is FieldKind.NUMBER else self._digits()
        return float(text) if self.field.kind is FieldKind.NUMBER else int(text)

    def _digits(self) -> str:
        """A whole number without group separators; any other text unchanged."""
        text = self.edit.text().strip()
        return re.sub(r"[^\d-]", "", text) if _GROUPED.fullmatch(text) else text

    def set_value(self, value: SettingValue) -> None:
        self.automatic.setChecked(value is None)
        if value is not None:
            self.edit.setText(number_text(value, grouped=False) if isinstance(value, int | float) else str(value))
        else:
            # The initial text when the user switches automatic off.
            start = max(self.field.minimum or 0, 0)
            self.edit.setText(number_text(start, grouped=False))
        self._manual.setVisible(value is not None or not self.field.automatic)

    def problem(self) -> str:
        try:
            value = self.value()
        except ValueError:
            what = (
                translate("NumberRow", "a number")
                if self.field.kind is FieldKind.NUMBER
                else translate("NumberRow", "a whole number")
            )
            return translate("NumberRow", "Enter {what}, {range}.").format(what=what, range=_range_words(self.field))
        if value is None or isinstance(value, str):
            return ""
        low, high = self.field.minimum, self.field.maximum
        outside = not math.isfinite(value) or (low is not None and value < low) or (high is not None and value > high)
        return (
            translate("NumberRow", "Enter a value, {range}.").format(range=_range_words(self.field)) if outside else ""
        )


class TextRow(SettingRow):
    is_wide = True

    def make_control(self) -> QWidget:
        self.edit = VerbatimTextEdit()
        self.edit.setProperty("kind", "field")
        self.edit.setTabChangesFocus(True)
        self.edit.setFixedHeight(QFontMetrics(self.edit.font()).lineSpacing() * (10 if self.is_stacked else 6) + 12)
        self.name(self.edit)
        self.edit.textChanged.connect(self.changed)
        return self.edit

    def value(self) -> SettingValue:
        return self.edit.exact_text()

    def set_value(self, value: SettingValue) -> None:
        self.edit.setPlainText(str(value or ""))

    def problem(self) -> str:
        high = self.field.maximum
        return (
            translate("TextRow", "At most {number} characters.").format(number=locale().toString(int(high)))
            if high is not None and len(self.edit.exact_text()) > high
            else ""
        )


class ChoiceRow(SettingRow):
    def make_control(self) -> QWidget:
        self.combo = NoWheelComboBox()
        self.combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for value, words in self.field.choices:
            self.combo.addItem(words, value)
        self.combo.setItemDelegate(QStyledItemDelegate(self.combo))  # makes the stylesheet apply to the items
        self.name(self.combo)
        self._reasons: dict[str, str] = {}
        self.combo.currentIndexChanged.connect(self._show_reason)
        self.combo.currentIndexChanged.connect(self.changed)
        return self.combo

    def value(self) -> SettingValue:
        return str(self.combo.currentData())

    def set_value(self, value: SettingValue) -> None:
        self.combo.setCurrentIndex(max(self.combo.findData(value), 0))

    def explain(self, reasons: Mapping[str, str]) -> None:
        """Set why choices are unavailable; the reason of the selected one replaces the help text."""
        self._reasons = dict(reasons)
        self._show_reason()

    def _show_reason(self) -> None:
        reason = self._reasons.get(str(self.combo.currentData()), "")
        self.help.setText(reason or self.field.help)
        for place in range(self.combo.count()):
            tip = self._reasons.get(str(self.combo.itemData(place)), "")
            self.combo.setItemData(place, without_markup(tip), Qt.ItemDataRole.ToolTipRole)


class SwitchRow(SettingRow):
    def make_control(self) -> QWidget:
        self.check = QCheckBox(translate("SwitchRow", "On"))
        self.name(self.check)
        self.check.toggled.connect(self.changed)
        return self.check

    def value(self) -> SettingValue:
        return self.check.isChecked()

    def set_value(self, value: SettingValue) -> None:
        self.check.setChecked(bool(value))


class MultiChoiceRow(SettingRow):
    def make_control(self) -> QWidget:
        box = QWidget()
        self._column = vbox(parent=box, margins=0, spacing=4)
        self.boxes: dict[str, QCheckBox] = {}
        for name, words in self.field.choices:
            self._add(name, words)
        return box

    def _add(self, name: str, label: str) -> None:
        self.boxes[name] = box = QCheckBox(escape_mnemonics(label))
        self.name(box, f", {label}")
        box.toggled.connect(self.changed)
        self._column.addWidget(box)

    def value(self) -> SettingValue:
        return names_line(name for name, box in self.boxes.items() if box.isChecked())

    def set_value(self, value: SettingValue) -> None:
        wanted = read_names(str(value or ""))
        for name, box in self.boxes.items():
            box.setChecked(name in wanted)


class ModelFileRow(SettingRow):
    """A path with Browse; an empty path means automatic if the field allows it."""

    is_wide = True
    none = mark("ModelFileRow", "No file")
    browsing = mark("ModelFileRow", "browse for a file")

    def make_control(self) -> QWidget:
        box = QWidget()
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(sentence(self.field.automatic) or translate("ModelFileRow", self.none))
        self.edit.setClearButtonEnabled(True)
        self.name(self.edit)
        self.edit.textChanged.connect(self.changed)
        self.browse = button(translate("ModelFileRow", "Browse…"), self._browse)
        self.name(self.browse, ", " + translate("ModelFileRow", self.browsing))
        hbox((self.edit, 1), self.browse, parent=box, margins=0, spacing=8)
        return box

    def _browse(self) -> None:
        ask_model_file(self, self.field.label, self.edit.setText)

    def value(self) -> SettingValue:
        text = self.edit.text().strip()
        return text if text or self.field.default is not None else None

    def set_value(self, value: SettingValue) -> None:
        self.edit.setText(str(value or ""))


class FolderSettingRow(ModelFileRow):
    """A folder with Browse."""

    none = mark("ModelFileRow", "No folder")
    browsing = mark("ModelFileRow", "browse for a folder")

    def _browse(self) -> None:
        dialog = QFileDialog(self, self.field.label, self.edit.text())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.edit.setText)
        dialog.open()


def ask_model_file(parent: QWidget, what: str, take: Callable[[str], object]) -> QFileDialog:
    """Let the user choose a GGUF file; ``take`` gets its path. ``what``: the role in the dialog's title."""
    title = tr("Open a GGUF file: {what}") if what else tr("Open a GGUF file")
    dialog = QFileDialog(parent, title.format(what=what), "", tr("Models (*.gguf);;All files (*)"))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(take)
    return open_dialog(dialog, "model")


def _range_words(field: SettingField) -> str:
    low, high = field.minimum, field.maximum
    if low is not None and high is not None:
        return tr("{low} to {high}").format(low=number_text(low), high=number_text(high))
    if low is not None:
        return tr("{number} or more").format(number=number_text(low))
    return tr("{number} or less").format(number=number_text(high)) if high is not None else tr("any")


class TextLineRow(SettingRow):
    """One line of text; an empty line means automatic."""

    def make_control(self) -> QWidget:
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(sentence(self.field.automatic))
        self.edit.setToolTip(translate("TextLineRow", "For example {example}").format(example=self.field.example))
        self.edit.setMaxLength(int(self.field.maximum or 1000))
        self.name(self.edit)
        self.edit.textChanged.connect(self.changed)
        return self.edit

    def value(self) -> SettingValue:
        return self.edit.text().strip()

    def set_value(self, value: SettingValue) -> None:
        self.edit.setText(str(value or ""))

    def problem(self) -> str:
        return in_language(value_problem(self.field, self.value()))


class ModeRow(ChoiceRow):
    """The mode, with its effect, needs and costs below."""

    is_wide = True

    def _show_reason(self) -> None:
        self.help.setTextFormat(Qt.TextFormat.PlainText)  # a reason may quote a file
        for place in range(self.combo.count()):
            lines = self._lines(place)
            self.combo.setItemData(place, tooltip("\n".join(lines)), Qt.ItemDataRole.ToolTipRole)
            if place == self.combo.currentIndex():
                self.help.setText("\n".join(lines))
                self.combo.setAccessibleDescription(" ".join(lines))

    def _lines(self, place: int) -> tuple[str, ...]:
        value = str(self.combo.itemData(place))
        lines = mode_words(Mode(value)).lines
        reason = unavailable_text(self._reasons.get(value, ""))
        return (*lines, reason) if reason else lines


_ROWS: dict[FieldKind, type[SettingRow]] = {
    FieldKind.INTEGER: NumberRow,
    FieldKind.NUMBER: NumberRow,
    FieldKind.TEXT: TextRow,
    FieldKind.CHOICE: ChoiceRow,
    FieldKind.MODE: ModeRow,
    FieldKind.SWITCH: SwitchRow,
    FieldKind.MODEL_FILE: ModelFileRow,
    FieldKind.FOLDER: FolderSettingRow,
    FieldKind.LINE: TextLineRow,
    FieldKind.SEVERAL: MultiChoiceRow,
}


def make_row(field: SettingField, *, stacked: bool = False) -> SettingRow:
    """The row for a field; ``stacked`` for a narrow panel."""
    return _ROWS[field.kind](field, stacked=stacked)
