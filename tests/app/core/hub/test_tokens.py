"""Tests the access token: in the keyring or the environment, only for its host, never in a file or log."""

import importlib
import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import KeyringError

from app.core.hub.client import HubClient
from app.core.hub.errors import HubAccessError, TokenStoreError
from app.core.hub.tokens import TokenStore
from tests.app.core.hub.loopback import LoopbackHub

TOKEN = "hf_" + "canaryCANARY0123456789"


class Memory(KeyringBackend):
    """A keyring in memory."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.num_asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.num_asked += 1
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    before = keyring.get_keyring()
    backend = Memory()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


def test_kept_for_its_host_and_forgotten(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TokenStore("huggingface.co")
    assert store.find() == ""
    store.save(f" {TOKEN}\n")
    assert store.find() == TOKEN
    assert TokenStore("mirror.example").find() == ""
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    assert store.find() == "hf_other"
    monkeypatch.delenv("HF_TOKEN")
    store.forget()
    store.forget()
    assert memory.kept == {}


@pytest.mark.parametrize("token", ["", " ", "hf_a\r\nX-Evil: 1", "hf_ä", "x" * 600], ids=ascii)
def test_what_could_not_stand_in_a_header_is_no_token(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    with pytest.raises(TokenStoreError, match="not an access token"):
        TokenStore("h").save(token)
    monkeypatch.setenv("HF_TOKEN", token)
    assert TokenStore("h").from_environment() == ""
    assert memory.kept == {}


def test_without_a_keyring_there_is_one_sentence(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    keyring.set_keyring(fail.Keyring())
    store = TokenStore("h")
    assert store.find() == ""
    with pytest.raises(TokenStoreError, match="no keyring") as caught:
        store.save(TOKEN)
    assert "HF_TOKEN" in caught.value.advice
    monkeypatch.setattr(importlib, "import_module", _broken)
    with pytest.raises(TokenStoreError, match="could not be opened"):
        store.save(TOKEN)
    assert store.find() == ""


def _broken(name: str) -> SimpleNamespace:
    raise ImportError(name)


def test_a_keyring_that_refuses_is_a_sentence_without_the_token(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*words: str) -> None:
        raise KeyringError(f"cannot keep {words}")

    monkeypatch.setattr(memory, "set_password", refuse)
    monkeypatch.setattr(memory, "get_password", refuse)
    with pytest.raises(TokenStoreError) as caught:
        TokenStore("h").save(TOKEN)
    assert TOKEN not in caught.value.message
    assert TokenStore("h").find() == ""
    assert TOKEN not in caplog.text


def test_the_keyring_is_asked_only_when_the_hub_refuses(
    hub: LoopbackHub, memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    hub.add_file("open/m", "m.gguf", b"GGUF")
    hub.add_file("gated/m", "m.gguf", b"GGUF")
    hub.gated["gated/m"] = TOKEN
    client = HubClient()
    client.search("m")
    client.locate("open/m", "m.gguf")
    assert memory.num_asked == 0
    with pytest.raises(HubAccessError):
        client.locate("gated/m", "m.gguf")
    assert memory.num_asked == 1
    client.tokens.save(TOKEN)
    client.token_changed()
    assert client.locate("gated/m", "m.gguf").size_bytes == 4
    client.close()
    assert TOKEN not in caplog.text
    assert all(TOKEN.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
