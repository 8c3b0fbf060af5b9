"""Tests reasoning in the whole app: measured, stored, searched, excluded from prompts and marked in exports."""

import functools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from app.core.domain.requests import prompt_messages
from app.core.domain.thinking import ThinkingTime
from app.core.storage.chats.portable import read_chat
from app.core.storage.exchange.transfer import to_markdown
from engine.records import Message
from tests.app.core.storage.exchange.whole import there_and_back
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.app.journeys.test_journeys import ask, settle
from tests.fake_model import Script, ScriptedWorker

THOUGHT = "<think>\nTwo and two, so to speak.\n</think>\n\nIt is **4**."
GENEROUS_MS = 30_000


class Clock:
    now_s = 10.0

    def __call__(self) -> float:
        return self.now_s


def scripted(answer: str, tag: str = "") -> functools.partial[ScriptedWorker]:
    return functools.partial(ScriptedWorker, script=Script(answer, tokens_per_second=400.0, reasoning_start_tag=tag))


def test_time_runs_from_the_first_word_to_the_closing_tag() -> None:
    clock = Clock()
    time = ThinkingTime(clock=clock)
    assert not time.feed("<think>Let")
    clock.now_s += 4.2
    assert not time.feed(" me see")
    assert time.thinking_ms == 4_200
    clock.now_s += 0.3
    assert time.feed("</think>It")
    clock.now_s += 9
    assert not time.feed(" is 4.")
    assert time.thinking_ms == 4_500


def test_time_of_an_answer_that_goes_on_is_added() -> None:
    clock = Clock()
    time = ThinkingTime("<think>Let me", 3_000, clock)
    time.feed(" see")
    clock.now_s += 1
    assert time.feed("</think>")
    assert time.thinking_ms == 4_000
    ended = ThinkingTime("<think>a</think>b", 3_000, clock)
    assert not ended.feed("c")
    assert ended.thinking_ms == 3_000


def test_an_answer_without_reasoning_has_no_time() -> None:
    time = ThinkingTime()
    assert not time.feed("It is 4.")
    assert time.thinking_ms is None


def test_earlier_reasoning_is_left_out_of_the_prompt() -> None:
    views = [
        MessageView(1, "user", "<think>mine</think>?"),
        MessageView(2, "assistant", THOUGHT),
        MessageView(3, "user", "b"),
    ]
    assert prompt_messages("", views) == (
        Message("user", "<think>mine</think>?"),
        Message("assistant", "It is **4**."),
        Message("user", "b"),
    )


def test_an_answer_that_is_nothing_but_reasoning_is_no_answer() -> None:
    views = [MessageView(1, "user", "a"), MessageView(2, "assistant", "<think>Hm"), MessageView(3, "user", "b")]
    assert prompt_messages("", views) == (Message("user", "a\n\nb"),)


@pytest.mark.parametrize("opened", [False, True])
def test_a_thinking_model_from_question_to_export(qtbot: QtBot, opened: bool) -> None:
    keep_settings({})
    answer = THOUGHT.removeprefix("<think>\n") if opened else THOUGHT
    harness = open_app(scripted(answer, "<think>\n" if opened else ""))
    settle(harness, qtbot)
    ask(harness, qtbot, "How much is it?")
    qtbot.waitUntil(lambda: bool(harness.window.finished), timeout=GENEROUS_MS)
    settle(harness, qtbot)
    view = harness.messages()[-1]
    assert view.text == THOUGHT
    assert sum(span.num_chars for span in view.spans) == len(THOUGHT)
    assert view.thinking_ms is not None
    card = harness.window.transcript.last_answer()
    assert card is not None
    assert card.reasoning is not None
    assert card.reasoning.header.text().startswith("Thought for ")
    qtbot.mouseClick(card.copy_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "It is **4**."
    _check_outside(harness, view)
    chat_id = harness.controller.state.chat_id
    assert chat_id is not None
    harness.close()
    again = open_app(scripted("Yes."))
    settle(again, qtbot)
    assert again.store.messages(chat_id)[-1] == view
    again.close()


def _check_outside(harness: AppHarness, view: MessageView) -> None:
    chat_id = harness.controller.state.chat_id
    assert chat_id is not None
    assert [hit.message_id for hit in harness.store.library.search("speak").result(30)] == [view.id]
    chat = harness.store.read(lambda db: read_chat(db, chat_id))
    assert chat is not None
    markdown = to_markdown(chat)
    seconds = f"{(view.thinking_ms or 0) / 1000:.1f}"
    assert f"> **Thought for {seconds} s**\n>\n> Two and two, so to speak.\n\nIt is **4**." in markdown
    (read,) = there_and_back(chat)
    assert read.messages[-1].thinking_ms == view.thinking_ms
    copy = harness.store.library.branch_off(view.id)
    assert harness.store.messages(copy)[-1].thinking_ms == view.thinking_ms
