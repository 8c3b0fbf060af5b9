"""Tests caches on disk: only files of this installation are read, within a limit; after errors nothing is kept."""

from __future__ import annotations

import errno
import os
import stat
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.cache.files import StateFiles, StateKey
from engine.sequence import SequenceState

MIB = 1 << 20
KEY = StateKey("model", 7)


def state(num_bytes: int = 10_000, seed: int = 0) -> SequenceState:
    dice = np.random.default_rng(seed)
    ids = dice.integers(0, 1000, 50).astype(np.int32)
    return SequenceState(ids, dice.integers(0, 256, num_bytes).astype(np.uint8))


def opened(folder: Path) -> StateFiles:
    files = StateFiles(folder)
    files.open()
    return files


def write(files: StateFiles, key: StateKey = KEY, kept: SequenceState | None = None, limit: int = 64 * MIB) -> None:
    for _ in files.write(key, kept or state(), limit):
        pass


def only_file(folder: Path) -> Path:
    (file,) = folder.glob("*.state")
    return file


def test_what_was_written_is_read_also_after_a_restart(tmp_path: Path) -> None:
    write(opened(tmp_path), kept=state(9 * MIB))
    files = opened(tmp_path)
    (stored,) = files.stored
    assert (stored.key, stored.num_bytes) == (KEY, only_file(tmp_path).stat().st_size)
    read = files.read(KEY)
    assert read is not None
    assert np.array_equal(read.data, state(9 * MIB).data)
    assert np.array_equal(read.ids, state(9 * MIB).ids)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_only_its_owner_can_read_what_was_said(tmp_path: Path) -> None:
    folder = tmp_path / "states"
    write(opened(folder))
    for path in (folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name


@pytest.mark.parametrize("place", [3, 40, 120, 400, 5000, -40, -1])
def test_one_changed_byte_and_the_file_is_ignored_and_removed(tmp_path: Path, place: int) -> None:
    write(opened(tmp_path))
    file = only_file(tmp_path)
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    assert opened(tmp_path).read(KEY) is None
    assert not file.exists()


@pytest.mark.parametrize("cut", [0, 10, 300, 5000, 10_200])
def test_a_cut_file_is_ignored_and_removed(tmp_path: Path, cut: int) -> None:
    write(opened(tmp_path))
    file = only_file(tmp_path)
    file.write_bytes(file.read_bytes()[:cut])
    assert opened(tmp_path).stored == ()
    assert not file.exists()


def test_what_another_installation_wrote_is_removed(tmp_path: Path) -> None:
    write(opened(tmp_path / "theirs"))
    theirs = only_file(tmp_path / "theirs")
    ours = tmp_path / "ours"
    opened(ours)
    (ours / theirs.name).write_bytes(theirs.read_bytes())
    assert opened(ours).stored == ()
    assert not (ours / theirs.name).exists()


@pytest.mark.parametrize("number", ["1e999", "NaN", "null", '"nine"', "[]", "-1", "9" * 400])
@pytest.mark.parametrize("fact", ["num_ids", "data_bytes", "owner"])
def test_absurd_numbers_in_a_file_are_no_failure(tmp_path: Path, fact: str, number: str) -> None:
    facts = {"identity": '"model"', "num_ids": "50", "data_bytes": "9", "owner": "7"}
    text = ("{" + ", ".join(f'"{name}": {value}' for name, value in (facts | {fact: number}).items()) + "}").encode()
    opened(tmp_path)
    file = tmp_path / "some.state"
    file.write_bytes(b"paceline state 1\n" + struct.pack("<I", len(text)) + text + bytes(500))
    assert not opened(tmp_path).stored
    assert not file.exists()


def test_a_file_under_another_name_is_removed(tmp_path: Path) -> None:
    write(opened(tmp_path))
    only_file(tmp_path).rename(tmp_path / "copy.state")
    (tmp_path / "left.part").write_bytes(b"unfinished")
    assert opened(tmp_path).stored == ()
    assert [file.name for file in tmp_path.iterdir()] == ["key"]


def test_a_newer_state_of_a_conversation_takes_the_place_of_the_older(tmp_path: Path) -> None:
    files = opened(tmp_path)
    write(files, kept=state(seed=1))
    write(files, kept=state(seed=2))
    read = files.read(KEY)
    assert read is not None
    assert np.array_equal(read.ids, state(seed=2).ids)
    assert len(list(tmp_path.glob("*.state"))) == 1


def test_the_longest_unused_goes_where_the_limit_is_reached(tmp_path: Path) -> None:
    files = opened(tmp_path)
    keys = [StateKey("model", owner) for owner in (1, 2, 3)]
    for key in keys[:2]:
        write(files, key, state(MIB), 3 * MIB)
    assert files.read(keys[0]) is not None
    write(files, keys[2], state(MIB), 3 * MIB)
    assert [stored.key for stored in files.stored] == [keys[0], keys[2]]
    assert files.num_bytes <= 3 * MIB
    write(files, StateKey("model", 4), state(4 * MIB), 3 * MIB)
    assert [stored.key for stored in files.stored] == [keys[0], keys[2]]
    files.evict_to(MIB)
    assert files.stored == ()


def test_a_full_disk_means_only_that_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = opened(tmp_path)
    write(files, kept=state(seed=1))
    real = os.fdopen

    class Full:
        def __init__(self, number: int, mode: str) -> None:
            self._file, self._left = real(number, mode), 6 * MIB

        def write(self, data: bytes) -> int:
            self._left -= len(data)
            if self._left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return int(self._file.write(data))

        def tell(self) -> int:
            return self._file.tell()

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

    monkeypatch.setattr("engine.cache.files.os.fdopen", Full)
    write(files, kept=state(12 * MIB, seed=2))
    assert not list(tmp_path.glob("*.part"))
    read = files.read(KEY)
    assert read is not None
    assert np.array_equal(read.ids, state(seed=1).ids)


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    files = opened(tmp_path / "file" / "states")
    write(files)
    assert files.read(KEY) is None
    assert files.num_bytes == 0


def test_a_file_removed_or_cut_meanwhile_is_decoded_again(tmp_path: Path) -> None:
    files = opened(tmp_path)
    for cut in (None, 10_000, 5):
        write(files)
        file = only_file(tmp_path)
        if cut is None:
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:cut])
        assert files.read(KEY) is None
        assert files.stored == ()
        assert not file.exists()


def test_a_folder_in_place_of_a_file_harms_no_other(tmp_path: Path) -> None:
    write(opened(tmp_path))
    (tmp_path / "folder.state").mkdir()
    files = opened(tmp_path)
    assert [stored.key for stored in files.stored] == [KEY]
    assert files.read(KEY) is not None
