"""Tests a full context with the built-in model at the smallest size: why an answer ends, and how it continues."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.settings.layers import Layer
from app.core.paths import builtin_target, find_paths
from engine.records import Event, Overflow
from engine.session.worker import EngineWorker, probing_session
from tests.app.fakes import AppHarness, keep_settings, open_app
from ui.transcript.cards.answer_card import AnswerCard

WAIT_MS = 120_000
NUM_TOKENS = 256
OLDER = "Tell me about the sea. " * 22  # fills most of the context
QUESTION = "Tom has 12 apples. He buys 3 bags of 8 apples and gives 5 to each of his 4 friends. How many are left?"

pytestmark = pytest.mark.skipif(not builtin_target().exists(), reason="the built-in model is not here")


def real_engine(on_event: Callable[[Event], None]) -> EngineWorker:
    return EngineWorker(on_event, lambda: probing_session(find_paths().cache))


@pytest.fixture
def harness(qtbot: QtBot) -> Iterator[AppHarness]:
    keep_settings({"target_path": "", "draft_path": "", "mode": "off", "n_ctx": NUM_TOKENS, "temperature": 0.0})
    opened = open_app(real_engine)
    qtbot.waitUntil(lambda: opened.window.engine.state is EngineState.READY, timeout=WAIT_MS)
    yield opened
    opened.close()


def asked(harness: AppHarness, qtbot: QtBot, policy: Overflow, older: str, question: str) -> MessageView:
    """Ask in a chat with an optional older turn; returns the answer, which ended with the context."""
    chat = harness.store.create_conversation("chat")
    if older:
        harness.store.add_message(chat, "user", older)
        harness.store.add_message(chat, "assistant", "Blue. " * 10)
    harness.controller.conversations.select(chat)
    choose(harness, policy)
    harness.window.composer.submitted.emit(question)
    view = ended(harness, qtbot)
    assert view.state is MessageState.COMPLETE
    assert view.stats is not None
    assert view.stats.context_used == view.stats.context_size == NUM_TOKENS
    assert card(harness).notice.text().startswith("Stopped")
    return view


def ended(harness: AppHarness, qtbot: QtBot) -> MessageView:
    qtbot.waitUntil(lambda: not harness.controller.state.answers, timeout=WAIT_MS)
    return harness.messages()[-1]


def choose(harness: AppHarness, policy: Overflow) -> None:
    harness.window.chat_settings.changed.emit(Layer.CHAT, {"overflow": policy.value})


def card(harness: AppHarness) -> AnswerCard:
    shown = harness.window.transcript.last_answer()
    assert shown is not None
    return shown


def go_on(harness: AppHarness, qtbot: QtBot) -> MessageView:
    button = card(harness).continue_button
    assert button is not None
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    return ended(harness, qtbot)


@pytest.mark.parametrize(
    ("policy", "told"), [(Overflow.DROP, "leaves out the oldest"), (Overflow.SUMMARISE, "summarises the oldest")]
)
def test_an_answer_goes_on_where_the_policy_makes_room(
    harness: AppHarness, qtbot: QtBot, policy: Overflow, told: str
) -> None:
    half = asked(harness, qtbot, policy, OLDER, QUESTION)
    assert told in half.notice
    whole = go_on(harness, qtbot)
    assert (whole.id, whole.state, whole.cut) == (half.id, MessageState.COMPLETE, False)
    assert whole.text.startswith(half.text)
    assert len(whole.text) > len(half.text)
    assert harness.window.problems == []
    assert not card(harness).can_continue


def test_where_it_is_to_stop_it_goes_on_once_something_else_was_chosen(harness: AppHarness, qtbot: QtBot) -> None:
    half = asked(harness, qtbot, Overflow.STOP, OLDER, QUESTION)
    assert "at the context meter" in half.notice
    assert go_on(harness, qtbot) == half
    assert "the answer needs room" in harness.window.problems[-1].message
    choose(harness, Overflow.DROP)
    whole = go_on(harness, qtbot)
    assert whole.text.startswith(half.text)
    assert len(whole.text) > len(half.text)
    assert "left out" in whole.notice


def test_with_one_turn_alone_a_larger_context_is_what_helps(harness: AppHarness, qtbot: QtBot) -> None:
    half = asked(harness, qtbot, Overflow.DROP, "", OLDER + "Blue. " * 14 + QUESTION)
    assert "this question alone" in half.notice
    assert go_on(harness, qtbot) == half
    assert "the answer needs room" in harness.window.problems[-1].message
    harness.window.dialogs.saved.emit({"n_ctx": 2 * NUM_TOKENS})
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY, timeout=WAIT_MS)
    whole = go_on(harness, qtbot)
    assert whole.text.startswith(half.text)
    assert len(whole.text) > len(half.text)


@pytest.mark.parametrize("policy", list(Overflow))
def test_after_a_question_that_was_too_long_the_next_one_is_answered(
    harness: AppHarness, qtbot: QtBot, policy: Overflow
) -> None:
    choose(harness, policy)
    harness.window.composer.edit.setPlainText("Tell me about the sea. " * 90)
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    assert ended(harness, qtbot).state is MessageState.FAILED
    harness.window.composer.edit.setPlainText("What is two plus three?")
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    view = ended(harness, qtbot)
    assert view.state is MessageState.COMPLETE
    assert view.text
    assert "an earlier question without an answer was left out" in view.notice
    assert harness.window.problems == [], "it was told where the answer would be"
