"""Tests the generated settings dialog: shown values are returned unchanged, and only changes are emitted."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFileDialog,
)
from pytestqt.qtbot import QtBot

from app.core.domain.settings.fields import FieldKind, SettingField, SettingValue
from app.core.domain.settings.table import FIELDS as TABLE
from tests.ui.conftest import FIELDS
from ui.settings.dialog import SettingsDialog
from ui.settings.rows import (
    ChoiceRow,
    FolderSettingRow,
    ModelFileRow,
    ModeRow,
    MultiChoiceRow,
    NumberRow,
    SwitchRow,
    TextLineRow,
    TextRow,
)
from ui.window.main_window import MainWindow

VALUES: dict[str, SettingValue] = {
    "target_path": "/models/a.gguf",
    "models_dir": "/models",
    "mode": "off",
    "overflow": "stop",
    "depth": 3,
    "temperature": 0.65,
    "system_prompt": "Be brief.\nAlways.",
    "sound": True,
}


@pytest.fixture
def dialog(window: MainWindow, qtbot: QtBot) -> SettingsDialog:
    window.set_settings(VALUES)
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    result = window.findChild(SettingsDialog)
    assert result is not None
    return result


def test_what_goes_in_comes_out(dialog: SettingsDialog) -> None:
    assert {key: row.value() for key, row in dialog.rows.items()} == VALUES
    assert dialog.changed_values() == {}


def test_every_kind_of_field_has_its_row(dialog: SettingsDialog) -> None:
    kinds = {
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
    assert {*kinds, FieldKind.SERVERS} == set(FieldKind)
    for field in FIELDS:
        if field.kind is FieldKind.SERVERS:  # the server list has its own switches
            assert field.key not in dialog.rows
            continue
        row = dialog.rows[field.key]
        assert isinstance(row, kinds[field.kind])
        assert row.help.text() == field.help or isinstance(row, ModeRow)  # it explains the mode instead


def test_save_tells_only_what_changed(window: MainWindow, dialog: SettingsDialog, qtbot: QtBot) -> None:
    temperature, depth, sound = (dialog.rows[key] for key in ("temperature", "depth", "sound"))
    assert isinstance(temperature, NumberRow)
    assert isinstance(depth, NumberRow)
    assert isinstance(sound, SwitchRow)
    temperature.edit.clear()
    qtbot.keyClicks(temperature.edit, "1.25")
    depth.automatic.setChecked(True)
    sound.check.click()
    with qtbot.waitSignal(window.dialogs.saved) as caught:
        qtbot.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
    assert caught.args == [{"temperature": 1.25, "depth": None, "sound": False}]
    window.dialogs.open_settings()
    again = window.findChildren(SettingsDialog)[-1]
    assert again.rows["temperature"].value() == 1.25


@pytest.mark.parametrize("text", ["", "abc", "-1", "5.1", "nan", "inf", "1e400"])
def test_a_value_out_of_range_is_explained_and_not_saved(dialog: SettingsDialog, text: str) -> None:
    row = dialog.rows["temperature"]
    assert isinstance(row, NumberRow)
    row.edit.setText(text)
    assert "0 to 5" in row.problem()
    assert row.complaint.text() == row.problem()
    assert not dialog.save_button.isEnabled()
    row.edit.setText("1")
    assert dialog.save_button.isEnabled()


@pytest.mark.parametrize("text", ["2.5", "2,5", "1 2", "65", "x"])
def test_a_whole_number_must_be_one(dialog: SettingsDialog, text: str) -> None:
    row = dialog.rows["depth"]
    assert isinstance(row, NumberRow)
    row.edit.setText(text)
    assert row.problem()


@pytest.mark.parametrize("text", ["4,096", "4.096", "4 096", "4\u202f096", " 4096 "])
def test_thousands_may_stand_apart(window: MainWindow, text: str) -> None:
    field = SettingField("n_ctx", "S", "Context", FieldKind.INTEGER, 2048, "h", 256, 1_000_000)
    row = SettingsDialog([field], {}, window).rows["n_ctx"]
    assert isinstance(row, NumberRow)
    row.edit.setText(text)
    assert (row.problem(), row.value()) == ("", 4096)


def test_a_text_beyond_its_length_is_refused(dialog: SettingsDialog) -> None:
    row = dialog.rows["system_prompt"]
    assert isinstance(row, TextRow)
    row.edit.setPlainText("x" * 101)
    assert "100" in row.problem()


def test_defaults_come_back(dialog: SettingsDialog, qtbot: QtBot) -> None:
    qtbot.mouseClick(dialog.defaults_button, Qt.MouseButton.LeftButton)
    assert {key: row.value() for key, row in dialog.rows.items()} == {field.key: field.default for field in FIELDS}


@pytest.mark.parametrize("key", ["target_path", "models_dir"])
def test_browse_fills_the_path(dialog: SettingsDialog, qtbot: QtBot, key: str) -> None:
    row = dialog.rows[key]
    assert isinstance(row, ModelFileRow)
    qtbot.mouseClick(row.browse, Qt.MouseButton.LeftButton)
    chooser = row.findChild(QFileDialog)
    assert chooser is not None
    chooser.fileSelected.emit("/models/b.gguf")
    chooser.reject()
    assert row.value() == "/models/b.gguf"


def test_numbers_beyond_32_bits_survive(window: MainWindow) -> None:
    field = SettingField("seed", "S", "Seed", FieldKind.INTEGER, None, "h", 0, 2**63 - 1, automatic="random")
    dialog = SettingsDialog([field], {"seed": 2**62 + 1}, window)
    assert dialog.rows["seed"].value() == 2**62 + 1


def test_a_look_is_seen_while_it_is_chosen_and_goes_with_cancel(window: MainWindow, qtbot: QtBot) -> None:
    window.set_theme("light")
    before, told = window.theme.type.base, list[object]()
    window.dialogs.fields = tuple(TABLE)
    dialog = window.dialogs.make_settings()
    qtbot.addWidget(dialog)
    window.dialogs.saved.connect(told.append)
    dialog.open()
    for key, value in (("theme", "dark"), ("text_size", "larger")):
        row = dialog.rows[key]
        assert isinstance(row, ChoiceRow)
        while row.value() != value:
            is_above = row.combo.findData(value) < row.combo.currentIndex()
            qtbot.keyClick(row.combo, Qt.Key.Key_Up if is_above else Qt.Key.Key_Down)
    assert (window.theme.name, window.theme.type.base) == ("dark", before + 5)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert window.theme.type.base == before
    assert window.theme.name == window.dialogs.values.get("theme", "system")
    assert told == []


def test_why_nothing_can_be_saved_is_reported_on_every_page(dialog: SettingsDialog, qtbot: QtBot) -> None:
    row = dialog.rows["temperature"]
    assert isinstance(row, NumberRow)
    dialog.nav.setCurrentRow(3)
    row.edit.selectAll()
    qtbot.keyClicks(row.edit, "99")
    assert not dialog.save_button.isEnabled()
    assert not dialog.other_page_problem.isVisible(), "it stands beside the field"
    dialog.nav.setFocus()
    qtbot.keyClick(dialog.nav, Qt.Key.Key_Home)
    assert dialog.other_page_problem.isVisible()
    assert dialog.other_page_problem.text() == f"Sampling: Temperature. {row.complaint.text()}"


def test_tab_goes_from_the_own_choice_to_the_number(qtbot: QtBot) -> None:
    row = NumberRow(SettingField("seed", "S", "Seed", FieldKind.INTEGER, 7, "h", 0, 2**63 - 1, automatic="random"))
    qtbot.addWidget(row)
    row.set_value(7)
    with qtbot.waitActive(row):
        row.show()
        row.activateWindow()
    row.automatic.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(row.automatic, Qt.Key.Key_Tab)
    assert row.edit.hasFocus()
    qtbot.keyClick(row.edit, Qt.Key.Key_Backtab)
    assert row.automatic.hasFocus()


def test_the_search_leaves_sections_with_the_words_and_goes_to_the_setting(window: MainWindow, qtbot: QtBot) -> None:
    fields = [field for field in TABLE if field.kind is not FieldKind.SERVERS]
    dialog = SettingsDialog(fields, {}, window)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.search.setFocus()
    qtbot.keyClicks(dialog.search, "tool calls valid")
    left = [dialog.nav.item(row).text() for row in range(dialog.nav.count()) if not dialog.nav.item(row).isHidden()]
    assert left == ["Tools"]
    assert dialog.pages.currentWidget().isAncestorOf(dialog.rows["hold_calls"])
    assert dialog.rows["hold_calls"].label.property("kind") == "strong"
    assert dialog.rows["tools"].label.property("kind") != "strong"
    dialog.search.clear()
    assert not any(dialog.nav.item(row).isHidden() for row in range(dialog.nav.count()))
    assert dialog.rows["hold_calls"].label.property("kind") != "strong"
    qtbot.keyClicks(dialog.search, "of nothing at all")
    assert all(dialog.nav.item(row).isHidden() for row in range(dialog.nav.count()))
