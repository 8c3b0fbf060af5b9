"""How the model thinks: shown where there is a choice, chosen by mouse and by key, kept for the chat."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.domain.settings.layers import LAYERED_FIELDS, Layer, Layers, LayersView
from engine.records import ThinkingOption
from tests.ui.conftest import READY, model
from ui.window.main_window import MainWindow

OPTIONS = (ThinkingOption("medium"), ThinkingOption("low"), ThinkingOption("high"))


def load(window: MainWindow, options: tuple[ThinkingOption, ...]) -> None:
    window.set_engine(replace(READY, target=model(thinking=options)))


def show_chat(window: MainWindow, own: dict[str, str]) -> None:
    layers = Layers(chat=own)
    view = LayersView(
        LAYERED_FIELDS, {layer: layers.values(layer) for layer in (Layer.CHAT, Layer.MODEL, Layer.GLOBAL)}
    )
    window.chat_settings.set_view(view, 1)


def test_it_is_there_only_where_there_is_a_choice(window: MainWindow) -> None:
    load(window, ())
    assert window.composer.thinking.isHidden()
    load(window, OPTIONS)
    assert window.composer.thinking.isVisible()
    assert window.composer.thinking.text() == "Thinking: Medium"
    assert window.composer.thinking.accessibleName() == "Thinking: Medium"
    signs = [
        (each.icon().pixmap(14, 14).toImage(), each.layoutDirection())
        for each in (window.composer.thinking, window.composer.modes)
    ]
    assert signs[0] == signs[1], "that it opens a menu, as the modes have it"


@pytest.mark.parametrize(
    ("own", "shown"), [({}, "Medium"), ({"thinking": "high"}, "High"), ({"thinking": "off"}, "Medium")]
)
def test_it_shows_what_holds_in_the_chat_as_far_as_the_model_has_it(
    window: MainWindow, own: dict[str, str], shown: str
) -> None:
    load(window, OPTIONS)
    show_chat(window, own)
    assert window.composer.thinking.text() == f"Thinking: {shown}"


def test_a_choice_is_made_by_keys_and_kept_for_the_chat(window: MainWindow, qtbot: QtBot) -> None:
    load(window, OPTIONS)
    button = window.composer.thinking
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    menu = button.popup
    qtbot.waitUntil(menu.isVisible)
    assert [row.title for row in menu.list.rows.rows] == ["Medium", "Low", "High"]
    assert [row.side for row in menu.list.rows.rows] == ["usual", "", ""]
    QTest.keyClick(menu.list, Qt.Key.Key_Down)
    with qtbot.waitSignal(window.chat_settings.changed) as caught:
        QTest.keyClick(menu.list, Qt.Key.Key_Return)
    assert caught.args == [Layer.CHAT, {"thinking": "low"}]
    assert button.text() == "Thinking: Low"
    assert not menu.isVisible()


def test_budgets_have_their_unit(window: MainWindow) -> None:
    load(window, (ThinkingOption("on"), ThinkingOption("off"), ThinkingOption("2048")))
    show_chat(window, {"thinking": "2048"})
    assert window.composer.thinking.text() == "Thinking: Up to 2,048 tokens"
