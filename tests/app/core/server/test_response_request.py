"""Tests requests of the Responses API: the same chat in its format, rejected with its field names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.server.errors import ApiError
from app.core.server.protocol import ServedModel, parse_request
from app.core.server.response_request import ResponseRequest, parse_response_request
from engine.grammar.json_schema import grammar_of
from engine.records import ChatRequest, EngineReady, Message, ToolCall, ToolFormat
from tests.app.core.server.scripted_session import info, served

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": False,
}


def made(model: ServedModel | None = None, /, **fields: object) -> ResponseRequest:
    return parse_response_request({"input": "Hello", **fields}, model or served())


def asked(model: ServedModel | None = None, /, **fields: object) -> ChatRequest:
    return made(model, **fields).asked.request


def with_tools() -> ServedModel:
    return ServedModel("tiny", EngineReady(replace(info("tiny"), tool_format=ToolFormat.HERMES)), ChatRequest())


def test_a_response_is_asked_for_as_a_chat_is() -> None:
    fields = {"temperature": 0.3, "top_p": 0.5, "stream": True, "speculation": {"mode": "off"}, "stop": ["."]}
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    same = parse_request({"messages": messages, "max_tokens": 9, **fields}, served(), chat=True)
    assert made(instructions="Be brief.", max_output_tokens=9, **fields).asked == same


def test_items_become_messages() -> None:
    items = [
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": []},
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
         "content": [{"type": "output_text", "text": "Let me see.", "annotations": [], "logprobs": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather", "arguments": '{"city": "Rome"}'},
        {"type": "function_call", "call_id": "c2", "name": "weather", "arguments": '{"city": "Oslo"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "rain"}]},
    ]  # fmt: skip
    assert asked(input=items, instructions="You code.").messages == (
        Message("system", "You code.\n\nBe brief."),
        Message("user", "Weather?"),
        Message(
            "assistant",
            "Let me see.",
            tool_calls=(ToolCall("c1", "weather", '{"city": "Rome"}'), ToolCall("c2", "weather", '{"city": "Oslo"}')),
        ),
        Message("tool", "sunny", tool_call_id="c1", name="weather"),
        Message("tool", "rain", tool_call_id="c2", name="weather"),
    )


def test_the_form_the_tools_and_the_probabilities_are_followed() -> None:
    form = {"type": "json_schema", "name": "thing", "strict": True, "schema": SCHEMA}
    found = made(text={"format": form, "verbosity": "medium"})
    assert found.asked.request.grammar == grammar_of(SCHEMA).text
    assert found.reported["text"] == {"format": form}
    found = made(
        with_tools(), tools=[WEATHER, {"type": "web_search"}], tool_choice={"type": "function", "name": "weather"}
    )
    (tool,) = found.asked.request.tools
    assert tool["function"] == {name: WEATHER[name] for name in ("name", "description", "parameters")}
    assert "tool_call" in found.asked.request.grammar
    assert found.reported["tools"] == [WEATHER], "the model was told of this one alone"
    assert asked(include=["message.output_text.logprobs"]).top_logprobs == 0
    assert asked(top_logprobs=3).top_logprobs == 3


def test_what_changes_nothing_is_taken() -> None:
    fields = {
        "store": True, "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "truncation": "disabled",
        "reasoning": {"effort": None, "summary": "auto"}, "client_metadata": {"a": "b"}, "previous_response_id": None,
        "parallel_tool_calls": True, "background": False, "stream_options": {"include_obfuscation": False},
    }  # fmt: skip
    assert asked(**fields) == asked()


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": 5}, "input"),
        ({"input": ["Hello"]}, "input[0]"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": None}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content[0].type"),
        ({"input": [{"role": "user", "content": "a", "colour": "red"}]}, "input[0].colour"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0].type"),
        ({"input": [{"type": "function_call", "call_id": "c", "name": "f"}]}, "input[0].arguments"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"truncation": "half"}, "truncation"),
        ({"background": True}, "background"),
        ({"max_output_tokens": -2}, "max_output_tokens"),
        ({"n": 2}, "n"),
        ({"max_tokens": 5}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format.schema"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
        ({"text": {"verbosity": "low"}}, "text.verbosity"),
        ({"reasoning": {"effort": "high"}}, "reasoning.effort"),
        ({"tools": [WEATHER]}, "tools"),  # this model's template has no tools
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": ["weather"]}, "tools[0]"),
        ({"tools": "weather"}, "tools"),
        ({"include": "reasoning"}, "include"),
        ({"input": [{"role": "user", "content": ["a"]}]}, "input[0].content[0]"),
        ({"temperature": -1}, "temperature"),
        ({"frobnicate": 1}, "frobnicate"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field(fields: dict[str, object], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        made(**fields)
    assert (caught.value.status, caught.value.param) == (400, param)
