"""Every field of OpenAI's completion endpoints is used, ignored as harmless, or rejected by name."""

from dataclasses import replace

import pytest

from app.core.server.errors import ApiError
from app.core.server.protocol import ServedModel, parse_request
from engine.grammar.json_schema import schema_grammar
from engine.grammar.tool_calls import calls_grammar
from engine.records import ChatRequest, EngineReady, Message, Mode, SamplingParams, ThinkingOption, ToolCall, ToolFormat
from tests.app.core.server.scripted_session import HELLO, N_CTX, info, served


def chat(model: ServedModel | None = None, /, **fields: object) -> ChatRequest:
    return parse_request({**HELLO, **fields}, model or served(), chat=True).request


def refused(model: ServedModel | None = None, /, **fields: object) -> ApiError:
    with pytest.raises(ApiError) as caught:
        chat(model, **fields)
    return caught.value


def test_what_is_asked_for_reaches_the_engine() -> None:
    request = chat(
        temperature=0.5, top_p=0.9, top_k=7, min_p=0.1, frequency_penalty=0.2, presence_penalty=-0.3, seed=11,
        max_completion_tokens=5, stop=["\n", "END"], speculation={"mode": "ngram", "depth": 4},
        chat_template_kwargs={"style": "short", "budget": 7},
    )  # fmt: skip
    sampling = SamplingParams(
        temperature=0.5, top_k=7, top_p=0.9, min_p=0.1, frequency_penalty=0.2, presence_penalty=-0.3, seed=11
    )
    assert request == ChatRequest(
        messages=(Message("user", "Hello"),),
        mode=Mode.NGRAM,
        depth=4,
        sampling=sampling,
        max_tokens=5,
        stop=("\n", "END"),
        template_variables=(("style", "short"), ("budget", 7)),
    )


def test_what_is_not_said_is_the_servers() -> None:
    defaults = ChatRequest(mode=Mode.SUFFIX, depth=2, sampling=SamplingParams(temperature=0.0), max_tokens=9)
    model = ServedModel("tiny", EngineReady(info("tiny")), defaults, "Be brief.")
    request = chat(model, top_p=0.5, temperature=None)
    assert (request.mode, request.depth, request.max_tokens) == (Mode.SUFFIX, 2, 9)
    assert (request.sampling.temperature, request.sampling.top_p) == (0.0, 0.5)
    assert request.messages == (Message("system", "Be brief."), Message("user", "Hello"))
    own = [{"role": "developer", "content": "Rhyme."}, {"role": "user", "content": "Hello"}]
    assert chat(model, messages=own).messages == (Message("system", "Rhyme."), Message("user", "Hello"))


def test_what_other_local_servers_take_for_nothing_set_undoes_the_defaults() -> None:
    sampling = replace(SamplingParams(), seed=5)
    model = replace(served(), defaults=ChatRequest(sampling=sampling, max_tokens=7))
    request = chat(model, max_tokens=-1, seed=-1, top_k=-1, repeat_last_n=-1)
    assert (request.max_tokens, request.sampling.seed, request.sampling.top_k) == (None, None, 0)
    assert request.sampling.penalty_last_n == N_CTX


def test_an_answer_and_a_result_may_say_nothing() -> None:
    silent = [{"role": "assistant", "content": None}, {"role": "tool"}, {"role": "user", "content": "B"}]
    assert [message.content for message in chat(messages=[*silent, {"role": "assistant"}]).messages] == [
        "",
        "",
        "B",
        "",
    ]


def test_arguments_may_come_as_an_object() -> None:
    call = {"function": {"name": "f", "arguments": {"city": "Röm"}}}
    messages = [{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "B"}]
    assert chat(messages=messages).messages[0].tool_calls == (ToolCall("", "f", '{"city": "Röm"}'),)
    call["function"]["arguments"] = 5
    assert refused(messages=messages).param == "messages[0].tool_calls[0].function.arguments"


@pytest.mark.parametrize("prompt", [None, "", [], ["a", ""], ["a", []], [1, -2], [1, "a"], 5, {"text": "a"}])
def test_a_prompt_is_text_or_tokens(prompt: object) -> None:
    with pytest.raises(ApiError) as caught:
        parse_request({"prompt": prompt}, served(), chat=False)
    assert caught.value.status == 400
    assert str(caught.value.param).startswith("prompt")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("functions", [{"name": "f"}]),
        ("modalities", ["text", "audio"]),
        ("best_of", 3),
    ],
)
def test_what_is_not_there_is_refused_by_name(field: str, value: object) -> None:
    error = refused(**{field: value})
    assert (error.status, error.param, error.code) == (400, field, "unsupported_parameter")
    assert f"`{field}`" in error.message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n", 1), ("tools", []), ("logprobs", False), ("response_format", {"type": "text"}), ("logit_bias", {}),
        ("user", "me"), ("metadata", {"a": "b"}), ("tools", None),
        ("max_tokens", -1), ("seed", -1), ("stop", None), ("cache_prompt", True),
    ],
)  # fmt: skip
def test_what_changes_nothing_is_taken(field: str, value: object) -> None:
    assert parse_request({**HELLO, field: value}, served(), chat=True) == parse_request(HELLO, served(), chat=True)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"frobnicate": 1}, "`frobnicate`"),
        ({"model": "gpt-4o"}, "has `tiny`"),
        ({"stream_options": {"include_usage": True}}, "`stream_options`"),
        ({"stream": True, "stream_options": {"usage": True}}, "`stream_options.usage`"),
        ({"reasoning_effort": "medium"}, "`reasoning_effort` has no effect"),
        ({"tools": [{"type": "web_search"}]}, "`web_search`"),
        ({"messages": [{"role": "user", "content": "x", "tool_calls": [{}]}]}, "`messages[0].tool_calls`"),
        ({"messages": [{"role": "user", "content": "a", "name": "Ann"}]}, "`messages[0].name`"),
        ({"messages": [{"role": "user", "content": "a", "colour": "red"}]}, "`messages[0].colour`"),
    ],
)
def test_what_changes_little_is_passed_over_and_reported(fields: dict[str, object], word: str) -> None:
    (warning,) = parse_request({**HELLO, **fields}, served(), chat=True).warnings
    assert word in warning


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperature": -1}, "temperature"),
        ({"temperature": 10**400}, "temperature"),
        ({"top_k": 1.5}, "top_k"),
        ({"seed": -2}, "seed"),
        ({"max_tokens": -2}, "max_tokens"),
        ({"max_tokens": 4, "max_completion_tokens": 3}, "max_tokens"),
        ({"repeat_last_n": -2}, "repeat_last_n"),
        ({"n": 0}, "n"),
        ({"n": 2}, "n"),
        ({"reasoning_effort": "frantic"}, "reasoning_effort"),
        ({"stop": ["a"] * 17}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"speculation": "fast"}, "speculation"),
        ({"speculation": {"mode": "fast"}}, "speculation.mode"),
        ({"speculation": {"depth": 99}}, "speculation.depth"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]}, "messages[0].tool_calls[0].function.name"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}] * 1000}]}, "messages[0].tool_calls"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
        ({"tools": [{}] * 1000}, "tools"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": "city"}}]},
         "tools[0].function.parameters"),
        ({"chat_template_kwargs": {"style": ["short"]}}, "chat_template_kwargs"),
        ({"chat_template_kwargs": {"messages": "other"}}, "chat_template_kwargs"),
        ({"chat_template_kwargs": {"style": "x" * 100_000}}, "chat_template_kwargs"),
        ({"continue_final_message": True, "add_generation_prompt": True}, "add_generation_prompt"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"logit_bias": {str(number): 1 for number in range(2000)}}, "logit_bias"),
        ({"logit_bias": {"word": 1}}, "logit_bias"),
        ({"logit_bias": {"100": 1}}, "logit_bias"),
        ({"logit_bias": {"5": 101}}, "logit_bias"),
        ({"prediction": {"type": "guess", "content": "x"}}, "prediction.type"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        ({"response_format": {"type": "json_object"}, "grammar": 'root ::= "a"'}, "grammar"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_its_field(fields: dict[str, object], param: str) -> None:
    error = refused(**fields)
    assert (error.status, error.param) == (400, param)


def test_a_mode_that_cannot_run_here_is_refused_with_the_reason() -> None:
    error = refused(served(draft="No draft model is chosen."), speculation={"mode": "draft"})
    assert (error.param, error.code) == ("speculation.mode", "unsupported_parameter")
    assert "No draft model is chosen." in error.message


# ---- the form of the answer, tools, predictions ---------------------------------------------------------------------

OBJECT = {"type": "object"}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def with_facts(**facts: object) -> ServedModel:
    target = replace(info("tiny"), **facts)  # type: ignore[arg-type]
    return ServedModel("tiny", EngineReady(target), ChatRequest(mode=Mode.AUTO))


def test_a_schema_becomes_a_grammar() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    named = {"type": "json_schema", "json_schema": {"name": "thing", "strict": True, "schema": schema}}
    assert chat(response_format=named).grammar == schema_grammar(schema).text
    assert chat(response_format={"type": "json_object"}).grammar == schema_grammar(OBJECT).text
    assert chat(response_format={"type": "json_object", "schema": schema}).grammar == schema_grammar(schema).text
    assert chat(response_format={"type": "text"}).grammar == ""


def test_keywords_without_a_grammar_are_reported_or_refused_if_strict() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    told = "No grammar can hold `uniqueItems` of the schema (at #): the answer may break it."

    def asking(strict: bool) -> dict[str, object]:
        return {
            **HELLO,
            "response_format": {"type": "json_schema", "json_schema": {"schema": schema, "strict": strict}},
        }

    asked = parse_request(asking(strict=False), served(), chat=True)
    assert asked.warnings == (told,)
    assert asked.request.grammar == schema_grammar(schema).text
    with (
        pytest.raises(ApiError, match="`uniqueItems`, which a grammar cannot promise") as caught,
    ):
        parse_request(asking(strict=True), served(), chat=True)
    assert caught.value.param == "response_format"


def test_an_unenforced_keyword_of_a_tool_is_refused_only_if_strict() -> None:
    model = with_facts(tool_format=ToolFormat.HERMES)
    odd = {"name": "odd", "parameters": {"type": "object", "not": {}}}
    asking = {**HELLO, "tools": [WEATHER, {"type": "function", "function": odd}], "tool_choice": "required"}
    asked = parse_request(asking, model, chat=True)
    assert asked.warnings == ("odd: No grammar can hold `not` of the schema (at #): the answer may break it.",)
    assert asked.request.grammar
    strict = {"type": "function", "function": {**odd, "strict": True}}
    with pytest.raises(ApiError, match="odd: The schema has `not`") as caught:
        parse_request({**asking, "tools": [strict]}, model, chat=True)
    assert caught.value.param == "tools"


def test_tools_reach_the_template_and_a_choice_the_grammar() -> None:
    model = with_facts(tool_format=ToolFormat.HERMES)
    asked = parse_request({**HELLO, "tools": [WEATHER]}, model, chat=True)
    assert (asked.request.tools, asked.request.grammar, asked.tool_names) == ((WEATHER,), "", {"weather"})
    assert chat(model, tools=[WEATHER], tool_choice="none").tools == ()
    required = chat(model, tools=[WEATHER], tool_choice="required").grammar
    named = chat(model, tools=[WEATHER], tool_choice={"type": "function", "function": {"name": "weather"}}).grammar
    assert "tool_call" in required
    assert len(named) < len(required)  # only one call
    assert (
        refused(model, tools=[WEATHER], tool_choice={"type": "function", "function": {"name": "x"}}).param
        == "tool_choice"
    )


def test_a_form_holds_for_an_answer_that_is_no_call() -> None:
    model, form = with_facts(tool_format=ToolFormat.HERMES), {"type": "json_object"}
    both = parse_request({**HELLO, "tools": [WEATHER], "response_format": form}, model, chat=True)
    functions = [{**WEATHER["function"], "strict": True}]  # type: ignore[dict-item]
    either = calls_grammar(ToolFormat.HERMES, functions, many=True, otherwise=schema_grammar(OBJECT).text)
    assert (both.request.grammar, both.request.tools, both.tool_names) == (either.text, (WEATHER,), {"weather"})
    required = chat(model, tools=[WEATHER], tool_choice="required")
    assert chat(model, tools=[WEATHER], tool_choice="required", response_format=form).grammar == required.grammar
    assert chat(model, tools=[WEATHER], tool_choice="none", response_format=form).grammar == schema_grammar(OBJECT).text
    assert refused(model, tools=[WEATHER], grammar='root ::= "a"').param == "grammar"
    bare = with_facts(tool_format=ToolFormat.LLAMA)  # a call could not be told from other text
    assert refused(bare, tools=[WEATHER], response_format=form).param == "response_format"


def test_an_answer_may_be_kept_from_its_end() -> None:
    assert chat(min_tokens=3, max_tokens=3).min_tokens == 3
    assert chat(min_tokens=0).min_tokens == 0
    assert chat(ignore_eos=True).ignore_eos
    for wrong in ({"min_tokens": -1}, {"min_tokens": 4, "max_tokens": 3}):
        assert refused(**wrong).param == "min_tokens"
    asked = parse_request({**HELLO, "min_tokens": 3, "json_schema": {"type": "string"}}, served(), chat=True)
    assert (asked.request.min_tokens, asked.request.grammar) == (0, schema_grammar({"type": "string"}).text)
    assert asked.warnings == ("`min_tokens` is for answers without a schema or grammar, which end by themselves.",)


def test_a_schema_may_stand_alone() -> None:
    assert chat(json_schema={"const": "42"}).grammar == schema_grammar({"const": "42"}).text
    assert refused(json_schema={"type": "hiccup"}).param == "json_schema"
    assert refused(json_schema={}, response_format={"type": "json_object"}).param == "json_schema"
    assert refused(json_schema={}, grammar='root ::= "a"').param == "grammar"


def test_how_much_the_model_is_to_think_is_what_it_knows_of_that() -> None:
    switch = with_facts(thinking=(ThinkingOption("on"), ThinkingOption("off")))
    asked = {effort: chat(switch, reasoning_effort=effort).thinking for effort in ("none", "low", "high", "on")}
    assert asked == {"none": "off", "low": "on", "high": "on", "on": "on"}
    efforts = with_facts(thinking=(ThinkingOption("low"), ThinkingOption("high")))
    assert chat(efforts, reasoning_effort="high").thinking == "high"
    error = refused(efforts, reasoning_effort="none")
    assert error.message == "`reasoning_effort` cannot be none: this model takes low, high."
    assert chat(switch).thinking == chat(efforts).thinking == ChatRequest().thinking


def test_a_prediction_may_come_in_parts() -> None:
    assert chat(prediction={"type": "content", "content": "old file"}).predicted == "old file"
    parts = [{"type": "text", "text": "old"}, {"type": "text", "text": "file"}]
    assert chat(prediction={"type": "content", "content": parts}).predicted == "old\nfile"


def test_probabilities_are_asked_for_in_two_ways() -> None:
    assert chat().top_logprobs is None
    assert chat(logprobs=True).top_logprobs == 0
    assert chat(logprobs=True, top_logprobs=5).top_logprobs == 5
    assert parse_request({"prompt": "a", "logprobs": 3}, served(), chat=False).request.top_logprobs == 3
    for number in (-1, 21):
        with pytest.raises(ApiError) as caught:
            parse_request({"prompt": "a", "logprobs": number}, served(), chat=False)
        assert caught.value.message == "`logprobs` must be a number from 0 to 20."


def test_a_gap_is_filled_where_the_model_can() -> None:
    body: dict[str, object] = {"prompt": "def f(", "suffix": "return x"}
    asked = parse_request(body, with_facts(supports_infill=True), chat=False)
    assert (asked.request.raw_prompt, asked.request.suffix) == ("def f(", "return x")
    with pytest.raises(ApiError) as caught:
        parse_request(body, served(), chat=False)
    assert (caught.value.status, caught.value.param) == (400, "suffix")


def test_values_that_programs_send_are_taken_as_they_mean_them() -> None:
    asked = chat(max_tokens=12.0, n=1.0, top_p=0, stop=["", "."], repetition_penalty=1.2)
    assert (asked.max_tokens, asked.stop, asked.sampling.repeat_penalty) == (12, (".",), 1.2)
    assert 0.0 < asked.sampling.top_p < 1e-6
    assert refused(max_tokens=12.5).param == "max_tokens"
    assert refused(n=True).param == "n"


def test_messages_are_bounded() -> None:
    question = {"role": "user", "content": "a"}
    assert len(chat(messages=[question] * 10_000).messages) >= 10_000
    error = refused(messages=[question] * 10_001)
    assert (error.param, error.message) == (
        "messages", "`messages` may have 10,000 items at most, and these are 10,001.",
    )  # fmt: skip
