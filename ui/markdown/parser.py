"""The Markdown of answers, parsed with token positions.

CommonMark with tables, strikethrough, bare addresses, task lists and formulas. Raw HTML (except ``<br>``) and unsafe
links stay visible as text.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from ui.markdown.inline import PositionedInline
from ui.markdown.links import add_bare_links
from ui.markdown.lists import add_lists
from ui.markdown.math_rules import add_formulas
from ui.text.links import is_safe

MAX_NESTING = 100  # deeper content is omitted by the parser


_LINE_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)


def _line_break_tag(state: StateInline, silent: bool) -> bool:
    """Parse ``<br>``, the only supported tag: table cells have no other line break."""
    found = _LINE_BREAK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


class SafeParser(MarkdownIt):
    """The parser of answers. Reference definitions are off: they could change a block after it was closed.

    Text tokens are not joined, so that each keeps its position.
    """

    def __init__(self) -> None:
        super().__init__("commonmark")
        self.inline = PositionedInline()
        self.configure("commonmark", {"html": False, "maxNesting": MAX_NESTING})
        self.enable(["table", "strikethrough"]).disable(["reference", "fragments_join", "text_join"])
        add_bare_links(self)
        add_lists(self)
        self.inline.ruler.before("autolink", "line_break_tag", _line_break_tag)
        add_formulas(self)

    def validateLink(self, url: str) -> bool:
        return is_safe(url)
