"""Tests downloads, library, first run and navigation of the models panel, with real clicks and keys."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.models import (
    DownloadStatus,
    Drafting,
    ModelRef,
    PairView,
    SearchQuery,
    Suitability,
)
from engine.records import FitLevel, Problem
from tests.ui.models import records as r
from tests.ui.models.reading import asked, pressed, said
from tests.ui.window.test_accessibility import nameless
from ui.models.downloads_page import progress_words
from ui.models.panel import ModelsPanel
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


def test_the_library_is_filtered_and_makes_no_widget(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("library")
    page = place.library
    page.set_library(r.library(), r.OFFERS)
    usual, num_widgets = list(page.lines), len(page.findChildren(QWidget))
    dates = [line.row.last_used for line in usual if line.row.last_used]
    assert [line.row.last_used for line in usual[: len(dates)]] == sorted(dates, reverse=True)
    page.filter.setFocus()
    qtbot.keyClicks(page.filter, usual[0].row.name.lower())
    assert page.lines == usual[:1]
    assert page.offer_cards == []
    assert page.filter.hasFocus()
    qtbot.keyClicks(page.filter, " nowhere")
    assert page.lines == []
    assert page.nothing.isVisible()
    page.filter.clear()
    assert page.lines == usual
    assert page.nothing.isHidden()
    assert len(page.findChildren(QWidget)) == num_widgets


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


# ---- first run -----------------------------------------------------------------------------------------------------


def test_the_first_run_shows_three_pairs_and_ways_around(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("welcome")
    assert "Looking for models" in said(place.welcome)
    place.welcome.set_pairs(r.catalog())
    shown = said(place.welcome)
    assert "Looking for models" not in shown
    assert len(place.welcome.cards) == 3
    pulls, builtin = asked(place.requests.pull_requested), asked(place.requests.builtin_requested)
    done = asked(place.requests.welcome_done)
    first = place.welcome.cards[0]
    qtbot.waitUntil(
        lambda: first.action_button.width() == first.action_button.sizeHint().width()
    )  # as wide as its text, not as the card
    qtbot.mouseClick(first.action_button, LEFT)
    qtbot.mouseClick(place.welcome.builtin_button, LEFT)
    qtbot.mouseClick(place.welcome.skip_button, LEFT)
    assert pulls == [((r.TARGET_REF, r.DRAFT_REF), True)]
    assert len(builtin) == len(done) == 1
    place.welcome.set_pairs([], "None of the recommended pairs fits.")
    assert "None of the recommended pairs fits." in said(place.welcome)


def test_without_a_fast_real_model_the_demo_is_the_first_choice(place: ModelsPanel) -> None:
    place.open("welcome")
    row = r.catalog()[0]
    place.welcome.set_pairs([replace(row, checked="Not checked against the hub yet."), replace(row, checked="")])
    unchecked, checked = place.welcome.cards
    assert place.welcome.builtin_button.property("kind") == "primary"
    assert place.welcome.builtin_button.hasFocus()
    assert not any(card.action_button.property("kind") for card in place.welcome.cards)
    assert place.welcome.note.isVisible()
    assert "2.78 GB to download" in said(unchecked)
    assert "Fits this computer" in said(checked)
    place.welcome.set_pairs([replace(row, checked="")])
    assert place.welcome.note.isHidden()
    assert "Larger models are slow on this computer" in place.welcome.words.text(), "in the place of a card"


def test_the_best_pair_that_is_quick_here_is_the_first_choice(place: ModelsPanel) -> None:
    welcome = place.welcome
    place.open("welcome")
    welcome.set_first_model(r.FIRST)
    assert welcome.first.action_button.hasFocus()
    row = replace(r.catalog()[1], tokens_per_s=11.26, suits=Suitability.WELL)
    welcome.set_pairs([row, r.catalog()[0]])
    best, other = welcome.cards
    offered = (best.action_button, other.action_button, welcome.first.action_button, welcome.builtin_button)
    assert [one.property("kind") == "primary" for one in offered] == [True, False, False, False]
    assert best.action_button.hasFocus()
    assert "about 11 tokens per second" in said(best)
    QApplication.processEvents()
    assert welcome.first is not None
    assert best.y() < welcome.first.y() < other.y()
    welcome.set_pairs([replace(row, suits=Suitability.POORLY)])
    assert [card.action_button.property("kind") for card in welcome.cards] == [""]
    assert welcome.first.action_button.property("kind") == "primary"
    assert welcome.first.action_button.hasFocus()


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
    place.search.set_results(SearchQuery(), r.results())
    place.search.pane.show_details(r.details(gated=True))
    place.recommended.set_rows(r.catalog())
    place.library.set_library(r.library(), r.OFFERS)
    place.set_downloads(r.downloads())
    place.welcome.set_pairs(r.catalog())
    place.welcome.set_first_model(r.FIRST)
    assert nameless(place) == []


def test_tab_walks_from_the_query_to_the_files(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("search")
    place.search.set_results(SearchQuery(), r.results())
    place.requests.repo_requested.connect(lambda _repo: place.search.pane.show_details(r.details()))
    place.search.list.choose_first()
    QApplication.processEvents()
    seen = []
    for _ in range(14):
        focus = QApplication.focusWidget()
        assert focus is not None
        seen.append(focus.accessibleName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    wanted = ["Search models", "Sort by", "Only models that fit this computer", "Results", "Open the model's page"]
    assert [name for name in seen if name in wanted] == wanted
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
