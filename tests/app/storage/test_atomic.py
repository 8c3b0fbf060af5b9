"""Files that are written whole or not at all, and what is no ordinary file."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from app.storage.atomic import whole_file


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


def test_what_lies_beside_it_stays_as_it_is(tmp_path: Path) -> None:
    """A file of another program may be called so, and where everybody may write, a link laid there by somebody."""
    file, other, target = tmp_path / "chats.json", tmp_path / "chats.json.part", tmp_path / "precious"
    other.write_text("another program's")
    with whole_file(file) as handle:
        handle.write(b"new")
    assert other.read_text() == "another program's"
    other.unlink()
    target.write_text("precious")
    try:
        other.symlink_to(target)
    except OSError:
        pytest.skip("this system lets nobody make a link")
    with whole_file(file) as handle:
        handle.write(b"newer")
    assert (file.read_text(), target.read_text()) == ("newer", "precious")


def test_the_longest_name_that_a_file_can_have_is_fine(tmp_path: Path) -> None:
    file = tmp_path / f"{'n' * 250}.json"
    with whole_file(file) as handle:
        handle.write(b"new")
    assert file.read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="the rights of a file are POSIX's")
def test_who_may_read_a_file_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "chats.json"
    with whole_file(file) as handle:
        handle.write(b"old")
    usual = stat.S_IMODE(file.stat().st_mode)
    (tmp_path / "usual").touch()
    assert usual == stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    file.chmod(0o600)
    with whole_file(file) as handle:
        handle.write(b"new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


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
