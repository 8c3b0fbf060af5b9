"""How models write that they call a tool: told by their chat templates."""

from __future__ import annotations

from enum import StrEnum

TOOL_CALL, TOOL_CALL_END = "<tool_call>", "</tool_call>"
TOOL_CALLS, ARGS = "[TOOL_CALLS]", "[ARGS]"
PYTHON_TAG = "<|python_tag|>"
# Blocks around a call, or around several: what begins one, and what ends it.
BLOCKS = {
    TOOL_CALL: TOOL_CALL_END,
    "<seed:tool_call>": "</seed:tool_call>",
    "<minimax:tool_call>": "</minimax:tool_call>",
    "<|START_ACTION|>": "<|END_ACTION|>",
}
FUNCTION_TAG = "<function="  # a call without a block around it
# Control tokens of these texts are text in an answer: without them a call could not be told from other words.
TOOL_MARKERS = frozenset(
    {*BLOCKS, *BLOCKS.values(), TOOL_CALLS, ARGS, "[CALL_ID]", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"}
)


class ToolFormat(StrEnum):
    """What a call looks like."""

    NONE = ""  # the template takes no tools, or writes calls in a way that is not known
    HERMES = "hermes"  # <tool_call> {"name": ..., "arguments": {...}} </tool_call>: Qwen, Hermes and others
    FUNCTION = "function"  # <tool_call> <function=f> <parameter=k> v </parameter> </function>: Qwen3-Coder, Qwen3.5
    SEED = "seed"  # the same in <seed:tool_call>: Seed-OSS
    KEY_VALUE = "key-value"  # <tool_call>f <arg_key>k</arg_key> <arg_value>v</arg_value>: GLM 4.5 and later
    INVOKE = "invoke"  # <minimax:tool_call> <invoke name="f"> <parameter name="k">v</parameter>: MiniMax M2
    ACTION = "action"  # <|START_ACTION|>[{"tool_name": ..., "parameters": {...}}]<|END_ACTION|>: Command R7B
    FUNCTIONARY = "functionary"  # <function=f>{...}</function>: Functionary 3.1
    LLAMA = "llama"  # {"name": ..., "parameters": {...}} and nothing else: Llama 3.1 and later
    MISTRAL = "mistral"  # [TOOL_CALLS][{"name": ..., "arguments": {...}}]
    MISTRAL_ARGS = "mistral-args"  # [TOOL_CALLS]f[ARGS]{...}: Mistral Small 3.2, Devstral and later


# The format of the first line all of whose texts a template has.
_TELLING = (
    (("]<]minimax[>[",), ToolFormat.NONE),  # MiniMax M3: marks around each piece
    (("<atem:",), ToolFormat.NONE),
    (("<|START_ACTION|>",), ToolFormat.ACTION),
    (("<minimax:tool_call>",), ToolFormat.INVOKE),
    ((TOOL_CALL, "<arg_key>"), ToolFormat.KEY_VALUE),
    ((TOOL_CALL, "<function="), ToolFormat.FUNCTION),
    (("<seed:tool_call>", "<function="), ToolFormat.SEED),
    ((TOOL_CALL,), ToolFormat.HERMES),
    ((TOOL_CALLS, ARGS), ToolFormat.MISTRAL_ARGS),
    ((TOOL_CALLS,), ToolFormat.MISTRAL),
    ((FUNCTION_TAG, "</function>"), ToolFormat.FUNCTIONARY),
    ((PYTHON_TAG,), ToolFormat.LLAMA),
    (('"parameters"',), ToolFormat.LLAMA),
)


def tool_format_of(template: str) -> ToolFormat:
    """The format that a chat template has calls in."""
    if "tools" not in template:
        return ToolFormat.NONE
    return next((found for texts, found in _TELLING if all(text in template for text in texts)), ToolFormat.NONE)
