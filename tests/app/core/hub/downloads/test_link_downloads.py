"""Tests downloads of links in the queue: resumed, rejected in place, kept after a restart."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.domain.models import Download, DownloadStatus
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue, QueueFile
from app.core.hub.downloads.transfer import RetryPolicy
from app.core.hub.library.library import Library
from app.core.hub.links import request_of
from tests.app.core.hub.link_server import LinkServer, file, longer, says
from tests.engine.gguf_factory import tiny_llama

MODEL = tiny_llama().to_bytes()
FAST = RetryPolicy(max_failures=3, first_wait_s=0.001, max_wait_s=0.01)
ENDED = (DownloadStatus.DONE, DownloadStatus.FAILED)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LinkServer]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with LinkServer() as running:
        running.answers["/m-Q4_0.gguf"] = file(MODEL)
        yield running


def fetched(library: Library, address: str, queue_file: Path | None = None) -> Download:
    """Download a link completely."""
    downloads = DownloadQueue(HubClient("http://127.0.0.1:9"), library, queue_file, retry_policy=FAST)
    downloads.start()
    try:
        downloads.add(request_of(address))
        end = time.monotonic() + 60
        while (state := downloads.snapshot()[0]).status not in ENDED:
            assert time.monotonic() < end, state
            time.sleep(0.01)
    finally:
        downloads.close()
    return state


def files_in(library: Library) -> list[Path]:
    return [path for path in library.folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_a_link_becomes_a_model_of_the_library(server: LinkServer, library: Library) -> None:
    assert fetched(library, server.url("/m-Q4_0.gguf")).status is DownloadStatus.DONE
    (model,) = library.models()
    assert (model.name, model.quantization, model.source, model.repo_id) == ("m-Q4_0", "Q4_0", "127.0.0.1", "")
    assert model.path.read_bytes() == MODEL
    assert library.remove("m-Q4_0") == len(MODEL)


def test_a_cut_connection_is_gone_on_with(server: LinkServer, library: Library) -> None:
    server.answers["/m.gguf"] = file(MODEL, cut=len(MODEL) // 3)
    assert fetched(library, server.url("/m.gguf")).status is DownloadStatus.DONE
    starts = [headers["range"] for _path, headers in server.requests if headers.get("if-range") == '"v1"']
    assert starts, "no attempt went on where the one before had ended"
    assert library.models()[0].path.read_bytes() == MODEL


def test_without_a_version_it_begins_again(server: LinkServer, library: Library) -> None:
    server.answers["/m.gguf"] = file(MODEL, etag="", cut=len(MODEL) // 3)
    state = fetched(library, server.url("/m.gguf"))
    assert state.status is DownloadStatus.FAILED
    assert "ended too early" in state.message or "was lost" in state.message
    assert not any("if-range" in headers for _path, headers in server.requests)
    server.answers["/m.gguf"] = file(MODEL, etag="")
    assert fetched(library, server.url("/m.gguf")).status is DownloadStatus.DONE


@pytest.mark.parametrize("what", ["a page", "damaged", "endless", "other length"])
def test_what_is_no_model_never_gets_its_name(server: LinkServer, library: Library, what: str) -> None:
    pages = b"<html>" * 5000
    server.answers["/m.gguf"] = {
        "a page": file(pages),
        "damaged": file(MODEL[:200] + bytes(len(MODEL) - 200)),
        "endless": longer(MODEL, 2 * len(MODEL)),
        "other length": says(200, MODEL[:-10], ETag='"v1"'),
    }[what]
    state = fetched(library, server.url("/m.gguf"))
    assert state.status is DownloadStatus.FAILED
    assert state.message
    assert not [path for path in files_in(library) if path.name.endswith(".gguf")]
    assert library.models() == ()


def test_a_queued_link_survives_a_restart_unless_it_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "downloads.json"
    request = request_of("https://h.example/m.gguf")
    first = QueueFile(path)
    first.open()
    first.save([(request, DownloadStatus.PAUSED)])
    first.close()
    second = QueueFile(path)
    assert second.open() == ((request, DownloadStatus.PAUSED),)
    second.close()
    path.write_text(path.read_text("utf-8").replace("https://h.example", "file://h.example"), "utf-8")
    third = QueueFile(path)
    assert third.open() == ()
    third.close()
