"""Tests downloads, library, first run and navigation of the models panel, with real clicks and keys."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QMainWindow, QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.models import (
    DownloadStatus,
    Drafting,
    ModelRef,
    PairView,
    Presence,
    VocabularyMatch,
)
from engine.records import FitLevel, Problem
from tests.ui.conftest import ASSETS
from tests.ui.models import records as r
from tests.ui.models.reading import asked, pressed, said
from tests.ui.window.test_accessibility import nameless
from ui.models.downloads_page import progress_words
from ui.models.panel import PAGES, ModelsPanel
from ui.text.language import ENGLISH, install_language
from ui.theme.theme import Theme
from ui.widgets.dialogs import ConfirmDialog
from ui.window.navigation import DownloadIndicator

LEFT = Qt.MouseButton.LeftButton
OFFLINE = Problem("The hub cannot be reached", "No connection.", "Check the network.")


# ---- downloads -----------------------------------------------------------------------------------------------------


def test_downloads_say_progress_speed_and_time_left() -> None:
    running, _, paused, failed, done = r.downloads()
    assert progress_words(running) == "1.93 GB of 4.68 GB · 41% · 18.4 MB/s · 2 min left"
    assert progress_words(paused).startswith("Paused · 2.00 GB of 7.30 GB")
    assert progress_words(failed).startswith("Stopped")
    assert progress_words(done) == "Complete · 1.32 GB"


def test_each_state_has_its_deeds_and_keeps_the_focus(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("downloads")
    assert "Nothing is downloading" in said(place.downloads)
    place.set_downloads(r.downloads())
    actions = asked(place.requests.download_action_requested)
    lines = place.downloads.lines
    for key, action in (("1", "pause"), ("3", "resume"), ("4", "resume"), ("1", "cancel"), ("5", "cancel")):
        qtbot.mouseClick(lines[key].action_buttons[action], LEFT)
    assert actions == [("1", "pause"), ("3", "resume"), ("4", "resume"), ("1", "cancel"), ("5", "cancel")]
    assert "1.39 GB are missing" in said(place.downloads)
    lines["1"].action_buttons["pause"].setFocus()
    place.set_downloads([replace(r.downloads()[0], done_bytes=2 * r.GB), *r.downloads()[1:]])
    assert lines["1"].action_buttons["pause"].hasFocus()
    place.set_downloads([replace(r.downloads()[0], status=DownloadStatus.PAUSED), *r.downloads()[1:]])
    assert lines["1"].action_buttons["resume"].hasFocus()
    done = replace(r.downloads()[0], status=DownloadStatus.DONE, path="/models/one.gguf")
    place.set_downloads([done, *r.downloads()[1:]])
    assert lines["1"].chat.hasFocus(), "not what takes it from the list"
    place.set_downloads(r.downloads()[1:])
    assert "1" not in place.downloads.lines


def test_the_indicator_speaks_while_something_is_on_its_way(theme: Theme, qtbot: QtBot) -> None:
    indicator = DownloadIndicator(theme)
    qtbot.addWidget(indicator)
    indicator.set_rows([])
    assert indicator.isHidden()
    indicator.set_rows(r.downloads())
    assert indicator.text() == " 47%"
    assert "2 downloading" in indicator.accessibleName()
    indicator.set_rows([r.downloads()[3]])
    assert indicator.text() == " stopped"


# ---- library -------------------------------------------------------------------------------------------------------


def test_the_library_offers_chat_draft_reveal_and_remove(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("library")
    place.library.set_library(r.library(), r.OFFERS)
    shown = said(place.library)
    for words in (
        "4 models · 5.36 GB in the models folder",
        "In use as target",
        "Used in place",
        "Missing",
        "LM Studio",
    ):
        assert words in shown
    line = place.library.lines[1]
    chats, drafts = asked(place.requests.chat_requested), asked(place.requests.draft_requested)
    reveals, taken = asked(place.requests.reveal_requested), asked(place.requests.offer_taken)
    qtbot.mouseClick(line.chat, LEFT)
    line.draft_action.trigger()
    line.reveal_action.trigger()
    qtbot.mouseClick(pressed(place.library, "Add SmolLM2-360M-Instruct-Q8_0"), LEFT)
    ref = ModelRef(path="/models/small.gguf")
    assert chats == [(ref, None)]
    assert drafts == [(ref,)]
    assert reveals == [("/models/small.gguf",)]
    assert taken == [("/hf/smol.gguf",)]
    assert [line.row.key for line in place.library.lines if not line.chat.isEnabled()] == ["gone"]


def test_the_focus_stays_with_its_model_when_the_library_changes(place: ModelsPanel) -> None:
    place.open("library")
    place.library.set_library(r.library(), [])
    QApplication.processEvents()
    place.library.lines[1].chat.setFocus()
    place.library.set_library(r.library()[1:], [])
    assert place.library.lines[0].chat.hasFocus()
    place.library.set_library(r.library()[2:], [])
    assert place.library.add_button.hasFocus()


@pytest.mark.parametrize(("line", "words"), [(0, "This frees 4.68 GB"), (2, "No file is deleted")])
def test_removing_asks_first_and_says_what_it_frees(place: ModelsPanel, qtbot: QtBot, line: int, words: str) -> None:
    place.open("library")
    place.library.set_library(r.library(), [])
    removed = asked(place.requests.remove_requested)
    place.library.lines[line].remove_action.trigger()
    question = place.window().findChild(ConfirmDialog)
    assert question is not None
    assert words in said(question)
    qtbot.keyClick(question, Qt.Key.Key_Escape)
    assert removed == []
    question = place.library.lines[line].ask_remove()
    qtbot.mouseClick(question.accept_button, LEFT)
    assert removed == [(place.library.lines[line].row.key,)]


def test_an_empty_library_offers_pairs_and_files(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("library")
    place.library.set_library([], [])
    assert "No models yet" in said(place.library)
    place.library.start()
    assert place.library.own_button.hasFocus()
    qtbot.mouseClick(pressed(place.library, "See recommended pairs"), LEFT)
    assert place.page == "recommended"


# ---- the place -----------------------------------------------------------------------------------------------------


def test_a_click_on_search_is_followed_by_words(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("recommended")
    spot = place.nav.visualItemRect(place.nav.item(1)).center()
    qtbot.mouseClick(place.nav.viewport(), LEFT, pos=spot)
    assert place.page == "search"
    assert place.search.field.hasFocus()
    place.nav.setFocus()
    qtbot.keyClick(place.nav, Qt.Key.Key_Up)
    qtbot.keyClick(place.nav, Qt.Key.Key_Down)
    assert place.page == "search"
    assert place.nav.hasFocus(), "arrows look at the pages only"
    qtbot.keyClick(place.nav, Qt.Key.Key_Return)
    assert place.search.field.hasFocus()


def test_every_control_of_the_place_has_a_name(place: ModelsPanel) -> None:
    place.open("search")
    place.search.set_results("", r.results())
    place.search.pane.show_details(r.details(gated=True))
    place.recommended.set_rows(r.catalog())
    place.library.set_library(r.library(), r.OFFERS)
    place.set_downloads(r.downloads())
    place.welcome.set_first_model(r.FIRST)
    assert nameless(place) == []


def test_tab_walks_from_the_query_to_the_files(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("search")
    place.search.set_results("", r.results())
    place.requests.repo_requested.connect(lambda _repo: place.search.pane.show_details(r.details()))
    place.search.list.choose_first()
    QApplication.processEvents()
    seen = []
    for _ in range(14):
        focus = QApplication.focusWidget()
        assert focus is not None
        seen.append(focus.accessibleName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    wanted = ["Search models", "Results", "Open the model's page"]
    assert [name for name in dict.fromkeys(seen) if name in wanted] == wanted
    assert seen.index("Download Q2_K") < seen.index("Chat with Q4_K_M")


def test_leaving_the_first_run_ends_it(place: ModelsPanel, qtbot: QtBot) -> None:
    done, back = asked(place.requests.welcome_done), asked(place.back)
    place.open("welcome")
    qtbot.mouseClick(place.back_button, LEFT)
    assert len(done) == len(back) == 1


def test_a_model_with_heads_inside_says_that_it_drafts_for_itself(place: ModelsPanel) -> None:
    place.open("recommended")
    row = r.catalog()[0]
    pair = PairView(r.TARGET, fit=replace(r.FIT, level=FitLevel.FITS), drafting=Drafting.HEADS_INSIDE)
    place.recommended.set_rows([replace(row, pair=pair)])
    assert "Draft heads in its own file (MTP)" in said(place.recommended.card)
    assert "No draft" not in said(place.recommended.card)
    assert "Draft heads inside: next-token layers (MTP) in the model's own file" in said(place.recommended)


WIDTH = 800


@pytest.fixture(params=[ENGLISH, "de"])
def narrow(request: pytest.FixtureRequest, qapp: QApplication, qtbot: QtBot) -> Iterator[ModelsPanel]:
    install_language(qapp, ASSETS / "translations", request.param)
    window = QMainWindow()
    qtbot.addWidget(window)
    theme = Theme(ASSETS / "icons", window)
    theme.apply("dark", window)
    made = ModelsPanel(theme)
    window.setCentralWidget(made)
    window.resize(WIDTH, 700)
    window.show()
    qtbot.waitExposed(window)
    yield made
    install_language(qapp, ASSETS / "translations", ENGLISH)


@pytest.mark.parametrize("page", [key for key, _name, _icon in PAGES])
def test_every_page_fits(narrow: ModelsPanel, qtbot: QtBot, page: str) -> None:
    narrow.open(page)
    assert narrow.minimumSizeHint().width() <= WIDTH
    qtbot.waitUntil(lambda: narrow.width() == WIDTH)
    shown = [one for one in narrow.findChildren(QLabel) if one.isVisible() and one.text() and not one.wordWrap()]
    shown += [
        one for kind in (QPushButton, QCheckBox) for one in narrow.findChildren(kind) if one.isVisible() and one.text()
    ]
    qtbot.waitUntil(lambda: not [one for one in shown if one.width() < one.minimumSizeHint().width()])


def test_the_small_model_fits(narrow: ModelsPanel, qtbot: QtBot) -> None:
    narrow.open("welcome")
    narrow.welcome.set_first_model(replace(r.FIRST, good_for="It answers. " * 20))
    assert narrow.minimumSizeHint().width() <= WIDTH
    card = narrow.welcome.first
    assert card is not None
    shown = [one for kind in (QLabel, QPushButton) for one in card.findChildren(kind) if one.isVisible()]
    assert shown
    qtbot.waitUntil(lambda: not [one for one in shown if one.height() < one.heightForWidth(one.width())])
    assert card.width() <= WIDTH


def test_the_deeds_of_a_pair_stand_below_each_other(narrow: ModelsPanel, qtbot: QtBot) -> None:
    absent = replace(r.PAIR.target, presence=Presence.ABSENT)
    draft = r.PAIR.draft
    assert draft is not None
    pair = replace(r.PAIR, target=absent, draft=replace(draft, presence=Presence.ABSENT), match=VocabularyMatch.YES)
    narrow.open("recommended")
    narrow.recommended.set_rows(r.catalog())
    area = narrow.recommended.card
    area.set_pair(pair)
    first, second = area.findChildren(QPushButton)[-2:]
    area.setFixedWidth(first.sizeHint().width() + second.sizeHint().width())
    qtbot.waitUntil(lambda: second.y() > first.y())
    area.setFixedWidth(first.sizeHint().width() + second.sizeHint().width() + 60)
    qtbot.waitUntil(lambda: second.y() == first.y())
