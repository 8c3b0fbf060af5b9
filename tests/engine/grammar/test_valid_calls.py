"""Tests answers with constrained tool calls: text is free, and a call that has begun must be completed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.grammar.tool_calls import calls_grammar, valid_calls, valid_calls_grammar
from engine.records import ChatRequest, Finished, LoadRequest, Mode, SamplingParams, ToolFormat
from engine.session.session import Session
from engine.tools.formats import SYNTAXES
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.grammar.walks import accepts

FUNCTION: dict[str, Any] = {
    "name": "write",
    "description": "Writes.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"enum": ["a", "b"]}, "lines": {"type": "integer", "maximum": 9}},
        "required": ["path", "lines"],
    },
}
TOOL = {"type": "function", "function": FUNCTION}
GOOD = '<tool_call>\n{"name": "write", "arguments": {"path": "a", "lines": 3}}\n</tool_call>'
REQUEST = ChatRequest(tools=(TOOL,), constrains_calls=True, sampling=SamplingParams(temperature=0.0), max_tokens=120)


def is_taken(text: str) -> bool:
    return accepts(valid_calls_grammar(ToolFormat.HERMES, [FUNCTION]).text, text)


@pytest.mark.parametrize(
    "text",
    ["", "Words, 1 < 2 and <tool, <tool_cal.", GOOD, f"First {GOOD} then {GOOD}\n{GOOD} and words.", "ü <b>\n\n"],
)
def test_words_are_free_and_calls_may_stand_anywhere(text: str) -> None:
    assert is_taken(text)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("write", "delete"),
        GOOD.replace("path", "file"),
        GOOD.replace('"a"', '"c"'),
        GOOD.replace("3", '"three"'),
        f"Now {GOOD[:-12]} and words",
        GOOD[:-3],
        "<tool_call> and words",
    ],
)
def test_a_call_that_has_begun_goes_on_as_one(text: str) -> None:
    assert not is_taken(text)


@pytest.mark.parametrize("tool_format", [one for one in ToolFormat if one and SYNTAXES[one].block])
def test_every_form_with_a_mark_can_be_held(tool_format: ToolFormat) -> None:
    assert valid_calls_grammar(tool_format, [FUNCTION]).text


def test_nothing_is_held_where_nobody_wants_it_or_nothing_can_be() -> None:
    assert valid_calls(replace(REQUEST, constrains_calls=False), ToolFormat.HERMES) == ""
    assert valid_calls(replace(REQUEST, tools=()), ToolFormat.HERMES) == ""
    assert valid_calls(REQUEST, ToolFormat.NONE) == ""
    broken = {
        "type": "function",
        "function": {**FUNCTION, "parameters": {"type": "object", "properties": {"a": False}}},
    }
    assert isinstance(valid_calls(replace(REQUEST, tools=(broken,)), ToolFormat.HERMES), str)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    template = "{{ tools | tojson }}{% for m in messages %}{{ m.content }}{% for call in m.tool_calls or [] %}"
    template += "<tool_call>\n{{ call.function | tojson }}\n</tool_call>{% endfor %}{% endfor %}"
    model = tiny_llama().with_metadata(
        tokenizer__chat_template=(Kind.STRING, template), llama__context_length=(Kind.UINT32, 1024)
    )
    path: Path = model.write(tmp_path_factory.mktemp("held") / "tools.gguf")
    session = Session()
    session.load(LoadRequest(str(path), n_ctx=1024))
    assert session.prompts.tool_format is ToolFormat.HERMES
    yield session
    session.close()


def test_tokens_that_the_form_forces_are_counted(session: Session) -> None:
    grammar = calls_grammar(ToolFormat.HERMES, [FUNCTION], many=False).text  # this model would begin none by itself
    request = replace(REQUEST, tools=(), constrains_calls=False, raw_prompt="Now: ", grammar=grammar, mode=Mode.SUFFIX)
    *_, end = session.generate(request)
    assert isinstance(end, Finished)
    assert end.stats.forced_accepted > 0


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_every_mode_gives_the_same_answer(session: Session, temperature: float) -> None:
    request = replace(REQUEST, raw_prompt="Now: ", sampling=SamplingParams(temperature=temperature, seed=3))
    answers = set()
    for mode in (Mode.OFF, Mode.NGRAM, Mode.SUFFIX):
        *_, end = session.generate(replace(request, mode=mode))
        assert isinstance(end, Finished)
        answers.add(end.token_ids)
    assert len(answers) == 1
