"""A window says where llama.cpp is not the one that it was installed with: once for each target, not for each draft."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.llama import library
from tests.app.fakes import Desk, info


def test_libraries_from_another_folder_are_told_with_each_target(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = library.LoadedLibrary(Path("other") / "libggml-cpu.so.0", is_package=False, build="")
    monkeypatch.setattr(library, "loaded_libraries", lambda: (other,))
    desk.engine.library_notices = library.library_notices()
    desk.window.model_file_chosen.emit("models/other.gguf", "target")
    desk.engine.ready("models/other.gguf")
    qtbot.waitUntil(lambda: bool(desk.window.engine.notices))
    told = [notice for notice in desk.window.notices if "libggml-cpu.so.0 came from another folder" in notice]
    assert len(told) == 1
    assert desk.window.engine.notices == tuple(told)
    desk.window.model_file_chosen.emit("models/draft.gguf", "draft")
    desk.engine.ready("models/other.gguf", "models/draft.gguf")
    qtbot.waitUntil(lambda: desk.window.engine.draft == info("models/draft.gguf"))
    assert desk.window.notices.count(told[0]) == 1
