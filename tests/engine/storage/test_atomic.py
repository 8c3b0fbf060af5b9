"""Files are replaced completely or not at all, even by several processes at once."""

import errno
import os
from pathlib import Path

import pytest

from engine.storage.atomic import replacing, write_atomically


def test_a_file_is_replaced_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    for data in (b"old", b"new"):
        write_atomically(file, data)
        assert (file.read_bytes(), list(tmp_path.iterdir())) == (data, [file])


def test_a_failure_leaves_the_old_file_and_nothing_half_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "costs.json"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(file, b"new")
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (b"old", [file])


def test_what_is_given_up_in_the_middle_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "cache.state"
    file.write_bytes(b"old")

    def give_up() -> None:
        with replacing(file, tmp_path / "cache.part") as part:
            part.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        give_up()
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (b"old", [file])


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    file, other = tmp_path / "costs.json", tmp_path / "costs.json.1.part"
    other.write_bytes(b"half of theirs")
    write_atomically(file, b"new")
    assert other.read_bytes() == b"half of theirs"
