"""Tests the client with a real HTTP hub: its requests, its checks, and which hosts get the token."""

import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.domain.models import FileKind
from app.core.hub.client import HubClient, http_library, small_body
from app.core.hub.errors import (
    HubAccessError,
    HubAnswerError,
    HubBusyError,
    HubError,
    HubNotFoundError,
    HubOfflineError,
    HubUnreachableError,
    UnsafeNameError,
)
from tests.app.core.hub.loopback import Fault, LoopbackHub

REPO = "tiny/pair-GGUF"
DATA = bytes(range(256)) * 1000
TOKEN = "hf_" + "canaryCANARY0123456789"


@pytest.fixture
def client(hub: LoopbackHub) -> Iterator[HubClient]:
    hub.add_file(REPO, "target-Q4_K_M.gguf", DATA)
    hub.add_file(REPO, "draft-Q8_0.gguf", DATA[:1000])
    hub.add_file(REPO, "README.md", b"---\nlicense: mit\n---\n# A pair\n\nWords.\n")
    hub.describe(
        REPO,
        downloads=1234,
        likes=5,
        tags=["gguf", "license:mit", "base_model:quantized:tiny/pair"],
        lastModified="2026-10-01T12:00:00.000Z",
        gguf={"architecture": "llama", "total": 260_000, "context_length": 512},
    )
    opened = HubClient(timeout_s=20)
    yield opened
    opened.close()


class Dripping:
    """An answer that never ends."""

    num_given = 0

    def iter_bytes(self) -> Iterator[bytes]:
        while self.num_given < 1000:
            self.num_given += 1
            time.sleep(0.01)
            yield b"x"


def test_a_small_answer_is_not_waited_for_without_end() -> None:
    with pytest.raises(http_library().TimeoutException):
        small_body(Dripping(), 1 << 20, within_s=0.1)
    assert len(small_body(Dripping(), 3)) == 4, "of one that is too long no more is read than shows it"


def test_search(hub: LoopbackHub, client: HubClient) -> None:
    hub.add_file("other/pair", "a.gguf", b"x")
    hub.add_file("other/no-models", "a.bin", b"x")
    found = client.search("pair", 10)
    assert [summary.repo_id for summary in found] == [REPO, "other/pair"]
    first = found[0]
    assert (first.downloads, first.licence, first.architecture) == (1234, "mit", "llama")
    assert (first.num_parameters, first.context_length) == (260_000, 512)
    assert first.updated == datetime(2026, 10, 1, 12, tzinfo=UTC)
    assert first.quantizations == ("Q4_K_M", "Q8_0")
    assert len(client.search("pair", limit=1)) == 1
    assert client.search("nothing of the kind") == ()


def test_details(client: HubClient, hub: LoopbackHub) -> None:
    details = client.details(REPO)
    by_name = {model.name: model for model in details.models}
    assert set(by_name) == {"draft-Q8_0", "target-Q4_K_M"}
    assert by_name["draft-Q8_0"].kind is FileKind.DRAFT
    assert by_name["target-Q4_K_M"].quantization == "Q4_K_M"
    file = by_name["target-Q4_K_M"].files[0]
    assert (file.size_bytes, file.sha256) == (len(DATA), hashlib.sha256(DATA).hexdigest())
    assert client.page_url(REPO) == f"{hub.url}/{REPO}"


@pytest.mark.parametrize("through_store", [False, True])
def test_locate_and_open(hub: LoopbackHub, client: HubClient, *, through_store: bool) -> None:
    with LoopbackHub() as store:
        hub.cdn = store if through_store else None
        location = client.locate(REPO, "target-Q4_K_M.gguf")
        assert location.sha256 == hashlib.sha256(DATA).hexdigest()
        assert location.size_bytes == len(DATA)
        with client.open(location) as stream:
            assert stream.start == 0
            etag = stream.etag
            assert b"".join(stream.chunks()) == DATA
        with client.open(location, 1000, 2000, if_range=etag) as stream:
            assert stream.start == 1000
            assert b"".join(stream.chunks()) == DATA[1000:2000]
        with client.open(location, 1000, if_range='"another"') as stream:
            assert stream.start == 0
        with pytest.raises(HubError, match="no longer has these bytes"), client.open(location, len(DATA)):
            pass


def test_what_was_located_cannot_change_before_it_is_fetched(hub: LoopbackHub, client: HubClient) -> None:
    location = client.locate(REPO, "target-Q4_K_M.gguf")
    hub.add_file(REPO, "target-Q4_K_M.gguf", b"another file")
    with client.open(location) as stream:
        assert b"".join(stream.chunks()) == DATA


def test_a_renamed_repository_is_followed(hub: LoopbackHub, client: HubClient) -> None:
    moved = f"{hub.url}/{REPO}/resolve/main/target-Q4_K_M.gguf"
    hub.refusals.append(Fault(status=307, headers=(("Location", moved),)))
    assert client.locate("old/name", "target-Q4_K_M.gguf").size_bytes == len(DATA)


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..example", "xn--a" * 20, "\u0635" * 64, "."])
def test_a_redirect_to_a_name_that_no_host_can_have_is_a_sentence(
    hub: LoopbackHub, client: HubClient, host: str
) -> None:
    """The system rejects such a name without a network error."""
    location = client.locate(REPO, "target-Q4_K_M.gguf")
    told = f"http://{host}/file".encode().decode("latin-1")
    hub.refusals.append(Fault(status=302, headers=(("Location", told),)))
    with pytest.raises(HubError):
        client.locate(REPO, "target-Q4_K_M.gguf")
    hub.faults.append(Fault(status=302, headers=(("Location", told),)))
    with pytest.raises(HubError), client.open(location) as stream:
        list(stream.chunks())


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..example"])
def test_an_endpoint_that_no_host_can_have_is_a_sentence(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"https://{host}")
    with pytest.raises(HubUnreachableError, match="HF_ENDPOINT"):
        HubClient()


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (Fault(status=429, headers=(("Retry-After", "7"),)), HubBusyError, "is busy"),
        (Fault(status=503), HubBusyError, "HTTP 503"),
        (Fault(status=418), HubAnswerError, "HTTP 418"),
        (Fault(status=401), HubAccessError, "requires a valid access token"),
        (Fault(status=404), HubNotFoundError, "does not exist"),
        (Fault(status=302, headers=(("Location", "file:///etc/passwd"),)), HubAnswerError, "invalid address"),
        (Fault(status=302, headers=(("Location", "http://u:p@h/"),)), HubAnswerError, "invalid address"),
        (Fault(status=302), HubAnswerError, "without end"),
    ],
    ids=lambda value: str(getattr(value, "status", "")),
)
def test_a_refusal_is_one_sentence(
    hub: LoopbackHub, client: HubClient, fault: Fault, error: type[HubError], words: str
) -> None:
    hub.refusals.extend([fault] * 9)
    for ask in (lambda: client.details(REPO), lambda: client.search("pair"), lambda: client.locate(REPO, "a.gguf")):
        hub.refusals.extend([fault] * (9 - len(hub.refusals)))
        with pytest.raises(error, match=words) as caught:
            ask()
        assert caught.value.message.endswith(".")
    if isinstance(caught.value, HubBusyError) and fault.headers:
        assert caught.value.retry_after_s == 7


def test_no_network_and_offline_mode(monkeypatch: pytest.MonkeyPatch, client: HubClient, hub: LoopbackHub) -> None:
    with LoopbackHub() as gone:
        address = gone.url
    lonely = HubClient(address)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    with pytest.raises(HubUnreachableError, match="Could not connect"):
        lonely.search("pair")
    lonely.close()
    seen = len(hub.requests)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(HubOfflineError, match="HF_HUB_OFFLINE"):
        client.search("pair")
    assert len(hub.requests) == seen
    monkeypatch.setenv("HF_ENDPOINT", "huggingface")
    with pytest.raises(HubUnreachableError, match="HF_ENDPOINT"):
        HubClient()


def test_a_proxy_is_honoured(hub: LoopbackHub, client: HubClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", hub.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    far = HubClient("http://hub.invalid")
    assert [summary.repo_id for summary in far.search("pair")] == [REPO]
    far.close()
    assert hub.requests[-1].path.startswith("http://hub.invalid/api/models?")


def test_a_stalled_read_can_be_ended_from_another_thread(hub: LoopbackHub, client: HubClient) -> None:
    hub.faults.append(Fault(stall_after=1000))
    location = client.locate(REPO, "target-Q4_K_M.gguf")
    before = time.monotonic()
    with client.open(location) as stream:
        chunks = stream.chunks()
        assert len(next(chunks)) <= 1000
        timer = threading.Timer(0.2, stream.abort)
        timer.start()
        with pytest.raises(HubUnreachableError):
            list(chunks)
        timer.join()
    assert time.monotonic() - before < 60


def test_names_of_a_stranger_never_reach_the_wire(client: HubClient, hub: LoopbackHub) -> None:
    seen = len(hub.requests)
    for ask in (
        lambda: client.details("../api"),
        lambda: client.locate(REPO, "../a.gguf"),
    ):
        with pytest.raises(UnsafeNameError):
            ask()
    assert len(hub.requests) == seen


# ---- the token ---------------------------------------------------------------------------------------------------


def test_gated(hub: LoopbackHub, client: HubClient, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.gated[REPO] = TOKEN
    hub.describe(REPO, gated="manual")
    assert client.details(REPO).summary.gated is True
    with pytest.raises(HubAccessError, match="accepted its terms"):
        client.locate(REPO, "target-Q4_K_M.gguf")
    monkeypatch.setenv("HF_TOKEN", "hf_" + "wrong00")
    with pytest.raises(HubAccessError, match="accepted its terms"):
        client.locate(REPO, "target-Q4_K_M.gguf")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert client.locate(REPO, "target-Q4_K_M.gguf").size_bytes == len(DATA)


def test_the_token_never_leaves_for_another_host(
    hub: LoopbackHub, client: HubClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with LoopbackHub() as store:
        store.add_file(REPO, "target-Q4_K_M.gguf", DATA)
        hub.cdn = store
        with client.open(client.locate(REPO, "target-Q4_K_M.gguf")) as stream:
            assert b"".join(stream.chunks()) == DATA
        hub.refusals.append(Fault(status=307, headers=(("Location", f"{store.url}/api/models/{REPO}"),)))
        client.details(REPO)
        hub.refusals.append(
            Fault(status=302, headers=(("Location", f"{store.url}/{REPO}/resolve/main/target-Q4_K_M.gguf"),))
        )
        client.locate(REPO, "target-Q4_K_M.gguf")
        assert len(store.requests) >= 3
        assert all(TOKEN not in json.dumps(dict(seen.headers)) for seen in store.requests)
    assert all(seen.headers.get("authorization") == f"Bearer {TOKEN}" for seen in hub.requests)
    assert TOKEN not in caplog.text
    assert "signature" not in caplog.text


def test_a_token_does_not_cross_a_network_in_the_clear() -> None:
    from app.core.hub.addresses import may_carry_token

    assert may_carry_token("https://huggingface.co/a", "https://huggingface.co")
    assert may_carry_token("https://HUGGINGFACE.co:443/a", "https://huggingface.co")
    assert not may_carry_token("http://mirror.example/a", "http://mirror.example")
    assert not may_carry_token("https://huggingface.co.evil.example/a", "https://huggingface.co")
    assert not may_carry_token("https://huggingface.co:444/a", "https://huggingface.co")
    assert not may_carry_token("http://huggingface.co/a", "https://huggingface.co")


def test_starting_the_app_does_not_import_the_hub() -> None:
    code = (
        "import sys, app.core.hub.client, app.core.hub.downloads.download_queue\n"
        "import app.core.hub.library.library, app.core.hub.tokens\n"
        "app.core.hub.client.HubClient('http://127.0.0.1:9')\n"
        "print([n for n in ('huggingface_hub', 'httpx2', 'httpx', 'keyring', 'filelock') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_is_asked_of_the_hub_but_what_was_wanted(hub: LoopbackHub, tmp_path: Path) -> None:
    """The hub's library would fetch a list of programs at the first request of a day."""
    code = "from app.core.hub.client import HubClient; HubClient().search('tiny')"
    env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path), "NO_PROXY": "*"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, cwd=Path(__file__).resolve().parents[4])
    assert [seen.path.partition("?")[0] for seen in hub.requests] == ["/api/models"]
    assert hub.requests[0].headers["user-agent"].startswith("paceline/")


def test_a_proxy_that_is_none_is_a_sentence(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://proxy.example")
    client = HubClient(hub.url)
    with pytest.raises(HubUnreachableError, match="The proxy that this system names cannot be used") as refused:
        client.search("pair")
    assert "HTTPS_PROXY" in refused.value.advice
    client.close()


def test_who_asks_after_the_end_opens_no_connection(hub: LoopbackHub, client: HubClient) -> None:
    client.search("pair")
    client.close()
    num_before = len(hub.requests)
    with pytest.raises(HubUnreachableError, match="were closed"):
        client.search("pair")
    assert len(hub.requests) == num_before
    assert client._client is None
