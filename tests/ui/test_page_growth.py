"""What is on the screen while an answer grows is what painting everything anew would give."""

from __future__ import annotations

from array import array
from operator import ne

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from engine.records import Source
from tests.ui.long_chats import KINDS, answer_of, history_of, spans_of
from ui.main_window import MainWindow
from ui.records import MessageState, MessageView

NUM_TOKENS, STEP = 240, 6
MOST_STALE = 8  # smoothed edges may be rounded otherwise where a letter was cut by the edge of the page


def on_screen(window: MainWindow, area: QWidget) -> QImage:
    """The pixels that were painted last."""
    shown = window.screen().grabWindow(window.winId()).toImage()
    return shown.copy(QRect(area.mapTo(window, QPoint()), area.size()))


def num_stale(window: MainWindow, area: QWidget) -> int:
    """Pixels of the screen that painting everything anew would give otherwise."""
    shown = on_screen(window, area)
    wanted = area.grab().toImage().convertToFormat(shown.format())
    if shown == wanted:
        return 0
    one, other = (array("I", bytes(image.constBits())) for image in (shown, wanted))
    return sum(map(ne, one, other))


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("kind", [*KINDS])
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
        window.append_text(text[sent * 4 : (sent + STEP) * 4], spans[sent : sent + STEP])
        qtbot.waitUntil(lambda: num_stale(window, area) <= MOST_STALE)
    window.finish_answer(MessageView(100, "assistant", text, spans=spans))
    widgets = window.transcript.findChildren(QWidget)
    assert all(widget.updatesEnabled() for widget in widgets)
