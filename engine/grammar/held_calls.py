"""The grammar of an answer that may call tools: anything, but what begins as a call goes on as one."""

from __future__ import annotations

import json
import logging
from functools import lru_cache

from engine.errors import GrammarError
from engine.grammar.tool_calls import held_calls_grammar
from engine.records import ChatRequest
from engine.tools.formats import ToolFormat

log = logging.getLogger(__name__)


def held_calls(request: ChatRequest, tool_format: ToolFormat) -> str:
    """The grammar that a request wants held; empty where it wants none, or none can be made of its tools."""
    if not request.holds_calls or not request.tools or tool_format is ToolFormat.NONE:
        return ""
    return _grammar_of(tool_format, json.dumps(request.tools))


@lru_cache(maxsize=8)
def _grammar_of(tool_format: ToolFormat, tools: str) -> str:
    """Every answer of a turn asks for the same."""
    try:
        return held_calls_grammar(tool_format, [tool["function"] for tool in json.loads(tools)]).text
    except GrammarError as error:
        log.warning("Calls of tools are not held in their form: %s", error.message)
        return ""
