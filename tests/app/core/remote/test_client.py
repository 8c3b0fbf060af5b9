"""Tests addresses, keys and redirects: a key is sent to one host only."""

import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.hub.client import http_library
from app.core.remote import client as client_module
from app.core.remote.client import RemoteClient, check_encrypted, is_local_url, normal_url, server_key_store
from app.core.remote.detection import detect
from app.core.remote.errors import (
    KeyRejectedError,
    RemoteError,
    ServerAddressError,
    ServerTimeoutError,
    UnencryptedAddressError,
)
from app.core.remote.server_list import RemoteServerList
from tests.app.core.hub.link_server import Answer, LinkServer, says
from tests.app.core.hub.test_tokens import Memory, memory
from tests.app.core.remote.scripted_server import serving
from tests.waiting import PATIENCE_S

__all__ = ["memory"]  # a fixture

PLACE = "/v1/chat/completions"
KEY = "sk-" + "canaryCANARY0123456789"


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("localhost:8000", "http://localhost:8000"),
        ("https://GPU.example.org/v1/", "https://gpu.example.org"),
        (" http://192.168.1.5:8000/engine/v1 ", "http://192.168.1.5:8000/engine"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_addresses_lose_what_every_server_has(typed: str, url: str) -> None:
    assert normal_url(typed) == url


@pytest.mark.parametrize(
    "typed", ["", "ftp://a", "http://", "http://user:secret@host", "http://host?x=1", "http://host#x", "http://a:99999"]
)
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(ServerAddressError):
        normal_url(typed)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_sentence(typed: str) -> None:
    try:
        url = normal_url(typed)
    except ServerAddressError:
        return
    assert url.startswith(("http://", "https://"))
    assert normal_url(url) == url


def test_plain_http_over_a_network_needs_a_confirmation() -> None:
    for url in ("https://gpu.example.org", "http://127.0.0.1:8000", "http://localhost", "http://[::1]:1"):
        check_encrypted(url, allowed=False)
    check_encrypted("http://192.168.1.5:8000", allowed=True)
    for url in ("http://192.168.1.5:8000", "http://gpu.example.org", "http://localhost.example.org"):
        with pytest.raises(UnencryptedAddressError, match="unencrypted"):
            RemoteClient(url, KEY)


@pytest.mark.parametrize("method", ["ask", "answer"])
def test_a_redirect_is_not_followed_so_the_key_stays(method: str) -> None:
    with serving() as other, serving(redirect=other.url) as server:
        client = RemoteClient(server.url, KEY)

        def post() -> None:
            with client.answer("/v1/chat/completions", {}) as objects:
                list(objects)

        with pytest.raises(ServerAddressError, match="redirects"):
            detect(client) if method == "ask" else post()
        assert other.requests == []
        assert {key for _path, key, _body in server.requests} == {f"Bearer {KEY}"}


def test_a_key_is_kept_for_scheme_host_and_port(memory: Memory) -> None:
    server_key_store("https://gpu.example.org/a").save(KEY)
    assert server_key_store("https://gpu.example.org/b").find() == KEY
    for other in ("http://gpu.example.org", "https://gpu.example.org:8443", "https://example.org"):
        assert server_key_store(other).find() == ""
    assert list(memory.kept) == [("paceline engine", "https://gpu.example.org:443")]


def test_no_log_has_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(key=KEY) as server:
        detect(RemoteClient(server.url, KEY))
        with pytest.raises(Exception, match="does not accept"):
            detect(RemoteClient(server.url, KEY + "x"))
    assert server.requests
    assert KEY not in caplog.text


@given(st.text(max_size=60))
def test_the_library_asks_the_host_that_was_judged(typed: str) -> None:
    """If the library parsed the address differently, the key would be sent elsewhere."""
    try:
        url = normal_url(typed)
    except ServerAddressError:
        return
    try:
        asked = http_library().URL(url)
    except (http_library().InvalidURL, ValueError):
        return  # nothing is sent then
    scheme, host, port = client_module.origin(url)
    assert asked.scheme == scheme
    if host.isascii():
        assert asked.raw_host.decode("ascii").strip("[]") == host
    else:
        assert not is_local_url(url)  # so it needs encryption, or a confirmation
    assert (asked.port or {"http": 80, "https": 443}[scheme]) == port
    assert not asked.userinfo


def test_another_address_in_the_file_gets_no_key(tmp_path: Path, memory: Memory) -> None:
    file = tmp_path / "engines.toml"
    with serving(key=KEY) as server, serving() as other:
        RemoteServerList(file).add(server.url, KEY)
        file.write_text(file.read_text("utf-8").replace(server.url, other.url), "utf-8")
        RemoteServerList(file).refresh(other.url)
        assert {key for _path, key, _body in other.requests} == {""}
    assert list(memory.kept.values()) == [KEY]


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_sees_nothing_that_is_not_encrypted(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "is_local_url", lambda _url: False)  # as if it were another computer
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving(key=KEY) as server, serving() as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert detect(RemoteClient(server.url, KEY, allows_plain=True)).models
        assert proxy.requests == []


@pytest.fixture(params=["refused", "in the stream", "a whole answer"])
def echo(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that quotes the key it got."""
    error = {"message": f"Incorrect API key provided: {KEY}. Check it."}
    fields: dict[str, dict[str, object]] = {
        "refused": {"status": 400, "error": error},
        "in the stream": {"error_after": 0, "error": error},
        "a whole answer": {"unstreamed": True, "pieces": (f"Your key is {KEY}.",)},
    }
    with serving(kind="other", **fields[request.param]) as server:
        yield server.url


def test_an_engine_that_quotes_the_key_is_not_quoted(echo: str) -> None:
    told = ""
    try:
        with RemoteClient(echo, KEY).answer("/v1/chat/completions", {}) as objects:
            told = json.dumps(list(objects))
    except RemoteError as error:
        told = error.one_line
    assert "[key]" in told
    assert KEY not in told


@pytest.mark.parametrize("key", ["two words", "sk-1\r\nX-Other: 1", "schlüssel", "k" * 600])
def test_what_can_be_no_key_is_not_sent_and_not_quoted(key: str) -> None:
    with serving() as server:
        with pytest.raises(KeyRejectedError, match="This is not a valid key") as raised:
            RemoteClient(server.url, key)
        assert server.requests == []
    assert key not in raised.value.one_line


def test_who_prints_a_client_sees_no_key() -> None:
    client = RemoteClient("https://gpu.example.org", KEY)
    assert KEY not in f"{client} {client!r}"
    assert not is_local_url(client.url)


def answered(content: Answer) -> list[dict[str, Any]]:
    """The parsed answer of a server to a POST request."""
    with LinkServer() as server:
        server.answers[PLACE] = content
        with RemoteClient(server.url("")).answer(PLACE, {}) as objects:
            return list(objects)


def streamed(text: str) -> Answer:
    return says(200, text.encode(), Content_Type="text/event-stream")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (says(200, b"<html>", Content_Type="text/html"), "is not JSON"),
        (says(200, b"{", Content_Type="application/json"), "answer is not JSON."),
        (says(200, b"[" * 1900, Content_Type="application/json"), "answer is not JSON."),
        (says(200, b"[]", Content_Type="application/json"), "answer is not a JSON object."),
        (says(200, b" " * 3000, Content_Type="application/json"), "is far too long"),
        (says(200, b"{}", Content_Type="application/json", Content_Encoding="gzip"), "could not be read"),
        (streamed("data: {\n\n"), "answer is not JSON."),
        (streamed("data: 7\n\n"), "answer is not a JSON object."),
        (streamed("data: " + "x" * 3000), "A line of the answer of 127.0.0.1:"),
        (streamed('error: {"message": "out of memory"}\n\n'), "out of memory"),
        (streamed('data: {"choices": []}\n\n'), "ended the answer early"),
    ],
)
def test_an_answer_that_cannot_be_one_is_a_sentence(
    content: Answer, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "MAX_BYTES", 2000)
    monkeypatch.setattr(client_module, "MAX_LINE_BYTES", 2000)
    with pytest.raises(RemoteError) as raised:
        answered(content)
    assert sentence in raised.value.message


def test_a_page_that_is_no_json_tells_nothing() -> None:
    with LinkServer() as server:
        server.answers["/props"] = says(200, b"<html>")
        assert RemoteClient(server.url("")).json("/props") == {}
        server.answers["/props"] = says(404)
        assert RemoteClient(server.url("")).json("/props") == {}


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "REQUEST_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
                for _ in range(1000):
                    connection.sendall(b"x")
                    time.sleep(0.02)

        dripping = threading.Thread(target=drip)
        dripping.start()
        with pytest.raises(ServerTimeoutError, match="sent nothing for"):
            RemoteClient(f"http://127.0.0.1:{listener.getsockname()[1]}").json("/v1/models")
        dripping.join(PATIENCE_S)
        assert not dripping.is_alive()
