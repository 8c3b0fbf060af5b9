"""Tests numbers in the output of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.output import counted_text, metrics_line, write_reports
from engine.records import RunStats


@pytest.mark.parametrize(
    ("tokens", "passes", "told"), [(1, 1, "1 token in 1 pass"), (2, 1, "2 tokens in 1 pass"), (0, 0, "0 tokens in 0")]
)
def test_one_is_said_as_one(tokens: int, passes: int, told: str) -> None:
    assert told in metrics_line(RunStats(tokens=tokens, passes=passes, decode_s=1.0))


def test_large_numbers_are_grouped() -> None:
    assert counted_text(12_300, "download", "downloads") == "12,300 downloads"


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
