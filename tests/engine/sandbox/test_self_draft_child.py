"""The helper that makes a draft from a model: if it ends early, it leaves no files, and the caller continues."""

from pathlib import Path

import pytest

from app.core.paths import builtin_target
from engine.errors import EngineError, ToolError
from engine.sandbox.self_draft_child import SelfDraftPlan, make_in_helper
from tests.engine.gguf_factory import tiny_llama
from tests.engine.warm_helpers import run_instead

ENDS_EARLY = "import os, sys; open(os.path.join(sys.argv[2], 'copy.gguf.part'), 'w'); os.abort()"


def plan(target: Path, folder: Path, *layers: int) -> SelfDraftPlan:
    return SelfDraftPlan(target, folder, folder.parent, builtin_target(), layers)


def test_where_it_crashes_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "drafts"
    folder.mkdir()
    (folder / "other.gguf").write_bytes(b"of before")
    run_instead(monkeypatch, ENDS_EARLY)
    with pytest.raises(EngineError, match=r"target\.gguf"):
        make_in_helper(plan(tmp_path / "target.gguf", folder), lambda _what, _done: None)
    assert [file.name for file in folder.iterdir()] == ["other.gguf"]


def test_what_it_refuses_is_the_tool_s_own_sentence(tmp_path: Path) -> None:
    target = tiny_llama(n_layer=2).write(tmp_path / "target.gguf")
    with pytest.raises(ToolError, match="too few to leave any out"):
        make_in_helper(plan(target, tmp_path / "drafts"), lambda _what, _done: None)
    assert list((tmp_path / "drafts").iterdir()) == []


def test_nothing_is_left_of_one_that_was_stopped(tmp_path: Path) -> None:
    target = tiny_llama(n_ff=96, n_layer=8).write(tmp_path / "target.gguf")
    steps: list[str] = []
    with pytest.raises(EngineError, match="cancelled"):
        make_in_helper(plan(target, tmp_path / "drafts", 4), lambda what, _: steps.append(what), lambda: bool(steps))
    assert list((tmp_path / "drafts").iterdir()) == []
