"""Elided lines have their dots at the end of the text in both reading directions."""

from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QFontMetricsF, QImage
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import ConversationRow
from ui.text.one_line import elided
from ui.text.reading_direction import is_right_to_left
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel
from ui.window.main_window import MainWindow

LONG = {
    "hebrew": "שלום עולם זה שיחה ארוכה מאוד על מזג האוויר",
    "arabic": "مرحبا بالعالم هذه محادثة طويلة جدا عن الطقس",
    "english": "Hello world, this is a very long chat about the weather",
}


def ink(image: QImage, box: QRect) -> int:
    """The number of pixels of ``box`` that differ from the background, the image's first pixel."""
    ground = image.pixel(0, 0)
    places = ((x, y) for x in range(box.left(), box.right() + 1) for y in range(box.top(), box.bottom() + 1))
    return sum(image.valid(x, y) and image.pixel(x, y) != ground for x, y in places)


def dots_at(image: QImage, x: int, width: int, middle: int) -> bool:
    """Whether between ``x`` and ``x + width`` there is ink only below the ``middle`` of a line."""
    above, below = QRect(x, 0, width, middle), QRect(x, middle, width, image.height() - middle)
    return ink(image, above) == 0 and ink(image, below) > 0


@pytest.mark.parametrize("language", LONG)
def test_the_dots_stand_at_the_end(language: str, theme: Theme, qtbot: QtBot) -> None:
    label = ElidedLabel(LONG[language])
    qtbot.addWidget(label)
    theme.set_font(label)
    metrics = QFontMetricsF(label.font())
    label.resize(160, round(metrics.height()) + 4)
    assert label.is_elided()
    shown = elided(label.text(), metrics, 160)
    dots, taken = round(metrics.horizontalAdvance("…")), round(metrics.horizontalAdvance(shown))
    picture = label.grab().toImage()
    middle = picture.height() // 2
    assert dots_at(picture, 0, dots, middle) is (language != "english")
    assert dots_at(picture, taken - dots, dots, middle) or language != "english"


def test_a_title_in_the_list_ends_where_it_is_read_to(window: MainWindow, qtbot: QtBot) -> None:
    listing, metrics = window.sidebar.list, QFontMetricsF(window.theme.font(0))
    window.sidebar.set_rows([ConversationRow(1, LONG["hebrew"], datetime.now(UTC))], None)
    box = listing.visualRect(listing.rows.index_of(1))
    qtbot.waitUntil(box.isValid)
    picture = listing.viewport().grab(box).toImage()
    room = box.width() - 18  # beside it within its row
    dots, taken = (
        round(metrics.horizontalAdvance("…")),
        metrics.horizontalAdvance(elided(LONG["hebrew"], metrics, room)),
    )
    middle = box.height() // 2
    assert dots_at(picture, 10, dots, middle)
    assert not dots_at(picture, round(10 + taken) - dots, dots, middle)
    assert ink(picture, QRect(QPoint(10, 0), picture.rect().bottomRight())) > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", False), ("1, 2", False), ("a שלום", False), ("שלום a", True), ("« 12 » مرحبا", True), ("😀 word", False)],
)
def test_the_first_letter_with_a_direction_decides(text: str, expected: bool) -> None:
    assert is_right_to_left(text) is expected


def test_what_is_read_from_left_to_right_is_left_as_it_is(theme: Theme) -> None:
    assert elided("short", QFontMetricsF(theme.font()), 500) == "short"
