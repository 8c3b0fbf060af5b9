"""Tests the chat's settings, presets and mode keys with mouse and keys."""

from collections.abc import Mapping

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import EDITABLE, Layer, LayeredValue, LayersView, Preset
from engine.records import Mode
from tests.ui.conftest import FIELDS, NO_DRAFT
from tests.ui.window.test_accessibility import nameless
from ui.settings.chat_panel import ChatSettingsPanel
from ui.settings.rows import ModeRow, NumberRow
from ui.text.mode_words import mode_words
from ui.widgets.dialogs import ConfirmDialog
from ui.window.main_window import MainWindow

KEYS = ("mode", "depth", "temperature", "system_prompt")
SHOWN = tuple(field for field in FIELDS if field.key in KEYS)
PRESETS = (Preset("Precise", {"temperature": 0.0}, builtin=True), Preset("Mine", {"temperature": 1.5}))


def view(chat: Mapping[str, SettingValue] | None = None, model: Mapping[str, SettingValue] | None = None) -> LayersView:
    """The layers that the app would show for these values of the chat and the model."""
    own = {Layer.CHAT: dict(chat or {}), Layer.PROJECT: {}, Layer.MODEL: dict(model or {}), Layer.GLOBAL: {}}
    values: dict[Layer, dict[str, LayeredValue]] = {}
    for place, layer in enumerate(EDITABLE):
        values[layer] = {}
        for field in SHOWN:
            behind = next((each for each in EDITABLE[place:] if field.key in own[each]), None)
            hidden = next((each for each in EDITABLE[:place] if field.key in own[each]), None)
            value = field.default if behind is None else own[behind][field.key]
            values[layer][field.key] = LayeredValue(value, behind or Layer.DEFAULT, hidden)
    return LayersView(SHOWN, values, "tiny")


@pytest.fixture
def dialog(window: MainWindow, qtbot: QtBot) -> ChatSettingsPanel:
    window.chat_settings.set_presets(PRESETS)
    window.chat_settings.set_view(view({"temperature": 0.3}, {"depth": 4}), 1)
    QTest.keyClick(window, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    result = window.chat_settings.panel
    assert result is not None
    qtbot.waitExposed(result)
    return result


def test_every_value_says_where_it_comes_from(dialog: ChatSettingsPanel) -> None:
    origins = {key: row.origin.text() for key, row in dialog.rows.items()}
    assert origins == {
        "mode": "default", "depth": "from the model", "temperature": "this chat", "system_prompt": "default",
    }  # fmt: skip
    shown = {key for key, row in dialog.rows.items() if row.reset_button.isVisibleTo(dialog)}
    assert shown == {"temperature"}
    assert {key for key, row in dialog.rows.items() if row.origin.isVisibleTo(dialog)} == shown
    assert dialog.rows["depth"].row.label.toolTip() == "from the model"
    assert nameless(dialog) == []


def test_the_layers_are_turned_by_keys_and_hidden_values_say_so(dialog: ChatSettingsPanel, qtbot: QtBot) -> None:
    dialog.switch.buttons[Layer.CHAT].setFocus()
    QTest.keyClick(dialog.switch.buttons[Layer.CHAT], Qt.Key.Key_Right)
    QTest.keyClick(QApplication.focusWidget() or dialog, Qt.Key.Key_Space)
    assert dialog.layer is Layer.MODEL
    assert dialog.rows["temperature"].row.value() == 0.8
    assert dialog.rows["temperature"].hidden.text() == "overridden by this chat"
    assert dialog.rows["depth"].origin.text() == "this model"
    assert "tiny" in dialog.explanation.text()


def test_typing_is_reported_once_it_pauses(window: MainWindow, dialog: ChatSettingsPanel, qtbot: QtBot) -> None:
    row = dialog.rows["temperature"].row
    assert isinstance(row, NumberRow)
    told: list[tuple[Layer, dict[str, SettingValue]]] = []
    window.chat_settings.changed.connect(lambda layer, values: told.append((layer, values)))
    row.edit.setFocus()
    row.edit.selectAll()
    QTest.keyClicks(row.edit, "1.25")
    qtbot.waitUntil(lambda: bool(told))
    assert told == [(Layer.CHAT, {"temperature": 1.25})]


def test_what_is_out_of_range_is_explained_and_never_reported(dialog: ChatSettingsPanel, qtbot: QtBot) -> None:
    row = dialog.rows["temperature"].row
    assert isinstance(row, NumberRow)
    told: list[object] = []
    dialog.changed.connect(lambda _layer, values: told.append(values))
    row.edit.selectAll()
    QTest.keyClicks(row.edit, "99")
    dialog.flush()
    assert row.complaint.isVisibleTo(dialog)
    assert told == []
    dialog.set_view(view(), other=True)  # another chat: the typed text and its error are gone
    assert row.value() == 0.8
    assert not row.complaint.isVisibleTo(dialog)


def test_reset_takes_the_layers_own_away(window: MainWindow, dialog: ChatSettingsPanel) -> None:
    told: list[tuple[object, object]] = []
    window.chat_settings.reset.connect(lambda layer, keys: told.append((layer, keys)))
    QTest.mouseClick(dialog.rows["temperature"].reset_button, Qt.MouseButton.LeftButton)
    QTest.mouseClick(dialog.reset_button, Qt.MouseButton.LeftButton)
    assert told == [(Layer.CHAT, ("temperature",))] * 2


def test_the_button_opens_it_and_says_how_many_values_are_its_own(window: MainWindow, qtbot: QtBot) -> None:
    settings = window.chat_settings
    settings.set_view(view({"temperature": 0.3, "depth": None}), 1)
    assert "2" in settings.button.accessibleDescription()
    QTest.mouseClick(settings.button, Qt.MouseButton.LeftButton)
    assert settings.panel is not None
    qtbot.waitUntil(settings.panel.isActiveWindow)
    QTest.keyClick(settings.panel, Qt.Key.Key_Escape)
    assert not settings.panel.isVisible()


def test_an_unavailable_mode_says_why(window: MainWindow, dialog: ChatSettingsPanel) -> None:
    window.set_engine(NO_DRAFT)
    row = dialog.rows["mode"].row
    assert isinstance(row, ModeRow)
    assert row.help.text().endswith(f"Not available: {NO_DRAFT.unavailable[Mode.DRAFT]}")
    assert NO_DRAFT.unavailable[Mode.DRAFT] in row.combo.accessibleDescription()


def test_the_chosen_mode_tells_what_it_does_needs_and_costs(dialog: ChatSettingsPanel) -> None:
    row = dialog.rows["mode"].row
    assert isinstance(row, ModeRow)
    row.combo.setFocus()
    seen = set()
    QTest.keyClick(row.combo, Qt.Key.Key_Home)
    for _ in range(row.combo.count()):
        words = mode_words(Mode(str(row.value())))
        assert row.help.text() == f"{words.does}\nNeeds: {words.needs}\nCosts: {words.costs}"
        assert row.combo.itemData(row.combo.currentIndex(), Qt.ItemDataRole.ToolTipRole)
        seen.add(row.help.text())
        QTest.keyClick(row.combo, Qt.Key.Key_Down)
    assert len(seen) == len(Mode)


# ---- the panel --------------------------------------------------------------------------------------------------


def test_prompt_and_temperature_stand_first_and_speculation_last(dialog: ChatSettingsPanel) -> None:
    assert list(dialog.rows) == ["system_prompt", "temperature", "mode", "depth"]


@pytest.mark.parametrize(("width", "stats"), [(1000, False), (1440, True)])
def test_the_panel_leaves_the_chat_readable(window: MainWindow, qtbot: QtBot, width: int, *, stats: bool) -> None:
    window.resize(width, 700)
    window.chat_settings.set_view(view(), 1)
    was = window.stats.isVisible()
    window.chat_settings.open()
    panel = window.chat_settings.panel
    assert panel is not None
    qtbot.waitUntil(lambda: panel.width() > 0 and window.transcript.parentWidget() is not None)
    assert window.composer.width() >= 300
    assert window.composer.mapTo(window, window.composer.rect().topRight()).x() < panel.mapTo(window, QPoint()).x()
    assert window.width() == width
    assert window.stats.isVisible() is stats
    QTest.keyClick(panel, Qt.Key.Key_Escape)
    assert panel.isHidden()
    assert window.stats.isVisible() is was
    assert window.composer.edit.hasFocus()


def test_a_setting_that_is_asked_for_is_scrolled_to(
    window: MainWindow, dialog: ChatSettingsPanel, qtbot: QtBot
) -> None:
    window.resize(1000, 440)
    depth = dialog.rows["depth"].row.control
    qtbot.waitUntil(lambda: depth.visibleRegion().isEmpty())
    window.chat_settings.open_at("depth")
    qtbot.waitUntil(lambda: not depth.visibleRegion().isEmpty())


def test_a_slider_and_its_field_follow_each_other(window: MainWindow, dialog: ChatSettingsPanel, qtbot: QtBot) -> None:
    row = dialog.rows["temperature"].row
    assert isinstance(row, NumberRow)
    assert row.slider is not None
    told: list[dict[str, SettingValue]] = []
    window.chat_settings.changed.connect(lambda _layer, values: told.append(values))
    row.slider.setFocus()
    QTest.keyClick(row.slider, Qt.Key.Key_Right)
    assert row.edit.text() == "0.35"
    qtbot.waitUntil(lambda: told == [{"temperature": 0.35}])
    row.edit.selectAll()
    QTest.keyClicks(row.edit, "1.23")  # between two steps: the field keeps the value
    assert row.value() == 1.23
    assert row.slider.value() == 25


def test_the_prompt_in_use_is_seen_in_the_chat_and_opens_the_panel_at_it(window: MainWindow, qtbot: QtBot) -> None:
    settings, line = window.chat_settings, window.chat_settings.prompt_line
    settings.set_view(view(), 1)
    assert line.isHidden()
    settings.set_view(view(model={"system_prompt": "Answer\nin rhymes."}), 1)
    assert line.accessibleName() == "System prompt of this model: Answer in rhymes."
    settings.set_view(view({"system_prompt": ""}, {"system_prompt": "Answer in rhymes."}), 1)
    assert line.isHidden()  # this chat has none, whatever its model has
    settings.set_view(view({"system_prompt": "Be brief."}), 1)
    assert line.isVisible()
    QTest.mouseClick(line, Qt.MouseButton.LeftButton)
    assert settings.panel is not None
    row = settings.panel.rows["system_prompt"].row
    qtbot.waitUntil(row.control.hasFocus)


# ---- presets ----------------------------------------------------------------------------------------------------


def test_a_preset_is_applied_to_the_shown_layer(window: MainWindow, dialog: ChatSettingsPanel) -> None:
    told: list[tuple[object, object]] = []
    window.chat_settings.changed.connect(lambda layer, values: told.append((layer, values)))
    menu = dialog.presets.list_menu
    menu.popup(dialog.mapToGlobal(dialog.rect().center()))
    menu.setActiveAction(menu.actions()[0])
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert told == [(Layer.CHAT, {"temperature": 0.0})]


def test_the_preset_in_force_is_named(dialog: ChatSettingsPanel) -> None:
    assert dialog.presets.text() == "Presets"
    dialog.set_view(view({"temperature": 1.5}))
    assert dialog.presets.text() == "Preset: Mine"


def test_presets_are_saved_renamed_and_deleted(window: MainWindow, dialog: ChatSettingsPanel, qtbot: QtBot) -> None:
    settings, presets = window.chat_settings, dialog.presets
    told: list[tuple[object, ...]] = []
    settings.preset_saved.connect(lambda name, values: told.append((name, values["temperature"])))
    settings.preset_renamed.connect(lambda old, new: told.append((old, new)))
    settings.preset_deleted.connect(lambda name: told.append((name,)))
    presets.list_menu.aboutToShow.emit()
    save, rename, delete = presets.list_menu.actions()[-3:]
    below = [action.menu() for action in (rename, delete)]
    deeds = [save, *(menu.actions()[0] for menu in below if isinstance(menu, QMenu))]
    for deed, name in zip(deeds, ("Warm", "Yours", ""), strict=True):
        deed.trigger()
        question = presets.findChildren(ConfirmDialog)[-1]
        if name:
            edit = question.findChild(QLineEdit)
            assert edit is not None
            edit.selectAll()
            QTest.keyClicks(edit, name)
        assert nameless(question) == []
        QTest.mouseClick(question.accept_button, Qt.MouseButton.LeftButton)
    assert told == [("Warm", 0.3), ("Mine", "Yours"), ("Mine",)]


def test_a_name_that_cannot_be_had_is_reported_where_it_is_typed(dialog: ChatSettingsPanel) -> None:
    presets = dialog.presets
    presets.list_menu.aboutToShow.emit()
    presets.list_menu.actions()[-3].trigger()
    question = presets.findChildren(ConfirmDialog)[-1]
    edit = question.findChild(QLineEdit)
    assert edit is not None
    for name, possible in (
        ("Precise", False),
        ("  precise ", False),
        ("Precisely", True),
        ("Mine", True),
        (" ", False),
    ):
        edit.setText(name)
        assert question.accept_button.isEnabled() is possible
    edit.setText("Precise")
    assert edit.accessibleDescription() == "Precise comes with Paceline and cannot be changed."


def test_a_preset_cannot_be_renamed_to_another_ones_name(dialog: ChatSettingsPanel) -> None:
    presets = dialog.presets
    mine, warm = Preset("Mine", {"temperature": 1.5}), Preset("Warm", {"temperature": 1.0})
    presets.set_presets([Preset("Precise", {"temperature": 0.0}, builtin=True), mine, warm])
    presets.list_menu.aboutToShow.emit()
    below = presets.list_menu.actions()[-2].menu()
    assert isinstance(below, QMenu)
    below.actions()[0].trigger()
    question = presets.findChildren(ConfirmDialog)[-1]
    edit = question.findChild(QLineEdit)
    assert edit is not None
    for name, possible in (("Warm", False), ("Mine", True), ("mine", True), ("Warmer", True), ("Precise", False)):
        edit.setText(name)
        assert question.accept_button.isEnabled() is possible


def test_ones_own_preset_is_named_before_a_built_in_one_of_the_same_values(dialog: ChatSettingsPanel) -> None:
    values = {"temperature": 0.3}
    dialog.presets.set_presets([Preset("Balanced", values, builtin=True), Preset("Mine", values)])
    dialog.presets.set_values(values)
    assert dialog.presets.text() == "Preset: Mine"
