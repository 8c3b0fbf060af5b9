"""The helper that makes a draft of a model itself: where it ends early, nothing of it stays, and the caller goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.core.paths import builtin_target
from engine.errors import EngineError, ToolError
from engine.sandbox import probe
from engine.sandbox.self_draft_child import make_in_helper
from tests.engine.gguf_factory import tiny_llama

ENDS_EARLY = "import os, sys; open(os.path.join(sys.argv[2], 'copy.gguf.part'), 'w'); os.abort()"


def test_where_it_crashes_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "drafts"
    folder.mkdir()
    (folder / "other.gguf").write_bytes(b"of before")
    monkeypatch.setattr(probe, "child_command", lambda _name, *words: [sys.executable, "-c", ENDS_EARLY, *words])
    with pytest.raises(EngineError, match=r"target\.gguf"):
        make_in_helper(
            tmp_path / "target.gguf", folder, tmp_path, builtin_target(), lambda _what, _done: None, lambda: False
        )
    assert [file.name for file in folder.iterdir()] == ["other.gguf"]


def test_what_it_refuses_is_the_tool_s_own_sentence(tmp_path: Path) -> None:
    target = tiny_llama(n_layer=2).write(tmp_path / "target.gguf")
    with pytest.raises(ToolError, match="too few to leave any out"):
        make_in_helper(
            target, tmp_path / "drafts", tmp_path, builtin_target(), lambda _what, _done: None, lambda: False
        )
    assert list((tmp_path / "drafts").iterdir()) == []
