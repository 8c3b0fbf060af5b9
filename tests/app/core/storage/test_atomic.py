"""Files are written completely or not at all; special files are handled."""

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.domain.errors import AppError
from app.core.storage.atomic import atomic_file, exported_file, move_into_place, write_atomically
from tests.waiting import PATIENCE_S


def make_link(link: Path, target: Path) -> None:
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("this system lets nobody make a link")


def write_half(file: Path) -> None:
    with exported_file(file, AppError) as handle:
        handle.write(b"half")
        raise OSError("full")


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "chats.json"
    file.write_text("old")
    with exported_file(file, AppError) as handle:
        handle.write(b"new")
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    with pytest.raises(AppError, match="full"):
        write_half(file)
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_goes_on_leading_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    there = tmp_path / "elsewhere" / "chats.json"
    there.write_text("old")
    link = tmp_path / "chats.json"
    make_link(link, there)
    with exported_file(link, AppError) as handle:
        handle.write(b"new")
    assert link.is_symlink()
    assert there.read_text() == "new"


def test_what_lies_beside_it_stays_as_it_is(tmp_path: Path) -> None:
    """Another program may use this name, and in a shared folder somebody may have placed a link."""
    file, other, target = tmp_path / "chats.json", tmp_path / "chats.json.part", tmp_path / "precious"
    other.write_text("another program's")
    with exported_file(file, AppError) as handle:
        handle.write(b"new")
    assert other.read_text() == "another program's"
    other.unlink()
    target.write_text("precious")
    make_link(other, target)
    with exported_file(file, AppError) as handle:
        handle.write(b"newer")
    assert (file.read_text(), target.read_text()) == ("newer", "precious")


@pytest.mark.skipif(os.name != "posix", reason="the rights of a file are POSIX's")
def test_who_may_read_a_file_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "chats.json"
    with exported_file(file, AppError) as handle:
        handle.write(b"old")
    usual = stat.S_IMODE(file.stat().st_mode)
    (tmp_path / "usual").touch()
    assert usual == stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    file.chmod(0o600)
    with exported_file(file, AppError) as handle:
        handle.write(b"new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    """As root, even /dev/null would have been replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with exported_file(pipe, AppError) as handle:
        handle.write(b"words")
    reader.join(PATIENCE_S)
    assert read == [b"words"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def fail_to(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, name, refuse)


def by_handle(path: Path) -> None:
    with atomic_file(path) as file:
        file.write(b"new")


WRITERS: dict[str, Callable[[Path], None]] = {
    "small": lambda path: write_atomically(path, b"new"),
    "by handle": by_handle,
}


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("what", WRITERS)
def test_a_failure_leaves_the_old_file_and_nothing_half_made(
    what: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "library.json"
    file.write_text("old")
    fail_to(monkeypatch, step)
    with pytest.raises(OSError, match="No space"):
        WRITERS[what](file)
    assert (file.read_text(), list(tmp_path.iterdir())) == ("old", [file])


@pytest.mark.parametrize("what", WRITERS)
def test_a_folder_that_cannot_be_synced_is_no_failure(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has its final name by then."""
    sync, file = os.fsync, tmp_path / "library.json"

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    WRITERS[what](file)
    assert file.read_text() == "new"


def test_what_a_killed_process_left_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "library.json"
    (tmp_path / "library.json.new").write_text("half of an older o")
    write_atomically(file, b"new")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("new", [file])


def test_a_link_to_a_file_of_the_apps_own_is_replaced_and_not_followed(tmp_path: Path) -> None:
    precious, link = tmp_path / "precious", tmp_path / "model.gguf.part.json"
    precious.write_text("precious")
    make_link(link, precious)
    for write in WRITERS.values():
        write(link)
        assert (link.is_symlink(), link.read_text(), precious.read_text()) == (False, "new", "precious")


@pytest.mark.skipif(os.name != "posix", reason="the rights of a file are POSIX's")
def test_a_private_file_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("old")
    file.chmod(0o644)
    with atomic_file(file, private=True) as handle:
        handle.write(b"new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_moved_into_place_stays_for_its_maker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, final = tmp_path / "model.part", tmp_path / "model.gguf"
    part.write_text("new")
    final.write_text("old")
    with monkeypatch.context() as patch:
        fail_to(patch, "replace")
        with pytest.raises(OSError, match="No space"):
            move_into_place(part, final)
    assert (part.read_text(), final.read_text()) == ("new", "old")
    move_into_place(part, final)
    assert (final.read_text(), list(tmp_path.iterdir())) == ("new", [final])
