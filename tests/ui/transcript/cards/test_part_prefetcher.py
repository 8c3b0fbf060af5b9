"""Parts are created before the text that needs them arrives."""

from PySide6.QtCore import QAbstractEventDispatcher, QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.part_prefetcher import IdleTimer
from ui.transcript.cards.prose_view import ProseView


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


def test_code_is_seen_in_a_block_that_was_made_in_steps(theme: Theme, qtbot: QtBot) -> None:
    card = AnswerCard(theme, MessageView(1, "assistant", "", MessageState.STREAMING), 600)
    qtbot.addWidget(card)
    card.show()
    qtbot.waitUntil(lambda: not card.body.prefetcher.is_busy and bool(card.body.findChildren(CodeBlock)))
    ready = card.body.findChild(CodeBlock)
    card.append("```python\nx = 1\n```\n")
    assert card.body.segments == [ready]
    assert ready is not None
    qtbot.waitUntil(ready.view.isVisible)
    assert ready.view.toPlainText() == "x = 1"
    assert ready.view.height() >= ready.view.minimumHeight() > 20


class _Paints(QObject):
    """Counts the paint events of the current event loop iteration."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__()
        self.count = self.total = 0
        self._turns = QAbstractEventDispatcher.instance()
        self._turns.awake.connect(self._on_turn)
        watched.installEventFilter(self)

    def _on_turn(self) -> None:
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Count paint events."""
        is_paint = event.type() == QEvent.Type.Paint
        self.count += is_paint
        self.total += is_paint
        return False

    def end(self) -> None:
        """Stop counting."""
        self._turns.awake.disconnect(self._on_turn)


def test_the_work_waits_for_a_turn_that_paints_nothing(qtbot: QtBot) -> None:
    page, seen = QWidget(), list[int]()
    qtbot.addWidget(page)
    page.show()
    qtbot.waitExposed(page)
    paints = _Paints(page)
    quiet = IdleTimer(page, lambda: seen.append(paints.count))
    beside = QTimer(page, singleShot=True)  # fires in the same iteration, and requests painting in the next one
    beside.timeout.connect(page.update)
    for _ in range(5):
        num_before = len(seen)
        beside.start(3)
        quiet.begin(3)
        qtbot.waitUntil(lambda known=num_before: len(seen) == known + 1)
    paints.end()
    assert seen == [0] * 5
    assert paints.total >= 5


def test_what_begins_anew_is_done_once(qtbot: QtBot) -> None:
    page, seen = QObject(), list[str]()
    quiet = IdleTimer(page, lambda: seen.append("done"))
    quiet.begin(1)
    quiet.begin(2)
    assert quiet.isActive()
    qtbot.waitUntil(lambda: not quiet.isActive())
    assert seen == ["done"]
    quiet.begin(1)
    quiet.stop()
    QTimer.singleShot(20, page, lambda: seen.append("later"))
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen == ["done", "later"]
