"""A window reports a llama.cpp other than the installed one: once per target, not for each draft."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.llama import library
from tests.app.fakes import AppHarness, info


def test_libraries_from_another_folder_are_reported_with_each_target(
    harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = library.LoadedLibrary(Path("other") / "libggml-cpu.so.0", is_from_package=False, build="")
    monkeypatch.setattr(library, "loaded_libraries", lambda: (other,))
    harness.engine.library_notices = library.library_notices()
    harness.window.dialogs.file_chosen.emit("models/other.gguf", "target")
    harness.engine.ready("models/other.gguf")
    qtbot.waitUntil(lambda: bool(harness.window.engine.notices))
    told = [notice for notice in harness.window.notices if "libggml-cpu.so.0 came from another folder" in notice]
    assert len(told) == 1
    assert harness.window.engine.notices == tuple(told)
    harness.window.dialogs.file_chosen.emit("models/draft.gguf", "draft")
    harness.engine.ready("models/other.gguf", "models/draft.gguf")
    qtbot.waitUntil(lambda: harness.window.engine.draft == info("models/draft.gguf"))
    assert harness.window.notices.count(told[0]) == 1
