"""Tests numbers in the output of the command line."""

from pathlib import Path

import pytest

from app.cli.output import write_reports


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
