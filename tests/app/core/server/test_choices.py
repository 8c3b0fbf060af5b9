"""Tests several answers to one request: for one prompt, and for several."""

import json
from typing import Any

import pytest

from tests.app.core.server.scripted_session import CHAT, HELLO, ScriptedServer

TEXT = "/v1/completions"


def answer(server: ScriptedServer, path: str = TEXT, **fields: object) -> dict[str, Any]:
    response = server.client.post(path, json={**(HELLO if path == CHAT else {}), **fields})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_each_answer_is_a_choice_and_a_prompt_counts_once(server: ScriptedServer) -> None:
    found = answer(server, CHAT, n=3, seed=7)
    assert [(one["index"], one["message"]["content"]) for one in found["choices"]] == [
        (0, "Good day"), (1, "Good day"), (2, "Good day"),
    ]  # fmt: skip
    assert (found["usage"]["prompt_tokens"], found["usage"]["completion_tokens"]) == (10, 27)
    assert found["usage"]["total_tokens"] == 37
    assert all(one["timings"]["predicted_n"] == 9 for one in found["choices"])
    assert [request.sampling.seed for request in server.session.requests] == [7, 8, 9]


def test_a_stream_has_the_answers_one_after_the_other(server: ScriptedServer) -> None:
    body = {**HELLO, "n": 2, "stream": True, "stream_options": {"include_usage": True}}
    *events, done = server.client.post(CHAT, json=body).text.removesuffix("\n\n").split("\n\n")
    assert done == "data: [DONE]"
    *chunks, last = [json.loads(event.removeprefix("data: ")) for event in events]
    assert len({chunk["id"] for chunk in chunks}) == 1
    choices = [chunk["choices"][0] for chunk in chunks]
    assert [one["index"] for one in choices] == sorted(one["index"] for one in choices)
    for index in range(2):
        own = [one for one in choices if one["index"] == index]
        assert own[0]["delta"] == {"role": "assistant", "content": ""}
        assert "".join(one["delta"].get("content", "") for one in own) == "Good day"
        assert [one["finish_reason"] for one in own if one["finish_reason"]] == ["stop"]
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 18)


def test_several_prompts_are_texts_and_tokens(server: ScriptedServer) -> None:
    found = answer(server, prompt=["One", [5, 6], "Three"], n=2)
    assert [one["index"] for one in found["choices"]] == list(range(6))
    assert found["usage"]["prompt_tokens"] == 30
    asked = [(request.raw_prompt, request.raw_ids) for request in server.session.requests]
    assert asked == [("One", ())] * 2 + [("", (5, 6))] * 2 + [("Three", ())] * 2


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt": ["a"] * 129}, "prompt"),
        ({"prompt": ["a"] * 65, "n": 2}, "prompt"),
        ({"prompt": [[1, 100]]}, "prompt[0]"),
        ({"prompt": [1, 2], "echo": True}, "echo"),
        ({"prompt": [1, 2], "suffix": "b"}, "suffix"),
    ],
)
def test_what_asks_for_too_much_is_refused(server: ScriptedServer, fields: dict[str, object], param: str) -> None:
    response = server.client.post(TEXT, json=fields)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert not server.session.requests


def test_a_failure_ends_the_rest(server: ScriptedServer) -> None:
    server.session.failure = RuntimeError("broken")
    assert server.client.post(CHAT, json={**HELLO, "n": 3}).status_code == 500
    assert len(server.session.requests) == 1
    server.session.failure = None
    assert answer(server, CHAT)["choices"]
