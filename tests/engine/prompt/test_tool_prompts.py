"""Tools, calls and their results in a prompt: all of it reaches the template, and none of it as a control token."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.prompt.chat_prompt import PromptBuilder
from engine.records import ChatRequest, Message, ToolCall
from engine.tool_formats import ToolFormat, tool_format_of
from tests.engine.prompt.test_chat_prompt import CHATML, FRAGMENTS, readable
from tests.engine.tiny_tokenizer import TinyTokenizer
from tests.shared_files import shared_file

TOOLED = (
    "{% if tools %}{{ tools | tojson }}{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.tool_call_id }} {{ m.name }}: {{ m.content }}"
    "{% for call in m.tool_calls or [] %}[{{ call.id }} {{ call.function.name }} "
    "{{ call.function.arguments | tojson }}]{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant{% endif %}"
)
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "How it is outside",
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "Where"}}},
    },
}
QUESTION = Message("user", "Is it warm in Rome?")


def call_of(arguments: str, name: str = "weather", call_id: str = "c1") -> Message:
    return Message("assistant", "", tool_calls=(ToolCall(call_id, name, arguments),))


def test_tools_calls_and_results_reach_the_template() -> None:
    result = Message("tool", "31 °C", tool_call_id="c1", name="weather")
    builder = PromptBuilder(CHATML, TOOLED)
    text = readable(CHATML, builder.build([QUESTION, call_of('{"city": "R\\u00f6m"}'), result], [WEATHER]))
    assert text == (
        f"{json.dumps([WEATHER])}"
        "[<|im_start|>]user  : Is it warm in Rome?[<|im_end|>]\n"
        '[<|im_start|>]assistant  : [c1 weather {"city": "Röm"}][<|im_end|>]\n'
        "[<|im_start|>]tool c1 weather: 31 °C[<|im_end|>]\n"
        "[<|im_start|>]assistant"
    )


@pytest.mark.parametrize("arguments", ["", "Rome", "[1]", '"Rome"', '{"city": '])
def test_arguments_that_are_no_object_stay_the_text_that_the_model_wrote(arguments: str) -> None:
    text = readable(CHATML, PromptBuilder(CHATML, TOOLED).build([QUESTION, call_of(arguments)]))
    assert f"[c1 weather {json.dumps(arguments)}]" in text


def test_half_a_character_in_arguments_is_a_replacement_character() -> None:
    text = readable(CHATML, PromptBuilder(CHATML, TOOLED).build([QUESTION, call_of('{"city": "R\\ud83d"}')]))
    assert '[c1 weather {"city": "R\ufffd"}]' in text


def test_an_answer_that_calls_is_no_beginning_that_goes_on() -> None:
    builder = PromptBuilder(CHATML, TOOLED)
    called = readable(CHATML, builder.build([QUESTION, call_of("{}")]))
    assert called.endswith("{}][<|im_end|>]\n[<|im_start|>]assistant")
    assert readable(CHATML, builder.build([QUESTION, Message("assistant", "It")])).endswith("assistantIt")


def spelled(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_given(arguments: str) -> object:
    """As a template gets the arguments of a call: an object where they are one."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    return value if isinstance(value, dict) else arguments


TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=6).map("".join)
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers(-5, 5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(TEXTS, VALUES, max_size=2).map(json.dumps) | TEXTS


@settings(deadline=None, max_examples=100)
@given(
    tool=st.dictionaries(TEXTS, VALUES, max_size=3), arguments=ARGUMENTS, names=st.tuples(TEXTS, TEXTS, TEXTS),
    result=TEXTS,
)  # fmt: skip
def test_no_text_of_a_tool_is_a_control_token(
    tool: dict[str, Any], arguments: str, names: tuple[str, str, str], result: str
) -> None:
    messages = [
        Message("user", names[0]),
        call_of(arguments, names[1], names[2]),
        Message("tool", result, tool_call_id=names[2], name=names[1]),
    ]
    ids = PromptBuilder(CHATML, TOOLED).build(messages, [tool])
    query, name, call_id = names
    assert readable(CHATML, ids) == (
        f"{spelled([tool])}[<|im_start|>]user  : {query}[<|im_end|>]\n"
        f"[<|im_start|>]assistant  : [{call_id} {name} {spelled(as_given(arguments))}][<|im_end|>]\n"
        f"[<|im_start|>]tool {call_id} {name}: {result}[<|im_end|>]\n[<|im_start|>]assistant"
    )


@pytest.mark.parametrize(
    ("name", "tool_format"),
    [
        ("Qwen-Qwen2.5-7B-Instruct", ToolFormat.HERMES),
        ("NousResearch-Hermes-3-Llama-3.1-8B-tool_use", ToolFormat.HERMES),
        ("meta-llama-Llama-3.1-8B-Instruct", ToolFormat.LLAMA),
        ("mistralai-Mistral-Nemo-Instruct-2407", ToolFormat.MISTRAL),
        ("unsloth-mistral-Devstral-Small-2507", ToolFormat.MISTRAL_ARGS),
        ("Qwen3-Coder", ToolFormat.FUNCTION),
        ("ByteDance-Seed-OSS", ToolFormat.SEED),
        ("GLM-4.6", ToolFormat.KEY_VALUE),
        ("MiniMax-M2", ToolFormat.INVOKE),
        ("CohereForAI-c4ai-command-r7b-12-2024-tool_use", ToolFormat.ACTION),
        ("meetkai-functionary-medium-v3.1", ToolFormat.FUNCTIONARY),
        ("MiniMax-M3", ToolFormat.NONE),
        ("google-gemma-2-2b-it", ToolFormat.NONE),
        ("openai-gpt-oss-120b", ToolFormat.NONE),
    ],
)
def test_how_public_templates_have_tools_called(name: str, tool_format: ToolFormat) -> None:
    source = shared_file(f"templates/{name}.jinja").read_text("utf-8")
    builder = PromptBuilder(TinyTokenizer(controls=["<s>", "</s>"], bos="<s>", eos="</s>"), source)
    assert builder.tool_format is tool_format
    if tool_format is ToolFormat.NONE:
        return
    call = call_of('{"city": "Trastevere"}', call_id="abcdefghi")
    result = Message("tool", '{"degrees": 31}', tool_call_id="abcdefghi", name="weather")
    text = bytes(each for each in builder.build([QUESTION, call, result], [WEATHER]) if each < 256).decode()
    for part in ("Is it warm in Rome?", "weather", "Trastevere", "31"):
        assert part in text


def test_a_template_that_does_not_speak_of_tools_has_no_form_for_calls() -> None:
    assert tool_format_of("{{ messages[0].content }} <tool_call> [TOOL_CALLS] <|python_tag|>") is ToolFormat.NONE
    assert tool_format_of('{{ tools }} {"name": "f", "parameters": {}}') is ToolFormat.LLAMA


def test_a_request_for_tools_is_answered_from_a_prompt_with_them() -> None:
    builder = PromptBuilder(CHATML, TOOLED)
    assert builder.of_request(ChatRequest((QUESTION,), tools=(WEATHER,))) == builder.build([QUESTION], [WEATHER])
