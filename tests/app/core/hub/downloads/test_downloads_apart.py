"""Downloads do not block each other: one with a redirected folder, one with an unexpected failure."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from app.core.domain.models import Download, DownloadRequest, DownloadStatus
from app.core.hub.client import ByteStream, HubClient
from app.core.hub.downloads.download_queue import DownloadQueue
from app.core.hub.downloads.transfer import RetryPolicy
from app.core.hub.library.library import Library
from app.core.hub.records import RemoteLocation
from tests.app.core.hub.loopback import LoopbackHub
from tests.waiting import wait_for

REPOS = ("one/model-GGUF", "two/model-GGUF", "three/model-GGUF")
FAST = RetryPolicy(max_failures=2, first_wait_s=0.001, max_wait_s=0.01)


def states(downloads: DownloadQueue) -> dict[str, Download]:
    return {state.request.repo_id: state for state in downloads.snapshot()}


def statuses(downloads: DownloadQueue) -> list[DownloadStatus]:
    return [states(downloads)[repo].status for repo in REPOS]


@pytest.fixture
def requests(hub: LoopbackHub) -> list[DownloadRequest]:
    for repo in REPOS:
        hub.add_file(repo, "model.gguf", b"GGUF" + repo.encode() * 1000)
    client = HubClient()
    wanted = [DownloadRequest(repo, client.details(repo).models[0]) for repo in REPOS]
    client.close()
    return wanted


def test_a_folder_that_was_moved_away_stops_only_what_lies_there(
    requests: list[DownloadRequest], tmp_path: Path
) -> None:
    """A user moves a publisher's folder to a larger disk and leaves a link; then the app restarts."""
    library, queue = Library(tmp_path / "models", tmp_path / "library.json"), tmp_path / "queue.json"
    client = HubClient()
    first = DownloadQueue(client, library, queue, max_at_once=0)
    first.start()
    for request in requests:
        first.add(request)
    first.close()
    (tmp_path / "larger disk").mkdir()
    library.folder.mkdir(exist_ok=True)
    try:
        (library.folder / "one").symlink_to(tmp_path / "larger disk")
    except OSError:
        pytest.skip("this system lets nobody make a link")
    again = DownloadQueue(client, library, queue, retry_policy=FAST)
    again.start()
    wait_for(lambda: not any(status.is_active for status in statuses(again)))
    assert statuses(again) == [DownloadStatus.FAILED, DownloadStatus.DONE, DownloadStatus.DONE]
    assert "outside the library folder" in states(again)[REPOS[0]].message
    again.close()
    assert [row["repo_id"] for row in json.loads(queue.read_text())["downloads"]] == list(REPOS)
    once_more = DownloadQueue(client, library, queue, retry_policy=FAST)
    once_more.start()
    failed = states(once_more)[REPOS[0]].key
    once_more.cancel(failed)
    once_more.close()
    assert not list((tmp_path / "larger disk").iterdir())
    client.close()


class Odd:
    """A hub with one file that causes an error of no known hub."""

    def __init__(self, client: HubClient) -> None:
        self._client = client

    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        if repo_id == REPOS[0]:
            raise RuntimeError("https://store.example/file?signature=secret")
        return self._client.locate(repo_id, path, revision)

    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> AbstractContextManager[ByteStream]:
        return self._client.open(location, start, end, if_range)


def test_what_nobody_foresaw_fails_one_download_and_frees_its_place(
    requests: list[DownloadRequest], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = HubClient()
    library = Library(tmp_path / "models", tmp_path / "library.json")
    downloads = DownloadQueue(Odd(client), library, max_at_once=1, retry_policy=FAST)
    downloads.start()
    for request in requests:
        downloads.add(request)
    wait_for(lambda: not any(status.is_active for status in statuses(downloads)))
    assert statuses(downloads) == [DownloadStatus.FAILED, DownloadStatus.DONE, DownloadStatus.DONE]
    assert "(RuntimeError)" in states(downloads)[REPOS[0]].message
    assert "secret" not in caplog.text
    downloads.close()
    client.close()
