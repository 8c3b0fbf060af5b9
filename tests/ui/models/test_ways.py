"""Tests adding models from a folder, a link, and other programs: texts and requests."""

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.models import FileKind, FolderScan, Hardware, LinkView, ModelRef, Offer
from engine.records import FitLevel, Problem
from tests.ui.models import records as r
from tests.ui.models.reading import said
from tests.ui.window.test_accessibility import nameless
from ui.models.panel import ModelsPanel
from ui.models.parts import scan_words

LEFT = Qt.MouseButton.LeftButton
GB = 10**9
URL = "https://h.example/m.gguf"
FOUND = LinkView(URL, name="Tiny", facts="llama · Q4_0", size_bytes=2 * GB, hosts=("h.example",), fit=FitLevel.FITS)


def offer(name: str, size: int, *, alone: bool = True) -> Offer:
    return r.offer(f"/m/{name}", name, size, "Ollama", FileKind.MODEL if alone else FileKind.MMPROJ)


def test_the_largest_that_fits_is_offered_first_and_no_projector(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("welcome")
    place.welcome.set_hardware(Hardware(8, 16 * GB, 10 * GB, None))
    rows = [offer("huge", 40 * GB), offer("small", GB), offer("mid", 5 * GB), offer("proj", 2 * GB, alone=False)]
    place.welcome.set_offers(rows)
    assert [card.offer.name for card in place.welcome.here_cards] == ["mid", "small", "huge"]
    assert place.welcome.all_button.text() == "Show all 4"
    with qtbot.waitSignals([place.requests.add_requested, place.requests.chat_requested]):
        qtbot.mouseClick(place.welcome.here_cards[0].action_button, LEFT)
    assert not nameless(place.welcome)
    place.welcome.set_offers(())
    assert place.welcome.here_title.isHidden()


def test_a_scan_says_how_far_it_is_and_can_be_stopped(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("library")
    place.show_scan(FolderScan(Path("/data"), [offer("a", GB)], num_files=12345))
    line = place.library.scan
    assert line.words.text() == "Searching /data: 12,345 files, 1 model"
    with qtbot.waitSignal(place.requests.scan_stopped):
        qtbot.mouseClick(line.stop_button, LEFT)
    place.show_scan(FolderScan(Path("/data"), num_files=9, num_unreadable=2, is_running=False))
    assert line.words.text() == "Stopped in /data after 9 files: 0 models. 2 folders could not be read."
    assert not line.stop_button.isVisible()
    assert (
        scan_words(FolderScan(Path("/d"), [offer("a", GB), offer("b", GB)], [], 1, 0, False, True))
        == "Searched /d: 1 files, 2 models."
    )
    place.show_scan(None)
    assert not line.isVisible()


def test_a_link_dialog_shows_what_belongs_to_its_address_only(place: ModelsPanel, qtbot: QtBot) -> None:
    dialog = place.ask_link()
    dialog.address.setText(f"{URL}#part")
    with qtbot.waitSignal(place.requests.link_given) as given:
        qtbot.mouseClick(dialog.go_button, LEFT)
    assert given.args == [URL]
    place.show_link(LinkView("https://other.example/", problem=Problem("T", "Too late.", "")))
    assert not dialog.state.isVisible()
    place.show_link(LinkView(URL, is_checking=True))
    assert not dialog.go_button.isEnabled()
    place.show_link(FOUND)
    told = said(dialog)
    unchecked = "From h.example. It gives no checksum, so the file cannot be verified."
    for words in ("Tiny", "llama · Q4_0 · 2.00 GB to download", unchecked):
        assert words in told
    dialog.address.setText(URL + "x")  # the found model does not belong to this address
    assert dialog.go_button.text() == "Check the link"
    dialog.address.setText(URL)
    place.show_link(FOUND)
    assert not nameless(dialog)
    with qtbot.waitSignal(place.requests.pull_requested) as pulled:
        qtbot.mouseClick(dialog.go_button, LEFT)
    assert pulled.args == [(ModelRef(url=URL),), True]
    place.show_link(FOUND)  # the dialog is closed
