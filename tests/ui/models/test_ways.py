"""Tests adding models from a folder, a link, and other programs: texts and requests."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.models import FileKind, ModelRef, Offer
from tests.ui.models import records as r
from tests.ui.window.test_accessibility import nameless
from ui.models.panel import ModelsPanel

LEFT = Qt.MouseButton.LeftButton
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
