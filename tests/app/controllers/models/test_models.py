"""Loading, replacing, refusing; what the settings remember of it; the padded demo."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import engine.gguf.pad
from app.domain.engine_view import EngineState
from app.paths import builtin_draft, builtin_target
from app.storage.settings_file import read_settings
from engine.errors import ToolError
from engine.records import EngineFailed, EngineReady, LoadProgress, Mode, Problem
from tests.app.fakes import DRAFT, TARGET, Desk, info, keep_settings, open_desk

REFUSED = Problem("This draft does not fit the target", "Token 7 differs.", "Choose another.")


def saved(desk: Desk, key: str) -> object:
    return read_settings(desk.paths.settings_file).settings.values[key]


@pytest.fixture
def builtin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built-in pair, as far as its files go."""
    assets = tmp_path / "assets"
    import_module("app.controllers.models.pairs")  # else, imported while a window is open, it would keep these for good
    monkeypatch.setattr("app.paths.assets_dir", lambda: assets)
    builtin_target().parent.mkdir(parents=True)
    builtin_target().touch()
    builtin_draft().touch()
    return assets


def test_the_chosen_pair_is_loaded_at_the_start(desk: Desk) -> None:
    assert [(request.target, request.draft) for request in desk.engine.loads] == [(TARGET, DRAFT)]
    assert desk.engine.started
    assert desk.window.engine.state is EngineState.READY


def test_the_first_start_loads_the_builtin_pair(qtbot: QtBot, builtin: Path) -> None:
    desk = open_desk()
    assert [(load.target, load.draft) for load in desk.engine.loads] == [(str(builtin_target()), str(builtin_draft()))]
    assert desk.window.engine.state is EngineState.LOADING
    assert desk.window.shown[-1] == ("", ())
    desk.close()


def test_without_the_builtin_pair_one_sentence_says_so(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("app.paths.assets_dir", lambda: tmp_path / "nowhere")
    desk = open_desk()
    assert [problem.title for problem in desk.window.problems] == ["The built-in models are missing"]
    assert desk.window.engine.state is EngineState.EMPTY
    desk.window.message_submitted.emit("anybody?")
    assert desk.window.restored == ["anybody?"]
    desk.close()


def test_loading_shows_how_far_it_is(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/other.gguf", "target")
    assert desk.window.engine.state is EngineState.LOADING
    desk.engine.tell(LoadProgress("models/other.gguf", 0.5))
    qtbot.waitUntil(lambda: desk.window.engine.progress == 0.5)
    desk.engine.ready("models/other.gguf")
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert desk.window.engine.progress is None
    assert saved(desk, "target_path") == "models/other.gguf"
    assert desk.window.values["target_path"] == "models/other.gguf"


def test_a_target_that_fails_does_not_become_the_chosen_one(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/broken.gguf", "target")
    desk.engine.tell(EngineFailed(Problem("Broken", "It is broken.", "Choose another.")))
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert [problem.title for problem in desk.window.problems] == ["Broken"]
    assert desk.window.engine.target == info(TARGET)
    assert saved(desk, "target_path") == TARGET


def test_of_two_targets_in_a_row_each_gets_its_own_outcome(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/good.gguf", "target")
    desk.window.model_file_chosen.emit("models/broken.gguf", "target")
    desk.engine.ready("models/good.gguf")
    qtbot.waitUntil(lambda: saved(desk, "target_path") == "models/good.gguf")
    assert desk.window.engine.state is EngineState.LOADING
    desk.engine.tell(EngineFailed(Problem("Broken", "It is broken.", "Choose another.")))
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert saved(desk, "target_path") == "models/good.gguf"


CANCELLED = EngineFailed(Problem("The model could not be loaded", "It was cancelled.", ""), was_cancelled=True)


def test_another_choice_ends_a_load_without_a_word(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/first.gguf", "target")
    desk.engine.tell(LoadProgress("models/first.gguf", 0.5))
    desk.window.model_file_chosen.emit("models/second.gguf", "target")
    desk.engine.tell(CANCELLED)
    qtbot.waitUntil(lambda: desk.window.engine.progress is None)
    assert desk.window.engine.state is EngineState.LOADING
    desk.engine.ready("models/second.gguf")
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert desk.window.problems == []
    assert saved(desk, "target_path") == "models/second.gguf"


def test_a_draft_that_the_next_choice_left_out_is_no_problem(desk: Desk, qtbot: QtBot) -> None:
    desk.controller.models.load_pair("models/first.gguf", "models/small.gguf")
    desk.window.model_file_chosen.emit("models/second.gguf", "target")
    desk.engine.ready("models/first.gguf", draft=None)
    desk.engine.ready("models/second.gguf", draft="models/small.gguf")
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert desk.window.problems == []


def test_loading_is_stopped_from_the_menu_of_models(desk: Desk, qtbot: QtBot) -> None:
    header = desk.window.header
    assert not header.stop_action.isVisible()
    desk.window.model_file_chosen.emit("models/other.gguf", "target")
    qtbot.keyClick(desk.window.composer.edit, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(header.picker.isVisible)
    rows = header.picker.list
    line = next(line for line, row in enumerate(rows.rows.rows) if row.title == header.stop_action.text())
    place = rows.visualRect(rows.model().index(line, 0)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert desk.engine.num_load_stops == 1
    desk.engine.tell(CANCELLED)
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert not header.stop_action.isVisible()
    assert desk.window.engine.target == info(TARGET)
    assert desk.window.problems == []
    assert saved(desk, "target_path") == TARGET
    desk.window.message_submitted.emit("still there?")
    assert len(desk.engine.requests) == 1


def test_a_first_load_that_is_stopped_makes_room_for_the_builtin_pair(qtbot: QtBot, builtin: Path) -> None:
    keep_settings({})
    desk = open_desk()
    desk.window.stop_requested.emit()
    desk.engine.tell(CANCELLED)
    qtbot.waitUntil(lambda: len(desk.engine.loads) == 2)
    assert desk.engine.loads[-1].target == str(builtin_target())
    assert desk.window.problems == []
    assert saved(desk, "target_path") == TARGET
    desk.close()


def test_a_target_chosen_while_an_answer_streams_waits_for_it(desk: Desk) -> None:
    desk.window.message_submitted.emit("Hello")
    desk.window.model_file_chosen.emit("models/other.gguf", "target")
    assert "when the answer is finished" in desk.window.notices[-1]
    assert desk.window.engine.state is EngineState.READING


def test_a_draft_is_chosen_and_removed_without_a_reload(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/small.gguf", "draft")
    desk.engine.ready(draft="models/small.gguf")
    qtbot.waitUntil(lambda: saved(desk, "draft_path") == "models/small.gguf")
    desk.window.draft_removed.emit()
    desk.engine.ready(draft=None, unavailable={Mode.DRAFT: "No draft model is chosen."})
    qtbot.waitUntil(lambda: desk.window.engine.draft is None)
    assert desk.engine.drafts == ["models/small.gguf", None]
    assert len(desk.engine.loads) == 1
    assert saved(desk, "draft_path") == ""


def test_a_refused_draft_is_told_and_the_chat_goes_on(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/foreign.gguf", "draft")
    desk.engine.tell(EngineFailed(REFUSED))
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert desk.window.problems == [REFUSED]
    assert saved(desk, "draft_path") == DRAFT
    desk.window.message_submitted.emit("still there?")
    assert len(desk.engine.requests) == 1


def test_what_was_wrong_with_a_model_is_taken_back_by_the_next_one_that_is_used(desk: Desk, qtbot: QtBot) -> None:
    banner = desk.window.problem_banner
    desk.window.model_file_chosen.emit("models/foreign.gguf", "draft")
    desk.engine.tell(EngineFailed(REFUSED))
    qtbot.waitUntil(lambda: not banner.isHidden())
    desk.window.model_file_chosen.emit("models/other.gguf", "target")
    desk.engine.ready("models/other.gguf")
    qtbot.waitUntil(banner.isHidden)
    desk.window.model_file_chosen.emit("models/foreign.gguf", "draft")
    desk.engine.tell(EngineFailed(REFUSED))
    qtbot.waitUntil(lambda: not banner.isHidden())
    other = Problem("The disk is full", "Nothing can be saved.", "Make room.")
    desk.window.show_problem(other)
    desk.window.model_file_chosen.emit("models/small.gguf", "draft")
    desk.engine.ready(draft="models/small.gguf")
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert not banner.isHidden(), "this is still so"
    assert banner.problem == other


def test_a_draft_refused_at_loading_is_told_and_its_mode_left(qtbot: QtBot) -> None:
    keep_settings({"mode": "draft"})
    desk = open_desk()
    desk.engine.tell(EngineReady(info(TARGET), None, {Mode.DRAFT: "Token 7 differs."}, ("Token 7 differs.",)))
    qtbot.waitUntil(lambda: bool(desk.window.problems))
    assert desk.window.problems[0].message == "Token 7 differs."
    assert desk.window.mode is Mode.NGRAM
    assert saved(desk, "mode") == "draft"
    desk.window.model_file_chosen.emit("models/fitting.gguf", "draft")
    desk.engine.ready(draft="models/fitting.gguf")
    qtbot.waitUntil(lambda: desk.window.mode is Mode.DRAFT)
    desk.close()


def test_a_target_that_cannot_speculate_runs_plain_and_says_why(desk: Desk, qtbot: QtBot) -> None:
    reason = "The memory of this model can neither forget nor be taken back."
    desk.window.model_file_chosen.emit("models/other.gguf", "target")
    desk.engine.ready("models/other.gguf", None, dict.fromkeys((Mode.DRAFT, Mode.NGRAM, Mode.AUTO), reason))
    qtbot.waitUntil(lambda: desk.window.mode is Mode.OFF)
    assert reason in desk.window.notices
    desk.window.message_submitted.emit("Hello")
    assert desk.engine.requests[-1].mode is Mode.OFF


def test_a_chosen_target_that_is_gone_gives_way_to_the_builtin_pair(qtbot: QtBot, builtin: Path) -> None:
    keep_settings({})
    desk = open_desk()
    desk.engine.tell(EngineFailed(Problem("Model file not found", "It is gone.", "Choose another.")))
    qtbot.waitUntil(lambda: len(desk.engine.loads) == 2)
    assert desk.engine.loads[1].target == str(builtin_target())
    assert [problem.title for problem in desk.window.problems] == ["Model file not found"]
    assert not desk.window.problem_banner.isHidden()
    desk.engine.tell(EngineFailed(Problem("Model file not found", "That, too.", "Choose another.")))
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.EMPTY)
    assert len(desk.engine.loads) == 2
    desk.close()


def test_why_the_builtin_pair_is_used_stays_to_be_read(qtbot: QtBot, builtin: Path) -> None:
    keep_settings({})
    desk = open_desk()
    desk.engine.tell(EngineFailed(Problem("Model file not found", "It is gone.", "Choose another.")))
    qtbot.waitUntil(lambda: len(desk.engine.loads) == 2)
    desk.engine.ready(str(builtin_target()))
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert not desk.window.problem_banner.isHidden()
    desk.close()


def test_settings_that_need_it_load_again_and_others_do_not(desk: Desk) -> None:
    desk.window.settings_changed.emit({"temperature": 0.3, "theme": "dark"})
    assert len(desk.engine.loads) == 1
    assert desk.window.themes[-1] == "dark"
    desk.window.settings_changed.emit({"n_ctx": 1024})
    assert desk.engine.loads[-1].n_ctx == 1024
    desk.window.settings_changed.emit({"draft_path": "models/small.gguf"})
    assert desk.engine.drafts == ["models/small.gguf"]
    assert len(desk.engine.loads) == 2
    desk.window.message_submitted.emit("Hello")
    assert desk.engine.requests[-1].sampling.temperature == 0.3


def test_a_setting_out_of_range_is_told_and_not_taken(desk: Desk) -> None:
    desk.window.settings_changed.emit({"temperature": 99.0})
    assert desk.window.problems[-1].message == "Temperature must be from 0 to 5."
    assert desk.window.values["temperature"] == 0.8


class TestPaddedDemo:
    """Made on a thread of its own, loaded when it is there, removed by removing the file."""

    @pytest.fixture
    def padding(self, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
        made: list[Path] = []

        def make(source: Path, destination: Path, progress: Callable[[float], None], stop: Callable[[], bool]) -> Path:
            for step in range(101):
                progress(step / 100)
            destination.write_bytes(b"padded")
            made.append(source)
            return destination

        monkeypatch.setattr(engine.gguf.pad, "make_padded", make)
        return made

    @pytest.fixture
    def started(self, qtbot: QtBot, builtin: Path) -> Desk:
        opened = open_desk()
        opened.engine.ready(str(builtin_target()), str(builtin_draft()))
        qtbot.waitUntil(lambda: opened.window.engine.state is EngineState.READY)
        return opened

    def test_it_is_made_then_loaded_then_in_use(self, started: Desk, qtbot: QtBot, padding: list[Path]) -> None:
        assert started.window.demo[-1] == ("absent", None)
        started.window.builtin_pair_requested.emit(True)
        qtbot.waitUntil(lambda: len(started.engine.loads) == 2)
        load = started.engine.loads[-1]
        assert (load.target, load.draft) == (str(started.paths.padded_demo_file), str(builtin_draft()))
        assert ("making", 0.5) in started.window.demo
        assert started.window.demo[-1] == ("ready", None)
        started.engine.ready(load.target, load.draft)
        qtbot.waitUntil(lambda: started.window.demo[-1] == ("active", None))
        assert padding == [builtin_target()]
        started.window.builtin_pair_requested.emit(False)
        assert started.engine.loads[-1].target == str(builtin_target())
        started.window.builtin_pair_requested.emit(True)
        assert started.engine.loads[-1].target == load.target
        assert padding == [builtin_target()]
        started.close()

    def test_where_it_cannot_be_made_one_sentence_says_why(
        self, started: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*arguments: object) -> Path:
            raise ToolError("The padded model needs 200 MB.")

        monkeypatch.setattr(engine.gguf.pad, "make_padded", refuse)
        started.window.builtin_pair_requested.emit(True)
        qtbot.waitUntil(lambda: bool(started.window.problems))
        assert started.window.problems[0].message == "The padded model needs 200 MB."
        assert started.window.demo[-1] == ("absent", None)
        assert len(started.engine.loads) == 1
        started.close()

    def test_a_copy_in_use_is_deleted_once_the_pair_as_it_is_has_taken_over(
        self, started: Desk, qtbot: QtBot, padding: list[Path]
    ) -> None:
        started.window.builtin_pair_requested.emit(True)
        qtbot.waitUntil(lambda: len(started.engine.loads) == 2)
        started.engine.ready(started.engine.loads[-1].target, str(builtin_draft()))
        qtbot.waitUntil(lambda: started.window.demo[-1] == ("active", None))
        started.window.padded_demo_deleted.emit()
        assert started.engine.loads[-1].target == str(builtin_target())
        assert started.paths.padded_demo_file.exists()
        started.engine.ready(str(builtin_target()), str(builtin_draft()))
        qtbot.waitUntil(lambda: started.window.demo[-1] == ("absent", None))
        assert not started.paths.padded_demo_file.exists()
        started.close()

    def test_the_user_can_stop_it(self, started: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
        def slow(source: Path, destination: Path, progress: object, stop: Callable[[], bool]) -> Path:
            while not stop():
                pass
            raise ToolError("cancelled")

        monkeypatch.setattr(engine.gguf.pad, "make_padded", slow)
        started.window.builtin_pair_requested.emit(True)
        started.window.padded_demo_cancelled.emit()
        qtbot.waitUntil(lambda: started.window.demo[-1] == ("absent", None))
        assert started.window.problems == []
        started.close()

    def test_closing_cancels_it(self, started: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        ended = []

        def slow(source: Path, destination: Path, progress: object, stop: Callable[[], bool]) -> Path:
            while not stop():
                pass
            ended.append(destination)
            raise ToolError("cancelled")

        monkeypatch.setattr(engine.gguf.pad, "make_padded", slow)
        started.window.builtin_pair_requested.emit(True)
        started.close()
        assert len(ended) == 1


def test_past_chats_are_forgotten_when_that_is_switched_off_and_when_a_chat_is_deleted(
    desk: Desk, qtbot: QtBot
) -> None:
    desk.engine.ready()
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    desk.window.message_submitted.emit("Hello")
    assert desk.engine.requests[-1].use_past
    desk.engine.finish()
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    desk.window.settings_changed.emit({"learn_past": False})
    assert desk.engine.num_forgotten == 1
    desk.window.message_submitted.emit("Hello again")
    assert not desk.engine.requests[-1].use_past
    desk.window.settings_changed.emit({"learn_past": True})
    assert desk.engine.num_forgotten == 1
    desk.window.conversation_delete_requested.emit(desk.controller.conversations.current_id)
    assert desk.engine.num_forgotten == 1  # it can still be taken back
    desk.controller.deletions.wipe()
    assert desk.engine.num_forgotten == 2
