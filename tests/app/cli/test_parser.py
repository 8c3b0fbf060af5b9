"""Tests the command line in a shell: invalid options, and readers that close the pipe early."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.output import INTERRUPTED
from app.cli.parser import BROKEN_PIPE_STATUS, main, make_parser
from engine.records import Mode

ROOT = Path(__file__).resolve().parents[3]
CHAT = {
    "format": "paceline-chats",
    "version": 1,
    "conversations": [{"messages": [{"key": 1, "role": "user", "text": "Hello"}]}],
}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["sevre"], "paceline: argument COMMAND: invalid choice: 'sevre'"),
        (["models"], "paceline models: the following arguments are required: COMMAND"),
        (["run", "--mode", "drft"], "paceline run: argument --mode: invalid choice: 'drft'"),
        (["run", "--seed", "hot"], "paceline run: argument --seed: invalid int value: 'hot'"),
        (["run", "--frob", "1"], "paceline run: unrecognized arguments: --frob 1"),
        (["bench", "--modes", "off,fast"], "argument --modes: must be from off, ngram"),
        (["bench", "--depths", "auto,deep"], "argument --depths: must be numbers or auto"),
        (["bench", "--temperature", "0,warm"], "argument --temperature: must be numbers"),
        (["bench", "--max-minutes", "soon"], "argument --max-minutes: must be a number above 0"),
        (["bench", "--max-minutes", "0"], "argument --max-minutes: must be a number above 0"),
        (["bench", "--max-minutes", "nan"], "argument --max-minutes: must be a number above 0"),
        (["bench", "--repeat", "0"], "argument --repeat: must be a number from 1 to"),
        (["serve", "--queue", "-1"], "argument --queue: must be a number from 0 to 10,000"),
        (["serve", "--idle-unload", "0"], "argument --idle-unload: must be a number above 0"),
        *(
            (["serve", "--allow-origin", text], "argument --allow-origin: must be an origin")
            for text in ("*", "null", "app.example", "https://app.example/", "https://a b", "https://a@b", "")
        ),
    ],
)
def test_wrong_words_are_reported_in_two_lines(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    first, second = capsys.readouterr().err.splitlines()
    assert told in first
    assert second.startswith("Options: paceline")


def usual() -> dict[str, str]:
    """The usual environment: Python buffers its output."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


WORDS = pytest.mark.parametrize(
    "words", [["stats", "--json"], ["stats"], ["--help"], ["run", "--help"], ["--version"]], ids=" ".join
)


@WORDS
@pytest.mark.skipif(os.name == "nt", reason="a pipe that nobody reads ends a program otherwise on Windows")
def test_a_reader_that_has_enough_is_no_error(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "app", *words]
    with os.fdopen(writing, "wb") as pipe:
        result = subprocess.run(
            command, cwd=ROOT, env=usual(), stdout=pipe, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (result.returncode, result.stderr) == (BROKEN_PIPE_STATUS, "")


def run(redirected: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command with streams redirected as by a shell."""
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "app", *words]
    env = {**usual(), **environment}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.name == "nt", reason="no shell of this kind there")
@pytest.mark.parametrize("closed", ["<&- >&-", ">&- 2>&-"])
def test_streams_that_are_closed_are_no_error(closed: str) -> None:
    result = run(closed, "stats")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="no shell of this kind there")
def test_a_prompt_from_a_closed_stream_is_no_prompt() -> None:
    result = run("<&-", "run", "--prompt-file", "-")
    assert result.returncode == 1
    assert "There is no prompt" in result.stderr
    assert "Traceback" not in result.stderr


@WORDS
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no file that is always full")
def test_output_onto_a_full_disk_is_one_sentence(words: list[str]) -> None:
    result = run(">/dev/full", *words)
    assert result.returncode == 1
    assert result.stderr.strip().startswith("paceline: The output could not be written: No space left on device.")
    assert "\n" not in result.stderr.strip()


def test_what_the_terminal_cannot_show_becomes_a_question_mark(tmp_path: Path) -> None:
    result = run("", "chats", "export", str(tmp_path / "Tür.json"), PYTHONIOENCODING="ascii:strict", PYTHONUTF8="0")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    (tmp_path / "é.json").write_text(json.dumps(CHAT), encoding="utf-8")
    result = run("", "chats", "import", str(tmp_path / "é.json"), PYTHONIOENCODING="ascii:strict", PYTHONUTF8="0")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.strip().endswith("?.json: 1 chat imported.")


def test_ctrl_c_ends_any_command_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.chats.import_chats", interrupt)
    assert main(["chats", "import", "chats.json"]) == INTERRUPTED


def test_ctrl_c_while_a_command_is_loaded_ends_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.parser.importlib.import_module", interrupt)
    assert main(["stats"]) == INTERRUPTED


def test_values_of_a_measurement_are_lists() -> None:
    words = ["--modes", "off,draft", "--depths", "auto,3", "--temperature", "0,0.7"]
    options = make_parser().parse_args(["bench", *words])
    assert options.modes == [Mode.OFF, Mode.DRAFT]
    assert (options.depths, options.temperature) == ([None, 3], [0.0, 0.7])
