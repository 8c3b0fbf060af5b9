"""Tests loading and replacing models, failures, and what the settings remember."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.paths import builtin_draft, builtin_target
from app.core.server.engine_job import CallJob, unload
from app.core.storage.settings_file import read_settings
from engine.records import EngineFailed, EngineReady, LoadProgress, Mode, Problem
from engine.requests import JobEnded
from tests.app.fakes import DRAFT, TARGET, AppHarness, info, keep_settings, open_app

REFUSED = Problem("This draft does not fit the target", "Token 7 differs.", "Choose another.")


def saved(harness: AppHarness, key: str) -> object:
    return read_settings(harness.paths.settings_file).settings.values[key]


@pytest.fixture
def builtin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built-in pair of dummy files."""
    assets = tmp_path / "assets"
    import_module("app.controllers.models.pairs")  # otherwise an import while a window is open would keep these paths
    monkeypatch.setattr("app.core.paths.assets_dir", lambda: assets)
    builtin_target().parent.mkdir(parents=True)
    builtin_target().touch()
    builtin_draft().touch()
    return assets


def test_the_chosen_pair_is_loaded_at_the_start(harness: AppHarness) -> None:
    assert [(request.target, request.draft) for request in harness.engine.loads] == [(TARGET, DRAFT)]
    assert harness.engine.started
    assert harness.window.engine.state is EngineState.READY


def test_the_first_start_loads_the_builtin_pair(qtbot: QtBot, builtin: Path) -> None:
    harness = open_app()
    assert [(load.target, load.draft) for load in harness.engine.loads] == [
        (str(builtin_target()), str(builtin_draft()))
    ]
    assert harness.window.engine.state is EngineState.LOADING
    assert harness.window.shown[-1] == ("", ())
    harness.close()


def test_without_the_builtin_pair_one_sentence_says_so(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("app.core.paths.assets_dir", lambda: tmp_path / "nowhere")
    harness = open_app()
    assert [problem.title for problem in harness.window.problems] == ["The built-in models are missing"]
    assert harness.window.engine.state is EngineState.EMPTY
    harness.window.composer.submitted.emit("anybody?")
    assert harness.window.restored == ["anybody?"]
    harness.close()


def test_loading_shows_how_far_it_is(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit("models/other.gguf", "target")
    assert harness.window.engine.state is EngineState.LOADING
    harness.engine.tell(LoadProgress("models/other.gguf", 0.5))
    qtbot.waitUntil(lambda: harness.window.engine.progress == 0.5)
    harness.engine.tell(LoadProgress("models/small-draft.gguf", 0.1))
    qtbot.waitUntil(lambda: harness.window.engine.loading == "small-draft")
    harness.engine.ready("models/other.gguf")
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    assert harness.window.engine.progress is None
    assert saved(harness, "target_path") == "models/other.gguf"
    assert harness.window.values["target_path"] == "models/other.gguf"


def test_a_target_that_fails_does_not_become_the_chosen_one(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit("models/broken.gguf", "target")
    harness.engine.tell(EngineFailed(Problem("Broken", "It is broken.", "Choose another.")))
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    assert [problem.title for problem in harness.window.problems] == ["Broken"]
    assert harness.window.engine.target == info(TARGET)
    assert saved(harness, "target_path") == TARGET


CANCELLED = EngineFailed(Problem("The model could not be loaded", "It was cancelled.", ""), was_cancelled=True)


def test_another_choice_ends_a_load_without_a_word(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit("models/first.gguf", "target")
    harness.engine.tell(LoadProgress("models/first.gguf", 0.5))
    harness.window.dialogs.file_chosen.emit("models/second.gguf", "target")
    harness.engine.tell(CANCELLED)
    qtbot.waitUntil(lambda: harness.window.engine.progress is None)
    assert harness.window.engine.state is EngineState.LOADING
    harness.engine.ready("models/second.gguf")
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    assert harness.window.problems == []
    assert saved(harness, "target_path") == "models/second.gguf"


def pick_action(harness: AppHarness, qtbot: QtBot, words: str) -> None:
    """Choose a row of the model list with the mouse."""
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(harness.window.header.picker.isVisible)
    rows = harness.window.header.picker.list
    line = next(line for line, row in enumerate(rows.rows.rows) if row.title == words)
    rows.scrollTo(rows.model().index(line, 0))
    place = rows.visualRect(rows.model().index(line, 0)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_loading_is_stopped_from_the_menu_of_models(harness: AppHarness, qtbot: QtBot) -> None:
    header = harness.window.header
    assert not header.stop_action.isVisible()
    harness.window.dialogs.file_chosen.emit("models/other.gguf", "target")
    pick_action(harness, qtbot, header.stop_action.text())
    assert harness.engine.num_load_stops == 1
    harness.engine.tell(CANCELLED)
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    assert not header.stop_action.isVisible()
    assert harness.window.engine.target == info(TARGET)
    assert harness.window.problems == []
    assert saved(harness, "target_path") == TARGET
    harness.window.composer.submitted.emit("still there?")
    assert len(harness.engine.requests) == 1


def test_a_first_load_that_is_stopped_makes_room_for_the_builtin_pair(qtbot: QtBot, builtin: Path) -> None:
    keep_settings({})
    harness = open_app()
    harness.window.composer.stop_requested.emit()
    harness.engine.tell(CANCELLED)
    qtbot.waitUntil(lambda: len(harness.engine.loads) == 2)
    assert harness.engine.loads[-1].target == str(builtin_target())
    assert harness.window.problems == []
    assert saved(harness, "target_path") == TARGET
    harness.close()


def test_a_target_chosen_while_an_answer_streams_waits_for_it(harness: AppHarness) -> None:
    harness.window.composer.submitted.emit("Hello")
    harness.window.dialogs.file_chosen.emit("models/other.gguf", "target")
    assert "when the answer is finished" in harness.window.notices[-1]
    assert harness.window.engine.state is EngineState.READING


def test_a_draft_is_chosen_and_removed_without_a_reload(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit("models/small.gguf", "draft")
    harness.engine.ready(draft="models/small.gguf")
    qtbot.waitUntil(lambda: saved(harness, "draft_path") == "models/small.gguf")
    harness.window.header.remove_draft.emit()
    harness.engine.ready(draft=None, unavailable={Mode.DRAFT: "No draft model is chosen."})
    qtbot.waitUntil(lambda: harness.window.engine.draft is None)
    assert harness.engine.drafts == ["models/small.gguf", None]
    assert len(harness.engine.loads) == 1
    assert saved(harness, "draft_path") == ""


def test_a_refused_draft_is_reported_and_the_chat_goes_on(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit("models/foreign.gguf", "draft")
    harness.engine.tell(EngineFailed(REFUSED))
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    assert harness.window.problems == [REFUSED]
    assert saved(harness, "draft_path") == DRAFT
    harness.window.composer.submitted.emit("still there?")
    assert len(harness.engine.requests) == 1


def test_a_model_problem_is_cleared_by_the_next_model(harness: AppHarness, qtbot: QtBot) -> None:
    banner = harness.window.problem_banner
    harness.window.dialogs.file_chosen.emit("models/foreign.gguf", "draft")
    harness.engine.tell(EngineFailed(REFUSED))
    qtbot.waitUntil(lambda: not banner.isHidden())
    harness.window.dialogs.file_chosen.emit("models/other.gguf", "target")
    harness.engine.ready("models/other.gguf")
    qtbot.waitUntil(banner.isHidden)
    harness.window.dialogs.file_chosen.emit("models/foreign.gguf", "draft")
    harness.engine.tell(EngineFailed(REFUSED))
    qtbot.waitUntil(lambda: not banner.isHidden())
    other = Problem("The disk is full", "Nothing can be saved.", "Make room.")
    harness.window.show_problem(other)
    harness.window.dialogs.file_chosen.emit("models/small.gguf", "draft")
    harness.engine.ready(draft="models/small.gguf")
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    assert not banner.isHidden(), "this is still so"
    assert banner.problem == other


def test_a_draft_refused_at_loading_is_reported_and_its_mode_left(qtbot: QtBot) -> None:
    keep_settings({"mode": "draft"})
    harness = open_app()
    harness.engine.tell(EngineReady(info(TARGET), None, {Mode.DRAFT: "Token 7 differs."}, ("Token 7 differs.",)))
    qtbot.waitUntil(lambda: bool(harness.window.problems))
    assert harness.window.problems[0].message == "Token 7 differs."
    assert harness.window.mode is Mode.NGRAM
    assert saved(harness, "mode") == "draft"
    harness.window.dialogs.file_chosen.emit("models/fitting.gguf", "draft")
    harness.engine.ready(draft="models/fitting.gguf")
    qtbot.waitUntil(lambda: harness.window.mode is Mode.DRAFT)
    harness.close()


def test_a_target_that_cannot_speculate_runs_plain_and_says_why(harness: AppHarness, qtbot: QtBot) -> None:
    reason = "The memory of this model can neither forget nor be taken back."
    harness.window.dialogs.file_chosen.emit("models/other.gguf", "target")
    harness.engine.ready("models/other.gguf", None, dict.fromkeys((Mode.DRAFT, Mode.NGRAM, Mode.AUTO), reason))
    qtbot.waitUntil(lambda: harness.window.mode is Mode.OFF)
    assert reason in harness.window.notices
    harness.window.composer.submitted.emit("Hello")
    assert harness.engine.requests[-1].mode is Mode.OFF


def test_a_chosen_target_that_is_gone_gives_way_to_the_builtin_pair(qtbot: QtBot, builtin: Path) -> None:
    keep_settings({})
    harness = open_app()
    harness.engine.tell(EngineFailed(Problem("Model file not found", "It is gone.", "Choose another.")))
    qtbot.waitUntil(lambda: len(harness.engine.loads) == 2)
    assert harness.engine.loads[1].target == str(builtin_target())
    assert [problem.title for problem in harness.window.problems] == ["Model file not found"]
    assert not harness.window.problem_banner.isHidden()
    harness.engine.tell(EngineFailed(Problem("Model file not found", "That, too.", "Choose another.")))
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.EMPTY)
    assert len(harness.engine.loads) == 2
    harness.close()


def test_settings_that_need_it_load_again_and_others_do_not(harness: AppHarness) -> None:
    harness.window.dialogs.saved.emit({"temperature": 0.3, "theme": "dark"})
    assert len(harness.engine.loads) == 1
    assert harness.window.themes[-1] == "dark"
    harness.window.dialogs.saved.emit({"n_ctx": 1024})
    assert harness.engine.loads[-1].n_ctx == 1024
    harness.window.dialogs.saved.emit({"draft_path": "models/small.gguf"})
    assert harness.engine.drafts == ["models/small.gguf"]
    assert len(harness.engine.loads) == 2
    harness.window.composer.submitted.emit("Hello")
    assert harness.engine.requests[-1].sampling.temperature == 0.3


def test_past_chats_are_forgotten_when_switched_off_or_deleted(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    harness.window.composer.submitted.emit("Hello")
    assert harness.engine.requests[-1].use_past
    harness.engine.finish()
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    harness.window.dialogs.saved.emit({"learn_past": False})
    assert harness.engine.num_forgotten == 1
    harness.window.composer.submitted.emit("Hello again")
    assert not harness.engine.requests[-1].use_past
    harness.window.dialogs.saved.emit({"learn_past": True})
    assert harness.engine.num_forgotten == 1
    harness.window.sidebar.list.delete_requested.emit(harness.controller.state.chat_id)
    assert harness.engine.num_forgotten == 1  # the deletion can still be undone
    harness.controller.deletions.wipe()
    assert harness.engine.num_forgotten == 2


def test_a_model_that_reads_pictures_says_that_it_gets_text_only(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit("models/seeing.gguf", "target")
    seeing = replace(info("models/seeing.gguf"), unused_abilities=("pictures",))
    harness.engine.tell(EngineReady(seeing, info(DRAFT)))
    words = "puppet can also see pictures if its mmproj file is in the same folder."
    qtbot.waitUntil(lambda: any(notice.startswith(words) for notice in harness.window.notices))


def test_the_model_is_unloaded_from_its_menu_and_loaded_when_it_is_chosen(harness: AppHarness, qtbot: QtBot) -> None:
    num_loads = len(harness.engine.loads)
    pick_action(harness, qtbot, "Unload the model")
    assert harness.engine.jobs[-1] == CallJob(unload)
    assert harness.window.engine.state is EngineState.EMPTY
    assert not harness.window.header.unload_action.isVisible()
    assert harness.window.problems == []
    harness.engine.tell(JobEnded(True))
    assert not harness.window.race.is_created
    harness.window.header.target_picked.emit(TARGET)
    qtbot.waitUntil(lambda: len(harness.engine.loads) == num_loads + 1)
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
