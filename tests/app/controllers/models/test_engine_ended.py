"""The engine's process exits unexpectedly: text is kept, the model is reloaded, and crashes do not repeat endlessly."""

from types import SimpleNamespace

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.local_server import Activity
from app.core.domain.messages import MessageState
from app.core.paths import builtin_target
from app.core.storage.chats.totals import read_totals
from engine.records import EngineEnded, EngineFailed, LoadRequest, Mode, Problem, RunStats, StatsUpdate
from tests.app.fakes import DRAFT, TARGET, AppHarness, keep_settings, open_app

REASON = "signal SIGABRT"
OTHER = "models/other.gguf"
PROBLEM = Problem("The engine ended unexpectedly", f"The engine ended unexpectedly ({REASON}).", "Try again.")
AGAIN = "Your text is safe; the model is loaded again."


def end(harness: AppHarness, *request_ids: int) -> None:
    """The process exits, and its requests fail as reported by the client."""
    harness.engine.tell(EngineEnded(REASON))
    for request_id in request_ids:
        harness.engine.tell(EngineFailed(PROBLEM, request_id, engine_ended=True))


def ask(harness: AppHarness, words: str = "A question") -> int:
    before = len(harness.engine.requests)
    harness.window.composer.submitted.emit(words)
    assert len(harness.engine.requests) == before + 1
    return int(harness.engine.requests[-1].request_id)


def loaded_again(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)


def test_an_answer_that_ended_the_engine_counts_for_the_model_that_gave_it(harness: AppHarness, qtbot: QtBot) -> None:
    number = ask(harness)
    harness.engine.say("half an answer")
    harness.engine.tell(StatsUpdate(number, RunStats(mode=Mode.AUTO, tokens=9, passes=9, decode_s=1.0)))
    qtbot.waitUntil(lambda: harness.window.text == "half an answer")
    end(harness, number)
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    assert [(row.target, row.draft) for row in harness.store.read(read_totals)] == [("target", "draft")]


def test_an_answer_is_kept_as_interrupted_and_the_model_is_loaded_again(harness: AppHarness, qtbot: QtBot) -> None:
    loads, problems = len(harness.engine.loads), len(harness.window.problems)
    number = ask(harness)
    harness.engine.say("half an answer")
    qtbot.waitUntil(lambda: harness.window.text == "half an answer")
    harness.window.composer.edit.setPlainText("not sent yet")
    end(harness, number)
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    view = harness.messages()[-1]
    assert (view.text, view.state, view.notice) == ("half an answer", MessageState.INTERRUPTED, PROBLEM.message)
    assert view.can_continue
    assert harness.window.composer.text == "not sent yet"
    assert harness.engine.loads[loads:] == [harness.engine.loads[loads - 1]]
    (problem,) = harness.window.problems[problems:]
    assert (problem.title, problem.message, problem.advice) == (PROBLEM.title, f"Its process ended ({REASON}).", AGAIN)
    assert harness.window.engine.state is EngineState.LOADING
    card = harness.window.transcript.last_answer()
    assert card is not None
    assert card.author.text() == "puppet", "the title of the model, not the app"
    loaded_again(harness, qtbot)
    ask(harness, "the next one")
    harness.engine.say("whole")
    harness.engine.finish()
    qtbot.waitUntil(lambda: harness.messages()[-1].state is MessageState.COMPLETE)
    assert len(harness.window.problems) == problems + 1


def test_a_model_that_ends_it_twice_is_not_loaded_again_by_itself(harness: AppHarness, qtbot: QtBot) -> None:
    loads = len(harness.engine.loads)
    end(harness)
    qtbot.waitUntil(lambda: len(harness.engine.loads) == loads + 1)
    loaded_again(harness, qtbot)
    number = ask(harness)
    harness.engine.say("half")
    end(harness, number)
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.EMPTY)
    assert len(harness.engine.loads) == loads + 1
    assert "The engine ended twice with this model" in harness.window.problems[-1].advice
    harness.window.composer.submitted.emit("is anybody there?")
    assert harness.window.problems[-1].title == "No model is loaded"
    assert harness.window.composer.text == "is anybody there?"
    harness.window.dialogs.file_chosen.emit(TARGET, "target")
    assert len(harness.engine.loads) == loads + 2
    loaded_again(harness, qtbot)


def test_an_answer_between_two_ends_lets_it_be_loaded_again(harness: AppHarness, qtbot: QtBot) -> None:
    for number in range(3):
        loads = len(harness.engine.loads)
        end(harness, ask(harness, f"question {number}"))
        qtbot.waitUntil(lambda loads=loads: len(harness.engine.loads) == loads + 1)
        loaded_again(harness, qtbot)
        ask(harness)
        harness.engine.say("done")
        harness.engine.finish()
        qtbot.waitUntil(lambda: harness.messages()[-1].state is MessageState.COMPLETE)


@pytest.mark.parametrize("role", ["target", "draft"])
def test_a_model_that_ends_it_while_it_is_loaded_leaves_the_pair_before(
    harness: AppHarness, qtbot: QtBot, role: str
) -> None:
    before = harness.engine.loads[-1]
    harness.window.dialogs.file_chosen.emit(OTHER, role)
    end(harness, 0)
    qtbot.waitUntil(lambda: len(harness.engine.loads) > 1 and harness.engine.loads[-1] == before)
    problem = harness.window.problems[-1]
    assert problem.title == "The model could not be loaded"
    assert problem.message == f"The engine ended unexpectedly ({REASON}) while it loaded other.gguf."
    loaded_again(harness, qtbot)
    assert harness.controller.state.models.target_path == TARGET
    assert (harness.window.values["target_path"], harness.window.values["draft_path"]) == (TARGET, DRAFT)


@pytest.mark.usefixtures("qapp")
def test_a_first_model_that_crashes_is_replaced_by_the_demo(qtbot: QtBot) -> None:
    keep_settings({})
    harness = open_app()
    end(harness, 0)
    qtbot.waitUntil(lambda: len(harness.engine.loads) == 2)
    assert harness.engine.loads[-1].target == str(builtin_target())
    end(harness, 0)
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.EMPTY)
    assert len(harness.engine.loads) == 2
    harness.close()


def test_another_version_of_an_answer_that_brought_no_word_is_taken_back(harness: AppHarness, qtbot: QtBot) -> None:
    ask(harness)
    harness.engine.say("the first version")
    harness.engine.finish()
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    harness.window.transcript.regenerate_requested.emit(harness.messages()[-1].id)
    end(harness, harness.engine.requests[-1].request_id)
    qtbot.waitUntil(lambda: not harness.controller.state.answers)
    (_, answer) = harness.messages()
    assert (answer.text, answer.state) == ("the first version", MessageState.COMPLETE)


def test_what_was_to_be_loaded_again_is_what_was_asked_for(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit(OTHER, "target")
    asked: LoadRequest = harness.engine.loads[-1]
    harness.engine.ready(OTHER, None, {Mode.DRAFT: "Token 7 differs."})
    qtbot.waitUntil(lambda: harness.controller.state.models.target_path == OTHER)
    end(harness)
    qtbot.waitUntil(lambda: len(harness.engine.loads) == 3)
    assert harness.engine.loads[-1] == asked


def test_a_model_chosen_before_a_crash_is_loaded_after_it(harness: AppHarness, qtbot: QtBot) -> None:
    number, problems = ask(harness), len(harness.window.problems)
    harness.engine.say("half")
    qtbot.waitUntil(lambda: harness.window.text == "half")
    harness.window.dialogs.file_chosen.emit(OTHER, "target")
    loads = len(harness.engine.loads)
    end(harness, number, 0)
    qtbot.waitUntil(lambda: len(harness.engine.loads) == loads + 1)
    assert harness.engine.loads[-1].target == OTHER
    (problem,) = harness.window.problems[problems:]
    assert (problem.title, problem.advice) == (PROBLEM.title, AGAIN)
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    assert harness.window.values["target_path"] == OTHER


def test_what_programs_were_answered_lets_it_be_loaded_again(harness: AppHarness, qtbot: QtBot) -> None:
    server = SimpleNamespace(activity=Activity(), address="", has_ended=False, has_begun=True, failure=None)
    for answered in range(1, 4):
        loads = len(harness.engine.loads)
        end(harness)
        qtbot.waitUntil(lambda loads=loads: len(harness.engine.loads) == loads + 1)
        loaded_again(harness, qtbot)
        server.activity = Activity(num_answered=answered)
        harness.controller.server._server = server  # type: ignore[assignment]
        harness.controller.server._show()
        harness.controller.server._server = None
