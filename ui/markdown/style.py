"""The style sheet of a prose document: how the HTML of an answer looks, as far as Qt's rich text goes.

Qt takes the size of a heading as a step from the text's own and no pixels for it. It leaves out the lower margin of
what stands before a table, and moves a table in lists by 40 pixels for each of them, whatever the indent is.
"""

from __future__ import annotations

from ui.markdown.lists import MAX_DEPTH, MAX_DIGITS, NUM_DIGITS
from ui.theme.palette import Palette

LINE_HEIGHT = 1.55
TABLE_EDGE_PX = 2  # what Qt keeps free around the outer line of a table: two parts of one share that line
_QT_INDENT_PX = 40


def document_style(tokens: Palette, base: int, code_family: str, line_height: float = LINE_HEIGHT) -> str:
    """The style sheet of a prose document."""
    return f"""
    p, li {{ line-height: {round(base * line_height)}px; }}
    p {{ margin: 0 0 10px 0; }}
    p.tight {{ margin: 0 0 3px 0; }}
    h1, h2, h3, h4, h5, h6 {{ font-weight: 600; }}
    h1, h2 {{ margin: 16px 0 8px 0; }}
    h3 {{ margin: 12px 0 6px 0; }}
    h4, h5, h6 {{ font-size: medium; margin: 8px 0 6px 0; }}
    ul, ol {{ margin: 0 0 10px 0; }}
    ul.part, ol.part, li ul, li ol {{ margin: 0 0 3px 0; }}
    ul.last, ol.last {{ margin: 0 0 10px 0; }}
    .part ul.last, .part ol.last {{ margin: 0 0 3px 0; }}
    ul {{ list-style-type: disc; }}
    ul.tasks {{ list-style-type: none; }}
    li {{ margin: 0 0 3px 0; }}
    li.task, p.task {{ text-indent: -{round(base * 1.2)}px; }}
    a {{ color: {tokens.accent_text}; text-decoration: underline; }}
    hr {{ background-color: {tokens.border_strong}; }}
    span.code {{ font-family: '{code_family}'; font-size: {base - 1}px; background: {tokens.tint}; }}
    table.code {{ margin: 8px 0 10px 0; }}
    td.code {{ background: {tokens.tint}; padding: 8px 10px 8px 10px; }}
    pre.nested {{ font-family: '{code_family}'; font-size: {base - 1}px; white-space: pre-wrap; margin: 0;
      line-height: {round(base * 1.35)}px; }}
    table.grid {{ border-collapse: collapse; border: 1px solid {tokens.border_strong}; margin: 10px 0 8px 0; }}
    table.grid th {{ background: {tokens.tint}; font-weight: 600; border: 1px solid {tokens.border_strong}; }}
    table.grid th, table.grid td {{ line-height: {round(base * 1.35)}px; }}
    table.grid td {{ border: 1px solid {tokens.border_strong}; }}
    table.part {{ margin-bottom: -{TABLE_EDGE_PX}px; }}
    table.more {{ margin-top: -{TABLE_EDGE_PX}px; }}
    table.quote {{ margin: 8px 0 8px 0; }}
    td.quote {{ border-left: 3px solid {tokens.border_strong}; padding-left: 12px; color: {tokens.text_muted}; }}
    td.quote-rtl {{ border-right: 3px solid {tokens.border_strong}; padding-right: 12px; color: {tokens.text_muted}; }}
    table.first {{ margin-top: 0; }}
    {_indents(base)}
    """


def indent_of(base: int) -> int:
    """How far a list is moved in, in pixels: as far as numbers of two digits need, so that a tenth item moves none."""
    return round(base * 1.9)


def _indents(base: int) -> str:
    tables = range(1, MAX_DEPTH + 1)
    less = [f"table.in{depth} {{ margin-left: -{depth * (_QT_INDENT_PX - indent_of(base))}px; }}" for depth in tables]
    digits = range(NUM_DIGITS + 1, MAX_DIGITS + 1)
    more = [f"ol.digits{num} {{ margin-left: {round((num - NUM_DIGITS) * base * 0.64)}px; }}" for num in digits]
    return "\n    ".join(less + more)
