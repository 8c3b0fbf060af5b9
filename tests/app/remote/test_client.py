"""Addresses, keys and redirects: a key has one place to go."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.remote.client import EngineClient, check_plain, key_store, normal_url
from app.remote.errors import EngineAddressError, PlainAddressError
from app.remote.identity import ask
from tests.app.hub.test_tokens import Memory, memory
from tests.app.remote.scripted_server import serving

__all__ = ["memory"]  # a fixture

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
    with pytest.raises(EngineAddressError):
        normal_url(typed)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_sentence(typed: str) -> None:
    try:
        url = normal_url(typed)
    except EngineAddressError:
        return
    assert url.startswith(("http://", "https://"))
    assert normal_url(url) == url


def test_plain_http_over_a_network_needs_a_confirmation() -> None:
    for url in ("https://gpu.example.org", "http://127.0.0.1:8000", "http://localhost", "http://[::1]:1"):
        check_plain(url, allowed=False)
    check_plain("http://192.168.1.5:8000", allowed=True)
    for url in ("http://192.168.1.5:8000", "http://gpu.example.org", "http://localhost.example.org"):
        with pytest.raises(PlainAddressError, match="unencrypted"):
            EngineClient(url, KEY)


@pytest.mark.parametrize("method", ["ask", "answer"])
def test_a_redirect_is_not_followed_so_the_key_stays(method: str) -> None:
    with serving() as other, serving(redirect=other.url) as server:
        client = EngineClient(server.url, KEY)

        def post() -> None:
            with client.answer("/v1/chat/completions", {}) as objects:
                list(objects)

        with pytest.raises(EngineAddressError, match="redirects"):
            ask(client) if method == "ask" else post()
        assert other.requests == []
        assert {key for _path, key, _body in server.requests} == {f"Bearer {KEY}"}


def test_a_key_is_kept_for_scheme_host_and_port(memory: Memory) -> None:
    key_store("https://gpu.example.org/a").save(KEY)
    assert key_store("https://gpu.example.org/b").find() == KEY
    for other in ("http://gpu.example.org", "https://gpu.example.org:8443", "https://example.org"):
        assert key_store(other).find() == ""
    assert list(memory.kept) == [("paceline engine", "https://gpu.example.org:443")]


def test_no_log_has_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(key=KEY) as server:
        ask(EngineClient(server.url, KEY))
        with pytest.raises(Exception, match="does not accept"):
            ask(EngineClient(server.url, KEY + "x"))
    assert server.requests
    assert KEY not in caplog.text
