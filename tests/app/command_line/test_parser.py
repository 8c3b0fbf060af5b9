"""The command line as a shell meets it: wrong words, and readers that have enough."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.command_line.parser import READER_GONE, main

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("words", [["chat"], ["models", "serach"]])
def test_a_command_that_does_not_exist_is_told_with_those_that_do(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert f"argument COMMAND: invalid choice: '{words[-1]}'" in told


@pytest.mark.skipif(os.name == "nt", reason="a pipe that nobody reads ends a program otherwise on Windows")
def test_a_reader_that_has_enough_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "app", "stats", "--json"]
    with os.fdopen(writing, "wb") as pipe:
        result = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (READER_GONE, "")
