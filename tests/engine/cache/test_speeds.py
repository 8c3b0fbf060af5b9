"""Tests the speeds of saving and restoring caches: measured, remembered, never a failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cache.states import DISK, FILE_NAME, MEMORY, StateSpeeds


def test_figures_are_remembered_for_the_next_start(tmp_path: Path) -> None:
    speeds = StateSpeeds(tmp_path)
    assert speeds.seconds("model", DISK, 100.0) is None
    speeds.record("model", DISK, 2000.0, 2.0)
    speeds.save()
    again = StateSpeeds(tmp_path)
    assert again.seconds("model", DISK, 500.0) == pytest.approx(0.5)
    assert again.seconds("model", MEMORY, 500.0) is None
    assert again.seconds("another", DISK, 500.0) is None


def test_a_new_figure_is_half_of_what_is_remembered(tmp_path: Path) -> None:
    speeds = StateSpeeds(None)
    speeds.record("model", DISK, 100.0, 1.0)
    speeds.record("model", DISK, 300.0, 1.0)
    assert speeds.seconds("model", DISK, 200.0) == pytest.approx(1.0)
    speeds.raise_after_rejection("model", DISK)
    assert speeds.seconds("model", DISK, 220.0) == pytest.approx(1.0)
    speeds.save()  # no file


def test_only_the_models_used_last_are_remembered(tmp_path: Path) -> None:
    speeds = StateSpeeds(tmp_path)
    for number in (*range(64), 0, 64):
        speeds.record(f"model {number}", DISK, 100.0, 1.0)
    speeds.save()
    again = StateSpeeds(tmp_path)
    assert [number for number in range(65) if again.seconds(f"model {number}", DISK, 1.0) is None] == [1]


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    speeds = StateSpeeds(tmp_path / "file")
    speeds.record("model", DISK, 100.0, 1.0)
    speeds.save()
    assert speeds.seconds("model", DISK, 100.0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        json.dumps({"format": 2, "speeds": {"model": {"disk": 5.0}}}).encode(),
        json.dumps({"format": 1, "speeds": {"model": {"disk": "fast"}}}).encode(),
        json.dumps({"format": 1, "speeds": {"model": {"disk": 0.0}}}).encode(),
        b'{"format": 1, "speeds": {"model": {"disk": NaN}}}',
        b'{"format": 1, "speeds": {"model": {"disk": 1e999}}}',
        json.dumps({"format": 1, "speeds": ["model"]}).encode(),
        b"[" * 5000,
    ],
)
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    speeds = StateSpeeds(tmp_path)
    assert speeds.seconds("model", DISK, 100.0) is None
    speeds.record("model", DISK, 100.0, 1.0)
    speeds.save()
    assert StateSpeeds(tmp_path).seconds("model", DISK, 100.0) == pytest.approx(1.0)
