"""Tests the output of the commands; its texts only suggest actions that are possible in a terminal."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.output import TERMINAL_WORDS, for_terminal, notify, write_reports
from app.cli.parser import main, make_parser
from engine.errors import ContextError
from engine.sentences import i18n
from tests.shared_files import shared_model

ROOT = Path(__file__).parents[3]
# A command may show their errors.
PARTS = ("engine", "app/core/attachments", "app/core/hub", "app/core/storage/chats", "app/core/storage/exchange")
FILES = ("app/core/domain/errors.py", "app/core/domain/attachment_errors.py", "app/core/domain/text_decoding.py")
ONLY_IN_WINDOW = ("settings", "new chat", "Switch ", "only until Paceline is closed")  # not for a terminal


def sentences() -> Iterator[str]:
    """Every text of the source except documentation."""
    for path in (*(path for part in PARTS for path in sorted((ROOT / part).rglob("*.py"))), *map(ROOT.joinpath, FILES)):
        tree = ast.parse(path.read_text("utf-8"))
        told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
                yield node.value


def test_no_failure_tells_a_terminal_what_only_the_window_has() -> None:
    texts = set(sentences())
    found = [text for text in texts if text.endswith(".") and " " in text]
    assert len(found) > 100
    spoken = [text for text in found if any(words in text for words in ONLY_IN_WINDOW)]
    assert "Choose a smaller context in the settings." in spoken
    assert [text for text in spoken if text not in TERMINAL_WORDS] == []
    assert set(TERMINAL_WORDS) <= texts
    assert not any(words in text for text in TERMINAL_WORDS.values() for words in ONLY_IN_WINDOW)


def test_the_options_that_are_named_exist() -> None:
    run = make_parser().parse_args(["run", "--prompt", "x"])
    named = {word.strip(",.") for text in TERMINAL_WORDS.values() for word in text.split() if word.startswith("--")}
    assert {"--ctx", "--max-tokens"} <= named
    assert all(hasattr(run, option.removeprefix("--").replace("-", "_")) for option in named)


def test_a_failure_within_a_notice_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    notify(ContextError("It is absurd.").one_line)
    told = capsys.readouterr().err
    assert told == "paceline: The context could not be made: It is absurd. Give a smaller context with --ctx.\n"
    assert for_terminal(i18n("Kept {count:,} of it.", count=1200)) == "Kept 1,200 of it."
    assert for_terminal("Anything else in {braces}.") == "Anything else in {braces}."


@pytest.mark.usefixtures("tried")
def test_a_long_prompt_or_attachment_is_reported_with_its_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = shared_model("babyllama-tok105-f16.gguf")
    start = ["run", "--model", model, "--ctx", "256", "--mode", "off"]
    assert main([*start, "--raw", "--prompt", "word " * 400]) == 1
    told = capsys.readouterr().err
    assert "The conversation is too long: The conversation has 2,0" in told
    assert "or give a larger context with --ctx." in told
    assert "settings" not in told
    assert "chat" not in told
    (tmp_path / "long.txt").write_text("word " * 400)
    assert main([*start, "--prompt", "Read it", "--attach", str(tmp_path / "long.txt")]) == 1
    assert "Shorten the prompt or its attachments" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no file that is always full")
def test_a_report_that_does_not_fit_on_the_disk_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "report.md"
    assert write_reports((str(written), "# Report"), (None, "nowhere"), ("/dev/full", "{}")) == 1
    assert written.read_text("utf-8") == "# Report"
    told = capsys.readouterr().err
    assert told.startswith("paceline: The report was not written: ")
    assert "No space left on device" in told
    assert told.count("\n") == 1
