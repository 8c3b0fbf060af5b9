"""Tests llama.cpp's own API: requests are text completions, answers have llama.cpp's fields."""

import json
from dataclasses import replace
from typing import Any

import pytest

from app.core.server.errors import ApiError
from app.core.server.llama_api import (
    MAX_FILES,
    CompletionBuilder,
    parse_infill_request,
    parse_native_request,
)
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from engine.records import Finished, FinishReason, Source, TextChunk, TokenLogprob, TokenSpan
from tests.app.core.server.scripted_session import HELLO, STATS, ScriptedServer, served

GAP = {"input_prefix": "def add(a, b):\n", "input_suffix": "    return c\n"}


def filling() -> ServedModel:
    model = served()
    return replace(model, ready=replace(model.ready, target=replace(model.ready.target, supports_infill=True)))


def asked(**fields: object) -> CompletionRequest:
    return parse_native_request({"prompt": "Once", **fields}, served())


def refused(**fields: object) -> str | None:
    with pytest.raises(ApiError) as caught:
        asked(**fields)
    assert caught.value.status == 400
    return caught.value.param


def test_fields_are_those_of_a_text_by_other_names() -> None:
    made = asked(n_predict=5, n_probs=3, temperature=0.5, seed=1, stop=["."], cache_prompt=False, id_slot=2, n_keep=4)
    same = {"prompt": "Once", "max_tokens": 5, "logprobs": 3, "temperature": 0.5, "seed": 1, "stop": ["."]}
    assert replace(made, extras={}) == parse_request(same, served(), chat=False)
    assert [asked(n_predict=number).request.max_tokens for number in (-1, -2, 0)] == [None, None, 0]
    assert asked(n_probs=0, return_tokens=True).request.top_logprobs is None
    assert asked(return_tokens=True, stream=True).request.top_logprobs == 0  # ids are included
    assert asked(json_schema={"const": 1}).request.grammar
    assert asked(grammar='root ::= "a"').has_client_grammar


def test_prompts_are_texts_or_ids() -> None:
    assert asked(prompt=["a"]).request.raw_prompt == "a"
    assert asked(prompt=[1, 2]).request.raw_ids == asked(prompt=[[1, 2]]).request.raw_ids == (1, 2)
    assert refused(prompt=["a", "b"]) == "prompt"
    assert refused(prompt={"prompt_string": "b"}) == "prompt"
    assert refused(prompt=[1, 2, "a"]) is not None
    assert refused(prompt=None) == "prompt"


def test_biases_are_pairs_or_an_object() -> None:
    wanted = ((5, -100.0), (7, 2.0))
    assert asked(logit_bias=[[5, False], [7, 2]]).request.sampling.logit_bias == wanted
    assert asked(logit_bias={"5": -100, "7": 2}).request.sampling.logit_bias == wanted
    assert [refused(logit_bias=wrong) for wrong in ([["Hello", -1]], [5], [[5]], "x")] == ["logit_bias"] * 4


def test_errors_name_the_fields_that_were_given() -> None:
    assert [refused(**{name: -7}) for name in ("n_predict", "n_probs", "top_k")] == ["n_predict", "n_probs", "top_k"]
    assert refused(image_data=[{"id": 1}]) == "image_data"
    assert len(asked(samplers=["top_k"], t_max_predict_ms=9).warnings) == 2


def test_a_gap_has_texts_around_it_and_files_beside_it() -> None:
    files = [{"filename": "a.h", "text": "int a;"}, {"text": "int b;"}]
    made = parse_infill_request({**GAP, "prompt": "    c =", "input_extra": files, "n_predict": 9}, filling())
    request = made.request
    assert (request.raw_prompt, request.suffix) == ("def add(a, b):\n    c =", "    return c\n")
    assert (request.files, request.max_tokens) == ((("a.h", "int a;"), ("tmp", "int b;")), 9)
    empty = parse_infill_request({"input_prefix": "", "input_suffix": ""}, filling()).request
    assert (empty.raw_prompt, empty.suffix, empty.files) == ("", "", ())
    many = parse_infill_request({**GAP, "input_extra": [{"text": str(i)} for i in range(MAX_FILES + 1)]}, filling())
    assert [text for _, text in many.request.files][:1] == ["1"]
    large = parse_infill_request({**GAP, "input_extra": [{"text": "a" * 5000}, {"text": "b" * 5000}]}, filling())
    assert [text[0] for _, text in large.request.files] == ["b"]  # the nearest to the gap


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"input_prefix": None}, "input_prefix"),
        ({"input_suffix": None}, "input_suffix"),
        ({"prompt": 1}, "prompt"),
        ({"input_extra": {}}, "input_extra"),
        ({"input_extra": [{}]}, "input_extra[0].text"),
        ({"input_extra": [{"text": "x", "filename": 5}]}, "input_extra[0].filename"),
    ],
)
def test_a_gap_that_is_none_is_refused_by_name(wrong: dict[str, object], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_infill_request({**GAP, **wrong}, filling())
    assert (caught.value.status, caught.value.param) == (400, param)


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


def test_a_completion_is_answered_in_llama_cpps_way(server: ScriptedServer) -> None:
    answer = server.client.post("/completion", json={"prompt": "Once"}).json()
    assert (answer["content"], answer["stop"]) == ("Good day", True)
    assert server.client.post("/completions", json={"prompt": "Once"}).json()["content"] == "Good day"
    assert "choices" in server.client.post("/completions", json={"prompt": "Once", "model": "tiny"}).json()
    assert "choices" in server.client.post("/v1/completions", json={"prompt": "Once"}).json()


def test_a_completion_is_streamed_in_events(server: ScriptedServer) -> None:
    text = server.client.post("/completion", json={"prompt": "Once", "stream": True}).text
    events = [json.loads(line.removeprefix("data: ")) for line in text.removesuffix("\n\n").split("\n\n")]
    assert [(one["content"], one["stop"]) for one in events] == [("Good ", False), ("day", False), ("", True)]
    assert [one["tokens_predicted"] for one in events[:3]] == [1, 2, 9]


def test_tokens_of_a_chat_and_of_an_input_are_counted(server: ScriptedServer) -> None:
    told = {"object": "response.input_tokens", "input_tokens": 10}
    question = {"messages": [{"role": "user", "content": "Hello"}]}
    assert server.client.post("/v1/chat/completions/input_tokens", json=question).json() == told
    assert server.client.post("/v1/responses/input_tokens", json={"input": "Hello"}).json() == told
    assert server.client.post("/v1/responses/input_tokens", json={}).status_code == 400
    assert not server.session.requests


@pytest.mark.parametrize("prefix", ["", "/v1"])
def test_text_becomes_tokens_and_text_again(server: ScriptedServer, prefix: str) -> None:
    told = server.client.post(f"{prefix}/tokenize", json={"content": "A<s>B"}).json()
    assert told == {"tokens": [65, 1, 66]}
    assert server.client.post(f"{prefix}/detokenize", json=told).json() == {"content": "A<s>B"}


def test_control_tokens_are_parsed_unless_that_is_declined(server: ScriptedServer) -> None:
    def tokens(**fields: object) -> list[int]:
        found: list[int] = server.client.post("/tokenize", json={"content": "<s>a", **fields}).json()["tokens"]
        return found

    assert tokens() == [1, 97]
    assert tokens(parse_special=False) == [60, 115, 62, 97]
    assert tokens(add_special=True) == [1, 1, 97]
    assert tokens(content=["a", 5, "b"], add_special=True) == [1, 97, 5, 98]


def test_a_template_gives_the_text_of_the_prompt(server: ScriptedServer) -> None:
    told = server.client.post("/apply-template", json=HELLO).json()
    assert told == {"prompt": "<user>Hello"}
    assert not server.session.requests


@pytest.mark.parametrize(
    ("path", "body", "param", "words"),
    [
        ("/tokenize", {"content": ["a", -1]}, "content[1]", "names an unknown token"),
        ("/detokenize", {}, "tokens", "`tokens` is missing."),
        ("/detokenize", {"tokens": [10**9]}, "tokens", "names an unknown token"),
    ],
)
def test_what_cannot_be_read_is_refused(
    server: ScriptedServer, path: str, body: dict[str, object], param: str, words: str
) -> None:
    response = server.client.post(path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param
    assert words in response.json()["error"]["message"]


def test_a_text_that_takes_too_long_is_refused(server: ScriptedServer) -> None:
    refused = server.client.post("/tokenize", json={"content": ["a" * 150_000, "b" * 60_000]})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "content")
