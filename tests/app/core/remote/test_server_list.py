"""Tests the list of remote servers: stored without keys, queried before they are stored."""

from pathlib import Path

import pytest

from app.core.domain.engines import ServerKind
from app.core.hub.errors import TokenStoreError
from app.core.hub.tokens import TokenStore
from app.core.remote.errors import (
    KeyRejectedError,
    ModelNotOfferedError,
    ServerAddressError,
    ServerListError,
    UnencryptedAddressError,
)
from app.core.remote.server_list import RemoteServerList
from tests.app.core.hub.test_tokens import Memory, memory
from tests.app.core.remote.scripted_server import serving

__all__ = ["memory"]  # a fixture

KEY = "sk-" + "canaryCANARY0123456789"


def test_an_engine_is_asked_kept_and_read_back(tmp_path: Path, memory: Memory) -> None:
    file = tmp_path / "engines.toml"
    with serving(kind="sglang", key=KEY) as server:
        record = RemoteServerList(file).add(server.url + "/v1/", KEY)
        assert RemoteServerList(file).all == (record,)
        assert KEY not in file.read_text("utf-8")
        assert list(memory.kept.values()) == [KEY]
        server.script.model = "org/other"
        again = RemoteServerList(file).refresh(server.url)  # with the stored key
        assert [model.name for model in again.facts.models] == ["org/other"]
        engines = RemoteServerList(file)
        assert engines.all == (again,)
        engines.remove(server.url)
    assert RemoteServerList(file).all == ()
    assert memory.kept == {}
    assert record.facts.kind is ServerKind.SGLANG
    with pytest.raises(ServerAddressError, match="no longer in the list"):
        engines.find(server.url)


def test_nothing_is_kept_of_one_that_refuses(tmp_path: Path, memory: Memory) -> None:
    engines = RemoteServerList(tmp_path / "engines.toml")
    with serving(key=KEY) as server, pytest.raises(KeyRejectedError):
        engines.add(server.url, "wrong")
    with pytest.raises(UnencryptedAddressError):
        engines.add("http://192.0.2.1:8000", KEY)
    assert engines.all == ()
    assert memory.kept == {}
    assert not (tmp_path / "engines.toml").exists()


def test_a_damaged_file_gives_what_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "engines.toml"
    good = 'url="http://localhost:1"\nkind="new"\nversion="1"\ndrafting=""\nallows_plain=false\nmodels=[{name="m",n_ctx=5}]'
    file.write_text(f'[[engines]]\nurl="nonsense"\n[[engines]]\n{good}\n', "utf-8")
    found = RemoteServerList(file).all
    assert [(record.url, record.facts.kind) for record in found] == [("http://localhost:1", ServerKind.OTHER)]


def test_an_engine_without_a_model_is_not_kept(tmp_path: Path) -> None:
    with serving(kind="other") as server:
        server.page = lambda path: {"data": []} if path == "/v1/models" else None  # type: ignore[method-assign]
        with pytest.raises(ModelNotOfferedError, match="The remote server offers no model"):
            RemoteServerList(tmp_path / "engines.toml").add(server.url, "")
    assert not (tmp_path / "engines.toml").exists()


def test_a_list_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"a file where the folder should be")
    with serving() as server, pytest.raises(ServerListError, match="cannot be written"):
        RemoteServerList(tmp_path / "data" / "engines.toml").add(server.url, "")


def test_a_key_stays_while_another_engine_of_its_host_is_in_the_list(tmp_path: Path, memory: Memory) -> None:
    file = tmp_path / "engines.toml"
    with serving(key=KEY) as server:
        RemoteServerList(file).add(server.url, KEY)
        beside = file.read_text("utf-8").partition("[[engines]]")
        file.write_text("".join(beside) + f"\n[[engines]]{beside[2].replace(server.url, server.url + '/two')}", "utf-8")
        engines = RemoteServerList(file)
        assert len(engines.all) == 2
        engines.remove(server.url)
        assert list(memory.kept.values()) == [KEY]
        engines.remove(server.url + "/two")
    assert memory.kept == {}


def test_where_there_is_no_keyring_nobody_is_sent_to_the_hubs_variable(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_store: TokenStore, _token: str) -> None:
        raise TokenStoreError("This system has no keyring that Paceline could use.")

    monkeypatch.setattr(TokenStore, "save", refuse)
    with serving(key=KEY) as server, pytest.raises(TokenStoreError) as refused:
        RemoteServerList(tmp_path / "engines.toml").add(server.url, KEY)
    assert refused.value.problem.message == "This system has no keyring that Paceline could use."
    assert "HF_TOKEN" not in refused.value.problem.advice
    assert memory.kept == {}
