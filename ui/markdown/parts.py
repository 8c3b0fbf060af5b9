"""Where a long list or table is cut, so that its end is laid out without its beginning. Pure, no Qt.

The header and the first rows of a table decide how wide its columns are, for good: so no row moves those before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from markdown_it.token import Token

from ui.markdown.lists import PART

LIST_ITEMS = 12  # a longer list is laid out in parts, each of which decides for itself whether its items stand apart
TABLE_ROWS = 4  # so many decide the widths; and so many are a part of a longer table
MORE = "more"  # and of a table that goes on from above
_STEPS = (4, 6, 9, 13, 18, 26, 36, 48)  # characters; few, so that a growing cell seldom moves its column
ROOM_CHARS = 60  # about as many stand beside each other between both side panes of a small window
Group = Sequence[Token]  # a top-level block


def is_table(group: Group) -> bool:
    """Whether a top-level block is a table."""
    return group[0].type == "table_open"


def line_of_item(group: Group, number: int) -> int:
    """The line, from 0, at which an item of a list begins; 0 where there is no such item."""
    if group[0].type not in ("bullet_list_open", "ordered_list_open"):
        return 0
    items = (token.map[0] for token in group if token.type == "list_item_open" and token.level == 1 and token.map)
    return next(islice(items, number, None), 0)


def number_of(group: Group) -> int:
    """With which number an ordered list begins."""
    start = group[0].attrGet("start")
    return 1 if start is None else int(start)


def rows_of(group: Group) -> list[list[Token]]:
    """The rows of a table without its header."""
    rows: list[list[Token]] = []
    in_body = False
    for token in group:
        in_body = token.type == "tbody_open" or (in_body and token.type != "tbody_close")
        if in_body and token.type == "tr_open":
            rows.append([])
        if in_body and rows and token.type != "tbody_open":
            rows[-1].append(token)
    return rows


def line_of_row(row: Sequence[Token]) -> int:
    """The line at which a row stands."""
    return row[0].map[0] if row[0].map else 0


def table_part(
    group: Group, rows: Sequence[Group], widths: Sequence[int], *, is_more: bool = False, goes_on: bool = False
) -> list[Token]:
    """Some rows of a table as a table of its own, with columns so wide in percent.

    It has the header unless it ``is_more`` of one that began above; it ``goes_on`` where more comes below.
    """
    opening = Token("table_open", "table", 1, map=group[0].map, block=True)
    opening.attrSet("class", " ".join(["grid", *[MORE] * is_more, *[PART] * goes_on]))
    head = [] if is_more else [token for token in _head_of(group) if token.type != "table_open"]
    body = [token for row in rows for token in row]
    if body:
        body = [Token("tbody_open", "tbody", 1, level=1), *body, Token("tbody_close", "tbody", -1, level=1)]
    part = [opening, *head, *body, group[-1]]
    cells = (token for token in part if token.type in ("th_open", "td_open"))
    for cell, width in zip(cells, widths, strict=False):  # those of the first row say it for all
        cell.attrSet("width", f"{width}%")
    return part


def column_widths(group: Group) -> tuple[int, ...]:
    """The share of each column in percent, as the longest cells of the header and of the first rows want it."""
    rows = [list(_head_of(group)), *rows_of(group)[:TABLE_ROWS]]
    longest: list[int] = []
    for row in rows:
        cells = (token for token in row if token.type == "inline")
        for number, cell in enumerate(cells):
            length = sum(len(child.content) for child in cell.children or ())
            if number < len(longest):
                longest[number] = max(longest[number], length)
            else:
                longest.append(length)
    sizes = _fitted([next((step for step in _STEPS if step >= length), _STEPS[-1]) + 2 for length in longest])
    return tuple(round(100 * size / sum(sizes)) for size in sizes)


def _fitted(sizes: Sequence[int]) -> list[float]:
    """Where not all fit beside each other, narrow columns are as wide as they want, the others share what is left."""
    fitted, room = [float(size) for size in sizes], float(ROOM_CHARS)
    for num_left, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        if size * num_left > room:
            return [min(each, room / num_left) for each in fitted]
        room -= size
    return fitted


def _head_of(group: Group) -> Iterator[Token]:
    for token in group:
        if token.type in ("tbody_open", "table_close"):
            return
        yield token
