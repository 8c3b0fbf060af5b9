"""Tests requests of Anthropic's Messages API: the same chat in its format, rejected with its field names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.core.server.anthropic.request import parse_messages_request
from app.core.server.errors import ApiError
from app.core.server.fields import lenient
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from engine.records import ChatRequest, EngineReady, Message, ThinkingOption, ToolCall, ToolFormat
from tests.app.core.server.scripted_session import info, served

HELLO: list[dict[str, Any]] = [{"role": "user", "content": "Hello"}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "weather", "description": "The weather.", "input_schema": SCHEMA, "cache_control": {"type": "x"}}
FUNCTION = {"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": SCHEMA}}


def made(model: ServedModel | None = None, /, **fields: object) -> CompletionRequest:
    return parse_messages_request({"max_tokens": 9, "messages": HELLO, **fields}, model or served())


def refused(model: ServedModel | None = None, /, **fields: object) -> ApiError:
    with pytest.raises(ApiError) as caught:
        made(model, **fields)
    assert caught.value.status == 400
    return caught.value


def with_tools(*thinking: str) -> ServedModel:
    target = replace(info("tiny"), tool_format=ToolFormat.HERMES, thinking=tuple(map(ThinkingOption, thinking)))
    return ServedModel("tiny", EngineReady(target), ChatRequest())


def test_a_message_is_asked_for_as_a_chat_is() -> None:
    same = {"temperature": 0.3, "top_p": 0.5, "top_k": 3, "stream": True, "max_tokens": 9}
    chat = [{"role": "system", "content": "Be brief.\n\nRhyme."}, *HELLO]
    system = [
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Rhyme."},
    ]
    asked = made(system=system, stop_sequences=["."], metadata={"user_id": "a"}, service_tier="auto", **same)
    assert asked == parse_request({"messages": chat, "stop": ["."], **same}, served(), chat=True)


def test_blocks_become_messages() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Weather"}, {"type": "text", "text": "in Rome?"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Röm"}},
            {"type": "tool_use", "id": "c2", "name": "weather", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "sunny"},
            {"type": "tool_result", "tool_use_id": "c2", "is_error": True,
             "content": [{"type": "text", "text": "gone"}]},
            {"type": "text", "text": "Well?"},
        ]},
        {"role": "assistant", "content": "It is"},
    ]  # fmt: skip
    assert made(messages=messages).request.messages == (
        Message("user", "Weather\n\nin Rome?"),
        Message(
            "assistant",
            "Let me see.",
            tool_calls=(ToolCall("c1", "weather", '{"city": "Röm"}'), ToolCall("c2", "weather", "{}")),
        ),
        Message("tool", "sunny", tool_call_id="c1", name="weather"),
        Message("tool", "gone", tool_call_id="c2", name="weather"),
        Message("user", "Well?"),
        Message("assistant", "It is"),
    )


def test_tools_and_their_choice() -> None:
    asked = made(with_tools(), tools=[WEATHER])
    assert (asked.request.tools, asked.tool_names, asked.request.grammar) == ((FUNCTION,), {"weather"}, "")
    assert made(with_tools(), tools=[WEATHER], tool_choice={"type": "none"}).request.tools == ()
    some = made(with_tools(), tools=[WEATHER], tool_choice={"type": "any"}).request.grammar
    one = made(with_tools(), tools=[WEATHER], tool_choice={"type": "any", "disable_parallel_tool_use": True})
    named = made(with_tools(), tools=[WEATHER], tool_choice={"type": "tool", "name": "weather"})
    assert one.request.grammar == named.request.grammar != some
    with lenient():
        passed = made(with_tools(), tools=[WEATHER, {"type": "web_search_20250305", "name": "web_search"}])
    assert passed.tool_names == {"weather"}
    assert "web_search_20250305 run at Anthropic" in passed.warnings[0]


def test_thinking_is_what_the_model_can() -> None:
    thinks = with_tools("on", "off")
    assert made(thinks, thinking={"type": "disabled"}).request.thinking == "off"
    assert made(thinks, thinking={"type": "enabled", "budget_tokens": 2000}).request.thinking == ""
    assert made(thinks, output_config={"effort": "max"}).request.thinking == "on"
    assert made(thinking={"type": "disabled"}).request.thinking == ""
    with lenient():
        assert "always thinks" in made(with_tools("low", "high"), thinking={"type": "disabled"}).warnings[0]


def test_the_form_of_an_answer_may_be_a_schema() -> None:
    form = {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert "city" in made(output_config=form).request.grammar


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": None}, "messages"),
        ({"messages": "Hello"}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": ["Hello"]}, "messages[0]"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "messages[0].content[0].tool_use_id"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_use"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": "x", "colour": 1}]}, "messages[0].colour"),
        ({"system": 5}, "system"),
        ({"tools": [{"name": "f"}]}, "tools"),
        ({"tools": [{}]}, "tools[0].name"),
        ({"tools": "f"}, "tools"),
        ({"tool_choice": {"type": "some"}}, "tool_choice.type"),
        ({"thinking": {"type": "deep"}}, "thinking.type"),
        ({"stop_sequences": [5]}, "stop_sequences"),
        ({"stop": "."}, "stop"),
        ({"temperature": -1}, "temperature"),
        ({"mcp_servers": [{}]}, "mcp_servers"),
        ({"thread": {"type": "create"}}, "thread"),
        ({"frobnicate": 1}, "frobnicate"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field(fields: dict[str, object], param: str) -> None:
    assert refused(**fields).param == param
