"""The Models place against a real loopback hub, by real clicks and keys, with the real engine for the chat."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.paths import builtin_draft, builtin_target, find_paths
from engine.records import Event
from engine.worker import EngineWorker, probing_session
from tests.app.fakes import Desk, PuppetWorker, keep_settings, open_desk
from tests.app.hub.loopback import LoopbackHub
from ui.dialogs import Question
from ui.hub.place import HubPlace
from ui.hub_records import DownloadState, Match
from ui.records import EngineState, MessageState

LEFT = Qt.MouseButton.LeftButton
WAIT_MS = 60_000
REPO, DRAFT_REPO, OTHER = "paceline/paceline-tiny-GGUF", "paceline/paceline-tiny-draft-GGUF", "someone/other-GGUF"
TARGET_FILE, DRAFT_FILE = "tiny-target-Q8_0.gguf", "tiny-draft-Q8_0.gguf"
README = b"---\nlicense: mit\n---\n# A tiny pair\n\n<script>alert(1)</script> It follows **simple** requests.\n"


def real_engine(on_event: Callable[[Event], None]) -> EngineWorker:
    return EngineWorker(on_event, lambda: probing_session(find_paths().cache))


@pytest.fixture
def filled(hub: LoopbackHub) -> LoopbackHub:
    hub.add_file(REPO, TARGET_FILE, builtin_target())
    hub.add_file(DRAFT_REPO, DRAFT_FILE, builtin_draft())
    hub.describe(DRAFT_REPO, downloads=300, tags=["gguf", "license:mit"], gguf={"architecture": "llama"})
    hub.add_file(REPO, "mmproj-tiny-f16.gguf", b"GGUF" + bytes(1000))
    hub.add_file(REPO, "README.md", README)
    facts = {"architecture": "llama", "total": 8_100_000, "context_length": 2048}
    hub.describe(REPO, downloads=1200, tags=["gguf", "license:mit"], gguf=facts)
    hub.add_file(OTHER, "other-Q8_0.gguf", builtin_draft())
    hub.describe(OTHER, downloads=7, tags=["gguf"])
    return hub


@pytest.fixture
def desk(filled: LoopbackHub, qtbot: QtBot) -> Iterator[Desk]:
    keep_settings({"target_path": "", "draft_path": ""})
    opened = open_desk(PuppetWorker)
    yield opened
    opened.close()


def place_of(desk: Desk) -> HubPlace:
    return desk.window.hub.place


def click(widget: QWidget, name: str, qtbot: QtBot) -> None:
    """Press the visible button of this name as soon as it is there."""

    def found() -> list[QPushButton]:
        QApplication.processEvents()
        every = widget.findChildren(QPushButton)
        return [one for one in every if one.accessibleName() == name and one.isVisible() and one.isEnabled()]

    qtbot.waitUntil(lambda: bool(found()), timeout=WAIT_MS)
    qtbot.mouseClick(found()[0], LEFT)


def click_page(place: HubPlace, row: int, qtbot: QtBot) -> None:
    qtbot.mouseClick(place.nav.viewport(), LEFT, pos=place.nav.visualItemRect(place.nav.item(row)).center())


def search_and_open(desk: Desk, qtbot: QtBot, text: str) -> None:
    place = place_of(desk)
    qtbot.mouseClick(desk.window.sidebar.models_button, LEFT)
    click_page(place, 1, qtbot)
    qtbot.waitUntil(lambda: place.search.list.rows.rowCount() > 0, timeout=WAIT_MS)
    place.search.field.selectAll()
    qtbot.keyClicks(place.search.field, text)
    qtbot.waitUntil(lambda: place.search.status.text() == "1 model", timeout=WAIT_MS)
    spot = place.search.list.visualRect(place.search.list.rows.index(0, 0)).center()
    qtbot.mouseClick(place.search.list.viewport(), LEFT, pos=spot)
    qtbot.waitUntil(lambda: bool(place.search.pane.files.deeds), timeout=WAIT_MS)


def test_search_shows_what_the_hub_has(desk: Desk, qtbot: QtBot) -> None:
    place = place_of(desk)
    search_and_open(desk, qtbot, "tiny-GGUF")
    assert place.search.pane.title.text() == "paceline-tiny-GGUF"
    assert "1.20 k downloads" in place.search.pane.facts.text()
    assert set(place.search.pane.files.deeds) == {TARGET_FILE}
    html = place.search.pane.readme.toPlainText()
    assert "<script>alert(1)</script>" in html
    assert "license" not in html


def test_a_download_arrives_in_the_library_and_can_be_removed(desk: Desk, qtbot: QtBot) -> None:
    place = place_of(desk)
    search_and_open(desk, qtbot, "tiny-draft")
    qtbot.mouseClick(place.search.pane.files.deeds[DRAFT_FILE][-1], LEFT)
    click_page(place, 4, qtbot)
    lines = place.downloads.lines
    qtbot.waitUntil(
        lambda: bool(lines) and all(line.state is DownloadState.DONE for line in lines.values()), timeout=WAIT_MS
    )
    click_page(place, 3, qtbot)
    qtbot.waitUntil(lambda: len(place.library.lines) == 1, timeout=WAIT_MS)
    line = place.library.lines[0]
    file = Path(line.row.path)
    assert file.is_relative_to(desk.paths.models)
    assert hashlib.sha256(file.read_bytes()).digest() == hashlib.sha256(builtin_draft().read_bytes()).digest()
    assert line.row.architecture == "llama"
    question = line.ask_remove()
    qtbot.mouseClick(question.deed_button, LEFT)
    qtbot.waitUntil(lambda: not place.library.lines, timeout=WAIT_MS)
    assert not file.exists()
    assert "disk space are free again" in place.notice.message.text()


def test_without_a_network_the_place_says_so_and_offers_another_try(
    desk: Desk, filled: LoopbackHub, qtbot: QtBot
) -> None:
    place = place_of(desk)
    filled.close()
    qtbot.mouseClick(desk.window.sidebar.models_button, LEFT)
    click_page(place, 1, qtbot)
    qtbot.waitUntil(lambda: "reached" in place.search.nothing.title.text(), timeout=WAIT_MS)
    click(place.search, "Try again", qtbot)


def test_a_gguf_from_the_disk_is_added_where_it_lies(desk: Desk, qtbot: QtBot) -> None:
    place = place_of(desk)
    qtbot.keyClick(desk.window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    click_page(place, 3, qtbot)
    place.wants.add_wanted.emit(str(builtin_target()))
    qtbot.waitUntil(lambda: len(place.library.lines) == 1, timeout=WAIT_MS)
    assert place.library.lines[0].row.in_place
    place.library.lines[0].remove_action.trigger()
    question = desk.window.findChild(Question)
    assert question is not None
    assert "No file is deleted" in " ".join(_texts(question))
    qtbot.mouseClick(question.deed_button, LEFT)
    qtbot.waitUntil(lambda: not place.library.lines, timeout=WAIT_MS)
    assert builtin_target().exists()


def test_the_first_run_is_shown_once(filled: LoopbackHub, qtbot: QtBot) -> None:
    first = open_desk(PuppetWorker)
    place = place_of(first)
    assert first.window.hub.is_open
    assert place.page == "welcome"
    qtbot.waitUntil(lambda: "core" in " ".join(_texts(place.welcome)), timeout=WAIT_MS)
    click(place.welcome, "Skip", qtbot)
    assert not first.window.hub.is_open
    first.close()
    again = open_desk(PuppetWorker)
    assert not again.window.hub.is_open
    again.window.hub.open("welcome")
    assert place_of(again).page == "welcome"
    again.close()


def _texts(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]


def test_search_details_draft_pull_and_chat(filled: LoopbackHub, qtbot: QtBot) -> None:
    keep_settings({"target_path": "", "draft_path": ""})
    desk = open_desk(real_engine)
    place = place_of(desk)
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY, timeout=WAIT_MS)
    search_and_open(desk, qtbot, "tiny-GGUF")
    click(place.search, "Find a draft for Q8_0", qtbot)
    assert place.page == "drafts"
    qtbot.waitUntil(
        lambda: not place.drafts.found_drafts.busy and bool(place.drafts.found_drafts.rows), timeout=WAIT_MS
    )
    matching = [row for row in place.drafts.found_drafts.rows if row.match is Match.YES]
    assert [row.side.ref.file for row in matching] == [DRAFT_FILE]
    place.drafts.list.setFocus()
    place.drafts.list.choose_first()
    qtbot.waitUntil(place.drafts.card.fit.isVisible, timeout=WAIT_MS)
    assert place.drafts.card.verdict.text.text() == "The draft matches"
    click(place.drafts.card, "Download and chat", qtbot)
    qtbot.waitUntil(lambda: not desk.window.hub.is_open, timeout=WAIT_MS)
    models = desk.paths.models
    qtbot.waitUntil(lambda: _is_loaded(desk, models), timeout=WAIT_MS)
    qtbot.keyClicks(desk.window.composer.edit, "What is speculative decoding?")
    qtbot.keyClick(desk.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(desk.window.finished), timeout=WAIT_MS)
    answer = desk.window.finished[-1]
    assert answer.state is MessageState.COMPLETE
    assert answer.text.strip()
    qtbot.keyClick(desk.window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    click_page(place, 3, qtbot)
    qtbot.waitUntil(lambda: {line.row.in_use for line in place.library.lines} == {"target", "draft"}, timeout=WAIT_MS)
    desk.close()


def _is_loaded(desk: Desk, models: Path) -> bool:
    view = desk.window.engine
    both = view.target is not None and view.draft is not None and view.state is EngineState.READY
    return both and all(Path(one.path).is_relative_to(models) for one in (view.target, view.draft) if one)


def test_a_gated_model_says_what_it_asks_for(desk: Desk, filled: LoopbackHub, qtbot: QtBot) -> None:
    place = place_of(desk)
    filled.gated[DRAFT_REPO] = "hf_right"
    filled.describe(DRAFT_REPO, gated="auto")
    search_and_open(desk, qtbot, "tiny-draft")
    assert place.search.pane.gate.isVisible()
    assert "accept terms" in place.search.pane.gate.words.text()
    qtbot.mouseClick(place.search.pane.files.deeds[DRAFT_FILE][-1], LEFT)
    click_page(place, 4, qtbot)
    lines = place.downloads.lines
    qtbot.waitUntil(
        lambda: bool(lines) and all(line.state is DownloadState.FAILED for line in lines.values()), timeout=WAIT_MS
    )
    assert "access token" in " ".join(line.error.text.text() for line in lines.values())


def test_a_download_can_be_paused_resumed_and_cancelled(desk: Desk, filled: LoopbackHub, qtbot: QtBot) -> None:
    place = place_of(desk)
    filled.bytes_per_s = 200_000
    search_and_open(desk, qtbot, "tiny-GGUF")
    qtbot.mouseClick(place.search.pane.files.deeds[TARGET_FILE][-1], LEFT)
    click_page(place, 4, qtbot)
    qtbot.waitUntil(lambda: bool(place.downloads.lines), timeout=WAIT_MS)
    line = next(iter(place.downloads.lines.values()))
    for deed, state in (
        ("pause", DownloadState.PAUSED),
        ("resume", DownloadState.RUNNING),
    ):
        qtbot.waitUntil(lambda deed=deed: deed in line.deeds and line.deeds[deed].isVisible(), timeout=WAIT_MS)
        qtbot.mouseClick(line.deeds[deed], LEFT)
        qtbot.waitUntil(lambda state=state: line.state is state, timeout=WAIT_MS)
    assert desk.window.hub.indicator.text().endswith("%")
    qtbot.mouseClick(line.deeds["cancel"], LEFT)
    qtbot.waitUntil(lambda: not place.downloads.lines, timeout=WAIT_MS)
    assert not list(desk.paths.models.rglob("*.part"))


def test_another_language_leaves_the_place_as_it_was(desk: Desk, filled: LoopbackHub, qtbot: QtBot) -> None:
    filled.bytes_per_s = 20_000.0
    search_and_open(desk, qtbot, "tiny-draft")
    before = place_of(desk)
    chosen = before.search.list.current_key()
    qtbot.mouseClick(before.search.pane.files.deeds[DRAFT_FILE][-1], LEFT)
    qtbot.waitUntil(
        lambda: any(line.state is DownloadState.RUNNING for line in before.downloads.lines.values()),
        timeout=WAIT_MS,
    )
    desk.window.language_wanted.emit("de")
    try:
        qtbot.waitUntil(lambda: place_of(desk) is not before, timeout=WAIT_MS)
        after = place_of(desk)
        assert desk.window.hub.is_open
        assert (after.page, after.nav.item(1).text()) == ("search", "Suche")
        assert after.search.field.text() == "tiny-draft"
        assert (after.search.list.current_key(), after.search.list.rows.rowCount()) == (chosen, 1)
        assert after.search.status.text() == "1 Modell"
        assert after.search.pane.title.text() == "paceline-tiny-draft-GGUF"
        assert [line.state for line in after.downloads.lines.values()] == [DownloadState.RUNNING]
        assert not desk.window.hub.indicator.isHidden()
        assert after.nav.item(4).text() == "Downloads  1"
    finally:
        desk.window.language_wanted.emit("en")
        qtbot.waitUntil(lambda: place_of(desk).nav.item(1).text() == "Search", timeout=WAIT_MS)
