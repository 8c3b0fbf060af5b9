"""Files that are written whole or not at all, and what is no ordinary file."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from app.whole_file import whole_file


def write_half(file: Path) -> None:
    with whole_file(file) as handle:
        handle.write(b"half")
        raise OSError("full")


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "chats.json"
    file.write_text("old")
    with whole_file(file) as handle:
        handle.write(b"new")
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    with pytest.raises(OSError, match="full"):
        write_half(file)
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_goes_on_leading_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    there = tmp_path / "elsewhere" / "chats.json"
    there.write_text("old")
    link = tmp_path / "chats.json"
    try:
        link.symlink_to(there)
    except OSError:
        pytest.skip("this system lets nobody make a link")
    with whole_file(link) as handle:
        handle.write(b"new")
    assert link.is_symlink()
    assert there.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    """As root, /dev/null itself would have become a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with whole_file(pipe) as handle:
        handle.write(b"words")
    reader.join(10)
    assert read == [b"words"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
