"""What a server sends is bounded before it is worked on: Python's lock, which the window needs, is held meanwhile."""

from __future__ import annotations

import time

import pytest
from mcp_types import CallToolResult, TextContent, Tool

from app.tools.mcp.limits import SCHEMAS_BYTES
from app.tools.mcp.results import result_of, usable_tools

MOST = 256 * 1024
MAX_STALL_S = 0.05


@pytest.mark.parametrize("piece", ["\x1b[31mred\x1b[0m \n", "\x1b[", "\x1b]", "\r\n\x07", "word "])
def test_ten_megabytes_are_cleaned_no_further_than_they_are_kept(piece: str) -> None:
    text = piece * (10_000_000 // len(piece))
    given = CallToolResult(content=[TextContent(type="text", text=text), TextContent(type="text", text="the end")])
    best_s = float("inf")
    for _ in range(5):
        began = time.thread_time()
        result = result_of("a", given, MOST)
        best_s = min(best_s, time.thread_time() - began)
    assert best_s < MAX_STALL_S
    assert len(result.text) <= MOST
    assert "\x1b" not in result.text
    assert len(text) - 2 * MOST <= result.cut <= len(text)  # of what was not kept not all was cleaned


def test_what_fits_is_whole() -> None:
    parts = ("\x1b[31mred\x1b[0m", "b" * 50, "c" * 60)
    given = CallToolResult(content=[TextContent(type="text", text=text) for text in parts])
    result = result_of("a", given, 100)
    assert (result.text, result.cut) == ("red\n" + "b" * 50 + "\n" + "c" * 45, 15)


def test_schemas_of_a_server_are_bounded_together() -> None:
    wide = {"type": "object", "properties": {f"property_{number:03}": {"type": "string"} for number in range(600)}}
    small = {"type": "object"}
    tools = [Tool(name=f"wide{number:03}", input_schema=wide) for number in range(100)]
    found, num_left_out = usable_tools([*tools, Tool(name="z_last", input_schema=small)], 128)
    assert 1 < len(found) < 100
    assert "z_last" in found  # there is room for one that is small
    assert num_left_out == 101 - len(found)
    assert len(str(wide)) * (len(found) - 1) <= SCHEMAS_BYTES
