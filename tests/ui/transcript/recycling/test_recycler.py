"""Distant messages release their widgets, and are restored unchanged when they come near."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

import ui.transcript.transcript
from app.core.domain.context import SummaryView
from app.core.domain.messages import MessageState, MessageView
from engine.records import Source
from tests.long_form import rounds
from tests.ui.conftest import STATS
from tests.ui.long_chats import history_of, spans_of, wanted_height
from tests.ui.transcript.marks.shown_marks import shown_marks
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.cards.user_card import UserCard
from ui.transcript.recycling.recycler import RECYCLE_PAGES
from ui.transcript.transcript import Transcript
from ui.window.main_window import MainWindow

HISTORY = history_of(rounds(8_000, 10_000))
WAIT_MS = 30_000
SAME_ROW_PX = 6
LEFT = Qt.MouseButton.LeftButton
ANSWER = history_of(3_000)[1]
QUESTION = MessageView(5, "user", "Why?")


def card_of(window: MainWindow, message_id: int) -> MessageCard | None:
    return next((card for card in window.transcript.cards if card.message_id == message_id), None)


def answer_of(window: MainWindow, message_id: int) -> AnswerCard:
    card = card_of(window, message_id)
    assert isinstance(card, AnswerCard)
    return card


def go_up(window: MainWindow, qtbot: QtBot) -> None:
    """Scroll up to the first message, through everything that is built on the way."""
    bar = window.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    while bar.value() > 0:
        bar.setValue(max(0, bar.value() - window.transcript.viewport().height()))
        QApplication.processEvents()
        qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    page = window.transcript.widget()
    qtbot.waitUntil(lambda: page.height() == wanted_height(page), timeout=WAIT_MS)


def go_down(window: MainWindow, qtbot: QtBot) -> None:
    bar, first = window.transcript.verticalScrollBar(), window.transcript.cards[0].message_id
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: card_of(window, first) is None, timeout=WAIT_MS)


def go_to(window: MainWindow, qtbot: QtBot, message_id: int) -> MessageCard:
    """Scroll to a message, which may not be built yet; returns its card."""
    window.transcript.go_to(message_id)
    qtbot.waitUntil(lambda: window.transcript._scroll_target is None, timeout=WAIT_MS)
    card = card_of(window, message_id)
    assert card is not None
    return card


def far_and_back(window: MainWindow, qtbot: QtBot, message_id: int) -> AnswerCard:
    """Scroll away from a message until its card is recycled, then back; returns its new card."""
    assert card_of(window, message_id) is not None
    go_up(window, qtbot)
    qtbot.waitUntil(lambda: card_of(window, message_id) is None, timeout=WAIT_MS)
    bar = window.transcript.verticalScrollBar()
    while card_of(window, message_id) is None and bar.value() < bar.maximum():
        bar.setValue(bar.value() + window.transcript.viewport().height() // 2)
        QApplication.processEvents()
    qtbot.waitUntil(lambda: not window.transcript._recycler._restoring, timeout=WAIT_MS)
    return answer_of(window, message_id)


def texts_of(card: AnswerCard) -> list[QTextEdit | QPlainTextEdit]:
    return [part.view if isinstance(part, CodeBlock) else part for part in card.body.segments]


def look_of(card: AnswerCard) -> Sequence[object]:
    """Everything visible of an answer: text, marks, heights, and footer."""
    views = texts_of(card)
    return (
        [view.toHtml() if isinstance(view, QTextEdit) else view.toPlainText() for view in views],
        [[(mark.start, mark.end, mark.color) for mark in shown_marks(view)] for view in views],
        [part.geometry() for part in card.body.segments],
        [view.accessibleName() for view in views],
        card.figures.text(),
        card.notice.text(),
        card.accessibleName(),
    )


def whole_in_sight(transcript: Transcript) -> list[int]:
    """The visible messages; checks that each shows its complete text."""
    in_sight = [card for card in transcript.cards if not card.visibleRegion().isEmpty()]
    tops = [card.mapTo(transcript.viewport(), QPoint(0, 0)).y() for card in in_sight]
    assert tops[0] <= 20
    assert tops[-1] + in_sight[-1].height() >= transcript.viewport().height() - 20
    ids = [card.message_id for card in in_sight]
    assert ids == list(range(ids[0], ids[-1] + 1))
    for card in in_sight:
        views = [part.view for part in card.parts]
        shown = "".join(view.toPlainText() for view in views)
        assert (isinstance(card, UserCard) and shown == card.text) or shown.count("Look again") == 3
    return ids


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> MainWindow:
    """A long chat, just opened."""
    window.show_conversation("Long", HISTORY)
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    return window


def num_widgets(window: MainWindow) -> int:
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return len(window.transcript.findChildren(QWidget))


def test_widgets_do_not_grow_with_length(page: MainWindow, qtbot: QtBot) -> None:
    counts = []
    for history in (HISTORY, [replace(view, id=1000 * n + view.id) for n in range(3) for view in HISTORY]):
        page.show_conversation("Long", history)
        qtbot.waitUntil(lambda: not page.transcript.is_building, timeout=WAIT_MS)
        go_up(page, qtbot)
        bar = page.transcript.verticalScrollBar()
        far = (RECYCLE_PAGES + 2) * page.transcript.viewport().height()
        qtbot.waitUntil(
            lambda far=far: all(card.y() < far for card in page.transcript.cards[:-2]),  # type: ignore[misc]
            timeout=WAIT_MS,
        )
        counts.append(num_widgets(page))
        height = bar.maximum()
        assert [card.message_id for card in page.transcript.cards[-2:]] == [view.id for view in history[-2:]]
        go_down(page, qtbot)
        assert bar.maximum() == height
        assert page.transcript.cards[-1].visibleRegion().isEmpty() is False
    assert counts[1] < counts[0] * 1.1


def test_what_is_in_sight_is_whole_before_it_is_painted(page: MainWindow, qtbot: QtBot) -> None:
    go_up(page, qtbot)
    qtbot.waitUntil(lambda: card_of(page, HISTORY[-4].id) is None, timeout=WAIT_MS)
    transcript = page.transcript
    bar, ids = transcript.verticalScrollBar(), [view.id for view in HISTORY]
    seen: list[int] = [0]
    while bar.value() < bar.maximum():
        before = bar.maximum()
        bar.setValue(bar.value() + transcript.viewport().height() // 2)
        page = transcript.widget()
        assert (bar.maximum(), page.height()) == (before, page.sizeHint().height()), "nothing jumps"
        seen += whole_in_sight(transcript)
        QApplication.processEvents()
    assert set(seen) == set(ids)


def test_a_higher_page_has_all_in_sight(page: MainWindow, qtbot: QtBot) -> None:
    go_up(page, qtbot)
    bar = page.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: card_of(page, HISTORY[-4].id) is None, timeout=WAIT_MS)
    bar.setValue(bar.maximum() // 2)
    before = whole_in_sight(page.transcript)
    page.resize(page.width(), 8 * page.height())
    assert len(whole_in_sight(page.transcript)) > len(before) + 4
    page.resize(2 * page.width() // 3, page.height())
    qtbot.waitUntil(lambda: bool(whole_in_sight(page.transcript)), timeout=WAIT_MS)


def test_an_answer_comes_back_as_it_was(page: MainWindow, qtbot: QtBot) -> None:
    page.transcript.mark_sources(frozenset({Source.DRAFT}))
    last = HISTORY[-3].id
    go_to(page, qtbot, last)
    code = next(part for part in answer_of(page, last).body.segments if isinstance(part, CodeBlock))
    page.composer.edit.setFocus()
    qtbot.waitUntil(lambda: bool(code.view.document().findBlockByNumber(1).layout().formats()), timeout=WAIT_MS)
    before, size = look_of(answer_of(page, last)), answer_of(page, last).size()
    card = far_and_back(page, qtbot, last)
    again = next(part for part in card.body.segments if isinstance(part, CodeBlock))
    qtbot.waitUntil(lambda: bool(again.view.document().findBlockByNumber(1).layout().formats()), timeout=WAIT_MS)
    assert look_of(card) == before
    assert card.size() == size


def test_marks_wanted_meanwhile_are_there(page: MainWindow, qtbot: QtBot) -> None:
    last = HISTORY[-3].id
    go_up(page, qtbot)
    qtbot.waitUntil(lambda: card_of(page, last) is None, timeout=WAIT_MS)
    page.transcript.mark_sources(frozenset({Source.NGRAM}))
    page.transcript.go_to(last)
    assert any(shown_marks(view) for view in texts_of(answer_of(page, last)))


def test_reasoning_stays_open_and_its_widgets_go(page: MainWindow, qtbot: QtBot) -> None:
    last = next(view.id for view in HISTORY[-3::-1] if "<think>" in view.text)
    card = go_to(page, qtbot, last)
    assert isinstance(card, AnswerCard)
    assert card.reasoning is not None
    folded = card.height()
    qtbot.mouseClick(card.reasoning.header, LEFT)
    page.composer.edit.setFocus()
    qtbot.waitUntil(lambda: not card.is_in_use and card.height() == card.sizeHint().height() > folded, timeout=WAIT_MS)
    body, height = card.reasoning.body, card.height()
    assert body is not None
    with qtbot.waitSignal(body.destroyed, timeout=WAIT_MS):
        go_up(page, qtbot)
    assert card_of(page, last) is None
    bar = page.transcript.verticalScrollBar()
    whole = bar.maximum()
    page.transcript.go_to(last)
    card = answer_of(page, last)
    assert card.reasoning is not None
    assert card.reasoning.is_open
    assert card.reasoning.body is not None
    assert [part.toPlainText() for part in card.reasoning.body.segments] == ["First the plan.\nThen the words. "]  # type: ignore[union-attr]
    assert (card.height(), bar.maximum()) == (height, whole)


def in_use_by_focus(card: MessageCard, _page: MainWindow) -> QWidget:
    card.more_button.setFocus(Qt.FocusReason.TabFocusReason)
    return card.more_button


def in_use_by_figures(card: MessageCard, page: MainWindow) -> QWidget:
    assert isinstance(card, AnswerCard)
    card.figures.show_stats(STATS)
    page.transcript.lay_out()
    QApplication.processEvents()  # lays out the text; later selected words stay within its lines
    card.figures.setSelection(0, 4)
    return card.figures


def in_use_by_wrapped_code(card: MessageCard, page: MainWindow) -> QWidget:
    assert isinstance(card, AnswerCard)
    code = next(part for part in card.body.segments if isinstance(part, CodeBlock))
    code.wrap_button.setChecked(True)
    page.composer.edit.setFocus()
    return code


def in_use_by_editor(card: MessageCard, page: MainWindow) -> QWidget:
    assert isinstance(card, UserCard)
    card.begin_edit()
    page.composer.edit.setFocus()
    assert card.editor is not None
    return card.editor


@pytest.mark.parametrize(
    ("place", "use"),
    [
        (-3, in_use_by_focus),
        (-3, in_use_by_figures),
        (-3, in_use_by_wrapped_code),
        (-4, in_use_by_editor),
    ],
)
def test_what_is_in_use_stays(
    page: MainWindow, qtbot: QtBot, place: int, use: Callable[[MessageCard, MainWindow], QWidget]
) -> None:
    used = HISTORY[place].id
    card = go_to(page, qtbot, used)
    part = use(card, page)
    go_up(page, qtbot)
    qtbot.waitUntil(lambda: all(card_of(page, view.id) is None for view in HISTORY[-12:-6]), timeout=WAIT_MS)
    assert card_of(page, used) is card
    assert card.isAncestorOf(part)


def test_the_messages_beside_the_focus_stay(page: MainWindow, qtbot: QtBot) -> None:
    at = HISTORY[-5].id
    go_to(page, qtbot, at)
    texts_of(answer_of(page, at))[0].setFocus(Qt.FocusReason.TabFocusReason)
    beside = (at - 1, at, at + 1)
    qtbot.waitUntil(lambda: all(card_of(page, number) is not None for number in beside), timeout=WAIT_MS)
    go_up(page, qtbot)
    qtbot.waitUntil(lambda: card_of(page, at - 2) is None, timeout=WAIT_MS)
    assert [card_of(page, number) is not None for number in (*beside, at + 2)] == [True] * 3 + [False]


def test_found_words_are_marked_again_until_they_are_forgotten(page: MainWindow, qtbot: QtBot) -> None:
    def found(card: AnswerCard) -> list[str]:
        return [one.cursor.selectedText() for view in texts_of(card) for one in view.extraSelections()]

    wanted = HISTORY[-5].id
    page.transcript.go_to(wanted, (("Longest", True),))
    qtbot.waitUntil(lambda: page.transcript._scroll_target is None, timeout=WAIT_MS)
    before = found(answer_of(page, wanted))
    assert set(before) == {"Longest"}
    assert found(far_and_back(page, qtbot, wanted)) == before
    page.transcript.forget_found()
    assert found(far_and_back(page, qtbot, wanted)) == []


def test_a_finished_answer_is_made_again_with_all_that_it_ended_with(page: MainWindow, qtbot: QtBot) -> None:
    text = "<think>\nHm.\n</think>\n\nSome **words**, not all"
    empty = MessageView(9_001, "assistant", "", MessageState.STREAMING, versions=(9_000, 9_001))
    page.add_message(MessageView(8_999, "user", "Well?"))
    page.begin_answer(empty)
    page.transcript.append_text(text, spans_of(text))
    assert page.transcript.cards[-1].is_in_use
    page.finish_answer(replace(empty, text=text, state=MessageState.STOPPED, stats=STATS, notice="Why.", versions=()))
    card = page.transcript.last_answer()
    assert card is not None
    assert card.can_continue
    heading = card.reasoning.heading if card.reasoning is not None else ""
    before = look_of(card)
    page.add_message(MessageView(9_002, "user", "And?"))
    page.add_message(MessageView(9_003, "assistant", "That is all."))
    card = far_and_back(page, qtbot, 9_001)
    assert look_of(card) == before
    assert not card.can_continue
    assert card.reasoning is not None
    assert card.reasoning.heading == heading
    assert card.versions is not None
    assert card.versions.label.text() == "2 of 2"
    assert card.view.spans == spans_of(text)


def test_keys_reach_messages_that_were_put_away(page: MainWindow, qtbot: QtBot) -> None:
    history = [*HISTORY, *(replace(view, id=view.id + 1000) for view in HISTORY)]
    history[len(HISTORY)] = replace(history[len(HISTORY)], versions=(history[len(HISTORY)].id, 5_000))
    page.show_conversation("Long", history)
    go_up(page, qtbot)
    go_down(page, qtbot)
    qtbot.waitUntil(lambda: card_of(page, history[len(HISTORY)].id) is None, timeout=WAIT_MS)
    page.composer.edit.setFocus()
    with qtbot.waitSignal(page.transcript.version_requested) as caught:
        qtbot.keyClick(page, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert caught.args == [5_000]
    go_up(page, qtbot)
    with qtbot.waitSignal(page.transcript.regenerate_requested) as asked:
        qtbot.keyClick(page, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [history[-1].id]


def test_an_unfolded_summary_is_unfolded_again(page: MainWindow, qtbot: QtBot) -> None:
    at = HISTORY[-3].id
    page.transcript.summaries.set_views({at: SummaryView("They spoke of words.")})
    line = page.transcript.summaries.line_of(answer_of(page, at))
    assert line is not None
    qtbot.mouseClick(line.show_button, LEFT)
    page.composer.edit.setFocus()
    again = page.transcript.summaries.line_of(far_and_back(page, qtbot, at))
    assert again is not None
    assert again is not line
    assert again.text.isVisibleTo(again)
    page.transcript.summaries.set_views({})
    assert page.transcript.summaries.line_of(far_and_back(page, qtbot, at)) is None


def test_tab_goes_through_the_messages_as_they_stand(page: MainWindow, qtbot: QtBot) -> None:
    go_up(page, qtbot)
    go_down(page, qtbot)
    wanted = [view.id for view in HISTORY[-7:-4]]
    go_to(page, qtbot, wanted[1])
    qtbot.waitUntil(lambda: all(card_of(page, number) is not None for number in wanted), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: not page.transcript._tab_order.is_due, timeout=WAIT_MS)
    texts_of(answer_of(page, wanted[0]))[0].setFocus(Qt.FocusReason.TabFocusReason)
    places: list[tuple[int, int]] = []
    while not places or places[-1][0] != wanted[-1]:
        focus = QApplication.focusWidget()
        assert focus is not None
        owner = next(card for card in page.transcript.cards if card.isAncestorOf(focus))
        places.append((owner.message_id, focus.mapTo(page.transcript.widget(), focus.rect().center()).y()))
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    assert sorted({number for number, _ in places}) == wanted
    assert len(places) > 16
    assert all(below[1] >= above[1] - SAME_ROW_PX for above, below in pairwise(places))


def fill(card: AnswerCard) -> list[tuple[int, int]]:
    """Fill a card; returns after each step the number of parts, and of marked parts."""
    steps = []
    has_more = True
    while has_more:
        has_more = card.build_next()
        parts = card.body._parts
        steps.append((len(parts), sum(part.marked is part.source_map for part in parts)))
    return steps


def test_an_answer_is_marked_one_part_a_step(window: MainWindow) -> None:
    window.transcript.mark_sources(frozenset(Source))
    card = window.transcript.make_card(ANSWER)
    assert isinstance(card, AnswerCard)
    steps = fill(card)
    num_parts, num_marked = steps[-1]
    assert num_marked == num_parts > 3
    assert all(after[1] - before[1] <= 1 for before, after in pairwise(steps))
    assert all(marked == 0 for num, marked in steps if num < num_parts), "when all of it is there"


def places(window: MainWindow) -> dict[int, int]:
    """The positions of the visible messages."""
    viewport = window.transcript.viewport()
    shown = [card for card in window.transcript.cards if not card.visibleRegion().isEmpty()]
    return {card.message_id: card.mapTo(viewport, QPoint(0, 0)).y() for card in shown}


def test_what_is_read_is_neither_moved_nor_painted(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = window.transcript
    window.show_conversation("Long", history_of(20_000))
    qtbot.waitUntil(lambda: not transcript.is_building, timeout=WAIT_MS)
    painted: list[ProseView] = []
    paint, show_above = ProseView.paintEvent, ui.transcript.transcript.show_above
    monkeypatch.setattr(ProseView, "paintEvent", lambda self, event: (painted.append(self), paint(self, event))[1])
    seen: list[tuple[bool, int]] = []

    def watched(*args: object) -> None:
        QApplication.processEvents()
        before, height = places(window), transcript.widget().height()
        painted.clear()
        show_above(*args)  # type: ignore[arg-type]
        assert transcript.widget().height() > height
        viewport = transcript.viewport()
        QApplication.sendPostedEvents(viewport.window(), 0)
        seen.append((places(window) == before, len(painted)))

    monkeypatch.setattr(ui.transcript.transcript, "show_above", watched)
    bar = transcript.verticalScrollBar()
    while len(seen) < 2:  # one tall answer may be all that is built for a position
        bar.setValue(2 * transcript.viewport().height())
        qtbot.waitUntil(lambda: not transcript.is_building, timeout=WAIT_MS)
    assert all(same for same, _ in seen)
    assert [num for _, num in seen] == [0] * len(seen)
    painted.clear()
    bar.setValue(bar.value() - 100)
    qtbot.waitUntil(lambda: bool(painted), timeout=WAIT_MS)


def test_the_page_is_painted_again_afterwards(window: MainWindow, qtbot: QtBot) -> None:
    """No widget stays without updates."""
    transcript = window.transcript
    window.show_conversation("Long", history_of(20_000))
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: not transcript.is_building, timeout=WAIT_MS)
    num = len(transcript._column.entries)
    bar.setValue(2 * transcript.viewport().height())
    qtbot.waitUntil(lambda: len(transcript._column.entries) > num and not transcript.is_building, timeout=WAIT_MS)
    pages = transcript.widget()
    assert all(
        each.updatesEnabled() for each in (transcript.viewport(), pages, *transcript.cards, transcript.jump_button)
    )
    assert pages.testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
