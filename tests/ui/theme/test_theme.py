"""The text size: everything follows it, at once, and back again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QRadioButton, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import SearchHit
from app.core.domain.messages import MessageView
from tests.ui.conftest import ASSETS, FIELDS, READY, STATS, rows
from ui.theme.theme import TEXT_SIZES, Theme
from ui.window.main_window import MainWindow

ANSWER = "Some *prose* that wraps.\n\n```python\nprint('code')\n```\n"


def test_dressed_widgets_follow_the_text_size(theme: Theme, qtbot: QtBot) -> None:
    host, label = QWidget(), QLabel("text")
    qtbot.addWidget(host)
    qtbot.addWidget(label)
    theme.set_font(label, -1)
    before = label.font().pixelSize()
    theme.set_text_size("larger", host)
    assert label.font().pixelSize() == before + TEXT_SIZES["larger"]
    theme.set_text_size("normal", host)
    assert label.font().pixelSize() == before


def test_a_larger_text_grows_answers_code_and_figures(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation(
        "Title", [MessageView(1, "user", "ConfirmDialog"), MessageView(2, "assistant", ANSWER, stats=STATS)]
    )
    window.show()
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    prose = next(view for view in window.transcript.findChildren(QWidget) if view.objectName() == "prose")
    before = prose.height()
    code = next(view for view in window.transcript.findChildren(QWidget) if view.objectName() == "code")
    code_before = code.height()
    window.set_text_size("larger")
    qtbot.waitUntil(lambda: prose.height() > before and code.height() > code_before, timeout=30_000)
    window.set_text_size("nonsense")
    qtbot.waitUntil(lambda: (prose.height(), code.height()) == (before, code_before), timeout=30_000)


@pytest.fixture
def huge_system_text() -> Iterator[None]:
    """A desktop whose text is scaled to nearly twice its size."""
    before = QApplication.font()
    larger = QFont(before)
    larger.setPointSizeF(before.pointSizeF() * 1.9)
    QApplication.setFont(larger)
    yield
    QApplication.setFont(before)


@pytest.mark.usefixtures("huge_system_text")
def test_no_row_is_lower_than_a_very_large_text(qtbot: QtBot) -> None:
    window = MainWindow(ASSETS, FIELDS)
    qtbot.addWidget(window)
    window.set_engine(READY)
    window.set_conversations(rows(), 1)
    window.show()
    window.sidebar.search.setText("trip")
    hit = SearchHit(3, "Trip notes", 31, "user", (("the ", False), ("trip", True)))
    window.sidebar.show_results((hit,))
    results, header, card = window.sidebar.results, window.header, window.empty.prompt_cards[0]
    for size in ("normal", "larger"):
        window.set_text_size(size)
        line = QFontMetrics(window.theme.font()).height()
        qtbot.waitUntil(lambda line=line: results.visualRect(results.model().index(0, 0)).height() >= line + 7)
        qtbot.waitUntil(lambda: header.model_button.height() >= header.model_button.sizeHint().height())
        assert header.rect().contains(header.model_button.geometry())
        qtbot.waitUntil(lambda line=line: card.height() >= 2 * line)
        assert card.layout().minimumSize().height() <= card.height()
    window.set_text_size("small")
    qtbot.waitUntil(lambda: header.height() < 61)


@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton])
@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_ring_of_the_focus_is_whole(
    window: MainWindow, qtbot: QtBot, kind: type[QCheckBox | QRadioButton], name: str
) -> None:
    window.set_theme(name)
    button = kind("On", window)
    button.show()
    button.resize(120, button.sizeHint().height())
    qtbot.waitExposed(window)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(button.hasFocus)
    picture, middle = button.grab().toImage(), button.height() // 2
    ring = QColor(window.theme.tokens.focus)
    for x, y in ((0, middle), (119, middle), (60, 0), (60, button.height() - 1)):
        assert picture.pixelColor(x, y) == ring, (x, y)
