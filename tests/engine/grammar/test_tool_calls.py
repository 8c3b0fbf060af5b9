"""An answer that must call a tool has the format of the model's template."""

import json

import pytest

from engine.errors import GrammarError
from engine.grammar.json_schema import schema_grammar
from engine.grammar.tool_calls import calls_grammar
from engine.tools.formats import GEMMA_QUOTE, SYNTAXES, Body, CallSyntax, ToolFormat, is_plain_text
from engine.tools.reading import ReadCalls, read_calls
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


PLACE = {"type": "string"}
PARAMETERS = {
    "type": "object",
    "properties": {
        "place": PLACE,
        "count": {"type": "integer"},
        "near": {"type": ["string", "null"]},
        "far": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "kind": {"enum": ["a b", "c"]},
    },
    "required": ["place"],
}
FIND = {"name": "find", "parameters": PARAMETERS}
GIVEN = {
    "all": {"place": "R\u00f6m </article> <b", "count": -3, "near": "null", "far": True, "kind": "a b"},
    "one": {"place": "1 < 2"},
    "some": {"place": "x\ny", "far": None},
}


def value_of(syntax: CallSyntax, key: str, value: object) -> str:
    if syntax.body is Body.GEMMA and isinstance(value, str):
        return f"{GEMMA_QUOTE}{value}{GEMMA_QUOTE}"
    is_text = syntax.body is Body.TAGS and is_plain_text(PARAMETERS["properties"][key])  # type: ignore[index]
    return str(value) if is_text else json.dumps(value, ensure_ascii=False)


def written(syntax: CallSyntax, arguments: dict[str, object]) -> str:
    """A call as the model writes it."""
    begin = syntax.begin.replace("{name}", "find").replace("{id}", "abcdefghi").replace("{index}", "0")
    values = {key: value_of(syntax, key, value) for key, value in arguments.items()}
    whole = json.dumps(arguments, ensure_ascii=False)
    if syntax.body is Body.TAGS:
        parts = []
        for key in arguments:
            is_text = is_plain_text(PARAMETERS["properties"][key])  # type: ignore[index]
            tag = syntax.key if is_text or not syntax.json_key else syntax.json_key.replace("{type}", "boolean")
            parts.append((tag + values[key] + syntax.value_end).replace("{key}", key))
        call = begin + "".join(parts) + syntax.end
    elif syntax.body is Body.PYTHON:
        call = f"find({', '.join(f'{key}={value}' for key, value in values.items())})"
    elif syntax.body is Body.GEMMA:
        call = f"{begin}{{{','.join(f'{key}:{value}' for key, value in values.items())}}}{syntax.end}"
    elif syntax.body is Body.ARGUMENTS:
        call = begin + whole + syntax.end
    else:
        call = f'{{"{syntax.name_key}": "find", "{syntax.arguments_key}": {whole}}}'
    return syntax.block + call + syntax.block_end


@pytest.mark.parametrize("case", GIVEN)
@pytest.mark.parametrize("tool_format", SYNTAXES)
def test_what_a_form_writes_is_what_its_grammar_takes_and_what_is_read(tool_format: ToolFormat, case: str) -> None:
    syntax, arguments = SYNTAXES[tool_format], GIVEN[case]
    text = written(syntax, arguments)
    assert accepts(calls_grammar(tool_format, [FIND, CLOCK], many=True), text), text
    start = len(syntax.mark) if syntax.block else 0
    found = read_calls(text[start:] + " ", tool_format, {"find": PARAMETERS})
    assert isinstance(found, ReadCalls)
    assert found.calls == (("find", arguments),)


@pytest.mark.parametrize("tool_format", [one for one, syntax in SYNTAXES.items() if syntax.body is Body.TAGS])
def test_a_text_between_tags_has_no_such_tag_in_it(tool_format: ToolFormat) -> None:
    syntax = SYNTAXES[tool_format]
    grammar = calls_grammar(tool_format, [FIND], many=False)
    tag, next_key = syntax.value_end.strip().replace("{key}", "place"), syntax.key.partition("{")[0]
    for text in (tag[:-1], "<" + tag[:-1] + " ", tag[1:], "<</", "</article>", "\U0001f600"):
        assert accepts(grammar, written(syntax, {"place": text})) is (next_key not in text), text
    for text in (tag, f"a{tag}b", "<" + tag + ">", next_key + "x"):
        assert not accepts(grammar, written(syntax, {"place": text})), text


def test_values_between_tags_are_json_but_for_texts() -> None:
    level = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    properties = {"level": level, "colour": {"type": "string", "enum": ["red", "a\nb"]}, "place": {"$ref": "#/$defs/p"}}
    point = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "more": {"$ref": "#/$defs/p"}},
        "required": ["x"],
    }
    parameters = {"properties": properties, "required": ["level", "colour"], "$defs": {"p": point}}
    grammar = calls_grammar(ToolFormat.FUNCTION, [{"name": "f", "parameters": parameters}], many=False)

    def call(**values: str) -> str:
        written = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
        return f"<tool_call>\n<function=f>\n{written}</function>\n</tool_call>"

    assert accepts(grammar, call(level="7", colour="red"))
    assert accepts(grammar, call(level="null", colour="a\nb"))
    assert accepts(grammar, call(level="7", colour="red", place="any text: a reference names no type"))
    assert not accepts(grammar, call(level="seven", colour="red"))
    assert not accepts(grammar, call(level="7", colour="blue"))
    assert not accepts(grammar, call(colour="red"))
    listed = {"properties": {"points": {"type": "array", "items": {"$ref": "#/$defs/p"}}}, "$defs": {"p": point}}
    grammar = calls_grammar(ToolFormat.FUNCTION, [{"name": "f", "parameters": listed}], many=False)
    assert accepts(grammar, call(points='[{"x": 1, "more": {"x": 2}}]'))
    assert not accepts(grammar, call(points='[{"x": 1, "more": {"y": 2}}]'))


@pytest.mark.parametrize("tool_format", [ToolFormat.HERMES, ToolFormat.FUNCTION])
def test_what_a_tool_demands_in_vain_is_told_or_refused(tool_format: ToolFormat) -> None:
    tags = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    tool = {"name": "tag", "parameters": {"type": "object", "properties": {"tags": tags}}}
    grammar = calls_grammar(tool_format, [tool, WEATHER], many=True)
    assert len(grammar.warnings) == 1
    assert grammar.warnings[0].startswith("tag: No grammar can hold `uniqueItems`")
    with pytest.raises(GrammarError, match="tag: The schema has `uniqueItems`"):
        calls_grammar(tool_format, [{**tool, "strict": True}, WEATHER], many=True)
    assert calls_grammar(tool_format, [{**WEATHER, "strict": True}], many=True).warnings == ()
    narrow = {"properties": {"n": {"type": "integer", "minimum": 0.2, "maximum": 0.8}}, "required": ["n"]}
    with pytest.raises(GrammarError, match="narrow: Nothing is valid by the schema"):
        calls_grammar(tool_format, [{"name": "narrow", "parameters": narrow}], many=True)


def test_names_are_written_as_they_are() -> None:
    tool = {"name": 'say "hi"', "parameters": {"type": "object", "properties": {"wörd\t": {"type": "null"}}}}
    grammar = calls_grammar(ToolFormat.HERMES, [tool], many=False)
    assert accepts(grammar, '<tool_call>\n{"name": "say \\"hi\\"", "arguments": {"wörd\\t": null}}\n</tool_call>')


@pytest.mark.parametrize("tool_format", [name for name, syntax in SYNTAXES.items() if syntax.mark])
def test_an_answer_may_be_a_form_in_place_of_a_call(tool_format: ToolFormat) -> None:
    form = schema_grammar({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
    either = calls_grammar(tool_format, [WEATHER], many=True, otherwise=form.text).text
    assert accepts(either, '{"name": "Rome"}')
    assert not accepts(either, '{"name": "Rome"')
    assert not accepts(either, '{"town": "Rome"}')
    calls = calls_grammar(tool_format, [WEATHER], many=True).text
    for text in ("", "Rome", '{"name": "Rome"}{"name": "Rome"}'):
        assert not accepts(either, text)
        assert not accepts(calls, text)


def test_calls_stay_as_they_are_beside_a_form() -> None:
    form = schema_grammar({"type": "object"}).text
    either = calls_grammar(ToolFormat.HERMES, [WEATHER, CLOCK], many=True, otherwise=form).text
    one = f"<tool_call>\n{ROME}\n</tool_call>"
    assert accepts(either, one)
    assert accepts(either, f"{one}\n{one}")
    assert not accepts(either, f"{one}\n{{}}")
    assert not accepts(either, "<tool_call>\n{}\n</tool_call>")
