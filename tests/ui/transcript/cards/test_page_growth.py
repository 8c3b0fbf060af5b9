"""While an answer grows, the screen shows what repainting everything would show."""

from collections import Counter

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from engine.records import Source
from tests.long_form import rounds
from tests.ui.long_chats import KINDS, answer_of, history_of, spans_of
from ui.transcript.cards.body import PartPool
from ui.transcript.cards.page_growth import updates_disabled
from ui.window.main_window import MainWindow

NUM_TOKENS, STEP = 240, rounds(12, 6)
MOST_STALE = 8  # antialiased edges may differ where a letter was cut by the edge of the page


def on_screen(window: MainWindow, area: QWidget) -> QImage:
    """The last painted pixels."""
    shown = window.screen().grabWindow(window.winId()).toImage()
    return shown.copy(QRect(area.mapTo(window, QPoint()), area.size()))


def num_stale(window: MainWindow, area: QWidget) -> int:
    """The number of pixels that repainting everything would change."""
    shown = on_screen(window, area)
    wanted = area.grab().toImage().convertToFormat(shown.format())
    if shown == wanted:
        return 0
    one, other = (np.frombuffer(image.constBits(), np.uint32) for image in (shown, wanted))
    return int(np.count_nonzero(one != other))


@pytest.mark.parametrize(("kind", "marked"), [("mixed", False), *((kind, True) for kind in KINDS)])
def test_only_what_changed_is_painted_and_nothing_is_left_out(
    window: MainWindow, qtbot: QtBot, kind: str, marked: bool
) -> None:
    area = window.transcript.viewport()
    window.transcript.mark_sources(frozenset(Source) if marked else frozenset())
    window.show_conversation("t", history_of(2_000))
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    window.begin_answer(MessageView(100, "assistant", "", MessageState.STREAMING))
    text = answer_of(kind, NUM_TOKENS)
    spans = spans_of(text)
    for sent in range(0, NUM_TOKENS, STEP):
        window.transcript.append_text(text[sent * 4 : (sent + STEP) * 4], spans[sent : sent + STEP])
        qtbot.waitUntil(lambda: num_stale(window, area) <= MOST_STALE)
    window.finish_answer(MessageView(100, "assistant", text, spans=spans))
    widgets = window.transcript.findChildren(QWidget)
    assert all(widget.updatesEnabled() for widget in widgets)


class Moves(QObject):
    """Counts how often each widget is moved and resized."""

    def __init__(self) -> None:
        super().__init__()
        self.moved: Counter[QObject] = Counter()
        self.resized: Counter[QObject] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Count the event."""
        if event.type() == QEvent.Type.Move:
            self.moved[watched] += 1
        elif event.type() == QEvent.Type.Resize:
            self.resized[watched] += 1
        return False


@pytest.mark.parametrize("kind", ["mixed", "paragraphs"])
def test_what_stands_above_stays_where_it_is_and_the_page_grows_at_once(
    window: MainWindow, qtbot: QtBot, qapp: QApplication, kind: str
) -> None:
    window.show_conversation("t", history_of(2_000))
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    window.begin_answer(MessageView(100, "assistant", "", MessageState.STREAMING))
    card = window.transcript.last_answer()
    page, moves, text = window.transcript.widget(), Moves(), answer_of(kind, 10 * NUM_TOKENS)
    assert card is not None
    assert page is not None
    window.transcript.append_text(text[:STEP], ())
    qtbot.waitUntil(lambda: bool(card.body.segments) and card.body.width() > 100)
    qapp.installEventFilter(moves)
    most = 0
    try:
        for place in range(STEP, len(text), 16 * STEP):
            before = card.body.segments[:-2]  # the joined part and the open part may swap positions
            most = max(most, len(before))
            moves.moved.clear()
            moves.resized.clear()
            window.transcript.append_text(text[place : place + 16 * STEP], ())
            assert not [widget for widget in before if moves.moved[widget]]
            assert moves.resized[page] <= 1
            qtbot.wait(0)
    finally:
        qapp.removeEventFilter(moves)
    assert most > 0, "there was something to look at"


def test_words_that_fit_on_the_line_carry_no_layout_out(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript, area = window.transcript, window.transcript.viewport()
    window.show_conversation("t", history_of(2_000))
    qtbot.waitUntil(lambda: not transcript.is_building)
    window.begin_answer(MessageView(100, "assistant", "", MessageState.STREAMING))
    window.transcript.append_text("The beginning", ())
    qtbot.waitUntil(lambda: num_stale(window, area) <= MOST_STALE)
    layouts: list[str] = []
    text, real = "The beginning", transcript.lay_out

    def lay_out() -> None:
        layouts.append(text)
        real()

    monkeypatch.setattr(transcript, "lay_out", lay_out)
    card = transcript.last_answer()
    assert card is not None
    heights = {card.body.height()}
    for word in (" of", " a line", " with", " room."):
        text += word
        window.transcript.append_text(word, ())
        qtbot.waitUntil(lambda: num_stale(window, area) <= MOST_STALE)
        heights.add(card.body.height())
    assert len(heights) == 1
    assert layouts == []
    for _ in range(40):
        text += " more words"
        window.transcript.append_text(" more words", ())
    qtbot.waitUntil(lambda: num_stale(window, area) <= MOST_STALE)
    assert card.body.height() > max(heights)
    assert 1 <= len(layouts) < 20  # one per line
    assert card.body.segments[0].toPlainText().rstrip() == text  # type: ignore[union-attr]


def test_what_comes_or_goes_while_a_card_grows_is_painted_later(window: MainWindow, qtbot: QtBot) -> None:
    """A part that is kept for later, and the buttons that appear on hover."""
    window.show_conversation("t", [MessageView(1, "assistant", "Words\n\n```\ncode\n```")])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.last_answer()
    assert card is not None
    pool, part = PartPool(), card.body.segments[0]
    with updates_disabled([card, *card.findChildren(QWidget)], tuple):
        more = card.more_button
        pool.recycle(part)
        assert more.updatesEnabled()
        assert part.updatesEnabled()
