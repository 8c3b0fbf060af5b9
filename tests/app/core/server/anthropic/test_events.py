"""Tests answers of Anthropic's Messages API, complete and as events."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from app.core.server.anthropic.events import MessageBuilder
from app.core.server.errors import ApiError, body_of
from app.core.server.protocol import CompletionRequest
from engine.records import ChatRequest, Finished, FinishReason, Source, TextChunk, TokenSpan
from tests.app.core.server.scripted_session import STATS

CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
END = Finished(0, FinishReason.END, STATS)
PIECES = ("Hm", "m.</think>", "Let me", " see.", CALL[:40], CALL[40:])


def builder(*, stream: bool, stop: tuple[str, ...] = ()) -> MessageBuilder:
    names = frozenset({"weather"})
    return MessageBuilder("tiny", CompletionRequest(ChatRequest(stop=stop), chat=True, stream=stream, tool_names=names))


def chunk(text: str) -> TextChunk:
    return TextChunk(0, text, (TokenSpan(len(text), Source.TARGET),), (), "<think>\n")


def events_of(raw: list[bytes]) -> list[dict[str, Any]]:
    found = []
    for event in raw:
        kind, data, *rest = event.decode().split("\n")
        assert rest == ["", ""]
        told = json.loads(data.removeprefix("data: "))
        assert kind == f"event: {told['type']}"
        found.append(told)
    return found


def streamed(*pieces: str, end: Finished = END) -> list[dict[str, Any]]:
    making = builder(stream=True)
    raw = making.first_chunks(10)
    for piece in pieces:
        raw += making.text_chunks(chunk(piece))
    return events_of([*raw, *making.last_chunks(end)])


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
    assert events_of(making.last_chunks(cut))[-2]["delta"]["stop_reason"] == "max_tokens"


def test_an_answer_of_nothing_is_a_message_without_blocks() -> None:
    assert [event["type"] for event in streamed()] == ["message_start", "ping", "message_delta", "message_stop"]


def test_failures_are_in_the_words_of_the_api_that_was_asked() -> None:
    error = ApiError(401, "The key is missing.", code="invalid_api_key")
    told = {"type": "error", "error": {"type": "authentication_error", "message": "The key is missing."}}
    assert body_of(error, "/v1/messages") == body_of(error, "/messages/count_tokens") == told
    assert body_of(error, "/v1/chat/completions") == error.body
    no_threads = ApiError(400, "None.", param="thread", code="thread_unsupported_request")
    details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    assert body_of(no_threads, "/v1/messages")["error"]["details"] == details  # type: ignore[index]
    (failed,) = events_of(builder(stream=True).failed_chunks(ApiError(503, "Closing.")))
    assert failed["error"]["type"] == "overloaded_error"
