"""Tests responses as items and events: a stream contains what the complete response contains."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.core.server.errors import ApiError
from app.core.server.protocol import CompletionRequest
from app.core.server.response_events import ItemBuilder
from app.core.server.response_request import ResponseRequest
from engine.records import ChatRequest, Finished, FinishReason, Source, TextChunk, TokenLogprob, TokenSpan
from tests.app.core.server.scripted_session import STATS

CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
END = Finished(0, FinishReason.END, STATS)


def builder(*, top_logprobs: int | None = None) -> ItemBuilder:
    request = ChatRequest(top_logprobs=top_logprobs)
    asked = CompletionRequest(request, chat=True, tool_names=frozenset({"weather"}))
    return ItemBuilder("tiny", ResponseRequest(asked, {"temperature": 0.5}))


def chunk(text: str, *logprobs: TokenLogprob) -> TextChunk:
    return TextChunk(0, text, (TokenSpan(len(text), Source.TARGET),), logprobs, "<think>\n")


def events_of(raw: list[bytes]) -> list[dict[str, Any]]:
    found = []
    for event in raw:
        kind, data, *rest = event.decode().split("\n")
        assert rest == ["", ""]
        told = json.loads(data.removeprefix("data: "))
        assert kind == f"event: {told['type']}"
        found.append(told)
    return found


def streamed(*texts: str, finished: Finished = END) -> list[dict[str, Any]]:
    made = builder()
    raw = made.first_chunks()
    for text in texts:
        raw += made.text_chunks(chunk(text))
    found = events_of([*raw, *made.last_chunks(finished)])
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    return found


def test_reasoning_text_and_a_call_are_items_in_their_order() -> None:
    found = streamed("Hm", "m.</think>", "Let me", " see.", CALL)
    assert [event["type"].removeprefix("response.") for event in found] == [
        "created", "in_progress",
        "output_item.added", "content_part.added", "reasoning_text.delta", "reasoning_text.delta",
        "reasoning_text.done", "content_part.done", "output_item.done",
        "output_item.added", "content_part.added", "output_text.delta", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done",
        "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
        "completed",
    ]  # fmt: skip
    assert [event["item"]["status"] for event in found if event["type"].endswith("item.added")] == ["in_progress"] * 3
    done = [event["item"] for event in found if event["type"].endswith("item.done")]
    response = found[-1]["response"]
    assert response["output"] == done
    assert [item["type"] for item in done] == ["reasoning", "message", "function_call"]
    assert [event["output_index"] for event in found if event["type"].endswith("item.done")] == [0, 1, 2]
    assert done[0]["content"] == [{"type": "reasoning_text", "text": "Hmm."}]
    assert done[1]["content"][0]["text"] == "Let me see."
    assert json.loads(done[2]["arguments"]) == {"city": "Rome"}
    assert (response["status"], response["store"], response["temperature"]) == ("completed", False, 0.5)
    assert response["usage"]["input_tokens_details"]["cached_tokens"] == STATS.prompt_cached_tokens
    assert response["usage"]["output_tokens_details"]["reasoning_tokens"] == 2
    assert response["timings"]["draft_n"] == STATS.proposed


def test_a_whole_response_is_what_the_stream_ends_with() -> None:
    texts = ("Hmm.</think>", "Good", " day.")
    whole = builder().whole([chunk(text) for text in texts], END)
    last = streamed(*texts)[-1]["response"]

    def without_ids(response: dict[str, Any]) -> dict[str, Any]:
        items = [{**item, "id": ""} for item in response["output"]]
        return {**response, "id": "", "created_at": 0, "output": items}

    assert without_ids(whole) == without_ids(last)


@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTEXT])
def test_what_its_length_cut_is_incomplete(reason: FinishReason) -> None:
    found = streamed("Hm", finished=Finished(0, reason, STATS))
    response = found[-1]["response"]
    assert (found[-1]["type"], response["status"]) == ("response.incomplete", "incomplete")
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["output"][-1]["status"] == "incomplete"


def test_an_empty_answer_is_an_empty_message() -> None:
    (item,) = streamed()[-1]["response"]["output"]
    assert (item["type"], item["content"][0]["text"]) == ("message", "")


def test_the_probabilities_are_with_their_text() -> None:
    made = builder(top_logprobs=0)
    made.text_chunks(chunk("</think>"))
    tokens = [TokenLogprob(number, piece, -0.5) for number, piece in enumerate((b"Good", b" day"))]
    raw = [event for token in tokens for event in made.text_chunks(chunk(token.piece.decode(), token))]
    deltas = [event for event in events_of(raw) if event["type"] == "response.output_text.delta"]
    assert [one["token"] for event in deltas for one in event["logprobs"]] == ["Good", " day"]
    (item,) = events_of(made.last_chunks(END))[-1]["response"]["output"]
    assert [one["logprob"] for one in item["content"][0]["logprobs"]] == [-0.5, -0.5]


def test_a_failure_in_the_middle_is_reported_as_an_event() -> None:
    made = builder()
    made.text_chunks(chunk("Hm"))
    failed, error = events_of(made.failed_chunks(ApiError(500, "The pass failed.")))
    assert (failed["type"], failed["response"]["status"]) == ("response.failed", "failed")
    assert failed["response"]["error"]["message"] == error["message"] == "The pass failed."
