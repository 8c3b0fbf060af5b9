"""Tests answers in the format of llama.cpp's API."""

from __future__ import annotations

import json
from typing import Any

from app.core.server.llama.events import CompletionBuilder
from app.core.server.llama.request import parse_native_request
from engine.records import Finished, FinishReason, Source, TextChunk, TokenLogprob, TokenSpan
from tests.app.core.server.scripted_session import STATS, ScriptedServer, served

PROBABLE = TokenLogprob(4, b"\xc3", -0.5, ((b"\xc3", -0.5), (b"b", -1.0)), (4, 9))


def builder(**fields: object) -> CompletionBuilder:
    return CompletionBuilder("tiny", parse_native_request({"prompt": "Once", **fields}, served()))


def finished(reason: FinishReason = FinishReason.END) -> Finished:
    return Finished(0, reason, STATS, (4, 5), "x")


def test_an_answer_has_llama_cpps_fields() -> None:
    chunks = [TextChunk(0, text, (TokenSpan(len(text), Source.TARGET),)) for text in ("a\n", "b")]
    answer = builder(n_predict=7, seed=3, stop=["x"], return_tokens=True).whole(chunks, finished(FinishReason.STOP))
    assert [answer[name] for name in ("content", "tokens", "stop", "stop_type", "stopping_word", "has_new_line")] == [
        "a\nb", [4, 5], True, "word", "x", True,
    ]  # fmt: skip
    assert [answer[name] for name in ("tokens_predicted", "tokens_evaluated", "prompt", "index", "truncated")] == [
        9, 10, "Once", 0, False,
    ]  # fmt: skip
    settings: Any = answer["generation_settings"]
    assert (settings["n_predict"], settings["seed"], settings["stop"]) == (7, 3, ["x"])
    timings: Any = answer["timings"]
    assert (timings["predicted_n"], timings["cache_n"]) == (9, 4)


def test_why_it_ended() -> None:
    for reason, told in (
        (FinishReason.END, "eos"), (FinishReason.LENGTH, "limit"), (FinishReason.CONTEXT, "limit"),
    ):  # fmt: skip
        assert builder().whole([], finished(reason))["stop_type"] == told
    assert builder(stop=["y", "x"]).whole([], finished(FinishReason.STOP))["stopping_word"] == "x"
    assert builder(stop=["x"]).whole([], finished())["stopping_word"] == ""


def test_probabilities_have_ids() -> None:
    chunk = TextChunk(0, "", (), (PROBABLE,))
    told: Any = builder(n_probs=2).whole([chunk], finished())["completion_probabilities"]
    top = [
        {"id": 4, "token": "\ufffd", "bytes": [0xC3], "logprob": -0.5},
        {"id": 9, "token": "b", "bytes": [98], "logprob": -1.0},
    ]
    assert told == [{**top[0], "top_logprobs": top}]


def test_a_stream_has_ids_where_they_are_wanted() -> None:
    chunk = TextChunk(0, "a", (TokenSpan(1, Source.TARGET),), (PROBABLE,))
    (event,) = builder(return_tokens=True, stream=True).text_chunks(chunk)
    told = json.loads(event.removeprefix(b"data: "))
    assert told["tokens"] == [4]
    assert "completion_probabilities" not in told


def test_an_answer_may_have_few_fields() -> None:
    answer = builder(response_fields=["content", "timings/predicted_n", "no/such"]).whole([], finished())
    assert answer == {"content": "", "timings/predicted_n": 9}


def test_a_completion_is_answered_in_llama_cpps_way(server: ScriptedServer) -> None:
    answer = server.client.post("/completion", json={"prompt": "Once"}).json()
    assert (answer["content"], answer["stop"]) == ("Good day", True)
    assert server.client.post("/completions", json={"prompt": "Once"}).json()["content"] == "Good day"
    assert "choices" in server.client.post("/completions", json={"prompt": "Once", "model": "tiny"}).json()
    assert "choices" in server.client.post("/v1/completions", json={"prompt": "Once"}).json()
    several = server.client.post("/completion", json={"prompt": ["Once", "Twice"]}).json()
    assert [(one["index"], one["prompt"]) for one in several] == [(0, "Once"), (1, "Twice")]


def test_a_completion_is_streamed_in_events(server: ScriptedServer) -> None:
    text = server.client.post("/completion", json={"prompt": ["Once", "Twice"], "stream": True}).text
    events = [json.loads(line.removeprefix("data: ")) for line in text.removesuffix("\n\n").split("\n\n")]
    assert [(one["index"], one["content"], one["stop"]) for one in events] == [
        (number, *rest) for number in (0, 1) for rest in (("Good ", False), ("day", False), ("", True))
    ]
    assert [one["tokens_predicted"] for one in events[:3]] == [1, 2, 9]


def test_a_gap_that_cannot_be_filled_is_no_fault_of_the_server(server: ScriptedServer) -> None:
    refused = server.client.post("/infill", json={"input_prefix": "a", "input_suffix": "b"})
    assert refused.status_code == 400
    assert "takes no `input_suffix`" in refused.json()["error"]["message"]


def test_tokens_of_a_chat_and_of_an_input_are_counted(server: ScriptedServer) -> None:
    told = {"object": "response.input_tokens", "input_tokens": 10}
    question = {"messages": [{"role": "user", "content": "Hello"}]}
    assert server.client.post("/v1/chat/completions/input_tokens", json=question).json() == told
    assert server.client.post("/v1/responses/input_tokens", json={"input": "Hello"}).json() == told
    assert server.client.post("/v1/responses/input_tokens", json={}).status_code == 400
    assert not server.session.requests
