"""Tests the context in the window with real clicks and keys: meter, options, summaries, saved caches."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.context import ContextParts
from app.core.domain.messages import MessageState
from app.core.domain.settings.table import MIB
from app.core.storage.chats import summaries
from engine.records import (
    EngineFailed,
    EngineReady,
    Finished,
    FinishReason,
    Message,
    Problem,
    RunStats,
    StatsUpdate,
    SummaryUpdate,
)
from engine.session.summarising import prepend_summary
from tests.app.controllers.chat.test_answers import answer
from tests.app.fakes import TARGET, AppHarness, info
from ui.composer.context_meter import ContextMeter
from ui.settings.rows import ChoiceRow
from ui.transcript.summaries import SummaryLine


@pytest.fixture
def loaded(harness: AppHarness, qtbot: QtBot) -> AppHarness:
    harness.engine.ready()
    qtbot.waitUntil(lambda: meter(harness).parts.size == 512)
    return harness


def meter(harness: AppHarness) -> ContextMeter:
    return harness.controller.context.meter


def lines(harness: AppHarness) -> list[SummaryLine]:
    page = harness.window.transcript
    found = (page.summaries.line_of(card) for card in page.cards)
    return [line for line in found if line is not None and not line.isHidden()]


def stored(harness: AppHarness) -> dict[int, str]:
    current = harness.controller.state.chat_id
    assert current is not None
    return harness.store.read(lambda db: summaries.of_conversation(db, current))


def update(harness: AppHarness, **changes: object) -> None:
    request_id = harness.engine.requests[-1].request_id
    harness.engine.tell(SummaryUpdate(request_id, 2, **changes))  # type: ignore[arg-type]


def summarised(harness: AppHarness, qtbot: QtBot) -> int:
    """Two turns, and a third before which the first was summarised; returns the last summarised message."""
    answer(harness, qtbot, "one", "first")
    answer(harness, qtbot, "two", "second")
    first_answer = harness.messages()[1].id
    harness.window.composer.submitted.emit("three")
    update(harness)
    update(harness, done=10, total=40)
    qtbot.waitUntil(lambda: len(lines(harness)) == 1)
    update(harness, text="They counted.", complete=True)
    qtbot.waitUntil(lambda: bool(stored(harness)))
    harness.engine.say("third")
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) == 3)
    return first_answer


def test_the_meter_counts_before_the_first_answer(loaded: AppHarness, qtbot: QtBot) -> None:
    loaded.window.dialogs.saved.emit({"system_prompt": "Be kind to all."})
    qtbot.waitUntil(lambda: meter(loaded).parts.system == 4)
    assert meter(loaded).isVisible()
    assert "about 4 of 512 tokens used" in meter(loaded).accessibleName()
    assert "System prompt 4" in meter(loaded).accessibleName()


def test_without_a_model_there_is_no_meter(loaded: AppHarness) -> None:
    meter(loaded).set_parts(ContextParts())
    assert not meter(loaded).isVisible()
    assert "no model" in meter(loaded).accessibleName()


def test_the_meter_follows_an_answer_and_warns(loaded: AppHarness, qtbot: QtBot) -> None:
    loaded.window.composer.submitted.emit("one two three")
    request_id = loaded.engine.requests[-1].request_id
    loaded.engine.tell(StatsUpdate(request_id, RunStats(tokens=40, context_used=100, context_size=512)))
    qtbot.waitUntil(lambda: meter(loaded).parts.used == 100)
    assert meter(loaded).parts.last_answer == 40
    loaded.engine.say("much")
    stats = RunStats(tokens=400, context_used=460, context_size=512, passes=1)
    loaded.engine.tell(Finished(request_id, FinishReason.END, stats))
    qtbot.waitUntil(lambda: meter(loaded).parts.used == 460)
    assert "nearly full" in meter(loaded).text()
    assert "nearly full" in meter(loaded).accessibleName()
    for used in (512, 700):  # only its last messages fit
        meter(loaded).set_parts(ContextParts(conversation=used, size=512))
        assert meter(loaded).text().strip() == "100% · full"
        assert f"{used} of 512 tokens used, full." in meter(loaded).accessibleName()


def test_what_one_model_reported_of_its_tokens_is_not_said_of_another_one(loaded: AppHarness, qtbot: QtBot) -> None:
    loaded.window.composer.submitted.emit("one two three")
    request_id = loaded.engine.requests[-1].request_id
    loaded.engine.say("much")
    stats = RunStats(tokens=400, context_used=512, context_size=512, passes=1)
    loaded.engine.tell(Finished(request_id, FinishReason.END, stats))
    qtbot.waitUntil(lambda: meter(loaded).parts.used == 512)
    qtbot.waitUntil(lambda: bool(loaded.window.finished))
    loaded.engine.ready(draft="models/another.gguf")
    assert meter(loaded).parts.used == 512, "the same target"
    loaded.engine.ready("models/other.gguf")
    qtbot.waitUntil(lambda: meter(loaded).parts.used < 100)


def refuse(harness: AppHarness, qtbot: QtBot, question: str, num_tokens: int) -> None:
    """Send a question by keyboard, and let the engine reject it as too long."""
    harness.window.composer.edit.setPlainText(question)
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    request_id = harness.engine.requests[-1].request_id
    harness.engine.tell(EngineFailed(Problem("Too long", "It is too long.", "Shorten it."), request_id, num_tokens))
    qtbot.waitUntil(lambda: harness.messages()[-1].state is MessageState.FAILED)


def test_a_question_that_was_too_long_says_what_it_would_take(loaded: AppHarness, qtbot: QtBot) -> None:
    answer(loaded, qtbot, "one", "first")
    refuse(loaded, qtbot, "too many words", 712)
    qtbot.waitUntil(lambda: meter(loaded).text().strip() == "712 of 512 · too long")
    assert "takes 712 tokens, but the context holds only 512" in meter(loaded).accessibleName()
    chat = loaded.controller.state.chat_id
    assert chat is not None
    loaded.controller.conversations.new_chat()
    qtbot.waitUntil(lambda: "too long" not in meter(loaded).text())
    loaded.controller.conversations.select(chat)
    qtbot.waitUntil(lambda: "too long" in meter(loaded).text())  # shown again with its chat
    answer(loaded, qtbot, "two", "second")
    assert meter(loaded).parts.refused == 0
    assert "too long" not in meter(loaded).text()


def test_a_question_that_was_too_long_does_not_count_for_the_next_one(loaded: AppHarness, qtbot: QtBot) -> None:
    refuse(loaded, qtbot, "word " * 600, 612)
    qtbot.waitUntil(lambda: "too long" in meter(loaded).text())
    composer = loaded.window.composer
    qtbot.keyClicks(composer.edit, "and now")
    qtbot.waitUntil(lambda: composer.context_label.text() == "about 10 of 512 tokens")
    assert not composer.fit_label.isVisible()
    composer.edit.clear()
    refuse(loaded, qtbot, "a question that would fit alone", 520)
    qtbot.keyClicks(composer.edit, "and now")
    qtbot.waitUntil(lambda: composer.context_label.text() == "about 10 of 512 tokens")


def test_after_a_new_start_the_meter_counts_what_was_too_long(loaded: AppHarness, qtbot: QtBot) -> None:
    refuse(loaded, qtbot, "word " * 600, 612)
    qtbot.waitUntil(lambda: "612 of 512" in meter(loaded).text())
    loaded.controller.context._refused.clear()  # as after a restart
    loaded.controller.context.show()
    assert meter(loaded).parts.refused >= 600
    state = loaded.controller.state
    state.set_models(replace(state.models, loaded=EngineReady(replace(info(TARGET), n_ctx=4096))))
    assert meter(loaded).parts.refused == 0


def test_without_a_model_there_is_no_context(loaded: AppHarness, qtbot: QtBot) -> None:
    answer(loaded, qtbot, "one", "first")
    assert meter(loaded).isVisible()
    loaded.window.header.unload.emit()
    assert not meter(loaded).isVisible()
    qtbot.keyClicks(loaded.window.composer.edit, "and now")
    assert loaded.window.composer.context_label.text() == ""


def test_a_click_opens_the_setting_for_a_full_context(loaded: AppHarness, qtbot: QtBot) -> None:
    answer(loaded, qtbot, "one", "first")
    qtbot.mouseClick(meter(loaded), Qt.MouseButton.LeftButton)
    panel = loaded.window.chat_settings.panel
    assert panel is not None
    row = panel.rows["overflow"].row
    assert isinstance(row, ChoiceRow)
    assert row.combo.hasFocus()
    row.set_value("stop")
    qtbot.waitUntil(lambda: loaded.controller.state.chat.settings.text("overflow") == "stop")


def test_a_summary_is_shown_while_it_is_written_and_stands_from_then_on(loaded: AppHarness, qtbot: QtBot) -> None:
    first_answer = summarised(loaded, qtbot)
    assert stored(loaded) == {first_answer: "They counted."}
    (line,) = lines(loaded)
    assert line.words.text() == "The messages above are sent as this summary"
    assert line.text.isHidden()
    qtbot.mouseClick(line.show_button, Qt.MouseButton.LeftButton)
    assert not line.text.isHidden()
    assert line.text.text() == "They counted."
    loaded.window.composer.submitted.emit("four")
    assert loaded.engine.requests[-1].messages == (
        Message("user", prepend_summary("They counted.", "two")),
        Message("assistant", "second"),
        Message("user", "three"),
        Message("assistant", "third"),
        Message("user", "four"),
    )
    assert loaded.engine.requests[-1].conversation_id == loaded.controller.state.chat_id


def test_a_summary_can_be_undone(loaded: AppHarness, qtbot: QtBot) -> None:
    summarised(loaded, qtbot)
    (line,) = lines(loaded)
    line.undo_button.setFocus()
    qtbot.keyClick(line.undo_button, Qt.Key.Key_Space)
    assert stored(loaded) == {}
    assert lines(loaded) == []
    loaded.window.composer.submitted.emit("four")
    assert loaded.engine.requests[-1].messages[0] == Message("user", "one")


def test_a_summary_does_not_reach_other_branches(loaded: AppHarness, qtbot: QtBot) -> None:
    summarised(loaded, qtbot)
    first_question = loaded.messages()[0].id
    loaded.window.transcript.edited.emit(first_question, "uno")
    assert loaded.engine.requests[-1].messages == (Message("user", "uno"),)
    loaded.engine.say("primo")
    loaded.engine.finish()
    qtbot.waitUntil(lambda: len(loaded.window.finished) == 4)
    assert lines(loaded) == []
    loaded.window.transcript.version_requested.emit(first_question)
    qtbot.waitUntil(lambda: len(lines(loaded)) == 1)


def test_a_summary_in_the_making_can_be_skipped(loaded: AppHarness, qtbot: QtBot) -> None:
    answer(loaded, qtbot, "one", "first")
    loaded.window.composer.submitted.emit("two")
    update(loaded, text="They co")
    qtbot.waitUntil(lambda: len(lines(loaded)) == 1)
    (line,) = lines(loaded)
    assert "Summarising the 2 oldest messages" in line.words.text()
    assert "2 words" in line.words.text()
    qtbot.mouseClick(line.skip_button, Qt.MouseButton.LeftButton)
    assert loaded.engine.num_skips == 1
    update(loaded, failure="The summary was cancelled.")
    qtbot.waitUntil(lambda: lines(loaded) == [])
    assert any("The summary was cancelled." in notice for notice in loaded.window.notices)
    assert stored(loaded) == {}


def test_kept_caches_follow_the_setting(loaded: AppHarness) -> None:
    assert loaded.engine.state_limits == [1024 * MIB]
    loaded.window.dialogs.saved.emit({"kept_caches": 0})
    assert loaded.engine.state_limits[-1] == 0


def test_a_summary_whose_making_failed_is_in_the_making_no_more(loaded: AppHarness, qtbot: QtBot) -> None:
    answer(loaded, qtbot, "one", "first")
    answer(loaded, qtbot, "two", "second")
    loaded.window.composer.submitted.emit("three")
    update(loaded, done=10, total=40)
    qtbot.waitUntil(lambda: len(lines(loaded)) == 1)
    number = loaded.engine.requests[-1].request_id
    loaded.engine.tell(EngineFailed(Problem("It ended", "It ended.", ""), number, engine_ended=True))
    qtbot.waitUntil(lambda: not lines(loaded))
