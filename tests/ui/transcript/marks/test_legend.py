"""Tests the legend above the conversation with the mouse, and the rows that it switches."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from engine.records import Source, TokenSpan
from tests.ui.conftest import NO_DRAFT, READY, STATS, model
from tests.ui.transcript.marks.shown_marks import shown_marks
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.marks.legend import EDGE_PX, PAD_PX, MarksLegend, SourceSwitch
from ui.transcript.marks.marks import LINE_PX
from ui.window.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton
VIEWS = [MessageView(2, "assistant", "The cat", stats=STATS, spans=(TokenSpan(7, Source.DRAFT),))]
TEXT = "The cat lay."
SPANS = (TokenSpan(3, Source.TARGET), TokenSpan(4, Source.DRAFT), TokenSpan(5, Source.RECOVERED, " sat"))


@pytest.fixture
def legend(window: MainWindow) -> MarksLegend:
    window.show_conversation("t", VIEWS)
    return window.legend


def test_a_click_on_a_mark_turns_its_tokens_on_and_off(window: MainWindow, legend: MarksLegend) -> None:
    told: list[frozenset[Source]] = []
    window.stats.now.sources_selected.connect(told.append)
    window.stats.now.sources[Source.DRAFT].setChecked(True)
    QTest.mouseClick(legend.chips[Source.BONUS], LEFT)
    assert told[-1] == {Source.DRAFT, Source.BONUS}
    assert window.stats.now.sources[Source.BONUS].isChecked()
    QTest.mouseClick(legend.chips[Source.DRAFT], LEFT)
    assert told[-1] == {Source.BONUS}


def test_one_click_hides_all_marks(window: MainWindow, legend: MarksLegend) -> None:
    for row in window.stats.now.sources.values():
        row.setChecked(True)
    QTest.mouseClick(legend.close_button, LEFT)
    assert window.stats.now.marks == ()
    assert not legend.isVisible()


def test_each_mark_is_drawn_as_in_the_text(window: MainWindow, legend: MarksLegend) -> None:
    for row in window.stats.now.sources.values():
        row.setChecked(True)
    for source, chip in legend.chips.items():
        image = chip.grab().toImage()
        rows = range(image.height() - EDGE_PX - LINE_PX + 1, image.height() - EDGE_PX + 1)
        below = {image.pixelColor(x, y).name() for x in range(PAD_PX, image.width() - PAD_PX) for y in rows}
        assert (len(below) > 1) is (source is not Source.TARGET)


def test_in_a_narrow_window_the_names_go_below_one_another(
    window: MainWindow, legend: MarksLegend, qtbot: QtBot
) -> None:
    window.stats.now.sources[Source.DRAFT].setChecked(True)
    window.set_text_size("larger")
    window.resize(window.minimumWidth(), 700)
    shown = [chip for chip in legend.chips.values() if chip.isVisible()]
    qtbot.waitUntil(lambda: all(chip.geometry().right() < legend.width() for chip in shown))
    places = [chip.geometry() for chip in shown]
    assert len(places) == len(legend.chips) - 1  # this model has no head
    assert not any(one.intersects(other) for one in places for other in places if one is not other)


def named(legend: MarksLegend) -> list[Source]:
    return [source for source, chip in legend.chips.items() if not chip.isHidden()]


def test_only_sources_that_the_conversation_has_or_may_get_are_named(
    window: MainWindow, legend: MarksLegend, qtbot: QtBot
) -> None:
    assert named(legend) == [Source.DRAFT, Source.NGRAM, Source.RECOVERED, Source.BONUS, Source.TARGET]
    with_head = replace(STATS, provenance={Source.HEAD: 4, Source.TARGET: 1})
    window.set_engine(replace(READY, draft=model("head", head_method="EAGLE-3")))
    assert Source.HEAD in named(legend)
    window.finish_answer(MessageView(3, "assistant", "Some", stats=with_head))
    window.set_engine(NO_DRAFT)
    assert {Source.DRAFT, Source.HEAD} <= set(named(legend)), "both have given tokens"
    window.show_conversation("t", [MessageView(2, "assistant", "The cat", spans=(TokenSpan(7, Source.HEAD),))])
    assert Source.HEAD in named(legend)
    window.show_conversation("other", [MessageView(1, "user", "Hello")])
    assert named(legend) == [Source.NGRAM, Source.RECOVERED, Source.BONUS, Source.TARGET]
    window.stats.now.sources[Source.NGRAM].setChecked(True)
    qtbot.waitUntil(lambda: len({chip.x() for chip in legend.chips.values() if chip.isVisible()}) == 4)


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
