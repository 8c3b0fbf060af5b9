"""Tool calls are found in an answer in chunks of any size, and anything else is text."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.tools.output import CallBegun, CallText, OutputPart, ToolOutput
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message, ToolCall
from engine.tools.formats import ToolFormat
from engine.tools.reading import Schemas
from tests.engine.tiny_tokenizer import TinyTokenizer
from tests.shared_files import shared_file

NAMES = frozenset({"weather", "time"})
ROME = '{"name": "weather", "arguments": {"city": "Rome"}}'
TIME = '{"name": "time", "arguments": {}}'
TIME_CALL = f"<tool_call>{TIME}</tool_call>"
OPTIONAL = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
SCHEMAS = {
    "weather": {
        "properties": {
            "city": {"type": "string"},
            "days": {"type": ["integer", "array"]},
            "hour": OPTIONAL,
            "zone": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        }
    }
}
UNKNOWN = '<tool_call>{"name": "fly", "arguments": {}}</tool_call>'
CASES: list[tuple[str, str | None, list[tuple[str, object]]]] = [
    ("Hello there.", "Hello there.", []),
    (f"<tool_call>\n{ROME}\n</tool_call>", "", [("weather", {"city": "Rome"})]),
    (f"Let me see.\n<tool_call>\n{ROME}\n</tool_call>", "Let me see.\n", [("weather", {"city": "Rome"})]),
    (
        f'<tool_call>{ROME}</tool_call>\n<tool_call>{{"name": "time", "arguments": {{}}}}</tool_call>',
        "",
        [("weather", {"city": "Rome"}), ("time", {})],
    ),
    (f"<tool_call>\n{ROME}\n", "", [("weather", {"city": "Rome"})]),  # ended by the length limit
    (f"[TOOL_CALLS][{ROME}]", "", [("weather", {"city": "Rome"})]),
    ('[TOOL_CALLS]weather[ARGS]{"city": "Rome"}', "", [("weather", {"city": "Rome"})]),
    ('[TOOL_CALLS]weather[CALL_ID]abc[ARGS]{"city": "Rome"}', "", [("weather", {"city": "Rome"})]),
    ('{"name": "weather", "parameters": {"city": "Rome"}}', "", [("weather", {"city": "Rome"})]),
    ('<|python_tag|>{"name": "time", "parameters": {}}', "", [("time", {})]),
    (f"```json\n{ROME}\n```", "", [("weather", {"city": "Rome"})]),
    ('{"name": "Ann", "age": 3}', '{"name": "Ann", "age": 3}', []),
    ("```json\n[1, 2]\n```", "```json\n[1, 2]\n```", []),
    (UNKNOWN, UNKNOWN, []),
    ('<tool_call>{"name": "weather", "argum', '<tool_call>{"name": "weather", "argum', []),
    ('<tool_call>{"name": "weather", "arguments": {"city": "a\nb"}}</tool_call>', "", [("weather", {"city": "a\nb"})]),
    ('<tool_call>{"name": "weather", "arguments": "{\\"city\\": 1}"}</tool_call>', "", [("weather", {"city": 1})]),
    (f"<tool_call>{ROME}\n<tool_call>{TIME}</tool_call>", "", [("weather", {"city": "Rome"}), ("time", {})]),
    (f"<tool_call>{ROME}\n{TIME}\n</tool_call>", "", [("weather", {"city": "Rome"}), ("time", {})]),
    (f"<tool_call>{ROME}\n\nDone.", "Done.", [("weather", {"city": "Rome"})]),
    (f"<tool_call>{ROME}</tool_call>{UNKNOWN}{TIME_CALL}", UNKNOWN, [("weather", {"city": "Rome"}), ("time", {})]),
    ('<tool_call>{"name": "time", "zone": 1}</tool_call>', '<tool_call>{"name": "time", "zone": 1}</tool_call>', []),
    ('{"name": "weather", "age": 30}', '{"name": "weather", "age": 30}', []),
    ('{"name": "weather"}', '{"name": "weather"}', []),
    (f'<tool_call>{{"name": oh}}</tool_call>{TIME_CALL}', '<tool_call>{"name": oh}</tool_call>', [("time", {})]),
    ('{"name": "time", "arguments": {"at": 1e400}}', '{"name": "time", "arguments": {"at": 1e400}}', []),
    (
        "<tool_call>\n<function=weather>\n<parameter=city>\nRome\nor so\n</parameter>\n<parameter=days>\n3\n"
        "</parameter>\n</function>\n</tool_call>",
        "",
        [("weather", {"city": "Rome\nor so", "days": 3})],
    ),
    ("<tool_call><function=fly></function></tool_call>", "<tool_call><function=fly></function></tool_call>", []),
    (
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n<arg_key>days</arg_key>\n"
        "<arg_value>[3]</arg_value>\n</tool_call>",
        "",
        [("weather", {"city": "Rome", "days": [3]})],
    ),
    (
        "<tool_call>weather\n<arg_key>hour</arg_key>\n<arg_value>5</arg_value>\n<arg_key>zone</arg_key>\n"
        "<arg_value>5</arg_value>\n</tool_call>",
        "",
        [("weather", {"hour": 5, "zone": "5"})],
    ),
    ("<tool_call>time</tool_call>", "", [("time", {})]),
    ("<tool_call>time is up</tool_call>", "<tool_call>time is up</tool_call>", []),
    (
        '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Rome</parameter>\n</invoke>\n'
        '<invoke name="time">\n</invoke>\n</minimax:tool_call>',
        "",
        [("weather", {"city": "Rome"}), ("time", {})],
    ),
    (
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n"
        "<tool_call>time</tool_call>", "", [("weather", {"city": "Rome"}), ("time", {})],
    ),
    (
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Rome\n<tool_call>time</tool_call>",
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Rome\n", [("time", {})],
    ),
    (
        "<tool_call><function=weather><parameter=city>Rome\n<tool_call><function=weather><parameter=city>Oslo"
        "</parameter></function></tool_call>",
        "<tool_call><function=weather><parameter=city>Rome\n", [("weather", {"city": "Oslo"})],
    ),
    (
        "<tool_call><function=weather><parameter=city>\n<a></parameter></a>\n</parameter></function></tool_call>",
        "", [("weather", {"city": "<a></parameter></a>"})],
    ),
    (
        "<function=weather><parameter=city>a</parameter><parameter=city>b</parameter></function>",
        "<function=weather><parameter=city>a</parameter><parameter=city>b</parameter></function>", [],
    ),
    ("<function=time>{}</function> and more", "and more", [("time", {})]),
    ('<tool_call>{"name": "fly", "arguments": {"a": "<function=time></function>', None, []),
    ('<tool_call>{"name": "fly", "arguments": {"a": "<function=time></function>"}}</tool_call>', None, []),
    ('<tool_call>{"name": "time", "arguments": {"a": "\\ud83d"}}</tool_call>', "", [("time", {"a": "\ufffd"})]),
    ('{"name": "time", "arguments": {"a": "\\ud83d\\ude00\\\\"}}', "", [("time", {"a": "😀\\"})]),
    (f"<tool_call>{TIME}</tool_call>\n\n    indented", "    indented", [("time", {})]),
    (f"\n\n<tool_call>{TIME}</tool_call>", "", [("time", {})]),
    ("\n\n<tool_call>", "\n\n<tool_call>", []),
    (
        "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\": \"Rome\"}<|call|>", "",
        [("weather", {"city": "Rome"})],
    ),
    (" to=functions.time<|channel|>commentary json<|message|>{}", "", [("time", {})]),
    ("to=functions.fly", "to=functions.fly", []),
    ("to=Ann: hello", "to=Ann: hello", []),
    (
        ' to=time<|message|><atem:function_calls>\n<atem:invoke name="time">\n</atem:invoke>\n</atem:function_calls>',
        "", [("time", {})],
    ),
    (
        '<|tool_call>call:weather{city:<|"|>R, "o": {}<|"|>,days:[1,{a:true}]}<tool_call|>', "",
        [("weather", {"city": 'R, "o": {}', "days": [1, {"a": True}]})],
    ),
    ("<|tool_call>call:weather{city}<tool_call|>", "<|tool_call>call:weather{city}<tool_call|>", []),
    (
        "<|tool_call_start|>[weather(city='Rome', days=[1, 2]), time(at=null)]<|tool_call_end|>", "",
        [("weather", {"city": "Rome", "days": [1, 2]}), ("time", {"at": None})],
    ),
    ("<|tool_call_start|>[time(1)]<|tool_call_end|>", "<|tool_call_start|>[time(1)]<|tool_call_end|>", []),
    ("<|tool_call_start|>[__import__('os')]<|tool_call_end|>", None, []),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.time:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_call_begin|>functions.weather:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>", "", [("time", {}), ("weather", {})],
    ),
    (f"<tool_call>{TIME}, then more", ", then more", [("time", {})]),
    (f"[TOOL_CALLS]{TIME}, {TIME}", "", [("time", {}), ("time", {})]),
    ("import functools\nfunctools.cache", "import functools\nfunctools.cache", []),
    (f"functools[{ROME}, {TIME}]", "", [("weather", {"city": "Rome"}), ("time", {})]),
    ("a < b and [TOOL", "a < b and [TOOL", []),
    ("{", "{", []),
    ("", "", []),
]  # fmt: skip


def read(pieces: list[str], schemas: Schemas = SCHEMAS) -> tuple[str, list[tuple[str, object]]]:
    output = ToolOutput(NAMES, schemas)
    parts = [part for piece in pieces for part in output.feed(piece)] + output.flush()
    calls = [part for part in parts if isinstance(part, ToolCall)]
    assert output.num_calls == len(calls)
    assert len({call.call_id for call in calls}) == len(calls)
    said = "".join(part for part in parts if isinstance(part, str))
    return said, [(call.name, json.loads(call.arguments)) for call in calls]


def streamed(pieces: list[str]) -> tuple[str, list[tuple[str, object]], list[OutputPart]]:
    """The same, while calls are streamed."""
    output = ToolOutput(NAMES, SCHEMAS, streams=True)
    parts = [part for piece in pieces for part in output.feed(piece)] + output.flush()
    said, calls = "", list[tuple[str, str]]()
    for part in parts:
        if isinstance(part, str):
            said += part
        elif isinstance(part, ToolCall):
            calls.append((part.name, part.arguments))
        elif isinstance(part, CallBegun):
            calls.append((part.name, ""))
        else:
            calls[-1] = (calls[-1][0], calls[-1][1] + part.text)
    assert output.num_calls == len(calls)
    return said, [(name, json.loads(arguments)) for name, arguments in calls], parts


# A streamed call cannot be withdrawn; here its arguments turn out to be broken or duplicated.
TAKEN_BACK = ("1e400", "<parameter=city>b</parameter>", "<parameter=city>Rome\n", "<arg_value>Rome\n<tool")


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("text", "said", "calls"), [case for case in CASES if not any(t in case[0] for t in TAKEN_BACK)]
)
def test_calls_are_found_while_they_are_written(
    text: str, said: str | None, calls: list[tuple[str, object]], size: int
) -> None:
    pieces = [text[place : place + size] for place in range(0, len(text), size)]
    assert streamed(pieces)[:2] == (text if said is None else said, calls)


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{ROME}\n</tool_call>",
        f"[TOOL_CALLS][{ROME}]",
        '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Rome"}, "id": "abcdefghi"}]',
        '{"name": "weather", "parameters": {"city": "Rome"}}',
        '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}\n{"name": "time", "arguments": {}}</tool_call>',
        '[TOOL_CALLS]weather[ARGS]{"city": "Rome"}',
        "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
    ],
)
def test_the_name_and_the_arguments_come_as_they_are_written(text: str) -> None:
    place = text.index("Rome")
    output = ToolOutput(NAMES, SCHEMAS, streams=True)
    begun, *more = output.feed(text[: place + 2])
    assert isinstance(begun, CallBegun)
    assert begun.name == "weather"
    written = "".join(part.text for part in more if isinstance(part, CallText))
    assert '"city":' in written
    assert written.endswith('"Ro')
    said, calls, _ = streamed([text[: place + 2], text[place + 2 :]])
    assert (said, calls[0]) == ("", ("weather", {"city": "Rome"}))


def test_what_a_stream_began_is_handed_on_as_far_as_it_came() -> None:
    output = ToolOutput(NAMES, streams=True)
    cut = '<tool_call>{"name": "weather", "arguments": {"city": "Ro'
    parts = [*output.feed(cut), *output.flush()]
    assert [part.text for part in parts if isinstance(part, CallText)] == ['{"city": "Ro']
    assert output.num_calls == 1


@pytest.mark.parametrize(("text", "said", "calls"), CASES)
def test_calls_are_found(text: str, said: str | None, calls: list[tuple[str, object]]) -> None:
    said = text if said is None else said
    assert read([text]) == (said, calls)
    assert read(list(text)) == (said, calls)


def test_a_line_end_before_the_first_call_is_kept_wherever_pieces_end() -> None:
    call = '<tool_call>{"name": "weather", "arguments": {}}</tool_call>'
    for pieces in (["Let me see.\n" + call], ["Let me see.", "\n" + call], ["Let me see.", "\n", call]):
        said, calls = read(pieces)
        assert (said, len(calls)) == ("Let me see.\n", 1)


@given(case=st.sampled_from(CASES), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_pieces_do_not_matter(case: tuple[str, str | None, list[tuple[str, object]]], cuts: list[int]) -> None:
    text, said, calls = case
    said = text if said is None else said
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    assert read([text[i:j] for i, j in itertools.pairwise(places)]) == (said, calls)


PIECES = [
    "<|tool_call>call:time{",
    '<|"|>',
    "<tool_call|>",
    "<parameter=city>",
    "</parameter>",
    "<arg_key>",
    "city</arg_key><arg_value>",
    "</arg_value>",
    "to=functions.time",
    "<|channel|>commentary",
    "<|message|>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "functools",
    "<tool_call>",
    "</tool_call>",
    ROME,
    TIME,
    UNKNOWN,
    "<function=time>",
    "</function>",
    "{",
    "}",
    "[",
    ";",
    "time",
    "\n",
    " a ",
]


@given(
    st.text(alphabet='{}[]"name: weather,<tool_call>/`json\n', max_size=80)
    | st.lists(st.sampled_from(PIECES)).map("".join)
)
def test_nothing_is_lost_where_nothing_is_called(text: str) -> None:
    said, calls = read(list(text))
    assert calls or said == text


def test_blanks_behind_a_call_are_kept_between_words() -> None:
    assert read([TIME_CALL, "\n", "All", " ", "done", " ", "."])[0] == "All done ."


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_pieces_do_not_matter_whatever_is_said(text: str) -> None:
    assert read(list(text)) == read([text])


def test_text_that_can_be_no_call_is_not_held_back() -> None:
    output = ToolOutput(NAMES)
    assert output.feed("Once upon") == ["Once upon"]
    assert output.feed(" a <") == [" a "]
    assert output.feed("b") == ["<b"]


KINDS = {"zone": "string", "hours": "integer", "ratio": "number", "names": "array", "deep": "object"}
ZONE = {"type": "object", "properties": {name: {"type": kind} for name, kind in KINDS.items()}}
CLOCK = {"type": "function", "function": {"name": "time", "description": "The time.", "parameters": ZONE}}
PLAIN: dict[str, object] = {"zone": 'Q "quoted" ünï', "hours": 3, "ratio": 1.5}
NESTED = {**PLAIN, "names": ["a", "b"], "deep": {"inner": {"n": 2}, "lists": [["x"], [1, 2]]}}
# Their lists and objects are Python literals, which are not parsed.
FLAT = {"ByteDance-Seed-OSS", "openbmb-MiniCPM5-1B"}
UNTOLD = {"LFM2-8B-A1B", "LFM2.5-Instruct"}  # omit calls from a history


def test_what_public_templates_write_as_a_call_is_read_back() -> None:
    num_read, forms = 0, {ToolFormat.NONE, ToolFormat.DEEPSEEK, ToolFormat.BARE}  # no template has these
    for path in sorted(shared_file("templates").glob("*.jinja")):
        builder = PromptBuilder(TinyTokenizer(controls=["<s>", "</s>"], bos="<s>", eos="</s>"), path.read_text("utf-8"))
        forms.add(builder.tool_format)
        if not builder.tool_format or path.stem in UNTOLD:
            continue
        arguments = PLAIN if path.stem in FLAT else NESTED
        call = Message("assistant", "", tool_calls=(ToolCall("abcdefghi", "time", json.dumps(arguments)),))
        result = Message("tool", "Qresult", tool_call_id="abcdefghi", name="time")
        ids = builder.build([Message("user", "Quser"), call, result], [CLOCK])
        text = bytes(each for each in ids if each < 256).decode()
        answer = text[text.rindex("Quser") + len("Quser") : text.index("Qresult")]
        assert "The time." in text, path.stem
        assert all(name in text.replace(answer, "") for name in KINDS), path.stem
        # the prompt may end and the answer begin anywhere in it
        found = (read([answer[start:]], {"time": ZONE})[1] for start in range(len(answer)))
        assert any(calls == [("time", arguments)] for calls in found), path.stem
        num_read += 1
    assert num_read > 55
    assert forms == set(ToolFormat)
