"""Tests the rows of sources in the statistics, and the switch of all of them, with the mouse."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from engine.records import Source, TokenSpan
from tests.ui.conftest import STATS
from tests.ui.transcript.marks.shown_marks import shown_marks
from ui.statistics.answer_page import SourceSwitch
from ui.transcript.cards.prose_view import ProseView
from ui.widgets.metrics import GAP_PX, INSET_PX, SWATCH_PX
from ui.window.main_window import MainWindow

TEXT = "The cat lay."
SPANS = (TokenSpan(3, Source.TARGET), TokenSpan(4, Source.DRAFT), TokenSpan(5, Source.RECOVERED, " sat"))


def test_a_checked_source_is_marked_as_in_the_text(window: MainWindow) -> None:
    for source, row in window.stats.now.sources.items():
        row.resize(200, row.sizeHint().height())
        name = QRect(INSET_PX + SWATCH_PX + GAP_PX, 0, 40, row.height())
        before = row.grab(name).toImage()
        row.setChecked(True)
        assert (row.grab(name).toImage() != before) is True, source


@pytest.fixture
def answer(window: MainWindow, qtbot: QtBot) -> ProseView:
    """An answer of three tokens: of the target, of the draft, and one in place of a rejected token."""
    window.show_conversation("t", [MessageView(2, "assistant", TEXT, stats=STATS, spans=SPANS)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.last_answer()
    assert card is not None
    view = card.body.segments[0]
    assert isinstance(view, ProseView)
    return view


def switch_of(window: MainWindow) -> SourceSwitch:
    switch = window.header.findChild(SourceSwitch)
    assert isinstance(switch, SourceSwitch)
    return switch


def marked(view: ProseView) -> list[str]:
    return [mark.words.strip() for mark in shown_marks(view)]


def test_one_click_marks_all_that_speculation_gave_and_another_none(
    window: MainWindow, answer: ProseView, qtbot: QtBot
) -> None:
    switch, told = switch_of(window), []
    window.stats.now.sources_selected.connect(told.append)
    assert switch.isVisible()
    assert marked(answer) == []
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: marked(answer) == ["cat", "lay."])
    assert told == [frozenset(Source) - {Source.TARGET}], "the answers are marked once"
    assert answer.toPlainText().strip() == TEXT
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: marked(answer) == [])
    assert not switch.isChecked()


def test_its_key_works_from_the_message_and_is_in_the_overview(
    window: MainWindow, answer: ProseView, qtbot: QtBot
) -> None:
    window.composer.edit.setFocus()
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window.composer.edit, Qt.Key.Key_M, both)
    qtbot.waitUntil(lambda: marked(answer) == ["cat", "lay."])
    assert answer.toPlainText().strip() == TEXT
    told = {row.words: row.keys for row in window.commands.rows()}
    assert told["Mark tokens by source"] == "Ctrl+Shift+M"


def test_what_the_target_drew_is_left_to_the_legend(window: MainWindow, qtbot: QtBot) -> None:
    switch, row = switch_of(window), window.stats.now.sources[Source.TARGET]
    window.stats.now.ensureWidgetVisible(row)
    qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    assert not switch.isChecked()
    for _ in range(2):
        qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert row.isChecked()


def test_the_switch_shows_the_statistics_which_explain_the_marks(window: MainWindow, qtbot: QtBot) -> None:
    window.layout_state.toggle_stats()
    assert window.stats.isHidden()
    qtbot.mouseClick(switch_of(window), Qt.MouseButton.LeftButton)
    assert window.stats.isVisible()
