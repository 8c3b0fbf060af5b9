"""Tests the output of `paceline doctor` for people and for scripts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import doctor
from app.cli.parser import main
from app.core.doctor import Finding, Level

PAGE = "https://github.com/paceline/paceline/releases/tag/v999.0.0"
Capture = pytest.CaptureFixture[str]


def show(monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> None:
    monkeypatch.setattr(doctor, "examine", lambda _paths: findings)


def test_a_fault_is_exit_1_and_comes_with_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    show(monkeypatch, Finding("Memory", Level.OK, "8 GB."), Finding("Disk", Level.PROBLEM, "It is full.", "Make room."))
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "   ok  Memory: 8 GB.\nFAULT  Disk: It is full.\n       -> Make room.\n" in out
    assert out.endswith("1 fault was found; see above.\n")


def test_without_a_fault_it_is_exit_0(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    show(monkeypatch, Finding("Display", Level.NOTE, "There is none."))
    assert main(["doctor"]) == 0
    assert "Nothing is missing" in capsys.readouterr().out


def test_json_has_all_of_it(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    show(monkeypatch, Finding("Folder", Level.OK, "~/x, 1 GB free."))
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    finding = {"subject": "Folder", "level": "fine", "message": "~/x, 1 GB free.", "advice": ""}
    assert answer == {"works": True, "findings": [finding]}


@pytest.mark.parametrize("words", [["run", "--prompt", "Hello"], ["check", "a.gguf", "b.gguf"]])
def test_commands_that_need_a_broken_llama_say_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]
) -> None:
    package = tmp_path / "llama_cpp"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('Failed to load libllama.so')", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-m", "app", *words]
    child = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert child.returncode == 1
    assert child.stderr.count("\n") == 1
    assert "llama.cpp cannot be loaded: Failed to load libllama.so. Type “paceline doctor”" in child.stderr
