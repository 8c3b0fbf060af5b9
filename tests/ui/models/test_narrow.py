"""In a window of 800 pixels nothing in the models panel is cut off, in English and German."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtGui import QTextLayout
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QMainWindow, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.models import DraftList, Presence, VocabularyMatch
from tests.ui.conftest import ASSETS
from tests.ui.models import records as r
from ui.models.panel import PAGES, ModelsPanel
from ui.models.parts import WrappingRow
from ui.text.language import ENGLISH, install_language
from ui.theme.theme import Theme

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
    narrow.drafts.set_drafts(DraftList(r.TARGET))
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
    narrow.open("drafts")
    narrow.drafts.set_pair(pair)
    area = narrow.drafts.card
    first, second = area.findChildren(QPushButton)[-2:]
    area.setFixedWidth(first.sizeHint().width() + second.sizeHint().width())
    qtbot.waitUntil(lambda: second.y() > first.y())
    area.setFixedWidth(first.sizeHint().width() + second.sizeHint().width() + 60)
    qtbot.waitUntil(lambda: second.y() == first.y())


def test_a_row_folds_and_unfolds(qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    row, one, two = WrappingRow(around), QPushButton("One of two"), QPushButton("The other of two")
    row.add(one)
    row.add(two)
    row.resize(600, 40)
    around.show()
    qtbot.waitUntil(lambda: one.y() == two.y())
    row.resize(max(one.sizeHint().width(), two.sizeHint().width()) + 10, 120)
    qtbot.waitUntil(lambda: two.y() > one.y())


def test_what_is_wrong_with_a_download_has_all_the_width(narrow: ModelsPanel, qtbot: QtBot) -> None:
    narrow.open("downloads")
    narrow.set_downloads(r.downloads())
    line = next(line for line in narrow.downloads.lines.values() if line.error.isVisible())
    words = line.error.text
    qtbot.waitUntil(lambda: words.width() > line.bar.width() - 40)
    assert words.height() >= words.heightForWidth(words.width())


@pytest.mark.parametrize("width", [WIDTH, 1280])
def test_no_word_is_left_alone_below_the_heading_of_the_pairs(narrow: ModelsPanel, width: int) -> None:
    narrow.open("recommended")
    narrow.window().resize(width, 800)
    QApplication.processEvents()
    words = narrow.recommended.words
    layout = QTextLayout(words.text(), words.font())
    lines = []
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(words.contentsRect().width())
        lines.append(words.text()[line.textStart() : line.textStart() + line.textLength()])
    layout.endLayout()
    assert len(lines[-1].split()) > 1, lines
