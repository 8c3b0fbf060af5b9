"""Tests numbers in the output of the command line."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from app.cli.output import counted_text, message_stream, metrics_line, run_hint, write_reports
from engine.records import RunStats


@pytest.mark.parametrize(
    ("tokens", "passes", "told"), [(1, 1, "1 token in 1 pass"), (2, 1, "2 tokens in 1 pass"), (0, 0, "0 tokens in 0")]
)
def test_one_is_said_as_one(tokens: int, passes: int, told: str) -> None:
    assert told in metrics_line(RunStats(tokens=tokens, passes=passes, decode_s=1.0))


def test_large_numbers_are_grouped() -> None:
    assert counted_text(12_300, "download", "downloads") == "12,300 downloads"


def test_what_is_written_to_stdout_stays_alone_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "piped").open("w") as piped, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", piped)
        assert message_stream(str(tmp_path / "piped")) is sys.stderr
        assert message_stream(None, piped.name) is sys.stderr
        assert message_stream(str(tmp_path / "another"), os.devnull) is piped


@pytest.mark.parametrize("name", ["tiny", "My model (v2).gguf", "a'b; rm x"])
def test_the_hint_can_be_pasted_as_it_is(name: str) -> None:
    words = shlex.split(run_hint(name).removeprefix("Try it: "))
    assert words == ["paceline", "run", "--model", name, "--prompt", "TEXT"]


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
