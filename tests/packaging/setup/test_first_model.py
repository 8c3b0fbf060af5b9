"""Tests the small real model in the set-up: when it is offered, and how it is fetched."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from app.core.hub.downloads.first_model import SMALL

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "packaging" / "setup"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="make and its scripts are for POSIX systems")


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the set-up, at a terminal."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "first_model", raising=False)
    module = __import__("first_model")
    monkeypatch.setattr(module, "has_terminal", lambda: True)
    return module


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., Path]:
    """A function that creates an environment whose Python notes its words and then does what the test says."""

    def make(then: str = "true") -> Path:
        folder = tmp_path / "env"
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").write_text(f'#!/bin/sh\necho "$*" >> {folder}/calls\n{then}\n', encoding="utf-8")
        (folder / "bin" / "python").chmod(0o755)
        return folder

    return make


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text("utf-8").splitlines() if path.exists() else []


@dataclass(frozen=True, slots=True)
class Gone:
    """The result: the questions, and whether the model was wanted."""

    asked: list[str]
    is_wanted: bool


def go(first: ModuleType, folder: Path, said: str, answer: str | None = None) -> Gone:
    """Run it as the set-up does; returns the questions and the result."""
    asked: list[str] = []

    def ask() -> str | None:
        asked.append(first.QUESTION)
        return answer

    model = first.FirstModel(folder, {**os.environ, **({first.VARIABLE: said} if said else {})}, ask)
    model.decide()
    model.finish()
    return Gone(asked, model.is_wanted)


def test_the_question_names_what_the_program_fetches(first: ModuleType) -> None:
    for words in (SMALL.name, f"{SMALL.size_bytes / 1e6:.0f} MB", SMALL.licence.lower()):
        assert words.lower() in first.QUESTION.lower()


@pytest.mark.parametrize(("answer", "wanted"), [("\n", True), ("y\n", True), ("Yes\n", True), ("n\n", False),
                                                ("no\n", False), ("what?\n", False)])  # fmt: skip
def test_it_is_asked_once_and_the_answer_is_remembered(
    first: ModuleType, environment: Callable[..., Path], answer: str, wanted: bool
) -> None:
    folder = environment()
    model = go(first, folder, "ask", answer)
    assert (len(model.asked), model.is_wanted) == (1, wanted)
    assert bool(calls(folder)) is wanted
    again = go(first, folder, "ask", "y\n")
    assert (again.asked, again.is_wanted) == ([], False)


def test_where_nobody_answers_nothing_is_downloaded_and_it_is_asked_again(
    first: ModuleType, environment: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = environment()
    assert not go(first, folder, "ask", None).is_wanted
    assert "nothing is downloaded" in capsys.readouterr().out
    assert len(go(first, folder, "ask", "n\n").asked) == 1


def test_without_a_terminal_nobody_is_asked_and_nothing_comes_by_itself(
    first: ModuleType, environment: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first, "has_terminal", lambda: False)
    folder = environment()
    for said in ("ask", "", "no", "whatever"):
        model = go(first, folder, said, "y\n")
        assert (model.asked, model.is_wanted) == ([], False)
    assert calls(folder) == []
    assert go(first, folder, "yes").is_wanted
    assert len(calls(folder)) == 1


def test_no_is_never_asked_and_a_plain_set_up_neither(first: ModuleType, environment: Callable[..., Path]) -> None:
    folder = environment()
    for said in ("no", ""):
        assert go(first, folder, said, "y\n").asked == []
    assert calls(folder) == []


def test_an_environment_that_is_made_anew_keeps_the_answer(first: ModuleType, environment: Callable[..., Path]) -> None:
    folder = environment()
    go(first, folder, "ask", "n\n")
    model = first.FirstModel(folder, {first.VARIABLE: "ask"})
    model.decide()
    (folder / first.MARKER).unlink()
    model.finish()
    assert (folder / first.MARKER).read_text(encoding="utf-8") == "no\n"


@pytest.mark.parametrize(
    ("then", "words"), [("true", ""), ("exit 1", "The built-in pair"), ("sleep 600", "has not come in time")]
)
def test_the_program_fetches_it_and_the_set_up_goes_on(
    first: ModuleType,
    environment: Callable[..., Path],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    then: str,
    words: str,
) -> None:
    monkeypatch.setattr(first, "DOWNLOAD_S", 1.0 if "sleep" in then else 60.0)
    folder = environment(then.replace("sleep", "exec sleep"))
    go(first, folder, "yes")
    assert calls(folder) == ["-m app models pull small"]
    told = capfd.readouterr().out
    assert (words in told) if words else (told == "")


def test_only_make_run_asks() -> None:
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    assert [line for line in lines if "PACELINE_FIRST_MODEL" in line] == [
        '\t@PACELINE_FIRST_MODEL="$${PACELINE_FIRST_MODEL:-ask}" $(SETUP) run'
    ]


def test_the_question_at_a_real_terminal(tmp_path: Path) -> None:
    """In a pseudo-terminal: the question is shown, "n" is accepted, nothing is downloaded."""
    import pty

    code = (
        f"import sys; sys.path.insert(0, {str(SCRIPTS)!r})\n"
        "import pathlib\nfrom first_model import FirstModel, VARIABLE\n"
        f"model = FirstModel(pathlib.Path({str(tmp_path)!r}), {{VARIABLE: 'ask'}})\n"
        "model.decide()\nmodel.finish()\n"
        "print('wanted:', model.is_wanted)\n"
    )
    leader, follower = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stdin=follower, stdout=follower, stderr=follower) as process:
        os.close(follower)
        seen = b""
        while b"[Y/n] " not in seen:
            seen += os.read(leader, 1000)
        os.write(leader, b"n\n")
        while b"wanted: False" not in seen:
            seen += os.read(leader, 1000)
    os.close(leader)
    assert process.returncode == 0
    assert (tmp_path / "paceline-first-model").read_text(encoding="utf-8") == "no\n"
