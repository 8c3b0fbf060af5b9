"""Tests races in the window with a scripted engine: by click and key, beside the chat, exported to files."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.core.benchmark.job import RaceJob
from app.core.domain.engine_view import EngineState
from app.core.domain.speed.races import (
    LaneProgress,
    LaneText,
    RaceEnded,
    RaceRoundBegan,
    RaceRoundEnded,
)
from engine.records import EngineReady, Mode, Problem, RunStats, Source, TokenSpan
from tests.app.fakes import AppHarness
from tests.race_results import RESULT, VERDICT
from ui.race.page import RacePage


def open_page(harness: AppHarness, qtbot: QtBot, question: str = "Where does water flow?") -> RacePage:
    harness.window.composer.set_text(question)
    qtbot.keyClick(
        harness.window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    qtbot.waitUntil(lambda: harness.window.race.is_open)
    return harness.window.race.page


def start(harness: AppHarness, qtbot: QtBot) -> RacePage:
    page = open_page(harness, qtbot)
    qtbot.mouseClick(page.form.start_button, Qt.MouseButton.LeftButton)
    assert page.is_racing
    return page


def answer(harness: AppHarness, qtbot: QtBot, text: str = "Who are you?") -> None:
    num_before = len(harness.window.finished)
    harness.window.composer.submitted.emit(text)
    harness.engine.say("An answer.")
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) == num_before + 1)


def job_of(harness: AppHarness) -> RaceJob:
    job = harness.engine.jobs[-1]
    assert isinstance(job, RaceJob)
    return job


def test_a_question_in_the_composer_is_raced_as_it_would_be_asked(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.saved.emit({"system_prompt": "Be brief.", "temperature": 0.7})
    page = start(harness, qtbot)
    job = job_of(harness)
    assert [message.content for message in job._request.messages] == ["Be brief.", "Where does water flow?"]
    assert job._request.sampling.temperature == 0.0
    assert job._request.use_past is False
    assert job._request.conversation_id == 0
    assert [choice.mode for choice in job._setup.lanes] == [Mode.OFF, Mode.AUTO]
    assert page.pages.currentWidget() is page.track
    assert harness.window.composer.text == "Where does water flow?"  # the question was not sent


def test_the_question_of_a_message_is_raced_with_what_came_before_it(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot)
    answer(harness, qtbot, "And then?")
    last = harness.messages()[-1]
    harness.window.transcript.race_requested.emit(last.id)
    form = harness.window.race.page.form
    assert form.question.exact_text() == "And then?"
    assert [message.role for message in form.setup.before] == ["user", "assistant"]
    assert form.includes_before.isVisible()
    form.includes_before.click()
    assert form.setup.before == ()


def test_the_name_of_a_picture_that_the_model_cannot_see_is_no_question(harness: AppHarness, qtbot: QtBot) -> None:
    harness.controller.attachments.attach_picture(QImage(40, 20, QImage.Format.Format_RGB32))
    qtbot.waitUntil(lambda: bool(harness.controller.attachments._unsent_attachments))
    harness.window.race.opened_empty.emit()
    assert harness.window.race.page.form.question.exact_text() == ""


def test_what_is_attached_and_not_sent_is_raced_with_what_is_typed(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    target = harness.window.engine_view.target
    assert target is not None
    harness.engine.tell(EngineReady(replace(target, has_vision=True)))
    qtbot.waitUntil(lambda: harness.controller._parts.decode is not None)
    harness.controller.attachments.attach_picture(QImage(40, 20, QImage.Format.Format_RGB32))
    (tmp_path / "notes.md").write_text("one two three\n")
    harness.controller.attachments.attach_files([str(tmp_path / "notes.md")])
    qtbot.waitUntil(lambda: len(harness.controller.attachments._unsent_attachments) == 2)
    harness.window.composer.edit.setPlainText("What is it?")
    harness.window.race.opened_empty.emit()
    form = harness.window.race.page.form
    assert form.includes_pictures.text() == "With 1 picture"
    assert form.question.exact_text().endswith("one two three\n```\n\nWhat is it?")
    harness.window.race.page.start_requested.emit(form.setup)
    assert [one.width for _, one in job_of(harness)._request.messages[-1].pictures] == [40]
    assert len(harness.controller.attachments._unsent_attachments) == 2, "it is still to be sent"
    # a model without vision gets the picture's name
    harness.engine.tell(EngineReady(target))
    qtbot.waitUntil(lambda: harness.controller._parts.decode is None)
    harness.engine.tell(RaceEnded(problem=Problem("Ended", "It ended.", "")))
    qtbot.waitUntil(lambda: not harness.controller.state.is_racing)
    harness.window.race.opened_empty.emit()
    assert "picture, which you cannot see: Pasted picture.png" in form.question.exact_text()
    assert not form.setup.pictures


def test_the_last_question_of_the_chat_is_offered_where_nothing_is_typed(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot)
    page = open_page(harness, qtbot, "")
    assert page.form.question.exact_text() == "Who are you?"


def test_lanes_texts_and_figures_are_shown_as_they_come(harness: AppHarness, qtbot: QtBot) -> None:
    page = start(harness, qtbot)
    tell, track = harness.engine.tell, page.track
    tell(RaceRoundBegan(0))
    tell(LaneText(1, 0, "Water flows", (TokenSpan(5, Source.TARGET), TokenSpan(6, Source.NGRAM))))
    plain = RunStats(tokens=100, passes=100, decode_s=20.0, inter_token_ms_p50=200.0)
    auto = RunStats(tokens=100, passes=50, decode_s=10.0, proposed=15, accepted=5, inter_token_ms_p50=100.0)
    tell(LaneProgress(0, 0, plain, finished=False))
    tell(LaneProgress(1, 0, auto, finished=False))
    qtbot.waitUntil(lambda: track.lanes[1].speed.value == "10.0")
    assert track.lanes[1].text.text == "Water flows"
    assert track.lanes[1].lines["accepted"].value == "33% of 15"
    tell(LaneProgress(1, 0, RunStats(tokens=200, passes=90, decode_s=20.0), finished=True))
    qtbot.waitUntil(lambda: track.lanes[1].bar.share == 1.0)
    assert track.lanes[0].bar.share == pytest.approx(100 / 256)  # of the longest possible answer
    tell(RaceRoundEnded(1, (VERDICT,)))
    qtbot.waitUntil(lambda: track.lanes[1].ratio.value == "1.62×")
    tell(RaceRoundBegan(1))
    qtbot.waitUntil(lambda: track.lanes[0].bar.share == 0.0)
    assert track.lanes[1].text.text == "Water flows"  # until the round has text
    tell(LaneText(1, 1, "W", (TokenSpan(1, Source.TARGET),)))
    qtbot.waitUntil(lambda: track.lanes[1].text.text == "W")


def test_the_composer_waits_for_a_race(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot)
    page = start(harness, qtbot)
    window = harness.window
    assert window.engine.state is EngineState.RACING
    qtbot.mouseClick(page.back_button, Qt.MouseButton.LeftButton)
    assert window.shows_chat
    assert page.is_racing
    assert not window.composer.send_button.isEnabled()
    assert window.composer.reason.text() == "A race is using the model. You can send your message when it is over."
    num_requests = len(harness.engine.requests)
    window.transcript.regenerate_requested.emit(harness.messages()[-1].id)
    assert window.notices[-1] == "A race is using the model. Wait until it is over, or stop it."
    assert len(harness.engine.requests) == num_requests
    harness.engine.tell(RaceEnded(RESULT))
    qtbot.waitUntil(lambda: window.engine.state is EngineState.READY)
    assert window.notices[-1] == "The race is over. The Race page shows the result."
    assert window.composer.send_button.isEnabled()
    answer(harness, qtbot, "Go on")
    assert len(harness.engine.requests) == num_requests + 1


def test_escape_stops_the_race_then_leaves_the_page(harness: AppHarness, qtbot: QtBot) -> None:
    page = start(harness, qtbot)
    qtbot.keyClick(harness.window, Qt.Key.Key_Escape)
    assert harness.engine.num_job_stops == 1
    assert harness.engine.num_stops == 0
    assert page.is_racing  # until the engine confirms
    harness.engine.tell(RaceEnded(RESULT))
    qtbot.waitUntil(lambda: not page.is_racing)
    assert page.result is not None
    assert page.result.lanes == RESULT.lanes
    qtbot.keyClick(harness.window, Qt.Key.Key_Escape)
    assert harness.window.shows_chat


def test_no_race_begins_beside_an_answer_or_without_a_model(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("Who are you?")
    page = open_page(harness, qtbot)
    assert not page.form.start_button.isEnabled()
    assert page.form.problem.text() == "An answer is being written. Wait for it, or stop it."
    page.form.start()
    assert harness.engine.jobs == []
    harness.engine.finish()
    qtbot.waitUntil(page.form.start_button.isEnabled)
    harness.window.dialogs.file_chosen.emit("other.gguf", "target")
    assert page.form.problem.text() == "The model is loading."


def test_what_went_wrong_is_said_and_the_setup_is_there_again(harness: AppHarness, qtbot: QtBot) -> None:
    page = start(harness, qtbot)
    harness.engine.tell(RaceEnded(problem=Problem("Not enough memory", "It does not fit.", "Race two lanes.")))
    qtbot.waitUntil(lambda: not page.is_racing)
    assert page.problem.isVisible()
    assert page.problem.title.text() == "Not enough memory"
    assert page.pages.currentWidget() is not page.track
    assert page.form.setup.question == "Where does water flow?"
    assert page.form.start_button.isEnabled()


def test_the_same_race_can_be_run_once_more(harness: AppHarness, qtbot: QtBot) -> None:
    page = start(harness, qtbot)
    first = job_of(harness)._setup
    harness.engine.tell(RaceEnded(replace(RESULT, setup=first)))
    qtbot.waitUntil(page.new_button.isVisible)
    qtbot.mouseClick(page.new_button, Qt.MouseButton.LeftButton)
    page.form.start()
    assert page.is_racing
    assert job_of(harness)._setup == first


def test_the_picture_of_a_race_is_saved(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, file = open_page(harness, qtbot), tmp_path / "race.png"
    page.show_result(RESULT)
    monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialog.fileSelected.emit(str(file)))
    page.export_button.click()
    qtbot.waitUntil(page.notice.isVisible)
    assert page.notice.message.text() == "Race exported to race.png."
    assert QImage(str(file)).width() == page.track.width() * 2
    harness.controller.races.export(tmp_path / "no folder" / "race.png")
    qtbot.waitUntil(page.problem.isVisible)
    assert page.problem.title.text() == "The race could not be exported"
