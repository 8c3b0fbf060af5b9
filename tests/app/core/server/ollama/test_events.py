"""Tests answers in Ollama's format, and its endpoints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.core.server.ollama.events import LineBuilder
from app.core.server.protocol import CompletionRequest
from engine.records import ChatRequest, Finished, FinishReason, TextChunk
from tests.app.core.server.scripted_session import HELLO, STATS, ScriptedServer

CALL = '<think>\nRain?\n</think>\n\n<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'


def lines(server: ScriptedServer, path: str, **fields: object) -> list[dict[str, Any]]:
    response = server.client.post(path, json=fields)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.text.splitlines()]


def test_a_chat_is_lines_with_durations_in_nanoseconds(server: ScriptedServer) -> None:
    *pieces, last = lines(server, "/api/chat", **HELLO)
    assert "".join(one["message"]["content"] for one in pieces) == "Good day"
    assert all(one["done"] is False and one["model"] == "tiny" for one in pieces)
    assert (last["done"], last["done_reason"], last["message"]) == (True, "stop", {"role": "assistant", "content": ""})
    assert (last["prompt_eval_count"], last["eval_count"]) == (10, 9)
    assert (last["prompt_eval_duration"], last["eval_duration"]) == (500_000_000, 2_000_000_000)
    assert last["total_duration"] > 0


def test_a_whole_answer_is_one_object(server: ScriptedServer) -> None:
    told = server.client.post("/api/generate", json={"model": "tiny:latest", "prompt": "Hi", "stream": False}).json()
    assert (told["response"], told["done"], told["model"]) == ("Good day", True, "tiny")
    assert "warnings" not in told
    assert server.session.requests[0].messages[0].content == "Hi"


@pytest.mark.parametrize(("path", "said"), [("/api/chat", "message"), ("/api/generate", "response")])
def test_a_request_without_a_question_loads(server: ScriptedServer, path: str, said: str) -> None:
    told = server.client.post(path, json={"model": "tiny"}).json()
    assert (told["done"], told["done_reason"]) == (True, "load")
    assert said in told
    assert not server.session.requests


def test_errors_have_its_form(server: ScriptedServer) -> None:
    refused = server.client.post("/api/chat", json={**HELLO, "format": "yaml"})
    assert (refused.status_code, refused.json()) == (400, {"error": "`format` must be json or a JSON schema."})
    assert list(server.client.get("/api/nothing").json()) == ["error"]
    assert list(server.client.get("/api/tags", headers={"Authorization": "Bearer wrong"}).json()) == ["error"]
    server.session.late_failure = RuntimeError("broken")
    assert list(lines(server, "/api/chat", **HELLO)[-1]) == ["error"]


def test_models_are_listed_and_shown(server: ScriptedServer) -> None:
    assert [one["name"] for one in server.client.get("/api/tags").json()["models"]] == ["tiny"]
    (running,) = server.client.get("/api/ps").json()["models"]
    assert (running["model"], running["context_length"]) == ("tiny", server.model.ready.target.n_ctx)
    shown = server.client.post("/api/show", json={"model": "tiny:latest"}).json()
    assert shown["model_info"]["general.architecture"] == "llama"
    assert "completion" in shown["capabilities"]
    assert server.client.post("/api/show", json={"model": "other"}).status_code == 404
    assert set(server.client.get("/api/version").json()) == {"version"}


def test_thoughts_and_calls_are_apart_from_the_words() -> None:
    asked = CompletionRequest(ChatRequest(), chat=True, tool_names=frozenset({"weather"}))
    told: dict[str, Any] = LineBuilder("tiny", asked, chat=True).whole(
        [TextChunk(0, CALL, ())], Finished(0, FinishReason.LENGTH, STATS)
    )
    assert told["message"]["thinking"].strip() == "Rain?"
    assert told["message"]["tool_calls"][0]["function"] == {"name": "weather", "arguments": {"city": "Rome"}}
    assert (told["message"]["content"], told["done_reason"]) == ("", "length")
