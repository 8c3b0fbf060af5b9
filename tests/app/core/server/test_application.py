"""Tests the endpoints with a scripted session."""

import asyncio
import json
import logging
import threading
from itertools import repeat
from typing import Any

import pytest
from starlette.types import Message

from app.core.server import application
from app.core.server.errors import UNEXPECTED
from engine.errors import DecodeError, PromptError
from engine.records import FinishReason
from tests.app.core.server.scripted_session import CHAT, HELLO, KEY, PATIENCE_S, ScriptedServer
from tests.waiting import wait_for

TEXT, RESPONSES = "/v1/completions", "/v1/responses"
MESSAGES, COUNT_TOKENS = "/v1/messages", "/v1/messages/count_tokens"
SAID = "secret words"
CHUNK = {"id", "object", "created", "model", "system_fingerprint", "choices"}


def events_of(text: str) -> list[str]:
    """The data of server-sent events."""
    assert text.endswith("\n\n")
    lines = text.removesuffix("\n\n").split("\n\n")
    assert all(line.startswith("data: ") for line in lines)
    return [line.removeprefix("data: ") for line in lines]


def stream(server: ScriptedServer, path: str = CHAT, **fields: object) -> tuple[list[dict[str, Any]], str]:
    """The chunks of a streamed answer, and the last event."""
    body = HELLO if path == CHAT else {"prompt": "Once"}
    response = server.client.post(path, json={**body, "stream": True, **fields})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    *chunks, last = events_of(response.text)
    return [json.loads(chunk) for chunk in chunks], last


def test_a_whole_answer_has_the_text_the_usage_and_the_figures(server: ScriptedServer) -> None:
    answer = server.client.post(CHAT, json=HELLO).json()
    assert set(answer) == CHUNK | {"usage", "timings", "speculation"}
    assert (answer["object"], answer["model"], answer["id"][:9]) == ("chat.completion", "tiny", "chatcmpl-")
    message = {"role": "assistant", "content": "Good day", "refusal": None}
    assert answer["choices"] == [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    assert answer["usage"] == {
        "prompt_tokens": 10, "completion_tokens": 9, "total_tokens": 19, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {
            "reasoning_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    }  # fmt: skip
    assert answer["timings"]["draft_n_accepted"] == 6
    assert answer["speculation"]["provenance"] == {
        "target": 0,
        "ngram": 2,
        "draft": 4,
        "recovered": 3,
        "bonus": 0,
        "head": 0,
    }


def test_a_streamed_chat_comes_in_chunks_and_ends_with_done(server: ScriptedServer) -> None:
    chunks, last = stream(server)
    assert last == "[DONE]"
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert all(set(chunk) == CHUNK for chunk in chunks[:-1])
    assert [chunk["choices"][0]["delta"] for chunk in chunks] == [
        {"role": "assistant", "content": ""}, {"content": "Good "}, {"content": "day"}, {},
    ]  # fmt: skip
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, None, "stop"]
    assert set(chunks[-1]) == CHUNK | {"timings", "speculation"}


def test_the_usage_of_a_stream_comes_where_it_is_asked_for(server: ScriptedServer) -> None:
    chunks, last = stream(server, stream_options={"include_usage": True})
    assert last == "[DONE]"
    assert [chunk["usage"] for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["total_tokens"]) == ([], 19)


def test_a_response_that_fails_names_its_own_fields(server: ScriptedServer) -> None:
    refused = server.client.post(RESPONSES, json={"input": "Hello", "previous_response_id": "resp_1"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "previous_response_id")
    assert "kept" in server.client.get(f"{RESPONSES}/resp_1").json()["error"]["message"]
    server.session.num_prompt_tokens = 985
    refused = server.client.post(RESPONSES, json={"input": "Hello"})
    assert refused.json()["error"] | {"message": ""} == {
        "message": "", "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded",
    }  # fmt: skip
    server.session.num_prompt_tokens = 10
    server.session.late_failure = DecodeError("The pass failed.")
    failed = server.client.post(RESPONSES, json={"input": "Hello", "stream": True}).text
    assert "event: response.failed\n" in failed
    assert "The pass failed." in failed


def test_what_a_model_thought_is_beside_what_it_says(server: ScriptedServer) -> None:
    server.session.pieces = ("<think>", "Who asks?", "</think>", "Good day")
    answer = server.client.post(CHAT, json=HELLO).json()
    message = answer["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Good day", "Who asks?")
    assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] == 3
    chunks, _ = stream(server)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[1:] == [{"reasoning_content": "Who asks?"}, {"content": "Good day"}, {}]


def test_the_model_is_listed_without_its_path(server: ScriptedServer) -> None:
    listed = server.client.get("/v1/models").json()
    assert [model["id"] for model in listed["data"]] == ["tiny"]
    assert (listed["data"][0]["meta"]["n_ctx"], listed["data"][0]["draft"]["name"]) == (1000, "tinier")
    assert "gguf" not in json.dumps(listed)


def test_paths_and_methods_that_are_not_there_are_reported_as_json(server: ScriptedServer) -> None:
    assert "/v1/chat/completions" in server.client.get("/v1/answers").json()["error"]["message"]
    response = server.client.post("/v1/embeddings", json=HELLO)
    assert (response.status_code, "makes no embeddings" in response.json()["error"]["message"]) == (404, True)
    response = server.client.get(CHAT)
    assert (response.status_code, response.json()["error"]["type"]) == (405, "invalid_request_error")


def test_programs_that_look_whether_somebody_is_there_find_out(server: ScriptedServer) -> None:
    """Without a key, as clients of Ollama and Anthropic do."""
    nobody = {"Authorization": ""}
    assert server.client.get("/", headers=nobody).text == "Paceline is running"
    assert server.client.head("/", headers=nobody).status_code == 200
    assert server.client.head("/v1/models").status_code == 200
    assert server.client.post("/", json={}).status_code == 405


@pytest.mark.parametrize("path", [f"{CHAT}/", "/v1/v1/chat/completions", "//v1//chat/completions", "/chat/completions"])
def test_a_slash_too_many_and_the_version_twice_are_read(server: ScriptedServer, path: str) -> None:
    assert server.client.post(path, json=HELLO).status_code == 200
    assert server.client.get("/v1/api/tags/").status_code == 200
    assert server.client.post(path, json=HELLO, headers={"Authorization": ""}).status_code == 401


def test_a_temperature_is_bounded_as_the_api_has_it(server: ScriptedServer) -> None:
    for path, body in ((CHAT, HELLO), (TEXT, {"prompt": "a"}), (RESPONSES, {"input": "a"})):
        refused = server.client.post(path, json={**body, "temperature": 3})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "temperature")
        assert server.client.post(path, json={**body, "temperature": 2}).status_code == 200
    for path, body in (("/completion", {"prompt": "a", "temperature": 3}),
                       ("/api/generate", {"prompt": "a", "stream": False, "options": {"temperature": 3}})):  # fmt: skip
        assert server.client.post(path, json=body).status_code == 200
        assert server.session.requests[-1].sampling.temperature == 3


WEATHER = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}


def test_tools_are_told_in_words_where_a_template_takes_none(server: ScriptedServer) -> None:
    """A call is then an answer that consists of a JSON object; the client gets a warning."""
    server.session.pieces = ('{"name": "weather", ', '"arguments": {"city": "Rome"}}')
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Rain?"}]
    asked = {"messages": messages, "tools": [{"type": "function", "function": WEATHER}]}
    answer = server.client.post(CHAT, json=asked).json()
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Rome"}
    assert "as text" in answer["warnings"][0]
    request = server.session.requests[-1]
    assert (request.tools, request.grammar) == ((), "")
    first, second = (message.content for message in request.messages)
    assert first.startswith("Be brief.\n\nYou can call the functions below.")
    assert (json.loads(first.splitlines()[-1]), second) == (WEATHER, "Rain?")


@pytest.mark.parametrize("is_streamed", [True, False])
def test_an_answer_names_what_was_passed_over(server: ScriptedServer, is_streamed: bool) -> None:
    told = server.client.post(CHAT, json={**HELLO, "keep_alive": "5m", "stream": is_streamed}).text
    assert "`keep_alive`" in told
    assert "warnings" not in server.client.post(CHAT, json={**HELLO, "stream": is_streamed}).text


@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize(
    ("failure", "status", "words"),
    [
        (PromptError("The roles must alternate."), 400, "The roles must alternate."),
        (DecodeError("The pass failed.", "Try again."), 500, "The pass failed. Try again."),
        (RuntimeError(SAID), 500, UNEXPECTED),
    ],
)
def test_a_failed_request_has_a_status_and_does_not_end_the_server(
    server: ScriptedServer, failure: Exception, status: int, words: str, is_streamed: bool
) -> None:
    server.session.failure = failure
    response = server.client.post(CHAT, json={**HELLO, "stream": is_streamed})
    has_begun = is_streamed and status == 500  # its prompt was counted
    assert response.status_code == (200 if has_begun else status)
    assert words in (json.loads(events_of(response.text)[-1]) if has_begun else response.json())["error"]["message"]
    assert SAID not in response.text
    server.session.failure = None
    assert server.client.post(CHAT, json=HELLO).status_code == 200


def test_a_failure_within_a_stream_is_an_event_without_an_end_mark(server: ScriptedServer) -> None:
    server.session.late_failure = DecodeError("The pass failed.")
    chunks, last = stream(server)
    assert chunks[-1]["choices"][0]["delta"] == {"content": "day"}
    assert json.loads(last)["error"]["type"] == "server_error"


def test_a_prompt_that_is_too_long_is_refused_before_it_is_read(server: ScriptedServer) -> None:
    server.session.num_prompt_tokens = 985
    for path, body, field in ((CHAT, HELLO, "messages"), (TEXT, {"prompt": "Once"}, "prompt")):
        response = server.client.post(path, json=body)
        assert response.status_code == 400
        assert (response.json()["error"]["code"], response.json()["error"]["param"]) == (
            "context_length_exceeded",
            field,
        )
    assert not server.session.requests


def test_a_conversation_is_known_by_its_beginning(server: ScriptedServer) -> None:
    """The engine keeps the caches of conversations apart by this number."""
    first, again, other = ([{"role": "user", "content": words}] for words in ("Hello", "Hello", "Good evening"))
    more = [{"role": "assistant", "content": "Good day"}, {"role": "user", "content": "And now?"}]
    for messages in ([*first, *more], [*again, *more, *more], [*other, *more]):
        assert server.client.post(CHAT, json={"messages": messages}).status_code == 200
    one, two, three = (request.conversation_id for request in server.session.requests)
    assert one == two != three
    assert max(one, three) < 0, "no chat of the window"


def test_what_was_said_is_in_no_log(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.session.pieces = (SAID,)
    body = {"messages": [{"role": "user", "content": SAID}]}
    assert SAID in server.client.post(CHAT, json=body).text
    assert server.client.post(CHAT, json={**body, "n": 0}).status_code == 400
    server.session.late_failure = DecodeError("The pass failed.")
    assert server.client.post(CHAT, json=body).status_code == 500
    assert not [record for record in caplog.records if SAID in record.getMessage() and record.name != "httpx2"]


# ---- the queue, and clients that leave --------------------------------------------------------------------------


class Client:
    """A client that sends a request and disconnects on command."""

    def __init__(self, server: ScriptedServer, path: str = CHAT, **fields: object) -> None:
        self._server, self._path = server, path
        self._body = json.dumps({**HELLO, **fields}).encode()
        self._gone = threading.Event()
        self.sent: list[Message] = []
        self._thread = threading.Thread(target=lambda: asyncio.run(self._ask()))
        self._thread.start()

    @property
    def body(self) -> bytes:
        """The bytes received so far."""
        return b"".join(message.get("body", b"") for message in self.sent)

    def leave(self) -> None:
        self._gone.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    async def _ask(self) -> None:
        headers = [(b"host", b"127.0.0.1:8080"), (b"authorization", f"Bearer {KEY}".encode())]
        scope = {
            "type": "http", "method": "POST", "path": self._path, "query_string": b"", "headers": headers,
            "asgi": {"version": "3.0", "spec_version": "2.3"},
        }  # fmt: skip
        is_read = False

        async def receive() -> Message:
            nonlocal is_read
            if not is_read:
                is_read = True
                return {"type": "http.request", "body": self._body, "more_body": False}
            while not self._gone.is_set():
                await asyncio.sleep(0.005)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            self.sent.append(message)

        await self._server.app(scope, receive, send)


@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize("has_begun", [True, False])
def test_a_client_that_leaves_stops_its_answer(server: ScriptedServer, is_streamed: bool, has_begun: bool) -> None:
    server.session.gate.clear()
    server.session.pieces = repeat("Good ")
    client = Client(server, stream=is_streamed)
    assert server.session.begun.acquire(timeout=PATIENCE_S)
    if has_begun:
        server.session.gate.set()
        if is_streamed:
            wait_for(lambda: len(client.sent) > 3)
    client.leave()
    assert server.session.ended.acquire(timeout=PATIENCE_S)
    assert server.session.reasons == [FinishReason.CANCELLED]
    server.session.gate.set()
    server.session.pieces = ("Good ", "day")
    assert server.client.post(CHAT, json=HELLO).status_code == 200, "the next one is answered"


def test_a_waiting_request_is_dropped_when_its_client_leaves(server: ScriptedServer) -> None:
    server.session.gate.clear()
    first = Client(server)
    assert server.session.begun.acquire(timeout=PATIENCE_S)
    second = Client(server, seed=2)
    wait_for(lambda: server.scheduler.activity.num_waiting == 1)
    second.leave()
    assert server.scheduler.activity.num_waiting == 0
    server.session.gate.set()
    assert server.session.ended.acquire(timeout=PATIENCE_S)
    first.leave()
    assert [request.sampling.seed for request in server.session.requests] == [None]


def test_a_full_queue_says_when_to_come_again(server: ScriptedServer) -> None:
    server.session.gate.clear()
    clients = [Client(server)]
    assert server.session.begun.acquire(timeout=PATIENCE_S)
    clients += [Client(server) for _ in range(4)]
    wait_for(lambda: server.scheduler.activity.num_waiting == 4)
    response = server.client.post(CHAT, json=HELLO)
    assert (response.status_code, response.json()["error"]["code"]) == (429, "queue_full")
    assert int(response.headers["retry-after"]) >= 1
    server.session.gate.set()
    for client in clients:
        client.leave()


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_server_that_ends_says_so_to_all(server: ScriptedServer, is_streamed: bool) -> None:
    server.session.gate.clear()
    clients = [Client(server, stream=is_streamed)]
    assert server.session.begun.acquire(timeout=PATIENCE_S)
    clients.append(Client(server, stream=is_streamed))
    wait_for(lambda: server.scheduler.activity.num_waiting == 1)
    server.scheduler.close()
    wait_for(lambda: all(client.sent for client in clients))
    wait_for(lambda: b"server_closing" in clients[0].body)
    assert [client.sent[0]["status"] for client in clients] == [200 if is_streamed else 503, 503]
    for client in clients:
        client.leave()
    assert server.client.post(CHAT, json=HELLO).status_code == 503


def test_a_typed_grammar_is_checked_before_the_engine_sees_it(server: ScriptedServer) -> None:
    assert server.client.post(CHAT, json={**HELLO, "grammar": 'root ::= "yes"'}).status_code == 200
    assert server.session.requests[-1].grammar == 'root ::= "yes"'
    for broken in ("root = yes", 'other ::= "yes"', 'root ::= "' + "a" * 1000):
        response = server.client.post(CHAT, json={**HELLO, "grammar": broken})
        error = response.json()["error"]
        assert (response.status_code, error["param"]) == (400, "grammar")
        assert error["message"].endswith(".")
    assert len(server.session.requests) == 1


# ---- streams --------------------------------------------------------------------------------------------------------


ANTHROPIC, RESPONSES, OLLAMA = "/v1/messages", "/v1/responses", "/api/chat"
FIRST = {
    CHAT: b'"role":"assistant"',
    ANTHROPIC: b"event: message_start",
    RESPONSES: b"event: response.in_progress",
    "/completion": b"",
    OLLAMA: b"",
}


def asking_client(server: ScriptedServer, path: str) -> Client:
    more: dict[str, object] = {"max_tokens": 5} if path == ANTHROPIC else {"prompt": "Once"}
    if path == RESPONSES:
        more = {"input": "Hello", "messages": None}
    return Client(server, path, stream=True, **more)


@pytest.mark.parametrize("path", FIRST)
def test_a_stream_begins_before_its_prompt_is_read(
    server: ScriptedServer, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then come keep-alives, which no client takes for a part of the answer."""
    monkeypatch.setattr(application, "KEEP_ALIVE_S", 0.005)
    server.session.gate.clear()
    asking = asking_client(server, path)
    wait_for(lambda: asking.sent and FIRST[path] in asking.body)
    assert asking.sent[0]["status"] == 200
    wait_for(lambda: len(asking.sent) > 4)
    body = asking.body
    assert b"Good" not in body
    if path == ANTHROPIC:
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
    monkeypatch.setattr(application, "EARLY_FAILURE_S", 0.01)
    server.session.gate.clear()
    first = asking_client(server, CHAT)
    assert server.session.begun.acquire(timeout=PATIENCE_S)
    waiting = asking_client(server, ANTHROPIC)
    wait_for(lambda: len(waiting.sent) > 1)
    assert (waiting.sent[0]["status"], waiting.body) == (200, b":\n\n")
    server.session.gate.set()
    wait_for(lambda: b"message_stop" in waiting.body)
    assert waiting.body.startswith(b":\n\nevent: message_start\n")
    for one in (first, waiting):
        one.leave()
