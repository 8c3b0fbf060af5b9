"""Tests the reasoning modes of real chat templates, and the resulting prompts."""

from typing import Any

import pytest

from engine.prompt.chat_prompt import PromptBuilder
from engine.prompt.thinking import ThinkingChoice, Variables, find_thinking
from engine.records import ChatRequest, Message
from engine.sandbox.template import TemplateRefusedError, shared_renderer
from engine.sandbox.template_child import make_environment
from tests.engine.tiny_tokenizer import TinyTokenizer
from tests.shared_files import shared_file

GREETING = [{"role": "user", "content": "Hello"}]


def rendered_by_hand(source: str, variables: dict[str, Any], messages: list[dict[str, str]] = GREETING) -> str:
    """The reference: plain Jinja with the variable that the authors document."""
    given = {"messages": messages, "add_generation_prompt": True, "bos_token": "", "eos_token": "", **variables}
    return make_environment().from_string(source).render({"tools": None, "documents": None, **given})


def choices_of(source: str) -> tuple[ThinkingChoice, ...]:
    def render(variables: Variables) -> str | None:
        given = {"messages": GREETING, "add_generation_prompt": True, "bos_token": "", "eos_token": ""}
        try:
            return shared_renderer.render(source, {**given, "tools": None, "documents": None, **variables})
        except TemplateRefusedError:
            return None

    return find_thinking(source, render)


# Each template with its modes, the default first, and the variables that its authors document.
DOCUMENTED: dict[str, dict[str, dict[str, Any]]] = {
    "Qwen-Qwen3-0.6B": {"on": {}, "off": {"enable_thinking": False}},
    "Qwen3.5-4B": {"on": {}, "off": {"enable_thinking": False}},
    "GLM-4.6": {"on": {}, "off": {"enable_thinking": False}},
    "openai-gpt-oss-120b": {
        "medium": {}, "low": {"reasoning_effort": "low"}, "high": {"reasoning_effort": "high"},
    },
    "HuggingFaceTB-SmolLM3-3B": {"on": {}, "off": {"enable_thinking": False}},
    "deepseek-ai-DeepSeek-V3.1": {"off": {}, "on": {"thinking": True}},
    "google-gemma-4-31B-it": {"off": {}, "on": {"enable_thinking": True}},
    "ibm-granite-granite-3.3-2B-Instruct": {"off": {}, "on": {"thinking": True}},
    "tencent-Hy3": {"off": {}, "low": {"reasoning_effort": "low"}, "high": {"reasoning_effort": "high"}},
    "upstage-Solar-Open-100B": {"high": {}, "minimal": {"reasoning_effort": "minimal"}},
    "Kimi-K3": {
        "max": {}, "off": {"thinking": False}, "low": {"thinking_effort": "low"}, "high": {"thinking_effort": "high"},
    },
    "MiniMax-M3": {"adaptive": {}, "off": {"thinking_mode": "disabled"}, "on": {"thinking_mode": "enabled"}},
    "ByteDance-Seed-OSS": {
        "on": {}, "off": {"thinking_budget": 0}, "512": {"thinking_budget": 512},
        "2048": {"thinking_budget": 2048}, "8192": {"thinking_budget": 8192},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTED)
def test_choices_are_those_that_the_authors_document(name: str) -> None:
    source = shared_file(f"templates/{name}.jinja").read_text("utf-8")
    found = choices_of(source)
    assert [choice.name for choice in found] == list(DOCUMENTED[name])
    for choice, documented in zip(found, DOCUMENTED[name].values(), strict=True):
        assert choice.prompt == rendered_by_hand(source, documented), choice.name
    assert len({choice.prompt for choice in found}) == len(found)


@pytest.mark.parametrize(
    "name",
    ["meta-llama-Llama-3.1-8B-Instruct", "Kimi-K2-Thinking", "Qwen3-Coder", "google-gemma-2-2b-it", "MiniMax-M2"],
)
def test_a_template_that_leaves_no_choice_has_none(name: str) -> None:
    assert choices_of(shared_file(f"templates/{name}.jinja").read_text("utf-8")) == ()


SWITCHED = (
    "{% for m in messages %}{{ m.content }} {% endfor %}"
    "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% else %}<think>{% endif %}"
)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (SWITCHED, ["on", "off"]),
        ("{{ messages[0].content }} {{ messages[0].thinking }}", []),  # an attribute is not a variable
        ("{{ messages[0].content }} 'enable_thinking' is a word here", []),
        ("{{ messages[0].content }}{% if enable_thinking %}{{ raise_exception('no') }}{% endif %}", []),
        (
            "{{ messages[0].content }} {% if reasoning_effort == 'low' or reasoning_effort == 'high' %}"
            "{{ reasoning_effort }}{% elif reasoning_effort %}{{ raise_exception('no') }}{% else %}high{% endif %}",
            ["high", "low"],
        ),
        ("{{ messages[0].content }} {{ reasoning_effort | default('medium') }}", ["medium", "low", "high"]),
        ("{{ messages[0].content }} {% if reasoning_effort == 'none' %}fast{% endif %}{{ reasoning_effort }}", []),
    ],
)
def test_made_templates(source: str, names: list[str]) -> None:
    assert [choice.name for choice in choices_of(source)] == names


def test_a_request_says_how_and_what_else_the_template_is_given() -> None:
    source = SWITCHED + "{% if motto %} {{ motto }}{% endif %}"
    builder = PromptBuilder(TinyTokenizer(), source)
    assert [option.name for option in builder.thinking_options()] == ["on", "off"]
    assert [option.reasoning_start_tag for option in builder.thinking_options()] == ["<think>", ""]
    hello = (Message("user", "Hello"),)

    def text(**fields: Any) -> str:  # noqa: ANN401  (those of a request)
        return bytes(builder.ids_of_request(ChatRequest(hello, **fields))).decode()

    assert text() == text(thinking="on") == text(thinking="unheard of") == "Hello <think>"
    assert text(thinking="off") == "Hello <think></think>"
    assert text(thinking="off", template_variables=(("motto", "Be brief"),)).endswith("Be brief")
    assert text(thinking="off", template_variables=(("enable_thinking", True),)) == "Hello <think>"
