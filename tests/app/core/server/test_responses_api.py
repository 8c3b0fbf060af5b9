"""Tests the Responses API: requests become chats; a stream contains what the complete response contains."""

import json
from dataclasses import replace
from typing import Any

import pytest

from app.core.server.errors import ApiError
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from app.core.server.responses_api import ItemBuilder, parse_response_request
from engine.grammar.json_schema import schema_grammar
from engine.records import (
    ChatRequest,
    EngineReady,
    Finished,
    FinishReason,
    Message,
    Source,
    TextChunk,
    TokenSpan,
    ToolCall,
    ToolFormat,
)
from tests.app.core.server.scripted_session import STATS, info, named_events, served

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": False,
}


def made(model: ServedModel | None = None, /, **fields: object) -> CompletionRequest:
    return parse_response_request({"input": "Hello", **fields}, model or served())


def asked(model: ServedModel | None = None, /, **fields: object) -> ChatRequest:
    return made(model, **fields).request


def with_tools() -> ServedModel:
    return ServedModel("tiny", EngineReady(replace(info("tiny"), tool_format=ToolFormat.HERMES)), ChatRequest())


def test_a_response_is_asked_for_as_a_chat_is() -> None:
    fields = {"temperature": 0.3, "top_p": 0.5, "stream": True, "speculation": {"mode": "off"}, "stop": ["."]}
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    same = parse_request({"messages": messages, "max_tokens": 9, **fields}, served(), chat=True)
    asked = made(instructions="Be brief.", max_output_tokens=9, **fields)
    assert replace(asked, extras={}) == same


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
    assert found.request.grammar == schema_grammar(SCHEMA).text
    assert found.extras["text"] == {"format": form}
    found = made(
        with_tools(), tools=[WEATHER, {"type": "web_search"}], tool_choice={"type": "function", "name": "weather"}
    )
    (tool,) = found.request.tools
    assert tool["function"] == {name: WEATHER[name] for name in ("name", "description", "parameters")}
    assert "tool_call" in found.request.grammar
    assert found.extras["tools"] == [WEATHER], "the model was told of this one alone"


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
        ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": None}]}, "input[0].content"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"truncation": "half"}, "truncation"),
        ({"background": True}, "background"),
        ({"max_output_tokens": -2}, "max_output_tokens"),
        ({"n": 2}, "n"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format.schema"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
        ({"reasoning": {"effort": "frantic"}}, "reasoning.effort"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field(fields: dict[str, object], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        made(**fields)
    assert (caught.value.status, caught.value.param) == (400, param)


CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
END = Finished(0, FinishReason.END, STATS)


def builder() -> ItemBuilder:
    asked = CompletionRequest(ChatRequest(), chat=True, tool_names=frozenset({"weather"}), extras={"temperature": 0.5})
    return ItemBuilder("tiny", asked)


def chunk(text: str) -> TextChunk:
    return TextChunk(0, text, (TokenSpan(len(text), Source.TARGET),), (), "<think>\n")


def streamed(*texts: str, finished: Finished = END) -> list[dict[str, Any]]:
    made = builder()
    raw = made.first_chunks()
    for text in texts:
        raw += made.text_chunks(chunk(text))
    found = named_events([*raw, *made.last_chunks(finished)])
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


def test_a_failure_in_the_middle_is_reported_as_an_event() -> None:
    made = builder()
    made.text_chunks(chunk("Hm"))
    failed, error = named_events(made.failed_chunks(ApiError(500, "The pass failed.")))
    assert (failed["type"], failed["response"]["status"]) == ("response.failed", "failed")
    assert failed["response"]["error"]["message"] == error["message"] == "The pass failed."
