"""Tests `paceline models self-draft`: numbers, the path of the file, and the exit code."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from app.cli.parser import main
from tests.engine.gguf_factory import tiny_llama
from tests.shared_files import shared_model

Capture = pytest.CaptureFixture[str]


@pytest.fixture(name="home", autouse=True)
def fixture_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PACELINE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_one_that_can_pay_is_in_the_cache_folder(home: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tiny_llama(n_ff=3072, n_layer=8, idle=range(4, 8), seed=3).write(tmp_path / "early.gguf")
    assert main(["models", "self-draft", str(target), "--layers", "4,5,6,7", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (tried,) = told["tried"]
    assert tried["path"] == told["draft"]
    assert tried["agreement"] == 1.0
    assert tried["left_out"] == [4, 5, 6, 7]
    assert Path(tried["path"]).parent == home / "cache" / "self-drafts"
    assert main(["check", str(target), tried["path"]]) == 0


def test_where_none_can_pay_the_figures_are_reported(home: Path, capsys: Capture) -> None:
    assert main(["models", "self-draft", shared_model("stories260K-f16.gguf"), "--layers", "2"]) == 1
    told = capsys.readouterr().out
    assert re.search(r"Without 1 of its 5 layers it agrees with the whole model on [45]\d% of 144 tokens", told)
    assert "No copy was kept." in told
    assert not list((home / "cache" / "self-drafts").iterdir())


def test_a_model_that_is_not_there_is_one_sentence(capsys: Capture) -> None:
    assert main(["models", "self-draft", "no-such"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_on_a_terminal_progress_and_a_command_for_the_draft_are_shown(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    target = tiny_llama(n_ff=3072, n_layer=8, idle=range(4, 8), seed=3).write(tmp_path / "early.gguf")
    assert main(["models", "self-draft", str(target), "--layers", "4,5,6,7"]) == 0
    *_, place, command = capsys.readouterr().out.splitlines()
    draft = place.removeprefix("The draft is ")
    assert Path(draft).is_file()
    assert command == f"paceline run --model {target} --draft {draft} --prompt Hello"
    assert re.search(r"\r\x1b\[K[^\r]+: \d+%", screen.getvalue())
    assert screen.getvalue().endswith("\r\x1b[K")
