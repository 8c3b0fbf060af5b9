"""Tests one file from a hub that cuts, stalls, lies and changes: complete and checked, or one sentence and a part."""

import errno
import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.domain.models import DownloadStatus
from app.core.hub.client import HubClient
from app.core.hub.downloads import part_file, transfer
from app.core.hub.downloads.transfer import FileRequest, RetryPolicy, StoppedError, TransferControl, discard, fetch
from app.core.hub.errors import (
    ChecksumError,
    DiskFullError,
    DownloadBusyError,
    DownloadError,
    HubAccessError,
    HubBusyError,
    HubBytesError,
    HubError,
    HubNotFoundError,
    HubUnreachableError,
)
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.waiting import PATIENCE_S

REPO, NAME = "a/b", "m-Q4_0.gguf"
DATA = os.urandom(1 << 10) * 3000  # about 3 MB
FAST = RetryPolicy(first_wait_s=0.001, max_wait_s=0.01)


class Log(TransferControl):
    """Records its notifications, and stops after this number of bytes."""

    def __init__(self, stop_at: int | None = None) -> None:
        super().__init__()
        self.statuses: list[DownloadStatus] = []
        self.words: list[str] = []
        self.done: list[int] = []
        self.stop_at = stop_at

    def on_status(self, status: DownloadStatus, error: HubError | DownloadError | None, attempt: int) -> None:
        self.statuses.append(status)
        if error is not None:
            self.words.append(error.message)

    def on_progress(self, done_bytes: int, size_bytes: int) -> None:
        self.done.append(done_bytes)
        if self.stop_at is not None and done_bytes >= self.stop_at:
            self.stop()


@pytest.fixture
def client(hub: LoopbackHub) -> Iterator[HubClient]:
    hub.add_file(REPO, NAME, DATA)
    opened = HubClient(timeout_s=PATIENCE_S)
    yield opened
    opened.close()


@pytest.fixture
def impatient(hub: LoopbackHub) -> Iterator[HubClient]:
    """A client for servers that stall. On a busy machine it may also give up on others."""
    hub.add_file(REPO, NAME, DATA)
    opened = HubClient(timeout_s=1.0)
    yield opened
    opened.close()


@pytest.fixture
def wanted(tmp_path: Path) -> FileRequest:
    return FileRequest(REPO, NAME, tmp_path / "models" / NAME, tmp_path / "locks")


def left(wanted: FileRequest) -> set[str]:
    return {path.name for path in wanted.destination.parent.iterdir()}


def ranges(hub: LoopbackHub) -> list[str]:
    return [seen.headers.get("range", "") for seen in hub.requests if seen.method == "GET"]


def test_a_file_arrives_checked_and_alone(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    log = Log()
    assert fetch(client, wanted, log).sha256 == hashlib.sha256(DATA).hexdigest()
    assert wanted.destination.read_bytes() == DATA
    assert left(wanted) == {NAME}
    assert log.statuses == [DownloadStatus.RUNNING, DownloadStatus.VERIFYING]
    assert log.done[-1] == len(DATA)
    fetch(client, wanted, Log())
    assert hub.sent(REPO, NAME) == len(DATA)  # the second time nothing is fetched


@pytest.mark.parametrize("through_store", [False, True])
def test_cuts_resets_stalls_and_refusals_cost_no_byte_twice(
    impatient: HubClient, wanted: FileRequest, hub: LoopbackHub, *, through_store: bool
) -> None:
    with LoopbackHub() as store:
        serving = store if through_store else hub
        hub.cdn = store if through_store else None
        hub.refusals.extend([Fault(status=503), Fault(status=429, headers=(("Retry-After", "0"),))])
        serving.faults.extend([Fault(cut_after=300_000), Fault(reset_after=500_000), Fault(stall_after=400_000)])
        serving.faults.extend([Fault(status=502), Fault(cut_after=100_000, unannounced=True)])
        fetch(impatient, wanted, Log(), FAST)
        assert wanted.destination.read_bytes() == DATA
        assert serving.sent(REPO, NAME) <= len(DATA) * 1.1 + 65536
        assert all(words.startswith("bytes=") for words in ranges(serving)[1:])
        assert all("if-range" in seen.headers for seen in serving.requests if "range" in seen.headers)


def test_a_stop_keeps_the_part_and_the_next_call_goes_on(
    client: HubClient, wanted: FileRequest, hub: LoopbackHub
) -> None:
    with pytest.raises(StoppedError):
        fetch(client, wanted, Log(stop_at=1_000_000), FAST)
    assert left(wanted) == {f"{NAME}.part", f"{NAME}.part.json"}
    size = wanted.destination.with_name(f"{NAME}.part").stat().st_size
    assert size >= 1_000_000
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA
    assert ranges(hub)[1] == f"bytes={size}-"


def test_a_stop_ends_a_stall_at_once(wanted: FileRequest, hub: LoopbackHub) -> None:
    hub.add_file(REPO, NAME, DATA)
    patient = HubClient(timeout_s=120)
    hub.faults.append(Fault(stall_after=200_000))
    log = Log()
    outcome: list[BaseException] = []

    def work() -> None:
        try:
            fetch(patient, wanted, log, FAST)
        except StoppedError as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while not log.done or log.done[-1] < 200_000:
        thread.join(0.01)
    log.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert len(outcome) == 1
    patient.close()


def test_a_server_that_ignores_the_range_starts_over(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    hub.honours_range = False
    hub.faults.append(Fault(cut_after=1_000_000))
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA
    assert hub.sent(REPO, NAME) == len(DATA) + 1_000_000


GZIP = Fault(headers=(("Content-Encoding", "gzip"),))


@pytest.mark.parametrize("bad", [Fault(wrong_range=True), GZIP], ids=["elsewhere", "gzip"])
def test_a_server_that_cannot_go_on_is_asked_for_the_whole_file_once(
    client: HubClient, wanted: FileRequest, hub: LoopbackHub, bad: Fault
) -> None:
    hub.faults.extend([Fault(cut_after=1_000_000), bad, Fault(cut_after=1_500_000)])
    log = Log()
    fetch(client, wanted, log, FAST)
    assert wanted.destination.read_bytes() == DATA
    assert ranges(hub) == ["", "bytes=1000000-", "", ""]  # nor does it resume after the second cut
    gets = [seen for seen in hub.requests if seen.method == "GET"]
    assert [seen.headers["accept-encoding"] for seen in gets] == ["identity"] * 4


def test_a_compressed_body_is_an_error_and_keeps_the_part(
    client: HubClient, wanted: FileRequest, hub: LoopbackHub
) -> None:
    hub.faults.extend([Fault(cut_after=1_000_000), *[GZIP] * 99])
    log = Log()
    with pytest.raises(HubBytesError, match=r"^The server sent the file compressed, although it was asked not to\.$"):
        fetch(client, wanted, log, FAST)
    assert ranges(hub) == ["", "bytes=1000000-", ""]
    assert wanted.destination.with_name(f"{NAME}.part").stat().st_size == 1_000_000
    hub.faults.clear()
    fetch(client, wanted, log, FAST)
    assert ranges(hub)[-1] == "bytes=1000000-"
    assert wanted.destination.read_bytes() == DATA


def test_a_file_that_changed_between_attempts(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    with pytest.raises(StoppedError):
        fetch(client, wanted, Log(stop_at=1_000_000), FAST)
    hub.add_file(REPO, NAME, DATA[::-1])
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA[::-1]
    hub.add_file(REPO, NAME, DATA)
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA


def test_a_416_starts_over(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    hub.faults.extend([Fault(cut_after=1_000_000), Fault(status=416)])
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA


@pytest.mark.parametrize(
    "kept", [b"", b"garbage", b"[]", b'{"etag": 1}', b'{"etag":"x","size_bytes":3,"source_etag":""}']
)
def test_a_part_without_its_label_is_thrown_away(
    client: HubClient, wanted: FileRequest, hub: LoopbackHub, kept: bytes
) -> None:
    wanted.destination.parent.mkdir()
    wanted.destination.with_name(f"{NAME}.part").write_bytes(b"x" * 1000)
    wanted.destination.with_name(f"{NAME}.part.json").write_bytes(kept)
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA


def test_a_part_that_is_a_link_is_not_written_through(client: HubClient, wanted: FileRequest, tmp_path: Path) -> None:
    wanted.destination.parent.mkdir()
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    wanted.destination.with_name(f"{NAME}.part").symlink_to(precious)
    fetch(client, wanted, Log(), FAST)
    assert precious.read_bytes() == b"mine"
    assert wanted.destination.read_bytes() == DATA


def test_a_damaged_body_never_gets_the_final_name(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    hub.faults.append(Fault(corrupt=True))
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA
    wanted.destination.unlink()
    hub.faults.extend([Fault(corrupt=True)] * 2)
    with pytest.raises(ChecksumError, match="does not match its checksum"):
        fetch(client, wanted, Log(), FAST)
    assert left(wanted) == set()


def test_a_small_file_is_checked_by_gits_hash(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    hub.add_file(REPO, "README.md", b"# words")
    small = FileRequest(REPO, "README.md", wanted.destination.with_name("README.md"), wanted.lock_folder)
    hub.faults.append(Fault(corrupt=True))
    fetch(client, small, Log(), FAST)
    assert small.destination.read_bytes() == b"# words"


def test_giving_up_is_one_sentence_and_keeps_the_part(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    hub.faults.append(Fault(cut_after=1_000_000))
    hub.faults.extend([Fault(reset_after=0)] * 99)
    log = Log()
    with pytest.raises(HubUnreachableError, match="connection"):
        fetch(client, wanted, log, FAST)
    assert log.statuses.count(DownloadStatus.WAITING) == FAST.max_failures - 1
    assert wanted.destination.with_name(f"{NAME}.part").stat().st_size == 1_000_000
    hub.faults.clear()
    fetch(client, wanted, log, FAST)
    assert wanted.destination.read_bytes() == DATA
    hub.refusals.extend([Fault(status=500)] * 99)
    with pytest.raises(HubBusyError, match="500"):
        fetch(client, wanted, log, FAST)


def test_what_no_attempt_can_mend_is_reported_at_once(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    hub.gated[REPO] = "hf_secret"
    log = Log()
    with pytest.raises(HubAccessError):
        fetch(client, wanted, log, FAST)
    hub.repos.clear()
    with pytest.raises(HubNotFoundError):
        fetch(client, wanted, log, FAST)
    assert DownloadStatus.WAITING not in log.statuses


def test_two_do_not_fetch_the_same_file(client: HubClient, wanted: FileRequest, hub: LoopbackHub) -> None:
    class Nosy(Log):
        def on_progress(self, done_bytes: int, size_bytes: int) -> None:
            with pytest.raises(DownloadBusyError, match="Another Paceline"):
                fetch(client, wanted, Log(), FAST)
            with pytest.raises(DownloadBusyError):
                discard(wanted)

    fetch(client, wanted, Nosy(), FAST)
    assert hub.sent(REPO, NAME) == len(DATA)


def test_no_space_is_reported_before_and_during(
    client: HubClient, wanted: FileRequest, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [part_file.RESERVE_BYTES + len(DATA) - 1]
    monkeypatch.setattr(part_file.shutil, "disk_usage", lambda _folder: SimpleNamespace(free=free[0]))
    with pytest.raises(DiskFullError, match="3 MB are still needed"):
        fetch(client, wanted, Log(), FAST)
    assert hub.sent(REPO, NAME) == 0
    free[0] = 1 << 40
    real = os.write

    def write(descriptor: int, data: memoryview) -> int:
        if os.fstat(descriptor).st_size + len(data) > 2_000_000 and full:
            if os.fstat(descriptor).st_size < 2_000_000:
                return real(descriptor, data[: 2_000_000 - os.fstat(descriptor).st_size])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    full = True
    monkeypatch.setattr(part_file.os, "write", write)
    with pytest.raises(DiskFullError, match="is full"):
        fetch(client, wanted, Log(), FAST)
    assert wanted.destination.with_name(f"{NAME}.part").stat().st_size == 2_000_000
    full = False
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA


def test_a_disk_that_fills_up_meanwhile_is_noticed_before_it_is_full(
    client: HubClient, wanted: FileRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program fills the disk."""
    monkeypatch.setattr(transfer, "SPACE_EVERY_BYTES", 500_000)
    log, whole = Log(), shutil.disk_usage

    def usage(folder: Path) -> object:
        total, used, free = whole(folder)
        return SimpleNamespace(total=total, used=used, free=1 if log.done and log.done[-1] >= 500_000 else free)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    with pytest.raises(DiskFullError):
        fetch(client, wanted, log, FAST)
    part = wanted.destination.with_name(f"{NAME}.part")
    assert 500_000 <= part.stat().st_size < len(DATA)
    monkeypatch.setattr(shutil, "disk_usage", whole)
    fetch(client, wanted, Log(), FAST)
    assert wanted.destination.read_bytes() == DATA


@pytest.mark.parametrize(
    ("number", "error", "words"),
    [
        (errno.EFBIG, DiskFullError, "cannot hold a file this big"),
        (errno.EIO, DownloadError, "could not be written: Input/output error"),
    ],
)
def test_what_the_disk_refuses_is_one_sentence(
    client: HubClient,
    wanted: FileRequest,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    error: type[DownloadError],
    words: str,
) -> None:
    def refuse(*_arguments: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(part_file.os, "write", refuse)
        with pytest.raises(error, match=words):
            fetch(client, wanted, Log(), FAST)
    assert not wanted.destination.exists()


def test_locks_that_cannot_be_made_are_one_sentence(client: HubClient, wanted: FileRequest) -> None:
    wanted.lock_folder.write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match=": "):
        fetch(client, wanted, Log(), FAST)
    assert not wanted.destination.exists()
