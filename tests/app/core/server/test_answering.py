"""Streams begin at once, and send keep-alives while a prompt is read or other requests are answered."""

import json

import pytest

from app.core.server import answering
from tests.app.core.server.scripted_session import CHAT, PATIENCE_S, ScriptedServer
from tests.app.core.server.test_application import Client
from tests.waiting import wait_for

MESSAGES, RESPONSES, OLLAMA = "/v1/messages", "/v1/responses", "/api/chat"
FIRST = {
    CHAT: b'"role":"assistant"',
    MESSAGES: b"event: message_start",
    RESPONSES: b"event: response.in_progress",
    "/completion": b"",
    OLLAMA: b"",
}


def client(server: ScriptedServer, path: str) -> Client:
    more: dict[str, object] = {"max_tokens": 5} if path == MESSAGES else {"prompt": "Once"}
    if path == RESPONSES:
        more = {"input": "Hello", "messages": None}
    return Client(server, path, stream=True, **more)


@pytest.mark.parametrize("path", FIRST)
def test_a_stream_begins_before_its_prompt_is_read(
    server: ScriptedServer, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then come keep-alives, which no client takes for a part of the answer."""
    monkeypatch.setattr(answering, "KEEP_ALIVE_S", 0.005)
    server.session.gate.clear()
    asking = client(server, path)
    wait_for(lambda: asking.sent and FIRST[path] in asking.body)
    assert asking.sent[0]["status"] == 200
    wait_for(lambda: len(asking.sent) > 4)
    body = asking.body
    assert b"Good" not in body
    if path == MESSAGES:
        started = json.loads(body.split(b"data: ")[1].partition(b"\n")[0])
        assert started["message"]["usage"]["input_tokens"] == 10
        assert body.count(b"event: ping") > 1
    else:
        assert (b"\n:\n" in body or body.startswith(b":\n")) is (path != OLLAMA)
    server.session.gate.set()
    wait_for(lambda: b"day" in asking.body)
    if path == OLLAMA:
        wait_for(lambda: b'"done":true' in asking.body)
        assert all(json.loads(line) for line in asking.body.splitlines())
    asking.leave()


def test_a_stream_that_waits_for_others_says_so(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "EARLY_FAILURE_S", 0.01)
    server.session.gate.clear()
    first = client(server, CHAT)
    assert server.session.begun.acquire(timeout=PATIENCE_S)
    waiting = client(server, MESSAGES)
    wait_for(lambda: len(waiting.sent) > 1)
    assert (waiting.sent[0]["status"], waiting.body) == (200, b":\n\n")
    server.session.gate.set()
    wait_for(lambda: b"message_stop" in waiting.body)
    assert waiting.body.startswith(b":\n\nevent: message_start\n")
    for one in (first, waiting):
        one.leave()
