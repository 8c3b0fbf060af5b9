"""Tests chat requests of Ollama's API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.server.errors import ApiError
from app.core.server.ollama.request import name_of, parse_ollama_request
from app.core.server.protocol import ServedModel, parse_request
from engine.records import ChatRequest, ToolFormat
from tests.app.core.server.scripted_session import served

QUESTION = {"role": "user", "content": "Hello"}


def with_tools() -> ServedModel:
    model = served()
    target = replace(model.ready.target, tool_format=ToolFormat.HERMES)
    return replace(model, ready=replace(model.ready, target=target))


def chat(**fields: object) -> ChatRequest:
    return parse_ollama_request({"messages": [QUESTION], **fields}, with_tools(), chat=True).request


def test_names_lose_the_usual_tag() -> None:
    assert [name_of({"model": name}) for name in ("tiny:latest", "tiny", "tiny:8b")] == ["tiny", "tiny", "tiny:8b"]
    assert name_of({"name": "tiny:latest"}) == "tiny"
    assert name_of({}) is None


def test_options_are_those_of_a_chat() -> None:
    options = {"temperature": 0.5, "top_k": 7, "num_predict": 9, "seed": 3, "stop": ["."], "repeat_penalty": 1.2}
    same = {**options, "max_tokens": 9, "messages": [QUESTION]}
    del same["num_predict"]
    assert chat(options=options) == parse_request(same, with_tools(), chat=True).request
    assert chat(options={"num_predict": -2}).max_tokens is None


def test_an_answer_streams_unless_that_is_declined() -> None:
    assert parse_ollama_request({"messages": [QUESTION]}, served(), chat=True).stream
    assert not parse_ollama_request({"messages": [QUESTION], "stream": False}, served(), chat=True).stream


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
    assert (made(suffix="end").raw_prompt, made(suffix="end").suffix) == ("Once", "end")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [{**QUESTION, "images": ["aGk="]}]}, "messages[0].content[0].type"),
        ({"messages": [{**QUESTION, "images": "aGk="}]}, "images"),
        ({"messages": "Hello"}, "messages"),
        ({"messages": [5]}, "messages[0]"),
        ({"options": 5}, "options"),
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


@pytest.mark.parametrize("name", ["template", "context"])
def test_what_a_prompt_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_ollama_request({"prompt": "Once", name: ["x"]}, served(), chat=False)
    assert caught.value.param == name
