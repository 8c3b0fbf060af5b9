"""In a window of 800 pixels nothing in the models panel is cut off, in English and German."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QMainWindow, QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.models import Presence, VocabularyMatch
from tests.ui.conftest import ASSETS
from tests.ui.models import records as r
from ui.models.panel import PAGES, ModelsPanel
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
