"""Figures of an answer by the names of llama.cpp's server."""

from __future__ import annotations

import json

import pytest

from app.server.protocol import CompletionRequest
from app.server.responses import ResponseBuilder, sse, timings
from engine.records import ChatRequest, Finished, FinishReason, RunStats
from tests.app.server.scripted_session import STATS


def test_timings_are_those_of_llama_cpps_server_and_the_tokens_per_pass() -> None:
    assert timings(STATS) == {
        "cache_n": 4, "prompt_n": 6, "prompt_ms": 500.0, "prompt_per_token_ms": 500.0 / 6, "prompt_per_second": 12.0,
        "predicted_n": 9, "predicted_ms": 2000.0, "predicted_per_token_ms": 2000.0 / 9, "predicted_per_second": 4.5,
        "draft_n": 8, "draft_n_accepted": 6, "tokens_per_pass": 3.0,
    }  # fmt: skip


def test_what_is_not_known_is_null() -> None:
    empty = timings(RunStats())
    assert [name for name, value in empty.items() if value is None] == [
        "prompt_per_token_ms", "prompt_per_second", "predicted_per_token_ms", "predicted_per_second", "tokens_per_pass",
    ]  # fmt: skip


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
