"""Tools, calls and results reach the template completely, and never as control tokens."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.prompt.chat_prompt import PromptBuilder
from engine.records import ChatRequest, Message, ToolCall
from engine.tools.formats import ToolFormat
from tests.engine.prompt.test_chat_prompt import CHATML, FRAGMENTS, TEMPLATES, readable
from tests.engine.tiny_tokenizer import TinyTokenizer

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
    """The arguments of a call as a template gets them: an object if they are one."""
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


NO_TOOLS = {
    "HuggingFaceTB-SmolLM3-3B",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
    "deepseek-ai-DeepSeek-V3.1",
    "google-gemma-2-2b-it",
    "llama-cpp-rwkv-world",
    "microsoft-Phi-3.5-mini-instruct",
}
# Most mark calls by a token. Kimi's appends to a list, which templates may not do.
UNKNOWN = {
    "meetkai-functionary-medium-v3.2",
    "LFM2-8B-A1B",
    "LFM2.5-Instruct",
    "Kimi-K2-Instruct",
    "Kimi-K2-Thinking",
    "MiniMax-M3",
    "Apertus-8B-Instruct",
}
TOLD = {
    "Qwen-Qwen2.5-7B-Instruct": ToolFormat.HERMES,
    "meta-llama-Llama-3.1-8B-Instruct": ToolFormat.LLAMA,
    "mistralai-Mistral-Nemo-Instruct-2407": ToolFormat.MISTRAL,
    "unsloth-mistral-Devstral-Small-2507": ToolFormat.MISTRAL_ARGS,
    "Qwen3-Coder": ToolFormat.FUNCTION,
    "ByteDance-Seed-OSS": ToolFormat.SEED,
    "GLM-4.6": ToolFormat.KEY_VALUE,
    "MiniMax-M2": ToolFormat.INVOKE,
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": ToolFormat.ACTION,
    "meetkai-functionary-medium-v3.1": ToolFormat.FUNCTIONARY,
    "openai-gpt-oss-120b": ToolFormat.HARMONY,
    "google-gemma-4-31B-it": ToolFormat.GEMMA,
    "ibm-granite-granite-3.3-2B-Instruct": ToolFormat.TOOL_CALL_LIST,
}


@pytest.mark.skipif(not TEMPLATES, reason="the collection of public templates is not on this machine")
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_every_public_template_has_a_form_for_calls_or_a_reason_for_none(path: Path) -> None:
    source = path.read_text("utf-8")
    builder = PromptBuilder(TinyTokenizer(controls=["<s>", "</s>"], bos="<s>", eos="</s>"), source)
    if path.stem in NO_TOOLS:
        assert (builder.tool_format, builder.tool_refusal) == (
            ToolFormat.NONE,
            "its chat template does not support tools",
        )
    elif path.stem in UNKNOWN:
        assert "in a form that is not known" in builder.tool_refusal
    else:
        assert builder.tool_format is TOLD.get(path.stem, builder.tool_format)
        assert (bool(builder.tool_format), builder.tool_refusal) == (True, "")


def test_a_form_is_told_by_a_token_where_the_template_leaves_calls_out() -> None:
    source = "{{ tools | tojson }}{% for m in messages %}{{ m.content }}{% endfor %}"
    assert "not known" in PromptBuilder(CHATML, source).tool_refusal
    with_token = TinyTokenizer(controls=["<|tool_call_start|>"])
    assert PromptBuilder(with_token, source).tool_format is ToolFormat.PYTHON


def test_a_template_without_tools_has_no_form_for_calls() -> None:
    silent = PromptBuilder(CHATML, "{{ messages[0].content }} <tool_call> [TOOL_CALLS] {{ 'tools' }}")
    assert (silent.tool_format, silent.tool_refusal) == (ToolFormat.NONE, "its chat template does not support tools")
    failing = PromptBuilder(CHATML, "{{ messages[0].content }}{% if tools %}{{ raise_exception('no') }}{% endif %}")
    assert failing.tool_refusal == "its chat template fails with tools: The model's chat template failed: no."


def test_a_request_for_tools_is_answered_from_a_prompt_with_them() -> None:
    builder = PromptBuilder(CHATML, TOOLED)
    assert builder.ids_of_request(ChatRequest((QUESTION,), tools=(WEATHER,))) == builder.build([QUESTION], [WEATHER])
