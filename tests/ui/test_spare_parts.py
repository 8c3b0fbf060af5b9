"""Parts are ready before the text that needs them, and no turn that paints makes one."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QAbstractEventDispatcher, QEvent, QObject
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.answer_card import AnswerCard
from ui.code_block import CodeBlock
from ui.prose_view import ProseView
from ui.records import MessageState, MessageView
from ui.spare_parts import SpareParts
from ui.theme import Theme


def test_the_first_words_find_their_widget_ready(theme: Theme, qtbot: QtBot) -> None:
    card = AnswerCard(theme, MessageView(1, "assistant", "", MessageState.STREAMING), 600)
    qtbot.addWidget(card)
    card.show()
    qtbot.waitUntil(lambda: len(card.body.findChildren(ProseView)) == len(card.body.findChildren(CodeBlock)) == 1)
    ready = card.body.findChild(ProseView)
    card.append("Words.")
    assert card.body.segments == [ready]


def test_an_answer_without_words_leaves_none_behind(theme: Theme, qtbot: QtBot) -> None:
    card = AnswerCard(theme, MessageView(1, "assistant", "", MessageState.STREAMING), 600)
    qtbot.addWidget(card)
    qtbot.waitUntil(lambda: bool(card.body.findChildren(CodeBlock)))
    card.finish(MessageView(1, "assistant", "", MessageState.STOPPED))
    qtbot.waitUntil(lambda: not card.body.findChildren(ProseView) and not card.body.findChildren(CodeBlock))


class _Paints(QObject):
    """Counts what is painted in the turn at hand."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__()
        self.count = 0
        self._turns = QAbstractEventDispatcher.instance()
        self._turns.awake.connect(self._on_turn)
        watched.installEventFilter(self)

    def _on_turn(self) -> None:
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Called by Qt."""
        self.count += event.type() == QEvent.Type.Paint
        return False

    def end(self) -> None:
        """No more is counted."""
        self._turns.awake.disconnect(self._on_turn)


def test_none_is_made_in_a_turn_that_paints(theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.show()
    paints, seen = _Paints(page), list[int]()
    spares = SpareParts(theme, page)
    make = spares._make_one

    def watched() -> None:
        seen.append(paints.count)
        make()

    monkeypatch.setattr(spares, "_make_one", watched)

    def due() -> None:
        if spares._timer.interval():  # the pause is over in a turn that has something to paint
            page.repaint()
        spares._on_timer()

    spares._timer.timeout.disconnect()
    spares._timer.timeout.connect(due)
    spares.make_soon()
    qtbot.waitUntil(lambda: not spares._timer.isActive() and bool(page.findChildren(CodeBlock)))
    paints.end()
    assert len(seen) >= 2
    assert not any(seen)
