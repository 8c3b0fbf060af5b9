"""A terminal shows control characters of a model or a file name, and does not execute them."""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO, cast

import pytest

from app.cli.terminal_stream import Style, TerminalStream, replace_controls, write_styled
from tests.shared_files import shared_model

pty = pytest.importorskip("pty", reason="no terminals of this kind there")
ROOT = Path(__file__).resolve().parents[3]
TITLE = "\x1b]0;x\x07"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a\nb\tc"),
        (f"{TITLE}hello", "␛]0;x␇hello"),
        ("\x1b[2J\x7f\x9b31m", "␛[2J␡\ufffd31m"),
        ("over\rwritten", "over␍written"),
        ("Grüße, 你好, 😀 \u200b", "Grüße, 你好, 😀 \u200b"),
    ],
)
def test_control_characters_become_signs(text: str, shown: str) -> None:
    assert replace_controls(text) == shown


def test_a_line_of_progress_may_begin_at_the_start_of_its_line() -> None:
    terminal = io.StringIO()
    stream = TerminalStream(terminal)
    for text in ("\r\x1b[K50 %", "\r60 %", f"\r\x1b[K{TITLE}"):
        assert stream.write(text) == len(text)
    assert terminal.getvalue() == "\r\x1b[K50 %\r60 %\r\x1b[K␛]0;x␇"
    assert not stream.isatty()


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_file_name_cannot_steer_the_terminal(tmp_path: Path, on_terminal: bool) -> None:
    name = f"{TITLE}.gguf"
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "app", "check", name, shared_model("stories260K-f16.gguf")]
    env = {**os.environ, "PACELINE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    stream = theirs if on_terminal else subprocess.PIPE
    child = subprocess.run(command, cwd=tmp_path, env=env, stderr=stream, stdout=subprocess.DEVNULL, check=False)
    os.close(theirs)
    told = os.read(ours, 65_536) if on_terminal else child.stderr
    os.close(ours)
    assert child.returncode == 1
    assert (TITLE.encode() in told) is not on_terminal
    assert ("␛]0;x␇.gguf".encode() in told) is on_terminal


@pytest.mark.parametrize(
    ("variables", "written"),
    [
        ({}, "\x1b[1;31mpaceline:\x1b[0m"),
        ({"NO_COLOR": "1"}, "paceline:"),
        ({"NO_COLOR": ""}, "\x1b[1;31mpaceline:\x1b[0m"),
        ({"TERM": "dumb"}, "paceline:"),
    ],
)
def test_colours_need_a_terminal_and_respect_no_color(
    variables: dict[str, str], written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    terminal, file = io.StringIO(), io.StringIO()
    write_styled(cast(TextIO, TerminalStream(terminal)), "paceline:", Style.BAD)
    write_styled(file, "paceline:", Style.BAD)
    assert (terminal.getvalue(), file.getvalue()) == (written, "paceline:")


def test_what_stands_out_steers_no_terminal() -> None:
    terminal = io.StringIO()
    TerminalStream(terminal).write_styled("\x1b[2Jowned", Style.BAD)
    assert "\x1b[2J" not in terminal.getvalue()
