"""Tests Ollama's API: requests become chats, answers are objects or lines."""

import json
from dataclasses import replace
from typing import Any

import pytest

from app.core.server.errors import ApiError
from app.core.server.ollama_api import LineBuilder, parse_ollama_request
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from engine.records import ChatRequest, Finished, FinishReason, TextChunk, ToolFormat
from tests.app.core.server.scripted_session import HELLO, STATS, ScriptedServer, served

QUESTION = {"role": "user", "content": "Hello"}


def with_tools() -> ServedModel:
    model = served()
    target = replace(model.ready.target, tool_format=ToolFormat.HERMES)
    return replace(model, ready=replace(model.ready, target=target))


def chat(**fields: object) -> ChatRequest:
    return parse_ollama_request({"messages": [QUESTION], **fields}, with_tools(), chat=True).request


def test_options_are_those_of_a_chat() -> None:
    options = {"temperature": 0.5, "top_k": 7, "num_predict": 9, "seed": 3, "stop": ["."], "repeat_penalty": 1.2}
    same = {**options, "max_tokens": 9, "messages": [QUESTION]}
    del same["num_predict"]
    assert chat(options=options) == parse_request(same, with_tools(), chat=True).request
    assert chat(options={"num_predict": -2}).max_tokens is None


def test_a_format_is_a_grammar() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    form = {"type": "json_schema", "json_schema": {"schema": schema}}
    body = {"messages": [QUESTION], "response_format": form}
    assert chat(format=schema).grammar == parse_request(body, with_tools(), chat=True).request.grammar != ""
    assert chat(format="json").grammar != ""
    assert chat(format="").grammar == ""


def test_results_answer_the_calls_before_them() -> None:
    calls = [{"function": {"name": name, "arguments": {"city": name}}} for name in ("rain", "sun")]
    messages = chat(
        messages=[
            QUESTION,
            {"role": "assistant", "thinking": "Well.", "tool_calls": calls},
            {"role": "tool", "content": "hot", "tool_name": "sun"},
            {"role": "tool", "content": "wet"},
        ]
    ).messages
    ids = {call.name: call.call_id for call in messages[1].tool_calls}
    assert messages[1].tool_calls[0].arguments == '{"city": "rain"}'
    assert [(m.name, m.tool_call_id) for m in messages[2:]] == [("sun", ids["sun"]), ("rain", ids["rain"])]


def test_a_prompt_is_a_chat_unless_it_is_raw_or_has_a_gap() -> None:
    def made(**fields: object) -> ChatRequest:
        target = replace(served().ready.target, supports_infill=True)
        model = replace(served(), ready=replace(served().ready, target=target))
        return parse_ollama_request({"prompt": "Once", **fields}, model, chat=False).request

    assert [(m.role, m.content) for m in made(system="Be brief.").messages] == [
        ("system", "Be brief."),
        ("user", "Once"),
    ]
    assert (made(raw=True).raw_prompt, made(raw=True).messages) == ("Once", ())
    for name in ("template", "context"):
        with pytest.raises(ApiError, match=name):
            made(**{name: ["x"]})
    assert (made(suffix="end").raw_prompt, made(suffix="end").suffix) == ("Once", "end")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [{**QUESTION, "images": "aGk="}]}, "images"),
        ({"options": {"num_predict": "many"}}, "options.num_predict"),
        ({"options": {"temperature": -1}}, "temperature"),
        ({"format": "yaml"}, "format"),
        ({"think": 5}, "think"),
        ({"n": 2}, "n"),
    ],
)
def test_what_cannot_be_read_is_refused(fields: dict[str, object], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        chat(**fields)
    assert (caught.value.status, caught.value.param) == (400, param)


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
