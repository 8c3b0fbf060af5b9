"""Tests the setting of tools that may run without permission."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.settings.table import FIELD_BY_KEY, value_problem
from app.core.domain.tools.permissions import AllowedTool, allowed_line, read_allowed_tools

TOOLS = st.builds(
    AllowedTool,
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda text: text.strip() == text),
    st.from_regex(r"[a-zA-Z0-9_-]{1,64}", fullmatch=True),
    st.sampled_from(["", "0123abcd" * 8]),
)


@given(st.lists(TOOLS, max_size=5, unique_by=lambda tool: (tool.server, tool.name)))
def test_what_is_written_is_read_again(tools: list[AllowedTool]) -> None:
    assert list(read_allowed_tools(allowed_line(tools))) == tools


def test_of_a_tool_that_was_allowed_again_the_last_digest_counts() -> None:
    old, new = AllowedTool("files", "read", "00000000"), AllowedTool("files", "read", "11111111")
    assert allowed_line([old, new]) == "files/read#11111111"


@pytest.mark.parametrize("line", ["read_file", "/read", "files/", "files/a b", "files/read#xyz", "a/b/c"])
def test_what_is_no_tool_is_refused_in_one_sentence(line: str) -> None:
    with pytest.raises(ValueError, match="is not of the form server/tool"):
        read_allowed_tools(line)
    assert "server/tool" in value_problem(FIELD_BY_KEY["allowed_tools"], line)
