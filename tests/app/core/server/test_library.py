"""A request may name another model: it is loaded when its turn comes, and only one is in memory."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.core.server.access import AllowedHosts
from app.core.server.application import make_application
from app.core.server.library import LoadableModel
from app.core.server.ollama_api import list_models
from app.core.server.protocol import ServedModel
from app.core.server.scheduler import Scheduler
from engine.errors import NotEnoughMemoryError
from engine.records import ChatRequest, EngineReady, LoadRequest, Mode
from tests.app.core.server.scripted_session import (
    CHAT,
    HELLO,
    KEY,
    PATIENCE_S,
    OneModel,
    ScriptedSession,
    info,
    started_worker,
)


def choice(name: str) -> LoadableModel:
    def served(ready: EngineReady) -> ServedModel:
        return ServedModel(name, ready, ChatRequest(mode=Mode.AUTO))

    return LoadableModel(LoadRequest(info(name).path), served)


class SwitchingServer:
    """A server that loads one model after another."""

    def __init__(self) -> None:
        self.session = ScriptedSession()
        self.worker = started_worker(self.session)
        self.models = OneModel(None, choice("tiny"), choice("other"))
        self.models.begin(choice("tiny"), self.session.loaded)
        self.scheduler = Scheduler(self.worker, self.models, max_waiting=4)
        app = make_application(self.scheduler, KEY, AllowedHosts("127.0.0.1"))
        headers = {"Authorization": f"Bearer {KEY}"}
        self.client = TestClient(app, base_url="http://127.0.0.1:8080", headers=headers, raise_server_exceptions=False)

    def ask(self, model: str) -> tuple[int, str]:
        response = self.client.post(CHAT, json={**HELLO, "model": model})
        body = response.json()
        return response.status_code, body["model"] if response.status_code == 200 else body["error"]["code"]


@pytest.fixture
def server() -> Iterator[SwitchingServer]:
    opened = SwitchingServer()
    yield opened
    opened.scheduler.close()
    assert opened.worker.close(PATIENCE_S)
    opened.client.close()


def test_the_list_tells_state_kind_and_date(server: SwitchingServer, tmp_path: Path) -> None:
    (tmp_path / "one.gguf").write_bytes(b"GGUF")
    written = int((tmp_path / "one.gguf").stat().st_mtime)
    server.session.loaded = replace(
        server.session.loaded, target=replace(info("tiny"), path=str(tmp_path / "one.gguf"))
    )
    server.models.set_loaded(replace(server.session.loaded, target=info("tiny")))
    server.models._current = replace(server.models.current(), ready=server.session.loaded)
    first, second = server.client.get("/v1/models").json()["data"]
    assert [first[name] for name in ("id", "type", "state", "created")] == ["tiny", "llm", "loaded", written]
    assert [second[name] for name in ("id", "type", "state", "created")] == ["other", "llm", "not-loaded", 0]
    assert [one["name"] for one in server.client.get("/api/tags").json()["models"]] == ["tiny", "other"]


def test_a_model_is_told_by_its_files_date_and_digest(tmp_path: Path) -> None:
    file = tmp_path / "a-Q4_K_M.gguf"
    file.write_bytes(b"GGUF")
    model = choice("tiny").served(EngineReady(replace(info("tiny"), path=str(file))))
    entry, away = list_models(model, {"tiny": "", "away": ""})["models"]  # type: ignore[misc]
    assert (len(entry["digest"]), entry["details"]["quantization_level"]) == (64, "Q4_K_M")
    assert datetime.fromisoformat(entry["modified_at"]).timestamp() == pytest.approx(file.stat().st_mtime, abs=1e-3)
    assert (away["digest"], away["modified_at"][:4], away["size"]) == ("", "1970", 0)


def test_a_request_has_the_model_loaded_that_it_names(server: SwitchingServer) -> None:
    assert server.ask("tiny") == (200, "tiny")
    assert server.session.loads == []
    assert server.ask("other") == (200, "other")
    assert server.session.loads == ["unloaded", "other"]
    assert server.ask("other") == (200, "other")
    assert server.ask("tiny") == (200, "tiny")
    assert server.session.loads == ["unloaded", "other", "unloaded", "tiny"]


def test_for_a_model_that_is_not_there_the_loaded_one_answers(server: SwitchingServer) -> None:
    assert server.ask("missing") == (200, "tiny")
    assert server.session.loads == []


def test_a_model_that_cannot_be_loaded_fails_its_request_only(server: SwitchingServer) -> None:
    server.session.load_failure = NotEnoughMemoryError("It does not fit.")
    response = server.client.post(CHAT, json={**HELLO, "model": "other"})
    assert response.status_code == 500
    assert "It does not fit." in response.json()["error"]["message"]
    server.session.load_failure = None
    assert server.ask("tiny") == (200, "tiny")  # it was evicted, and is loaded again


def test_a_model_that_is_waited_for_too_long_is_an_error(
    server: SwitchingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.server.application.LOAD_WAIT_S", 0.05)
    server.session.gate.clear()
    first = threading.Thread(target=server.ask, args=("tiny",))
    first.start()
    assert server.session.begun.acquire(timeout=PATIENCE_S)
    assert server.ask("other") == (503, "model_loading")
    server.session.gate.set()
    first.join(PATIENCE_S)
