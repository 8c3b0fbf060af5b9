"""Code that no lexer is given: lines so long that colouring them would hold the window."""

from __future__ import annotations

import pytest

from ui.theme.highlighting import MAX_LINE_CHARS, line_ranges


@pytest.mark.parametrize(
    ("language", "unit"), [("diff", "a"), ("c", "/"), ("yaml", "@"), ("javascript", "a."), ("diff", " ")]
)
def test_a_very_long_line_stays_plain(language: str, unit: str) -> None:
    assert line_ranges(unit * (60_000 // len(unit)), language) == [[]]


def test_code_of_ordinary_lines_is_coloured() -> None:
    line = "x = " + "1" * (MAX_LINE_CHARS - 4)
    assert all(line_ranges(f"{line}\n{line}", "python"))
    assert line_ranges(f"{line}1\n", "python") == [[], []]
