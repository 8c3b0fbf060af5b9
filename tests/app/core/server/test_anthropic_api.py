"""Tests Anthropic's Messages API: requests become chats; answers are messages of blocks, or events."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.server.anthropic_api import MessageBuilder, parse_messages_request
from app.core.server.errors import ApiError, error_body
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from engine.records import (
    ChatRequest,
    EngineReady,
    Finished,
    FinishReason,
    Message,
    Source,
    TextChunk,
    ThinkingOption,
    TokenSpan,
    ToolCall,
    ToolFormat,
)
from tests.app.core.server.scripted_session import STATS, info, named_events, served

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
    passed = made(with_tools(), tools=[WEATHER, {"type": "web_search_20250305", "name": "web_search"}])
    assert passed.tool_names == {"weather"}
    assert "web_search_20250305 run at Anthropic" in passed.warnings[0]


def test_thinking_is_what_the_model_can() -> None:
    thinks = with_tools("on", "off")
    assert made(thinks, thinking={"type": "disabled"}).request.thinking == "off"
    assert made(thinks, thinking={"type": "enabled", "budget_tokens": 2000}).request.thinking == ""
    assert made(thinks, output_config={"effort": "max"}).request.thinking == "on"
    assert made(thinking={"type": "disabled"}).request.thinking == ""
    assert "always thinks" in made(with_tools("low", "high"), thinking={"type": "disabled"}).warnings[0]


def test_the_form_of_an_answer_may_be_a_schema() -> None:
    form = {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert "city" in made(output_config=form).request.grammar


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "messages[0].content[0].tool_use_id"),
        ({"tools": [{}]}, "tools[0].name"),
        ({"tool_choice": {"type": "some"}}, "tool_choice.type"),
        ({"thinking": {"type": "deep"}}, "thinking.type"),
        ({"n": 2}, "n"),
        ({"mcp_servers": [{}]}, "mcp_servers"),
        ({"thread": {"type": "create"}}, "thread"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field(fields: dict[str, object], param: str) -> None:
    assert refused(**fields).param == param


CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
END = Finished(0, FinishReason.END, STATS)
PIECES = ("Hm", "m.</think>", "Let me", " see.", CALL[:40], CALL[40:])


def builder(*, stream: bool, stop: tuple[str, ...] = ()) -> MessageBuilder:
    names = frozenset({"weather"})
    return MessageBuilder("tiny", CompletionRequest(ChatRequest(stop=stop), chat=True, stream=stream, tool_names=names))


def chunk(text: str) -> TextChunk:
    return TextChunk(0, text, (TokenSpan(len(text), Source.TARGET),), (), "<think>\n")


def streamed(*pieces: str, end: Finished = END) -> list[dict[str, Any]]:
    making = builder(stream=True)
    raw = making.first_chunks(10)
    for piece in pieces:
        raw += making.text_chunks(chunk(piece))
    return named_events([*raw, *making.last_chunks(end)])


def test_a_whole_message_has_blocks_and_usage() -> None:
    message = builder(stream=False).whole([chunk(piece) for piece in PIECES], END)
    call = message["content"][2]  # type: ignore[index]
    assert message["content"] == [
        {"type": "thinking", "thinking": "Hmm.", "signature": ""},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": call["id"], "name": "weather", "input": {"city": "Rome"}},
    ]
    assert (message["type"], message["role"], message["model"]) == ("message", "assistant", "tiny")
    assert (message["stop_reason"], message["stop_sequence"]) == ("tool_use", None)
    assert message["usage"] == {
        "input_tokens": 6, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4, "output_tokens": 9,
    }  # fmt: skip


def test_a_stream_gives_the_same_blocks_one_by_one() -> None:
    found = streamed(*PIECES)
    blocks: list[dict[str, Any]] = []
    for event in found:
        if event["type"] == "content_block_start":
            assert event["index"] == len(blocks)
            blocks.append(event["content_block"] | {"parts": ""})
        elif event["type"] == "content_block_delta":
            assert event["index"] == len(blocks) - 1
            (text,) = [value for name, value in event["delta"].items() if name != "type"]
            blocks[-1]["parts"] += text
    assert [(block["type"], block["parts"]) for block in blocks] == [
        ("thinking", "Hmm."), ("text", "Let me see."), ("tool_use", '{"city": "Rome"}'),
    ]  # fmt: skip
    assert [event["type"] for event in found[:3]] == ["message_start", "ping", "content_block_start"]
    assert found[0]["message"]["usage"]["input_tokens"] == 10
    assert [event["type"] for event in found[-3:]] == ["content_block_stop", "message_delta", "message_stop"]
    assert found[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert found[-2]["usage"]["output_tokens"] == 9
    num = {
        kind: sum(event["type"] == kind for event in found) for kind in ("content_block_start", "content_block_stop")
    }
    assert num == {"content_block_start": 3, "content_block_stop": 3}


@pytest.mark.parametrize(
    ("reason", "stop", "told"),
    [
        (FinishReason.END, (), ("end_turn", None)),
        (FinishReason.LENGTH, (), ("max_tokens", None)),
        (FinishReason.CONTEXT, (), ("max_tokens", None)),
        (FinishReason.STOP, (".",), ("stop_sequence", ".")),
        (FinishReason.STOP, (".", "!"), ("stop_sequence", "!")),
    ],
)
def test_why_a_message_ended(reason: FinishReason, stop: tuple[str, ...], told: tuple[str, str | None]) -> None:
    making = builder(stream=False, stop=stop)
    message = making.whole(
        [replace(chunk("Hi"), reasoning_start_tag="")], Finished(0, reason, STATS, stop=(*stop, "")[len(stop) - 1])
    )
    assert (message["stop_reason"], message["stop_sequence"]) == told


def test_a_call_that_a_stream_cut_has_no_input() -> None:
    making = builder(stream=True)
    for piece in ("</think>", CALL[:60]):
        making.text_chunks(chunk(piece))
    cut = Finished(0, FinishReason.LENGTH, STATS)
    assert named_events(making.last_chunks(cut))[-2]["delta"]["stop_reason"] == "max_tokens"


def test_an_answer_of_nothing_is_a_message_without_blocks() -> None:
    assert [event["type"] for event in streamed()] == ["message_start", "ping", "message_delta", "message_stop"]


def test_failures_are_in_the_words_of_the_api_that_was_asked() -> None:
    error = ApiError(401, "The key is missing.", code="invalid_api_key")
    told = {"type": "error", "error": {"type": "authentication_error", "message": "The key is missing."}}
    assert error_body(error, "/v1/messages") == error_body(error, "/messages/count_tokens") == told
    assert error_body(error, "/v1/chat/completions") == error.body
    no_threads = ApiError(400, "None.", param="thread", code="thread_unsupported_request")
    details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    assert error_body(no_threads, "/v1/messages")["error"]["details"] == details  # type: ignore[index]
    (failed,) = named_events(builder(stream=True).failed_chunks(ApiError(503, "Closing.")))
    assert failed["error"]["type"] == "overloaded_error"
