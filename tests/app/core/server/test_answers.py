"""Tests statistics of an answer under the names of llama.cpp's server."""

import json
from typing import Any

import pytest

from app.core.server.answers import DONE, ResponseBuilder, sse, timings
from app.core.server.protocol import CompletionRequest
from engine.records import ChatRequest, Finished, FinishReason, TextChunk, TokenLogprob
from tests.app.core.server.scripted_session import STATS


def test_timings_are_those_of_llama_cpps_server_and_the_tokens_per_pass() -> None:
    assert timings(STATS) == {
        "cache_n": 4, "prompt_n": 6, "prompt_ms": 500.0, "prompt_per_token_ms": 500.0 / 6, "prompt_per_second": 12.0,
        "predicted_n": 9, "predicted_ms": 2000.0, "predicted_per_token_ms": 2000.0 / 9, "predicted_per_second": 4.5,
        "draft_n": 8, "draft_n_accepted": 6, "tokens_per_pass": 3.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (FinishReason.END, "stop"),
        (FinishReason.STOP, "stop"),
        (FinishReason.LENGTH, "length"),
        (FinishReason.CONTEXT, "length"),
    ],
)
def test_why_an_answer_ended_is_in_openais_words(reason: FinishReason, word: str) -> None:
    answer = ResponseBuilder("tiny", CompletionRequest(ChatRequest(), chat=True)).whole([], Finished(0, reason, STATS))
    choices = answer["choices"]
    assert isinstance(choices, list)
    assert choices[0]["finish_reason"] == word


def test_an_event_is_one_line_whatever_is_said() -> None:
    event = sse({"text": "a\r\nb\u2028ü"})
    assert event.count(b"\n") == 2
    assert event.endswith(b"\n\n")
    assert json.loads(event.removeprefix(b"data: ")) == {"text": "a\r\nb\u2028ü"}


# ---- calls and probabilities ----------------------------------------------------------------------------------------


def chunk(text: str, *logprobs: TokenLogprob) -> TextChunk:
    return TextChunk(0, text, (), logprobs)


def events(chunks: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(one.removeprefix(b"data: ")) for one in chunks if one != DONE]


CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
FINISHED = Finished(0, FinishReason.END, STATS)
WITH_TOOLS = CompletionRequest(ChatRequest(), chat=True, tool_names=frozenset({"f"}))


def test_a_streamed_call_comes_with_its_name_first() -> None:
    builder = ResponseBuilder("tiny", WITH_TOOLS)
    chunks = [*builder.text_chunks(chunk("Well. " + CALL[:20])), *builder.text_chunks(chunk(CALL[20:]))]
    told = events([*chunks, *builder.last_chunks(FINISHED)])
    deltas = [one["choices"][0]["delta"] for one in told]
    assert deltas[0] == {"content": "Well. "}
    assert deltas[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": ""}
    assert deltas[2] == {"tool_calls": [{"index": 0, "function": {"arguments": '{"x": 1}'}}]}
    assert told[-1]["choices"][0]["finish_reason"] == "tool_calls"


PROBABLE = (TokenLogprob(1, b"a", -0.5, ((b"a", -0.5), (b"b", -1.0))), TokenLogprob(2, b"\xc3", -2.0, ()))


def test_probabilities_of_a_chat_have_bytes_and_alternatives() -> None:
    asked = CompletionRequest(ChatRequest(top_logprobs=2), chat=True)
    answer: Any = ResponseBuilder("tiny", asked).whole([chunk("a", *PROBABLE)], FINISHED)
    content = answer["choices"][0]["logprobs"]["content"]
    assert content[0] == {
        "token": "a", "logprob": -0.5, "bytes": [97],
        "top_logprobs": [
            {"token": "a", "logprob": -0.5, "bytes": [97]}, {"token": "b", "logprob": -1.0, "bytes": [98]},
        ],
    }  # fmt: skip
    assert content[1]["bytes"] == [0xC3]


def test_probabilities_of_a_text_have_offsets_that_go_on_over_chunks() -> None:
    asked = CompletionRequest(ChatRequest(top_logprobs=2), chat=False)
    builder = ResponseBuilder("tiny", asked)
    assert builder.first_chunks() == []
    told = events([*builder.text_chunks(chunk("a", PROBABLE[0])), *builder.text_chunks(chunk("a", PROBABLE[0]))])
    assert [one["choices"][0]["logprobs"]["text_offset"] for one in told] == [[0], [1]]
    assert told[0]["choices"][0]["logprobs"]["top_logprobs"] == [{"a": -0.5, "b": -1.0}]
