"""Tests the queue with a real HTTP hub: limit, pause, resume, cancel, pairs, and recovery after a crash."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.domain.models import Download, DownloadRequest, DownloadStatus, FileKind, RepoFile, RepoModel
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue, QueueFile, SpeedMeter
from app.core.hub.downloads.transfer import RetryPolicy
from app.core.hub.errors import UnsafeNameError
from app.core.hub.library.library import Library
from app.core.hub.records import RemoteLocation
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.waiting import wait_for

REPO = "a/b-GGUF"
DATA = {name: b"GGUF" + os.urandom(1000) * 1000 for name in ("one.gguf", "two.gguf", "three.gguf", "four.gguf")}
SHARDS = {f"big-Q4_0-{number:05d}-of-00003.gguf": b"GGUF" + os.urandom(300_000) for number in (1, 2, 3)}
FAST = RetryPolicy(max_failures=4, first_wait_s=0.001, max_wait_s=0.01)
KILL_CHILD = """
import sys, time
from pathlib import Path
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue
from app.core.hub.library.library import Library
from app.core.domain.models import DownloadRequest
root = Path(sys.argv[1])
client = HubClient()
downloads = DownloadQueue(client, Library(root / "models", root / "library.json"), root / "downloads.json")
downloads.start()
for model in client.details("a/b-GGUF").models:
    downloads.add(DownloadRequest("a/b-GGUF", model))
while True:
    print(sum(state.done_bytes for state in downloads.snapshot()), flush=True)
    time.sleep(0.02)
"""


@pytest.fixture
def client(hub: LoopbackHub) -> Iterator[HubClient]:
    for name, data in {**DATA, **SHARDS}.items():
        hub.add_file(REPO, name, data)
    opened = HubClient(timeout_s=20)
    yield opened
    opened.close()


@pytest.fixture
def downloads(client: HubClient, library: Library, tmp_path: Path) -> Iterator[DownloadQueue]:
    made = DownloadQueue(client, library, tmp_path / "downloads.json", retry_policy=FAST, max_at_once=2)
    made.start()
    yield made
    made.close()


def request(client: HubClient, name: str, draft_of: str = "") -> DownloadRequest:
    (model,) = [model for model in client.details(REPO).models if model.name == name.removesuffix(".gguf")]
    return DownloadRequest(REPO, model, draft_of=draft_of)


def state(downloads: DownloadQueue, download_id: str) -> Download:
    return next(one for one in downloads.snapshot() if one.key == download_id)


def is_at(downloads: DownloadQueue, download_id: str, *statuses: DownloadStatus) -> Callable[[], bool]:
    return lambda: state(downloads, download_id).status in statuses


def test_several_at_once_with_a_bound(
    client: HubClient, downloads: DownloadQueue, hub: LoopbackHub, library: Library
) -> None:
    hub.bytes_per_s = 5e6
    most = 0
    ids = [downloads.add(request(client, name)) for name in DATA]
    assert [one.key for one in downloads.snapshot()] == ids
    assert downloads.add(request(client, "one")) == ids[0]
    while any(one.status is not DownloadStatus.DONE for one in downloads.snapshot()):
        most = max(most, sum(one.status.is_active for one in downloads.snapshot()))
        time.sleep(0.002)
    assert most == 2
    assert {model.path.name: model.path.read_bytes() for model in library.models()} == DATA
    downloads.cancel(ids[0])
    assert [one.key for one in downloads.snapshot()] == ids[1:]
    assert len(library.models()) == 4


def test_shards_are_one_download_and_one_model(client: HubClient, downloads: DownloadQueue, library: Library) -> None:
    wanted = downloads.add(request(client, "big-Q4_0"))
    wait_for(is_at(downloads, wanted, DownloadStatus.DONE))
    shown = state(downloads, wanted)
    assert shown.done_bytes == shown.size_bytes == sum(map(len, SHARDS.values()))
    (model,) = library.models()
    assert {file.name: file.read_bytes() for file in model.files} == SHARDS


def test_pause_resume_and_cancel(
    client: HubClient, downloads: DownloadQueue, hub: LoopbackHub, library: Library
) -> None:
    hub.faults.append(Fault(stall_after=300_000))
    wanted = downloads.add(request(client, "one"))
    wait_for(lambda: state(downloads, wanted).done_bytes >= 300_000)
    downloads.pause(wanted)
    assert state(downloads, wanted).status is DownloadStatus.PAUSED
    downloads.resume(wanted)
    wait_for(is_at(downloads, wanted, DownloadStatus.DONE))
    assert hub.sent(REPO, "one.gguf") == len(DATA["one.gguf"])
    hub.faults.append(Fault(stall_after=300_000))
    other = downloads.add(request(client, "two"))
    wait_for(lambda: state(downloads, other).done_bytes >= 300_000)
    downloads.cancel(other)
    assert [one.key for one in downloads.snapshot()] == [wanted]
    wait_for(lambda: not list(library.folder.rglob("two*")))
    again = downloads.add(request(client, "two"))
    wait_for(is_at(downloads, again, DownloadStatus.DONE))
    for ignored in (downloads.pause, downloads.resume, downloads.cancel):
        ignored("gone")


def test_a_failure_is_a_sentence_and_can_be_retried(
    client: HubClient, downloads: DownloadQueue, hub: LoopbackHub, library: Library
) -> None:
    wanted_request = request(client, "one")
    hub.faults.append(Fault(cut_after=200_000))
    hub.faults.extend([Fault(status=500)] * 99)
    wanted = downloads.add(wanted_request)
    wait_for(is_at(downloads, wanted, DownloadStatus.FAILED))
    shown = state(downloads, wanted)
    assert "HTTP 500" in shown.message
    assert shown.advice
    assert shown.done_bytes == 200_000
    assert library.models() == ()
    hub.faults.clear()
    downloads.resume(wanted)
    wait_for(is_at(downloads, wanted, DownloadStatus.DONE))
    assert state(downloads, wanted).message == ""
    assert hub.sent(REPO, "one.gguf") == len(DATA["one.gguf"])


@pytest.mark.parametrize("draft_first", [False, True])
def test_a_pair_is_made_in_whatever_order_it_comes(
    client: HubClient, downloads: DownloadQueue, library: Library, *, draft_first: bool
) -> None:
    asked = [request(client, "one"), request(client, "two", draft_of="one")]
    for one in reversed(asked) if draft_first else asked:
        wanted = downloads.add(one)
        wait_for(is_at(downloads, wanted, DownloadStatus.DONE))
    assert library.find("one").draft == "two"


def test_names_that_lead_elsewhere_are_refused(downloads: DownloadQueue, library: Library, tmp_path: Path) -> None:
    for repo_id, path in (("a/b", "../../x.gguf"), ("a/b", "/x.gguf"), ("../b", "x.gguf"), ("con/b", "x.gguf")):
        model = RepoModel("x", FileKind.MODEL, (RepoFile(path),))
        with pytest.raises(UnsafeNameError):
            downloads.add(DownloadRequest(repo_id, model))
    library.folder.mkdir(exist_ok=True)
    (library.folder / "linked").symlink_to(tmp_path)
    with pytest.raises(UnsafeNameError):
        downloads.add(DownloadRequest("linked/b", RepoModel("x", FileKind.MODEL, (RepoFile("x.gguf"),))))
    assert downloads.snapshot() == ()


def test_the_queue_survives_closing(client: HubClient, library: Library, hub: LoopbackHub, tmp_path: Path) -> None:
    hub.bytes_per_s = 1e6
    first = DownloadQueue(client, library, tmp_path / "q.json", retry_policy=FAST, max_at_once=1)
    first.start()
    ids = [first.add(request(client, name)) for name in DATA]
    wait_for(lambda: state(first, ids[0]).done_bytes >= 100_000)
    first.pause(ids[3])
    second = DownloadQueue(client, library, tmp_path / "q.json", retry_policy=FAST)
    second.start()
    assert second.snapshot() == ()  # the other one holds the queue
    second.close()
    first.close()
    hub.bytes_per_s = 0
    again = DownloadQueue(client, library, tmp_path / "q.json", retry_policy=FAST)
    again.start()
    wait_for(lambda: all(is_at(again, one, DownloadStatus.DONE)() for one in ids[:3]))
    assert state(again, ids[3]).status is DownloadStatus.PAUSED
    again.close()
    assert hub.sent(REPO, "one.gguf") <= len(DATA["one.gguf"]) * 1.1 + (1 << 17)
    assert len(library.models()) == 3


def test_a_killed_app_goes_on_where_it_was(hub: LoopbackHub, client: HubClient, tmp_path: Path) -> None:
    hub.bytes_per_s = 2e6
    total = sum(map(len, {**DATA, **SHARDS}.values()))
    for share in (0.1, 0.4, 0.6):
        child = subprocess.Popen([sys.executable, "-c", KILL_CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        while int(child.stdout.readline()) < share * total:
            pass
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    hub.bytes_per_s = 0
    library = Library(tmp_path / "models", tmp_path / "library.json")
    downloads = DownloadQueue(client, library, tmp_path / "downloads.json")
    downloads.start()
    assert len(downloads.snapshot()) == 5
    assert sum(one.done_bytes for one in downloads.snapshot()) > 0.5 * total
    wait_for(lambda: all(one.status is DownloadStatus.DONE for one in downloads.snapshot()))
    downloads.close()
    here = {file.name: file.read_bytes() for model in library.models() for file in model.files}
    assert {name: hashlib.sha256(data).digest() for name, data in here.items()} == {
        name: hashlib.sha256(data).digest() for name, data in {**DATA, **SHARDS}.items()
    }
    # Data in the socket buffers of a killed process is sent again: at most both ends' buffers for each kill.
    assert sum(hub.bytes_sent.values()) <= 1.1 * total + 3 * 3 * (4 << 20)


def test_a_folder_that_was_moved_away_stops_only_what_lies_there(
    client: HubClient, library: Library, hub: LoopbackHub, tmp_path: Path
) -> None:
    """A user moves a publisher's folder to a larger disk and leaves a link; then the app restarts."""
    hub.add_file("moved/c-GGUF", "five.gguf", DATA["one.gguf"])
    moved = DownloadRequest("moved/c-GGUF", client.details("moved/c-GGUF").models[0])
    first = DownloadQueue(client, library, tmp_path / "q.json", max_at_once=0)
    first.start()
    ids = [first.add(moved), first.add(request(client, "one"))]
    first.close()
    (tmp_path / "larger disk").mkdir()
    library.folder.mkdir(exist_ok=True)
    (library.folder / "moved").symlink_to(tmp_path / "larger disk")
    again = DownloadQueue(client, library, tmp_path / "q.json", retry_policy=FAST)
    again.start()
    wait_for(is_at(again, ids[1], DownloadStatus.DONE))
    assert state(again, ids[0]).status is DownloadStatus.FAILED
    assert "outside the library folder" in state(again, ids[0]).message
    again.cancel(ids[0])
    again.close()
    assert not list((tmp_path / "larger disk").iterdir())


def test_what_nobody_foresaw_fails_one_download_and_frees_its_place(
    client: HubClient, library: Library, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary = client.locate

    def odd(repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        if path == "one.gguf":
            raise RuntimeError("https://store.example/file?signature=secret")
        return ordinary(repo_id, path, revision)

    monkeypatch.setattr(client, "locate", odd)
    downloads = DownloadQueue(client, library, max_at_once=1, retry_policy=FAST)
    downloads.start()
    one, two = (downloads.add(request(client, name)) for name in ("one", "two"))
    wait_for(is_at(downloads, two, DownloadStatus.DONE))
    assert state(downloads, one).status is DownloadStatus.FAILED
    assert "(RuntimeError)" in state(downloads, one).message
    assert "secret" not in caplog.text
    downloads.close()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"downloads": 7}', b'{"downloads": [7, null, {}]}', b"[" * 100_000, b"\xff\xfe"],
    ids=lambda content: ascii(content[:10]),
)
def test_a_damaged_queue_is_set_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "q.json"
    path.write_bytes(content)
    queue_file = QueueFile(path)
    assert queue_file.open() == ()
    queue_file.close()


def test_a_queue_from_elsewhere_cannot_name_a_path(tmp_path: Path) -> None:
    good = {"repo_id": "a/b", "draft_of": "", "licence": "", "url": "", "status": "queued"}
    good |= {"files": [{"path": "m.gguf", "size_bytes": 1, "sha256": ""}]}
    bad = [
        {**good, "repo_id": "../b"},
        {**good, "files": [{"path": "../m.gguf", "size_bytes": 1, "sha256": ""}]},
        {**good, "files": [{"path": "m.gguf", "size_bytes": -1, "sha256": ""}]},
        {**good, "files": [*good["files"], {"path": "other.gguf", "size_bytes": 1, "sha256": ""}]},
        {**good, "files": [{"path": "m.gguf", "size_bytes": 1, "sha256": "../x"}]},
        {**good, "status": "mad"},
        {**good, "files": []},
        {**good, "licence": 7},
    ]
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"downloads": [*bad, good]}))
    queue_file = QueueFile(path)
    rows = queue_file.open()
    queue_file.close()
    assert [(row[0].repo_id, row[1]) for row in rows] == [("a/b", DownloadStatus.QUEUED)]


def test_speed() -> None:
    speed = SpeedMeter()
    assert speed.bytes_per_s(0.0) is None
    for step in range(41):  # a gigabyte existed before
        speed.record(step * 0.25, 10**9 + step * 2500)
    assert speed.bytes_per_s(10.0) == pytest.approx(10_000)
    assert speed.bytes_per_s(17.75) == pytest.approx(5_000, rel=0.01)
    speed.record(18.0, 100)
    assert speed.bytes_per_s(18.0) is None, "the download started over"
    speed.reset()
    assert speed.bytes_per_s(101.0) is None
