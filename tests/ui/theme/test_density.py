"""The density changes the room between things everywhere, at once, and can be taken back."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLayout, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from tests.ui.conftest import STATS, rows
from tests.ui.filled_window import fill_models
from ui.theme.palette import LIGHT
from ui.theme.stylesheet import TypeScale, stylesheet
from ui.theme.theme import compacted, compacted_stylesheet
from ui.widgets.dialogs import link_dialog
from ui.window.main_window import MainWindow


def room(window: MainWindow) -> list[tuple[int, int, int, int, int]]:
    """Margins and spacing of every layout of the window."""
    found = []
    for layout in window.findChildren(QLayout):
        margins = layout.contentsMargins()
        found.append((margins.left(), margins.top(), margins.right(), margins.bottom(), layout.spacing()))
    return found


def test_room_is_taken_and_given_back(window: MainWindow) -> None:
    before, sheet = room(window), window.styleSheet()
    window.set_density("compact")
    closer_room = room(window)
    assert len(closer_room) == len(before)
    assert all(new <= old for new, old in zip(closer_room, before, strict=True))
    assert sum(map(sum, closer_room)) < 0.75 * sum(map(sum, before))
    assert window.styleSheet() != sheet
    window.set_density("comfortable")
    assert room(window) == before
    assert window.styleSheet() == sheet


def test_an_unknown_density_changes_nothing(window: MainWindow) -> None:
    before = room(window)
    window.set_density("airy")
    assert room(window) == before


def test_messages_and_dialogs_made_later_are_compact_too(window: MainWindow, qtbot: QtBot) -> None:
    window.set_density("compact")
    views = [MessageView(1, "user", "question"), MessageView(2, "assistant", "answer", stats=STATS)]
    window.show_conversation("t", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    dialog = link_dialog(window, "https://example.org")
    assert dialog is not None
    dialog.open()
    margins = dialog.layout().contentsMargins
    qtbot.waitUntil(lambda: margins().left() == compacted(24))
    cards = window.transcript.cards
    assert len(cards) == 2
    for card in cards:
        made, margins = (
            [int(number) for number in card.layout().property("comfortableSpacing")],
            card.layout().contentsMargins(),
        )
        now = [margins.left(), margins.top(), margins.right(), margins.bottom(), card.layout().spacing()]
        assert now == [compacted(number) for number in made] != made
    dialog.reject()


def test_rows_of_the_list_are_lower(window: MainWindow, qtbot: QtBot) -> None:
    window.sidebar.set_rows(rows(), 1)
    listing = window.sidebar.list
    index = listing.model().index(1, 0)
    high = listing.visualRect(index).height()
    window.set_density("compact")
    qtbot.waitUntil(lambda: listing.visualRect(index).height() < high)


def test_paddings_keep_the_place_of_the_focus_ring() -> None:
    sheet = "A { padding: 6px 12px; } A:focus { border: 2px; padding: 5px 11px; } #x { padding: 2px; }"
    assert compacted_stylesheet(sheet) == (
        "A { padding: 4px 12px; } A:focus { border: 2px; padding: 3px 11px; } #x { padding: 0px 2px; }"
    )
    whole = stylesheet(LIGHT, TypeScale(13))
    assert compacted_stylesheet(whole).count("padding:") == whole.count("padding:")


@pytest.mark.parametrize("density", ["comfortable", "compact"])
def test_rows_of_lists_grow_with_the_text(window: MainWindow, qtbot: QtBot, density: str) -> None:
    window.sidebar.set_rows(rows(), 1)
    fill_models(window, "recommended")
    window.set_density(density)
    window.set_text_size("normal")
    choices = window.models.panel.recommended.list
    for listing in (window.sidebar.list, choices):
        delegate, index = listing.itemDelegate(), listing.model().index(1, 0)
        option = QStyleOptionViewItem()
        window.set_text_size("normal")
        usual = delegate.sizeHint(option, index).height()
        window.set_text_size("larger")
        num_lines = 1 if listing is window.sidebar.list else 2
        assert delegate.sizeHint(option, index).height() >= num_lines * window.theme.text_height() + 8
        assert delegate.sizeHint(option, index).height() > usual


def test_the_models_place_gives_larger_text_more_room(window: MainWindow) -> None:
    place = window.models.panel
    fill_models(window, "search")
    lists = place.search.findChildren(QWidget, "hubList")
    assert len(lists) == 1
    widths = place.side.minimumWidth(), lists[0].minimumWidth()
    window.set_text_size("larger")
    assert lists[0].minimumWidth() > widths[1]
    longest = max(window.theme.text_width(place.nav.item(row).text()) for row in range(place.nav.count()))
    assert place.side.minimumWidth() >= max(widths[0], longest + 60)
    window.set_text_size("normal")
    assert (place.side.minimumWidth(), lists[0].minimumWidth()) == widths
