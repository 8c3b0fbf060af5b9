"""Tests the state that controllers share: readers get the new value and one signal."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.controllers.state import AppState, ChatAnswer, Models
from app.core.domain.engine_view import EngineState
from app.core.domain.settings.values import Settings
from engine.records import EngineReady, Mode
from tests.app.fakes import info

READY = Models(EngineReady(info("a.gguf"), None, {Mode.DRAFT: "There is no draft."}))


def test_a_change_is_told_once_and_when_it_holds(qtbot: QtBot) -> None:
    state, seen = AppState(Settings()), list[object]()
    state.models_changed.connect(lambda: seen.append(state.models.target_path))
    state.engine_changed.connect(lambda: seen.append(state.engine.state))
    state.answers_changed.connect(lambda: seen.append(sorted(state.answers)))
    state.set_models(READY)
    state.set_models(Models(READY.loaded))
    state.set_answers({7: ChatAnswer(EngineState.READING)})
    state.set_answers({7: ChatAnswer(EngineState.READING)})
    assert seen == ["a.gguf", EngineState.READY, [7]], "the answer of a chat that is not open is no news of the engine"


def test_the_engine_does_what_it_does_for_the_open_chat(qtbot: QtBot) -> None:
    state = AppState(Settings())
    assert state.engine.state is EngineState.EMPTY
    state.set_models(READY)
    state.set_racing(is_racing=True)
    assert state.engine.state is EngineState.RACING
    state.set_models(Models(READY.loaded, is_loading=True, progress=0.5))
    assert (state.engine.state, state.engine.progress) == (EngineState.LOADING, 0.5)
    state.set_answers({7: ChatAnswer(EngineState.ANSWERING)})
    assert state.engine.state is EngineState.LOADING
    state.open_chat(7)
    state.show_chat()
    assert state.engine.state is EngineState.ANSWERING


def test_deleted_chats_are_answered_but_not_marked(qtbot: QtBot) -> None:
    state = AppState(Settings())
    state.set_answers({1: ChatAnswer(EngineState.ANSWERING), 2: ChatAnswer(EngineState.READING, deleted=True)})
    assert (len(state.answers), state.answering) == (2, {1})


def test_models_are_usable_while_they_load_but_named_once_they_are_there() -> None:
    loading = Models(READY.loaded, is_loading=True)
    assert not Models().usable
    assert loading.usable
    assert (loading.ready, loading.target_path) == (None, "")
    assert READY.target_path == "a.gguf"


def test_a_mode_that_cannot_run_gives_way_to_the_next() -> None:
    assert READY.runnable(Mode.DRAFT) == (Mode.NGRAM, "There is no draft.")
    assert READY.runnable(Mode.OFF) == (Mode.OFF, "")
    assert Models().runnable(Mode.DRAFT) == (Mode.DRAFT, "")
