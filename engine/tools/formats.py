"""The formats in which models write tool calls. Parser and grammars use the same descriptions.

The formats are from models' chat templates; a new format is a line in `SYNTAXES`. White space between the parts of a
call may differ, so parts are identified by their other characters.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum


class ToolFormat(StrEnum):
    """The name of a format of calls."""

    NONE = ""  # the template does not support tools, or has an unknown format
    HERMES = "hermes"  # Qwen, Hermes, Granite 4 and others
    FUNCTION = "function"  # Qwen3-Coder, Qwen3.5, Nemotron 3, StepFun
    SEED = "seed"  # Seed-OSS
    KEY_VALUE = "key-value"  # GLM 4.5 and later, Ling, Laguna, Spark
    KEY_VALUE_OPENSOURCE = "key-value-opensource"  # Hunyuan 3
    INVOKE = "invoke"  # MiniMax M2
    DSML = "dsml"  # DeepSeek V3.2
    DSML_CALLS = "dsml-calls"  # DeepSeek V4
    ATEM = "atem"  # Muse
    PARAM = "param"  # MiniCPM 5
    ARGUMENT = "argument"  # Kimi K3
    ACTION = "action"  # Command R7B, Command A
    ACTION_FENCE = "action-fence"  # Command R+
    TOOL_CALLS_LIST = "tool-calls-list"  # Apriel
    TOOLCALL = "toolcall"  # Nemotron Nano 2
    TOOL_CALL_LIST = "tool-call-list"  # Granite 3
    FUNCTOOLS = "functools"  # Firefunction
    FUNCTION_CALL = "function-call"  # GigaChat 3.1
    FUNCTION_CALL_ROLE = "function-call-role"  # GigaChat 3
    LLAMA = "llama"  # Llama 3.1 and later: a JSON object without a mark
    BARE = "bare"  # a JSON object without a mark, with other keys
    MISTRAL = "mistral"
    MISTRAL_ARGS = "mistral-args"  # Mistral Small 3.2, Devstral and later
    MISTRAL_ID = "mistral-id"  # MISTRAL_ARGS with an id
    FUNCTIONARY = "functionary"  # Functionary 3.1
    KIMI = "kimi"  # Kimi K2
    SOLAR = "solar"  # Solar Open
    DEEPSEEK_FENCE = "deepseek-fence"  # DeepSeek V3 and R1
    DEEPSEEK = "deepseek"  # DeepSeek V3.1
    HARMONY = "harmony"  # gpt-oss
    PYTHON = "python"  # LFM2 and later
    GEMMA = "gemma"  # Gemma 4


class Body(Enum):
    """The format of a call's content."""

    OBJECT = "an object with the name and the arguments"
    ARGUMENTS = "the arguments as JSON"
    TAGS = "the arguments between tags"
    PYTHON = "calls as Python has them"
    GEMMA = "the arguments with strings between marks"


@dataclass(frozen=True, slots=True)
class CallSyntax:
    """The syntax of calls: ``block``, then ``begin``, content and ``end`` of each call, then ``block_end``.

    ``begin`` contains ``{name}``, and optionally ``{id}`` and ``{index}``; the tags of an argument contain ``{key}``.
    One block has all calls with a ``separator``, or with ``has_own_blocks`` each call has its own block.
    """

    block: str = ""
    block_end: str = ""
    body: Body = Body.OBJECT
    begin: str = ""
    end: str = ""
    separator: str = ""
    has_own_blocks: bool = False
    name_key: str = "name"
    arguments_key: str = "arguments"
    key: str = ""
    json_key: str = ""  # tag before a value that is not a text, if it differs
    value_end: str = ""
    described: bool = False  # templates describe this format to the model, and omit earlier calls from the prompt
    other_marks: tuple[str, ...] = ()  # marks of calls without the block, or in another order

    @property
    def mark(self) -> str:
        """The text at the beginning of calls; empty for a format without a mark."""
        return self.block.removesuffix("[").rstrip() or self.begin.partition("{")[0]


def _list(block: str, block_end: str, separator: str = ", ", **others: object) -> CallSyntax:
    return CallSyntax(block + "[", "]" + block_end, separator=separator, **others)  # type: ignore[arg-type]


def _tags(block: str, block_end: str, begin: str, key: str, value_end: str, end: str, **others: object) -> CallSyntax:
    given = {"begin": begin, "end": end, "key": key, "value_end": value_end, **others}
    return CallSyntax(block, block_end, Body.TAGS, **given)  # type: ignore[arg-type]


def _own_blocks(syntax: CallSyntax) -> CallSyntax:
    """A copy of the syntax with a block around each call."""
    return replace(syntax, has_own_blocks=True, separator="\n")


GEMMA_QUOTE = '<|"|>'  # quotes strings
_ARGUMENTS = Body.ARGUMENTS
_DSML = ('<｜DSML｜invoke name="{name}">\n', '<｜DSML｜parameter name="{key}" string="true">')
_DSML_END = ("</｜DSML｜parameter>\n", "</｜DSML｜invoke>\n")
_DSML_JSON = '<｜DSML｜parameter name="{key}" string="false">'
_TOOL_NAME = {"name_key": "tool_name", "arguments_key": "parameters"}
# The syntaxes, in the order in which they are tried.
SYNTAXES: Mapping[ToolFormat, CallSyntax] = {
    ToolFormat.HERMES: _own_blocks(CallSyntax("<tool_call>\n", "\n</tool_call>")),
    ToolFormat.FUNCTION: _own_blocks(
        _tags(
            "<tool_call>\n", "</tool_call>", "<function={name}>\n", "<parameter={key}>\n", "\n</parameter>\n",
            "</function>\n", other_marks=("<function=",),
        )
    ),
    ToolFormat.KEY_VALUE: _own_blocks(
        _tags(
            "<tool_call>", "</tool_call>", "{name}\n", "<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n", "",
        )
    ),
    ToolFormat.SEED: _own_blocks(
        _tags(
            "<seed:tool_call>\n", "</seed:tool_call>", "<function={name}>\n", "<parameter={key}>", "</parameter>\n",
            "</function>\n",
        )
    ),
    ToolFormat.INVOKE: _tags(
        "<minimax:tool_call>\n", "</minimax:tool_call>", '<invoke name="{name}">\n', '<parameter name="{key}">',
        "</parameter>\n", "</invoke>\n",
    ),
    ToolFormat.KEY_VALUE_OPENSOURCE: _tags(
        "<tool_calls:opensource>\n", "</tool_calls:opensource>", "<tool_call:opensource>{name}<tool_sep:opensource>\n",
        "<arg_key:opensource>{key}</arg_key:opensource>\n<arg_value:opensource>", "</arg_value:opensource>\n",
        "</tool_call:opensource>\n",
    ),
    ToolFormat.DSML: _tags(
        "<｜DSML｜function_calls>\n", "</｜DSML｜function_calls>", *_DSML, *_DSML_END, json_key=_DSML_JSON
    ),
    ToolFormat.DSML_CALLS: _tags(
        "<｜DSML｜tool_calls>\n", "</｜DSML｜tool_calls>", *_DSML, *_DSML_END, json_key=_DSML_JSON
    ),
    ToolFormat.ATEM: _tags(
        "<atem:function_calls>\n", "</atem:function_calls>", '<atem:invoke name="{name}">\n',
        '<atem:parameter name="{key}">', "</atem:parameter>\n", "</atem:invoke>\n",
    ),
    ToolFormat.PARAM: _tags(
        "", "", '<function name="{name}">', '<param name="{key}">', "</param>", "</function>"
    ),
    ToolFormat.ARGUMENT: _tags(
        "<|open|>tools<|sep|>", "<|close|>tools<|sep|>", '<|open|>call tool="{name}" index="{index}"<|sep|>',
        '<|open|>argument key="{key}" type="string"<|sep|>', "<|close|>argument<|sep|>", "<|close|>call<|sep|>",
        json_key='<|open|>argument key="{key}" type="{type}"<|sep|>',
    ),
    ToolFormat.ACTION: _list("<|START_ACTION|>", "<|END_ACTION|>", ",", **_TOOL_NAME),
    ToolFormat.ACTION_FENCE: _list("Action:\n```json\n", "```", ",", **_TOOL_NAME),
    ToolFormat.TOOL_CALLS_LIST: _list("<tool_calls>", "</tool_calls>"),
    ToolFormat.TOOLCALL: _list("<TOOLCALL>", "</TOOLCALL>"),
    ToolFormat.TOOL_CALL_LIST: _list("<|tool_call|>", "", described=True),
    ToolFormat.FUNCTOOLS: _list("functools", ""),
    ToolFormat.FUNCTION_CALL: CallSyntax("<|function_call|>"),
    ToolFormat.FUNCTION_CALL_ROLE: CallSyntax("function call<|role_sep|>\n"),
    ToolFormat.MISTRAL: _list("[TOOL_CALLS]", ""),
    ToolFormat.MISTRAL_ID: CallSyntax(body=_ARGUMENTS, begin="[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]"),
    ToolFormat.MISTRAL_ARGS: CallSyntax(body=_ARGUMENTS, begin="[TOOL_CALLS]{name}[ARGS]"),
    ToolFormat.FUNCTIONARY: CallSyntax(body=_ARGUMENTS, begin="<function={name}>", end="</function>"),
    ToolFormat.KIMI: CallSyntax(
        "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", _ARGUMENTS,
        "<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>", "<|tool_call_end|>",
        other_marks=("<|tool_call_begin|>",), described=True,
    ),
    ToolFormat.SOLAR: CallSyntax(
        "<|tool_calls|>", "<|calls|>", _ARGUMENTS,
        "<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>", "<|tool_call:end|>",
    ),
    ToolFormat.DEEPSEEK_FENCE: CallSyntax(
        "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", _ARGUMENTS,
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n", "\n```<｜tool▁call▁end｜>", "\n",
    ),
    ToolFormat.DEEPSEEK: CallSyntax(
        "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", _ARGUMENTS,
        "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>", "<｜tool▁call▁end｜>",
    ),
    ToolFormat.HARMONY: CallSyntax(
        body=_ARGUMENTS, begin="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>", end="<|call|>",
        other_marks=("<|start|>assistant to=functions.", "to=functions."),
    ),
    ToolFormat.PYTHON: _list("<|tool_call_start|>", "<|tool_call_end|>", body=Body.PYTHON, described=True),
    ToolFormat.GEMMA: CallSyntax(
        "", "", Body.GEMMA, "<|tool_call>call:{name}", "<tool_call|>"
    ),
    ToolFormat.LLAMA: CallSyntax(arguments_key="parameters", other_marks=("<|python_tag|>",)),
    ToolFormat.BARE: CallSyntax(),
}  # fmt: skip
_CONTROL = re.compile(r"<[|｜]?/?[\w:▁]+[|｜]?>|\[[A-Z_]+\]|<\|\"\|>|｜DSML｜")


def tool_markers_among(control_texts: tuple[str, ...]) -> frozenset[str]:
    """The control tokens of a vocabulary that occur in calls, whose text must be kept.

    Tokens like ``<|sep|>`` have other meanings in other models, so they count only if a complete call can be written.
    """
    present, kept = set(control_texts), set[str]()
    for syntax in SYNTAXES.values():
        parts = (syntax.block, syntax.block_end, syntax.begin, syntax.end, syntax.key, syntax.value_end)
        markers = {marker for part in (*parts, *syntax.other_marks) for marker in _CONTROL.findall(part)}
        if syntax.body is Body.GEMMA:
            markers.add(GEMMA_QUOTE)
        if all(marker in present for marker in markers if "|" in marker or "｜" in marker):
            kept |= markers & present
    return frozenset(kept)


def is_plain_text(schema: object) -> bool:
    """Whether a value between tags is plain text: the schema allows a string, or has no type."""
    if not isinstance(schema, Mapping):
        return True
    choices = schema.get("anyOf") or schema.get("oneOf")
    if "type" not in schema and isinstance(choices, list | tuple):
        return any(is_plain_text(choice) for choice in choices)
    kinds = schema.get("type")
    if kinds is None and isinstance(values := schema.get("enum"), list):
        return any(isinstance(value, str) for value in values)
    return kinds is None or kinds == "string" or (isinstance(kinds, list) and "string" in kinds)
