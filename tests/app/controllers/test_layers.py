"""Tests settings of chats and models in the whole app: what is sent and stored, and that nothing leaks."""

import dataclasses
from collections.abc import Mapping

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import Layer
from engine.records import EngineReady, Mode
from tests.app.fakes import DRAFT, TARGET, AppHarness, info, keep_settings, open_app
from ui.settings.chat_panel import ChatSettingsPanel
from ui.settings.rows import NumberRow


def ask(harness: AppHarness, qtbot: QtBot, text: str = "hello") -> None:
    before = len(harness.engine.requests)
    harness.window.composer.submitted.emit(text)
    assert len(harness.engine.requests) == before + 1
    harness.engine.say("an answer")
    harness.engine.finish()
    qtbot.waitUntil(lambda: harness.controller.state.answer is None)


def change(harness: AppHarness, layer: Layer, values: Mapping[str, SettingValue]) -> None:
    harness.window.chat_settings.changed.emit(layer, dict(values))


def open_dialog(harness: AppHarness, qtbot: QtBot) -> ChatSettingsPanel:
    harness.window.activateWindow()
    QTest.keyClick(harness.window, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    dialog = harness.window.chat_settings.panel
    assert dialog is not None
    qtbot.waitExposed(dialog)
    return dialog


def type_temperature(dialog: ChatSettingsPanel, text: str) -> None:
    row = dialog.rows["temperature"].row
    assert isinstance(row, NumberRow)
    row.edit.setFocus()
    row.edit.selectAll()
    QTest.keyClicks(row.edit, text)


def test_each_layer_gives_what_the_one_before_has_not(harness: AppHarness, qtbot: QtBot) -> None:
    change(harness, Layer.GLOBAL, {"temperature": 0.1, "top_k": 1, "max_tokens": 10})
    change(harness, Layer.MODEL, {"temperature": 0.2, "top_k": 2})
    change(harness, Layer.CHAT, {"temperature": 0.3, "system_prompt": "Rhyme."})
    ask(harness, qtbot)
    request = harness.engine.requests[-1]
    assert (request.sampling.temperature, request.sampling.top_k, request.max_tokens) == (0.3, 2, 10)
    assert request.messages[0].content == "Rhyme."
    harness.window.chat_settings.reset.emit(Layer.CHAT, ("temperature", "system_prompt"))
    ask(harness, qtbot)
    request = harness.engine.requests[-1]
    assert (request.sampling.temperature, request.messages[0].role) == (0.2, "user")
    harness.window.chat_settings.reset.emit(Layer.GLOBAL, ["max_tokens"])
    ask(harness, qtbot)
    assert harness.engine.requests[-1].max_tokens is None


def test_a_chats_values_do_not_reach_a_new_chat_with_another_model(harness: AppHarness, qtbot: QtBot) -> None:
    """As in lmstudio-bug-tracker 550: the selected chat's draft setting was used in a new chat with another model."""
    ask(harness, qtbot)
    harness.window.composer.mode_chosen.emit(Mode.DRAFT)
    change(harness, Layer.CHAT, {"temperature": 0.0, "learn_past": False, "depth": 7})
    harness.window.sidebar.new_chat.emit()
    harness.engine.tell(EngineReady(info("models/other.gguf"), info(DRAFT)))
    qtbot.waitUntil(lambda: harness.window.engine.target is not None and "other" in harness.window.engine.target.path)
    ask(harness, qtbot)
    request = harness.engine.requests[-1]
    assert (request.mode, request.depth, request.sampling.temperature, request.use_past) == (Mode.AUTO, None, 0.8, True)


def test_what_is_shown_is_what_is_asked_after_every_switch(harness: AppHarness, qtbot: QtBot) -> None:
    """As in lmstudio-bug-tracker 661: the window showed another draft setting than the one in use."""
    ids = []
    for mode, depth, temperature in ((Mode.NGRAM, 3, 0.1), (Mode.OFF, None, 0.2), (Mode.DRAFT, 5, 0.3)):
        harness.window.sidebar.new_chat.emit()
        harness.window.composer.mode_chosen.emit(mode)
        change(harness, Layer.CHAT, {"temperature": temperature, "depth": depth})
        ask(harness, qtbot)
        ids.append((harness.controller.state.chat_id, mode, depth, temperature))
    dialog = open_dialog(harness, qtbot)
    for number, mode, depth, temperature in [*ids, *reversed(ids), ids[1]]:
        harness.window.sidebar.list.chosen.emit(number)
        assert harness.window.composer.modes.mode is mode
        assert dialog.rows["depth"].row.value() == depth
        assert dialog.rows["temperature"].row.value() == temperature
        assert dialog.rows["mode"].row.value() == mode.value
        ask(harness, qtbot)
        request = harness.engine.requests[-1]
        assert (request.mode, request.depth, request.sampling.temperature) == (mode, depth, temperature)


def test_what_a_new_chat_is_given_before_its_first_message_is_its_own(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.sidebar.new_chat.emit()
    change(harness, Layer.CHAT, {"system_prompt": "Only here."})
    harness.window.sidebar.new_chat.emit()  # abandons the first new chat
    ask(harness, qtbot)
    assert harness.engine.requests[-1].messages[0].role == "user"
    harness.window.sidebar.new_chat.emit()
    change(harness, Layer.CHAT, {"system_prompt": "Here."})
    ask(harness, qtbot)
    number = harness.controller.state.chat_id
    assert number is not None
    assert harness.store.options(number) == {"system_prompt": "Here."}


def test_typing_that_has_not_paused_stays_with_its_chat(harness: AppHarness, qtbot: QtBot) -> None:
    ask(harness, qtbot)
    first = harness.controller.state.chat_id
    dialog = open_dialog(harness, qtbot)
    type_temperature(dialog, "0.45")
    harness.window.sidebar.new_chat.emit()  # before the pause in typing is over
    assert harness.controller.state.chat.settings.number("temperature") == 0.8
    assert dialog.rows["temperature"].row.value() == 0.8
    harness.window.sidebar.list.chosen.emit(first)
    assert harness.controller.state.chat.settings.number("temperature") == 0.45


def test_everything_is_there_again_after_a_restart(qtbot: QtBot) -> None:
    keep_settings({})
    harness = open_app()
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)
    change(harness, Layer.MODEL, {"top_p": 0.5})
    change(harness, Layer.CHAT, {"depth": None, "temperature": 0.3})
    harness.window.composer.mode_chosen.emit(Mode.NGRAM)
    ask(harness, qtbot)
    harness.close()
    again = open_app()
    again.engine.ready()
    qtbot.waitUntil(lambda: again.window.engine.target is not None)
    held = again.controller.state.chat.settings
    assert (held.text("mode"), held.number("temperature"), held.number("top_p")) == ("ngram", 0.3, 0.5)
    again.window.sidebar.new_chat.emit()
    held = again.controller.state.chat.settings
    assert (held.text("mode"), held.number("temperature"), held.number("top_p")) == ("auto", 0.8, 0.5)
    again.close()


@pytest.mark.parametrize("text", ["{", "[1]", '{"temperature": "hot", "x": 1}', "null", "[" * 100_000])
def test_options_that_cannot_be_read_are_none(harness: AppHarness, qtbot: QtBot, text: str) -> None:
    ask(harness, qtbot)
    number = harness.controller.state.chat_id
    sql = "UPDATE conversations SET options = ? WHERE id = ?"
    harness.store.write(lambda db: db.execute(sql, (text, number)).rowcount)
    harness.window.sidebar.list.chosen.emit(number)
    assert harness.controller.state.chat.settings.number("temperature") == 0.8
    assert harness.window.problems == []


def test_a_chat_that_must_not_be_learnt_from_has_the_past_forgotten(harness: AppHarness, qtbot: QtBot) -> None:
    change(harness, Layer.CHAT, {"learn_past": False})
    assert harness.engine.num_forgotten == 1
    ask(harness, qtbot)
    assert not harness.engine.requests[-1].use_past


def test_what_a_models_file_recommends_holds_until_somebody_says_otherwise(harness: AppHarness, qtbot: QtBot) -> None:
    recommended = (("temperature", 0.6), ("top_k", 20), ("repeat_penalty", 1.1))
    harness.engine.tell(EngineReady(dataclasses.replace(info(TARGET), recommended=recommended)))
    dialog = open_dialog(harness, qtbot)
    row = dialog.rows["temperature"]
    qtbot.waitUntil(lambda: row.origin.text() == "recommended for this model")
    assert row.origin.isVisible()
    ask(harness, qtbot)
    sampling = harness.engine.requests[-1].sampling
    assert (sampling.temperature, sampling.top_k, sampling.repeat_penalty) == (0.6, 20, 1.1)
    change(harness, Layer.GLOBAL, {"temperature": 0.3})
    change(harness, Layer.MODEL, {"repeat_penalty": 1.0})
    held = harness.controller.state.chat.settings
    assert (held.number("temperature"), held.number("repeat_penalty")) == (0.3, 1.0)
    assert row.origin.text() == "from the settings"


def test_a_server_that_a_chat_leaves_out_is_reset_with_the_rest(harness: AppHarness, qtbot: QtBot) -> None:
    dialog = open_dialog(harness, qtbot)
    change(harness, Layer.CHAT, {"unused_servers": "notes"})
    QTest.mouseClick(dialog.reset_button, Qt.MouseButton.LeftButton)
    assert harness.controller.state.chat.settings.values["unused_servers"] == ""


def test_a_preset_that_cannot_be_kept_is_told(harness: AppHarness) -> None:
    harness.window.chat_settings.preset_saved.emit("", {"temperature": 0.1})
    assert harness.window.problems[-1].message == "A name has 1 to 60 characters."
