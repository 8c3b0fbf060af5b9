"""An answer that has to call a tool has the form that the model's template has."""

from __future__ import annotations

import pytest

from engine.grammar.tool_calls import calls_grammar
from engine.records import ToolFormat
from tests.engine.grammar.walks import accepts

WEATHER = {
    "name": "weather",
    "parameters": {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]},
}
CLOCK = {"name": "clock"}
ROME = '{"name": "weather", "arguments": {"c": "Rome"}}'


@pytest.mark.parametrize(
    ("tool_format", "one", "two"),
    [
        (
            ToolFormat.HERMES,
            f"<tool_call>\n{ROME}\n</tool_call>",
            f'<tool_call>\n{ROME}\n</tool_call>\n<tool_call>\n{{"name": "clock", "arguments": {{}}}}\n</tool_call>',
        ),
        (
            ToolFormat.FUNCTION,
            "<tool_call>\n<function=weather>\n<parameter=c>\nRome\n</parameter>\n</function>\n</tool_call>",
            "<tool_call>\n<function=weather>\n<parameter=c>\nRome </div>\n</parameter>\n</function>\n</tool_call>\n"
            "<tool_call>\n<function=clock>\n</function>\n</tool_call>",
        ),
        (
            ToolFormat.INVOKE,
            '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="c">Rome</parameter>\n</invoke>\n'
            "</minimax:tool_call>",
            '<minimax:tool_call>\n<invoke name="clock">\n</invoke>\n</minimax:tool_call>\n'
            '<minimax:tool_call>\n<invoke name="clock">\n</invoke>\n</minimax:tool_call>',
        ),
        (
            ToolFormat.KEY_VALUE,
            "<tool_call>weather\n<arg_key>c</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
            "<tool_call>clock\n</tool_call>\n<tool_call>clock\n</tool_call>",
        ),
        (
            ToolFormat.ACTION,
            '<|START_ACTION|>[{"tool_name": "weather", "parameters": {"c": "Rome"}}]<|END_ACTION|>',
            '<|START_ACTION|>[{"tool_name": "clock", "parameters": {}},{"tool_name": "clock", "parameters": {}}]'
            "<|END_ACTION|>",
        ),
        (
            ToolFormat.FUNCTIONARY,
            '<function=weather>{"c": "Rome"}</function>',
            "<function=clock>{}</function><function=clock>{}</function>",
        ),
        (ToolFormat.MISTRAL, f"[TOOL_CALLS][{ROME}]", f"[TOOL_CALLS][{ROME}, {ROME}]"),
        (
            ToolFormat.MISTRAL_ARGS,
            '[TOOL_CALLS]weather[ARGS]{"c": "Rome"}',
            '[TOOL_CALLS]weather[ARGS]{"c": "Rome"}[TOOL_CALLS]clock[ARGS]{}',
        ),
    ],
)
def test_one_call_or_several(tool_format: ToolFormat, one: str, two: str) -> None:
    single = calls_grammar(tool_format, [WEATHER, CLOCK], many=False)
    many = calls_grammar(tool_format, [WEATHER, CLOCK], many=True)
    assert [accepts(single, one), accepts(single, two)] == [True, False]
    assert [accepts(many, one), accepts(many, two)] == [True, True]
    assert not accepts(many, one.replace("Rome", '", "x": 1' if '"Rome"' in one else "</parameter></arg_value>"))


def test_llama_writes_nothing_but_the_call() -> None:
    grammar = calls_grammar(ToolFormat.LLAMA, [WEATHER], many=True)
    assert accepts(grammar, '{"name": "weather", "parameters": {"c": "Rome"}}')
    assert not accepts(grammar, '{"name": "clock", "parameters": {}}')
