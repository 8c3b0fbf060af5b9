"""How models write that they call a tool: told by their chat templates."""

from __future__ import annotations

from enum import StrEnum

TOOL_CALL, TOOL_CALL_END = "<tool_call>", "</tool_call>"
TOOL_CALLS, ARGS = "[TOOL_CALLS]", "[ARGS]"
PYTHON_TAG = "<|python_tag|>"
# Control tokens of these texts are text in an answer: without them a call could not be told from other words.
TOOL_MARKERS = frozenset({TOOL_CALL, TOOL_CALL_END, TOOL_CALLS, ARGS, "[CALL_ID]"})


class ToolFormat(StrEnum):
    """What a call looks like."""

    NONE = ""  # the template takes no tools, or writes calls in a way that is not known
    HERMES = "hermes"  # <tool_call> {"name": ..., "arguments": {...}} </tool_call>: Qwen, Hermes and others
    LLAMA = "llama"  # {"name": ..., "parameters": {...}} and nothing else: Llama 3.1 and later
    MISTRAL = "mistral"  # [TOOL_CALLS][{"name": ..., "arguments": {...}}]
    MISTRAL_ARGS = "mistral-args"  # [TOOL_CALLS]name[ARGS]{...}: Mistral Small 3.2, Devstral and later


def tool_format_of(template: str) -> ToolFormat:
    """The format that a chat template has calls in."""
    if "tools" not in template:
        return ToolFormat.NONE
    if TOOL_CALL in template:
        return ToolFormat.HERMES
    if TOOL_CALLS in template:
        return ToolFormat.MISTRAL_ARGS if ARGS in template else ToolFormat.MISTRAL
    if PYTHON_TAG in template or '"parameters"' in template:
        return ToolFormat.LLAMA
    return ToolFormat.NONE
