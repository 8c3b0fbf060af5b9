"""Tests the command line in a shell: invalid options, and readers that close the pipe early."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.output import INTERRUPTED
from app.cli.parser import BROKEN_PIPE_STATUS, EXAMPLES, main, make_parser
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
        (["sevre"], "paceline: there is no command sevre. Did you mean serve?\n"),
        (["models", "serach"], "paceline models: there is no command serach. Did you mean search?\n"),
        (["xyzzy"], "there is no command xyzzy; there are: 'run', "),
        (["run", "--promt", "x"], "unrecognized arguments: --promt x. Did you mean --prompt?\n"),
        (["run", "--mode", "drft"], "there is no choice drft. Did you mean draft?\n"),
    ],
)
def test_what_does_not_exist_is_reported_with_what_is_meant(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_a_command_that_is_missing_is_reported_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["models"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("paceline models: name a command: search, show, pull, ")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--temperature", "argument --temperature: 'hot' is not a number"),
        ("--seed", "argument --seed: 'hot' is not a whole number"),
    ],
)
def test_what_is_no_number_is_said_to_be_none_without_a_type_of_python(
    option: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--prompt", "Hi", option, "hot"])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "command"),
    [(["--frob"], ""), (["run", "--frob", "1"], " run"), (["models", "pull", "a/b", "Q4_0", "--frob"], " models pull")],
)
def test_an_unknown_option_is_reported_by_its_command_in_two_lines(
    words: list[str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"paceline{command}: unrecognized arguments: --frob")
    assert second == f"Options: paceline{command} --help"


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
@pytest.mark.parametrize("buffer", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["", "unbuffered"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no file that is always full")
def test_output_onto_a_full_disk_is_one_sentence(words: list[str], buffer: dict[str, str]) -> None:
    result = run(">/dev/full", *words, **buffer)
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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["bench", "--modes", "off,fast"], "argument --modes: must be from off, ngram"),
        (["bench", "--depths", "auto,deep"], "argument --depths: must be numbers or auto"),
        (["bench", "--temperature", "0,warm"], "argument --temperature: must be numbers"),
        (["serve", "--idle-unload", "soon"], "argument --idle-unload: must be a number above 0"),
        (["serve", "--idle-unload", "0"], "argument --idle-unload: must be a number above 0"),
        (["serve", "--idle-unload", "nan"], "argument --idle-unload: must be a number above 0"),
        (["serve", "--allow-origin", "app.example"], "argument --allow-origin: must be an origin"),
        (["serve", "--queue", "-1"], "argument --queue: must be a number from 0 to 10,000"),
    ],
)
def test_a_value_of_another_kind_is_reported_with_what_it_may_be(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_values_of_the_server_are_taken_as_they_are_meant() -> None:
    words = ["--idle-unload", "2.5", "--allow-origin", "HTTPS://App.example", "--queue", "0"]
    options = make_parser().parse_args(["serve", *words])
    assert (options.idle_unload, options.allow_origin, options.queue) == (2.5, ["https://app.example"], 0)


def test_values_of_a_measurement_are_lists() -> None:
    words = ["--modes", "off,draft", "--depths", "auto,3", "--temperature", "0,0.7"]
    options = make_parser().parse_args(["bench", *words])
    assert options.modes == [Mode.OFF, Mode.DRAFT]
    assert (options.depths, options.temperature) == ([None, 3], [0.0, 0.7])


def test_every_example_of_the_help_is_understood() -> None:
    assert {"paceline", "paceline run", "paceline serve", "paceline models"} <= set(EXAMPLES)
    for prog, lines in EXAMPLES.items():
        for line in lines:
            words = shlex.split(line.rpartition(" | ")[2].split("  ")[0])
            assert words[0] == "paceline"
            assert " ".join(words).startswith(prog)
            if "COMMAND" not in words:
                make_parser().parse_args(words[1:])


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_parser().parse_args(["run", "--help"])
    assert "\nexamples:\n  paceline run --model" in capsys.readouterr().out
