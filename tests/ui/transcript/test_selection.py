"""Tests the selection over all messages: by mouse and keys, during an answer, and over recycled cards."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from app.core.domain.tools.calls import CallStatus, StoredCall
from ui.race.lane_card import LaneTextView
from ui.theme.theme import Theme
from ui.transcript.cards import text_part
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.cards.text_part import TextView
from ui.transcript.selection import Position, views_of
from ui.window.main_window import MainWindow

STORY = "There was once a brave fox called Mia. " * 12
ANSWER = (
    "Some **bold** words.\n\n```py\none = 1\ntwo = 2\n```\n\n| a | b |\n|---|---|\n| c | d |\n\n"
    "1. first\n2. second\n\nThe sum $x^2$ ends."
)
LEFT, NONE, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
WAIT_MS = 30_000


@pytest.fixture(autouse=True)
def _buttons_are_let_go() -> Iterator[None]:
    """Release the button: Qt remembers a button that a test holds down."""
    yield
    kind, none = QEvent.Type.MouseButtonRelease, Qt.MouseButton.NoButton
    QApplication.sendEvent(QWidget(), QMouseEvent(kind, QPointF(), QPointF(), LEFT, none, NONE))


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> MainWindow:
    window.resize(1000, 1700)
    call = StoredCall("c", "Clock", "now", '{"zone": "UTC"}', status=CallStatus.DONE)
    views = [
        MessageView(1, "user", "My question"),
        MessageView(2, "assistant", ANSWER),
        MessageView(3, "tool", "It is noon", call=call),
        MessageView(4, "user", "Look:\n```py\nthree = 3\n```\nThere"),
        MessageView(5, "assistant", "Last words."),
    ]
    window.show_conversation("t", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    return window


def texts(page: MainWindow) -> list[TextView]:
    return [text for card in page.transcript.cards for text in views_of(card)]


def mouse(view: TextView, kind: QEvent.Type, point: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
    target = view.viewport()
    buttons = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else LEFT
    button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else LEFT  # a release has a button, too
    place = QPointF(target.mapToGlobal(point))
    QApplication.sendEvent(target, QMouseEvent(kind, QPointF(point), place, button, buttons, modifiers))


def before(view: TextView, words: str) -> QPoint:
    """The point at which these words of a text begin."""
    cursor = view.document().find(words)
    assert not cursor.isNull()
    cursor.setPosition(cursor.selectionStart())
    return view.cursorRect(cursor).center()


def drag(begin: TextView, from_words: str, end: TextView, to_words: str) -> None:
    """Drag from one text to another; Qt sends all events to the widget that was pressed."""
    mouse(begin, QEvent.Type.MouseButtonPress, before(begin, from_words))
    there = end.viewport().mapToGlobal(before(end, to_words))
    mouse(begin, QEvent.Type.MouseMove, begin.viewport().mapFromGlobal(there))
    mouse(begin, QEvent.Type.MouseButtonRelease, begin.viewport().mapFromGlobal(there))


def copied(page: MainWindow, qtbot: QtBot, focus: QWidget | None = None) -> str:
    qtbot.keyClick(focus or page.transcript, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    return QApplication.clipboard().text()


def highlighted(page: MainWindow) -> list[str]:
    found = (view.textCursor().selectedText().replace("\u2029", "\n") for view in texts(page))
    return [words for words in found if words]


def test_a_drag_goes_on_through_prose_code_and_messages(page: MainWindow, qtbot: QtBot) -> None:
    all_texts = texts(page)
    drag(all_texts[0], "question", all_texts[-1], "words")
    assert highlighted(page)[0] == "question"
    assert highlighted(page)[1].startswith("Some bold")
    assert highlighted(page)[-1] == "Last "
    assert copied(page, qtbot, all_texts[0]) == (
        "question\n\nSome bold words.\n\none = 1\ntwo = 2\n\na\tb\nc\td\n\n1. first\n2. second\n\n"
        "The sum $x^2$ ends.\n\n"
        'Clock\n\nArguments\n{\n  "zone": "UTC"\n}\n\nResult\nIt is noon\n\n'
        "Look:\n```py\nthree = 3\n```\nThere\n\nLast "
    )


def test_a_drag_upwards_selects_the_same(page: MainWindow, qtbot: QtBot) -> None:
    code = next(view for view in texts(page) if "two = 2" in view.toPlainText())
    drag(code, "= 2", texts(page)[1], "bold")
    assert copied(page, qtbot, code) == "bold words.\n\none = 1\ntwo "


def test_a_click_lets_go_of_what_was_selected_elsewhere(page: MainWindow) -> None:
    all_texts = texts(page)
    drag(all_texts[0], "question", all_texts[1], "words")
    assert len(highlighted(page)) == 2
    drag(all_texts[-1], "Last", all_texts[-1], "words")
    assert highlighted(page) == ["Last "]
    mouse(all_texts[0], QEvent.Type.MouseButtonPress, QPoint(3, 3))
    assert highlighted(page) == []


def test_the_other_button_keeps_it_and_escape_ends_it(page: MainWindow, qtbot: QtBot) -> None:
    view = texts(page)[0]
    drag(view, "My", view, "question")
    qtbot.mouseClick(texts(page)[-1].viewport(), Qt.MouseButton.RightButton, pos=QPoint(3, 3))
    assert highlighted(page) == ["My "]
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert highlighted(page) == []


def test_shift_and_a_click_make_it_longer(page: MainWindow, qtbot: QtBot) -> None:
    first, last = texts(page)[0], texts(page)[-1]
    mouse(first, QEvent.Type.MouseButtonPress, before(first, "question"))
    mouse(first, QEvent.Type.MouseButtonRelease, before(first, "question"))
    mouse(last, QEvent.Type.MouseButtonPress, before(last, "words"), SHIFT)
    assert copied(page, qtbot).startswith("question\n\nSome bold")
    assert copied(page, qtbot).endswith("There\n\nLast ")


def test_two_clicks_choose_a_word_and_three_a_paragraph(page: MainWindow, qtbot: QtBot) -> None:
    view = texts(page)[1]
    place = before(view, "bold") + QPoint(6, 0)
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.MouseButtonDblClick):
        mouse(view, kind, place)
    assert copied(page, qtbot, view) == "bold"
    mouse(view, QEvent.Type.MouseMove, before(view, "words") + QPoint(6, 0))
    assert copied(page, qtbot, view) == "bold words"
    mouse(view, QEvent.Type.MouseButtonRelease, place)
    mouse(view, QEvent.Type.MouseButtonPress, place)
    assert copied(page, qtbot, view) == "Some bold words."


def test_all_of_the_chat_is_selected_where_any_text_of_it_has_the_focus(page: MainWindow, qtbot: QtBot) -> None:
    texts(page)[1].setFocus()
    qtbot.keyClick(texts(page)[1], Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert copied(page, qtbot).startswith("My question\n\nSome")
    assert copied(page, qtbot).endswith("Last words.")
    card = next(card for card in page.transcript.cards if card.message_id == 3)
    assert card.preview.selectedText() == "It is noon"  # type: ignore[attr-defined]
    page.transcript.selection.clear()
    assert not card.preview.hasSelectedText()  # type: ignore[attr-defined]


def test_what_is_written_elsewhere_ends_it(page: MainWindow) -> None:
    view = texts(page)[0]
    view.setFocus()
    drag(view, "My", view, "question")
    page.composer.edit.setFocus()
    assert highlighted(page) == []


def test_a_link_is_still_followed_by_a_click(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "assistant", "A [link](https://a.org) here")])
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    followed: list[str] = []
    window.transcript.link_activated.disconnect()
    window.transcript.link_activated.connect(followed.append)
    view = texts(window)[0]
    qtbot.mouseClick(view.viewport(), LEFT, pos=before(view, "link") + QPoint(4, 0))
    assert followed == ["https://a.org"]
    drag(view, "A", view, "nk")
    assert followed == ["https://a.org"]


@pytest.mark.parametrize(
    "text", ["Words **and** more\n\nof $x$ them ", "One\n\n```\ncode\nmore\n```\nand words after "]
)
def test_streaming_does_not_lose_it(window: MainWindow, qtbot: QtBot, text: str) -> None:
    window.show_conversation("t", [MessageView(1, "user", "Go on")])
    window.begin_answer(MessageView(2, "assistant", "", MessageState.STREAMING))
    window.transcript.append_text(text, ())
    window.transcript.selection.select(Position(1, 3), Position(2, len(text) - 5))
    before_it = copied(window, qtbot)
    shown = highlighted(window)
    for piece in ("more *of", " them*\n\n", "# A heading\n\n", *["words and words "] * 9, "\n\nend"):
        window.transcript.append_text(piece, ())
        QApplication.processEvents()
    assert copied(window, qtbot) == before_it

    def one_line(words: list[str]) -> str:
        return "".join(words).replace("\n", "").replace("\N{OBJECT REPLACEMENT CHARACTER}", "$x$")

    qtbot.waitUntil(lambda: one_line(highlighted(window)) == one_line(shown), timeout=WAIT_MS)
    window.finish_answer(MessageView(2, "assistant", window.transcript.cards[-1].raw_text))
    qtbot.wait(50)
    assert copied(window, qtbot) == before_it


def test_cards_that_are_far_away_are_copied_from_their_messages(window: MainWindow, qtbot: QtBot) -> None:
    views = [MessageView(n, ("user", "assistant")[n % 2], f"Message {n}\n\n" + STORY) for n in range(120)]
    window.show_conversation("t", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    assert len(window.transcript.cards) < 120
    window.transcript.selection.select_all()
    lines = copied(window, qtbot).split("\n")
    assert [line for line in lines if line.startswith("Message")] == [f"Message {n}" for n in range(120)]
    window.transcript.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    shown = next(card for card in window.transcript.cards if card.message_id == 119)
    assert all(view.textCursor().hasSelection() for view in views_of(shown))


def test_a_drag_beyond_the_edge_scrolls(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(n, "user", f"Message {n}. " + STORY) for n in range(12)])
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    bar = window.transcript.verticalScrollBar()
    view = views_of(window.transcript.cards[-1])[0]
    top = bar.value()
    mouse(view, QEvent.Type.MouseButtonPress, before(view, "Message"))
    page = window.transcript.viewport()
    above = view.viewport().mapFromGlobal(page.mapToGlobal(QPoint(50, -40)))
    mouse(view, QEvent.Type.MouseMove, above)
    qtbot.waitUntil(lambda: bar.value() < top - 200, timeout=WAIT_MS)
    mouse(view, QEvent.Type.MouseButtonRelease, above)
    assert len(highlighted(window)) > 2
    stopped = bar.value()
    qtbot.wait(120)
    assert bar.value() == stopped


def test_the_page_does_not_move_away_under_the_pointer(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", "Go on")])
    window.begin_answer(MessageView(2, "assistant", "", MessageState.STREAMING))
    window.transcript.append_text((STORY + "\n\n") * 20, ())
    bar, view = window.transcript.verticalScrollBar(), views_of(window.transcript.cards[-1])[-1]
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0, timeout=WAIT_MS)
    mouse(view, QEvent.Type.MouseButtonPress, QPoint(9, view.height() - 5))
    held = bar.value()
    window.transcript.append_text((STORY + "\n\n") * 3, ())
    assert bar.value() == held < bar.maximum()
    mouse(view, QEvent.Type.MouseButtonRelease, QPoint(9, view.height() - 5))


def press_and_go_below(view: ProseView) -> None:
    """Press in the first line and move below the last one quickly."""
    mouse(view, QEvent.Type.MouseButtonPress, QPoint(40, 8))
    mouse(view, QEvent.Type.MouseMove, QPoint(60, view.height() + 200))


def prose_of(window: MainWindow, message_id: int) -> ProseView:
    card = next(card for card in window.transcript.cards if card.message_id == message_id)
    view = views_of(card)[0]
    assert isinstance(view, ProseView)
    return view


@pytest.mark.parametrize("message_id", [1, 2])
def test_a_selection_that_goes_on_below_leaves_the_text_where_it_is(
    window: MainWindow, message_id: int, qtbot: QtBot
) -> None:
    window.show_conversation("t", [MessageView(1, "user", STORY), MessageView(2, "assistant", STORY)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    view = prose_of(window, message_id)
    qtbot.waitUntil(lambda: view.viewport().height() > 60)
    press_and_go_below(view)
    assert view.verticalScrollBar().value() == 0
    assert view.textCursor().selectedText().rstrip().endswith("called Mia.")


@pytest.mark.parametrize(
    "text",
    ["plain words", "a 👩‍🚀 **b** `c  d` \\* &amp; $x$ e", "```\nx\n\n  y\n```", "- a\n- b\n\n| c |\n|-|\n| d |"],
)
def test_every_unit_of_a_text_keeps_its_place(window: MainWindow, qtbot: QtBot, text: str) -> None:
    window.show_conversation("t", [MessageView(1, "assistant", text)])
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    for part in window.transcript.cards[0].parts:
        places = [part.offset_of(unit) for unit in range(part.num_units + 1)]
        assert places == sorted(places)
        assert places[0] == part.span[0]
        assert places[-1] in (part.span[1], part.span[1] - 1)  # the last line end of code is not shown
        shown = part.view.toPlainText()
        for unit, place in enumerate(places[:-1]):
            if shown.isascii() and shown[unit].isalnum():
                assert text[place] == shown[unit]
                assert part.unit_of(place) == unit


def test_code_stays_where_it_is_scrolled_to(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "assistant", "```\n" + "long " * 200 + "\n```")])
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    code = window.transcript.cards[0].body.segments[0]  # type: ignore[attr-defined]
    assert isinstance(code, CodeBlock)
    qtbot.waitUntil(lambda: code.view.horizontalScrollBar().maximum() > 0, timeout=WAIT_MS)
    window.transcript.selection.select_all()
    assert code.view.textCursor().hasSelection()
    assert code.view.horizontalScrollBar().value() == 0


def test_a_selection_costs_no_more_the_longer_the_answer_is(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_conversation("t", [MessageView(1, "user", "Go on")])
    window.begin_answer(MessageView(2, "assistant", "", MessageState.STREAMING))
    for _ in range(40):
        window.transcript.append_text(STORY + "\n\n", ())
    answer = window.transcript.cards[-1]
    assert isinstance(answer, AnswerCard)
    qtbot.waitUntil(lambda: not answer.body._closed, timeout=WAIT_MS)  # the closed block was joined with the part above
    looked: list[str] = []
    places = text_part._positions
    monkeypatch.setattr(text_part, "_positions", lambda shown, known: (looked.append(shown), places(shown, known))[1])
    window.transcript.selection.select(Position(1, 2), Position(2, 5_000))
    looked.clear()
    for _ in range(30):
        window.transcript.append_text("more words and ", ())
        QApplication.processEvents()
    assert len(looked) < 40  # of thirty chunks, with a dozen texts selected after each
    assert sum(view.textCursor().hasSelection() for view in texts(window)) >= 3


def test_the_answer_of_a_lane_has_a_selection_of_its_own(theme: Theme, qtbot: QtBot) -> None:
    lane = LaneTextView(theme, "Draft")
    qtbot.addWidget(lane)
    lane.resize(500, 700)
    lane.set_text("<b> **one** two\n\n```\nthree four\n```\n\nfive six", ())
    lane.show()
    first, last = lane.parts[0].view, lane.parts[-1].view
    drag(first, "two", last, "six")
    shown = [part.view.textCursor().selectedText().strip() for part in lane.parts]
    assert shown == ["two", "three four", "five"]
    first.copy()
    assert QApplication.clipboard().text() == "two\n\nthree four\n\nfive "
    lane.clear()
    assert not lane.selection
