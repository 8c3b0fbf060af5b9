"""The engine's process ends by itself: text is kept, the model is loaded again, and nothing goes round in circles."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.domain.engine_view import EngineState
from app.domain.messages import MessageState
from app.paths import builtin_target
from engine.records import EngineEnded, EngineFailed, LoadRequest, Mode, Problem
from tests.app.fakes import DRAFT, TARGET, Desk, keep_settings, open_desk

REASON = "signal SIGABRT"
OTHER = "models/other.gguf"
PROBLEM = Problem("The engine ended unexpectedly", f"The engine ended unexpectedly ({REASON}).", "Try again.")
AGAIN = "Your text is safe; the model is being loaded again."


def end(desk: Desk, *request_ids: int) -> None:
    """The process ends, and what was asked for fails, as the client tells it."""
    desk.engine.tell(EngineEnded(REASON))
    for request_id in request_ids:
        desk.engine.tell(EngineFailed(PROBLEM, request_id, engine_ended=True))


def ask(desk: Desk, words: str = "A question") -> int:
    before = len(desk.engine.requests)
    desk.window.message_submitted.emit(words)
    assert len(desk.engine.requests) == before + 1
    return int(desk.engine.requests[-1].request_id)


def loaded_again(desk: Desk, qtbot: QtBot) -> None:
    desk.engine.ready()
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)


def test_an_answer_is_kept_as_interrupted_and_the_model_is_loaded_again(desk: Desk, qtbot: QtBot) -> None:
    loads, problems = len(desk.engine.loads), len(desk.window.problems)
    number = ask(desk)
    desk.engine.say("half an answer")
    qtbot.waitUntil(lambda: desk.window.text == "half an answer")
    desk.window.composer.edit.setPlainText("not sent yet")
    end(desk, number)
    qtbot.waitUntil(lambda: bool(desk.window.finished))
    view = desk.messages()[-1]
    assert (view.text, view.state, view.notice) == ("half an answer", MessageState.INTERRUPTED, PROBLEM.message)
    assert view.can_continue
    assert desk.window.composer.text == "not sent yet"
    assert desk.engine.loads[loads:] == [desk.engine.loads[loads - 1]]
    (problem,) = desk.window.problems[problems:]
    assert (problem.title, problem.message, problem.advice) == (PROBLEM.title, f"Its process ended ({REASON}).", AGAIN)
    assert desk.window.engine.state is EngineState.LOADING
    ask(desk, "the next one")  # waits behind the load
    desk.engine.ready()
    desk.engine.say("whole")
    desk.engine.finish()
    qtbot.waitUntil(lambda: desk.messages()[-1].state is MessageState.COMPLETE)
    assert len(desk.window.problems) == problems + 1


def test_a_model_that_ends_it_twice_is_not_loaded_again_by_itself(desk: Desk, qtbot: QtBot) -> None:
    loads = len(desk.engine.loads)
    end(desk)
    qtbot.waitUntil(lambda: len(desk.engine.loads) == loads + 1)
    loaded_again(desk, qtbot)
    number = ask(desk)
    desk.engine.say("half")
    end(desk, number)
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.EMPTY)
    assert len(desk.engine.loads) == loads + 1
    assert "It ended twice with this model" in desk.window.problems[-1].advice
    desk.window.message_submitted.emit("is anybody there?")
    assert desk.window.problems[-1].title == "No model is loaded"
    assert desk.window.composer.text == "is anybody there?"
    desk.window.model_file_chosen.emit(TARGET, "target")
    assert len(desk.engine.loads) == loads + 2
    loaded_again(desk, qtbot)


def test_an_answer_between_two_ends_lets_it_be_loaded_again(desk: Desk, qtbot: QtBot) -> None:
    for number in range(3):
        loads = len(desk.engine.loads)
        end(desk, ask(desk, f"question {number}"))
        qtbot.waitUntil(lambda loads=loads: len(desk.engine.loads) == loads + 1)
        loaded_again(desk, qtbot)
        ask(desk)
        desk.engine.say("done")
        desk.engine.finish()
        qtbot.waitUntil(lambda: desk.messages()[-1].state is MessageState.COMPLETE)


def test_a_model_that_ends_it_while_it_is_loaded_leaves_the_one_before(desk: Desk, qtbot: QtBot) -> None:
    before = desk.engine.loads[-1]
    desk.window.model_file_chosen.emit(OTHER, "target")
    assert desk.engine.loads[-1].target == OTHER
    end(desk, 0)
    qtbot.waitUntil(lambda: desk.engine.loads[-1] == before)
    problem = desk.window.problems[-1]
    assert problem.title == "The model could not be loaded"
    assert problem.message == f"The engine ended unexpectedly ({REASON}) while it loaded other.gguf."
    loaded_again(desk, qtbot)
    assert desk.controller.models.target_path == TARGET
    assert desk.window.values["target_path"] == TARGET


def test_a_draft_that_ends_it_leaves_the_pair_before(desk: Desk, qtbot: QtBot) -> None:
    before = desk.engine.loads[-1]
    desk.window.model_file_chosen.emit("models/bad-draft.gguf", "draft")
    end(desk, 0)
    qtbot.waitUntil(lambda: len(desk.engine.loads) == 2)
    assert desk.engine.loads[-1] == before
    assert "while it loaded bad-draft.gguf" in desk.window.problems[-1].message
    assert desk.window.values["draft_path"] == DRAFT


def test_a_draft_that_was_changed_since_comes_back(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/new-draft.gguf", "draft")
    desk.engine.ready(TARGET, "models/new-draft.gguf")
    qtbot.waitUntil(lambda: desk.window.values["draft_path"] == "models/new-draft.gguf")
    end(desk)
    qtbot.waitUntil(lambda: len(desk.engine.loads) == 2)
    assert (desk.engine.loads[-1].target, desk.engine.loads[-1].draft) == (TARGET, "models/new-draft.gguf")


@pytest.mark.usefixtures("qapp")
def test_a_first_model_that_ends_it_gives_way_to_the_demo_and_that_to_nothing(qtbot: QtBot) -> None:
    keep_settings({})
    desk = open_desk()
    end(desk, 0)
    qtbot.waitUntil(lambda: len(desk.engine.loads) == 2)
    assert desk.engine.loads[-1].target == str(builtin_target())
    end(desk, 0)
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.EMPTY)
    assert len(desk.engine.loads) == 2
    desk.close()


def test_another_version_of_an_answer_that_brought_no_word_is_taken_back(desk: Desk, qtbot: QtBot) -> None:
    ask(desk)
    desk.engine.say("the first version")
    desk.engine.finish()
    qtbot.waitUntil(lambda: bool(desk.window.finished))
    desk.window.regenerate_requested.emit(desk.messages()[-1].id)
    end(desk, desk.engine.requests[-1].request_id)
    qtbot.waitUntil(lambda: not desk.controller.is_answering)
    (_, answer) = desk.messages()
    assert (answer.text, answer.state) == ("the first version", MessageState.COMPLETE)


def test_what_was_to_be_loaded_again_is_what_was_asked_for(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit(OTHER, "target")
    asked: LoadRequest = desk.engine.loads[-1]
    desk.engine.ready(OTHER, None, {Mode.DRAFT: "Token 7 differs."})
    qtbot.waitUntil(lambda: desk.controller.models.target_path == OTHER)
    end(desk)
    qtbot.waitUntil(lambda: len(desk.engine.loads) == 3)
    assert desk.engine.loads[-1] == asked
