"""Tests requests of llama.cpp's API for text completions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.server.errors import ApiError
from app.core.server.fields import lenient
from app.core.server.llama.request import MAX_FILES, NativeRequest, parse_infill_request, parse_native_request
from app.core.server.protocol import ServedModel, parse_request
from tests.app.core.server.scripted_session import served

GAP = {"input_prefix": "def add(a, b):\n", "input_suffix": "    return c\n"}


def filling() -> ServedModel:
    model = served()
    return replace(model, ready=replace(model.ready, target=replace(model.ready.target, supports_infill=True)))


def asked(**fields: object) -> NativeRequest:
    return parse_native_request({"prompt": "Once", **fields}, served())


def refused(**fields: object) -> str | None:
    with pytest.raises(ApiError) as caught:
        asked(**fields)
    assert caught.value.status == 400
    return caught.value.param


def test_fields_are_those_of_a_text_by_other_names() -> None:
    made = asked(n_predict=5, n_probs=3, temperature=0.5, seed=1, stop=["."], cache_prompt=False, id_slot=2, n_keep=4)
    same = {"prompt": "Once", "max_tokens": 5, "logprobs": 3, "temperature": 0.5, "seed": 1, "stop": ["."]}
    assert made.asked == parse_request(same, served(), chat=False)
    assert [asked(n_predict=number).asked.request.max_tokens for number in (-1, -2, 0)] == [None, None, 0]
    assert asked(n_probs=0, return_tokens=True).asked.request.top_logprobs is None
    assert asked(return_tokens=True, stream=True).asked.request.top_logprobs == 0  # ids are included
    assert asked(json_schema={"const": 1}).asked.request.grammar
    assert asked(grammar='root ::= "a"').asked.is_grammar_typed
    assert len(asked(n_cmpl=3).asked.more) == 2


def test_prompts_are_texts_ids_or_objects_with_a_text() -> None:
    made = asked(prompt=["a", [1, 2], {"prompt_string": "b"}])
    assert made.prompts == ("a", [1, 2], "b")
    assert [one.raw_ids for one in (made.asked.request, *made.asked.more)] == [(), (1, 2), ()]
    assert refused(prompt={"prompt_string": "b", "multimodal_data": "iVB"}) == "prompt.multimodal_data"
    assert refused(prompt=[1, 2, "a"]) is not None
    assert refused(prompt=None) == "prompt"


def test_biases_are_pairs_or_an_object() -> None:
    wanted = ((5, -100.0), (7, 2.0))
    assert asked(logit_bias=[[5, False], [7, 2]]).asked.request.sampling.logit_bias == wanted
    assert asked(logit_bias={"5": -100, "7": 2}).asked.request.sampling.logit_bias == wanted
    assert [refused(logit_bias=wrong) for wrong in ([["Hello", -1]], [5], [[5]], "x")] == ["logit_bias"] * 4


def test_errors_name_the_fields_that_were_given() -> None:
    assert [refused(**{name: -7}) for name in ("n_predict", "n_probs", "n_cmpl", "top_k")] == [
        "n_predict", "n_probs", "n", "top_k",
    ]  # fmt: skip
    assert refused(image_data=[{"id": 1}]) == "image_data"
    assert refused(response_fields="content") == "response_fields"
    assert refused(nobody_knows=1) == "nobody_knows"
    with lenient():
        assert len(asked(samplers=["top_k"], t_max_predict_ms=9).asked.warnings) == 2


def test_a_gap_has_texts_around_it_and_files_beside_it() -> None:
    files = [{"filename": "a.h", "text": "int a;"}, {"text": "int b;"}]
    made = parse_infill_request({**GAP, "prompt": "    c =", "input_extra": files, "n_predict": 9}, filling())
    request = made.asked.request
    assert (request.raw_prompt, request.suffix) == ("def add(a, b):\n    c =", "    return c\n")
    assert (request.files, request.max_tokens) == ((("a.h", "int a;"), ("tmp", "int b;")), 9)
    empty = parse_infill_request({"input_prefix": "", "input_suffix": ""}, filling()).asked.request
    assert (empty.raw_prompt, empty.suffix, empty.files) == ("", "", ())
    many = parse_infill_request({**GAP, "input_extra": [{"text": str(i)} for i in range(MAX_FILES + 1)]}, filling())
    assert [text for _, text in many.asked.request.files][:1] == ["1"]
    large = parse_infill_request({**GAP, "input_extra": [{"text": "a" * 5000}, {"text": "b" * 5000}]}, filling())
    assert [text[0] for _, text in large.asked.request.files] == ["b"]  # the nearest to the gap


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"input_prefix": None}, "input_prefix"),
        ({"input_suffix": None}, "input_suffix"),
        ({"input_prefix": 1}, "input_prefix"),
        ({"prompt": 1}, "prompt"),
        ({"input_extra": {}}, "input_extra"),
        ({"input_extra": [{}]}, "input_extra[0].text"),
        ({"input_extra": ["x"]}, "input_extra[0]"),
        ({"input_extra": [{"text": "x", "filename": 5}]}, "input_extra[0].filename"),
    ],
)
def test_a_gap_that_is_none_is_refused_by_name(wrong: dict[str, object], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_infill_request({**GAP, **wrong}, filling())
    assert (caught.value.status, caught.value.param) == (400, param)


def test_a_model_without_the_tokens_fills_no_gaps() -> None:
    with pytest.raises(ApiError, match="takes no `input_suffix`"):
        parse_infill_request(GAP, served())
