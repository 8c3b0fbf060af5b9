"""List items beyond CommonMark: task check marks, and the list depth of blocks.

The parser rule runs after all others and changes no inline tokens, which are shared. No Qt.

Task lists as in GitHub's Markdown (https://github.github.com/gfm/#task-list-items-extension-). A check mark is a
character, so it can be selected, copied and read aloud.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ui.markdown.inline import OFFSET
from ui.text.reading_direction import is_right_to_left

TASK = "task"  # token type of a check mark, and CSS class of a block that begins with one
TASKS = "tasks"  # CSS class of a task list: no bullets
PART_CLASS = "part"  # CSS class of a list that continues below
LAST_CLASS = "last"  # CSS class of a nested list that ends together with the outermost list
TIGHT_CLASS = "tight"  # CSS class of a paragraph that is followed closely by another block of its item
DEPTH = "depth"  # key in a token's meta: the number of lists around its block, within the innermost quote
RIGHT_TO_LEFT = "right to left"  # key in a quote's meta: whether it starts with right-to-left text
FIRST_CLASS = "first"  # key in a token's meta: whether its block is the first one of an item or quote
NEW_LIST_CLASS = "turns"  # key in an item's meta: CSS class of the new list that begins at this item
MAX_DEPTH = 8  # deeper lists are not indented further
ITEMS = "items"  # key in an ordered list's meta: its number of items
NUM_DIGITS, MAX_DIGITS = 2, 9  # digits of an item number: those that fit the usual indent, and a limit
OPEN_BOX, DONE_BOX = "☐", "☑"
_MARK = re.compile(r"\[([ xX])\](?=\s)")
_OPENINGS = frozenset({"bullet_list_open", "ordered_list_open", "blockquote_open"})
_CLOSINGS = frozenset({"bullet_list_close", "ordered_list_close", "blockquote_close"})
_BOXES = frozenset({"fence", "code_block", "blockquote_open", "table_open"})
_HANDLED = _OPENINGS | _CLOSINGS | _BOXES | {"list_item_open"}
_CONTAINERS = frozenset({"list_item_open", "blockquote_open"})


def add_lists(parser: MarkdownIt) -> None:
    """Add task lists to a parser, and the list depth of quotes, code and tables."""
    parser.core.ruler.push("lists", _number_items)


@dataclass(slots=True)
class _Opened:
    opening: Token
    depth: int  # number of lists around this one, within the innermost quote
    is_task: bool | None = None  # whether the last item is a task; None before the first item
    num_items: int = 0
    split_at: Token | None = None  # the item at which the list was last split

    def add_class(self, name: str) -> None:
        """Add a CSS class to the list, or to the last part of a split list."""
        if self.split_at is None:
            self.opening.attrJoin("class", name)
        else:
            self.split_at.meta = {NEW_LIST_CLASS: f"{self.split_at.meta[NEW_LIST_CLASS]} {name}".strip()}


def _number_items(state: StateCore) -> None:
    tokens = state.tokens
    opened: list[_Opened] = []
    depth = 0  # number of open lists within the innermost quote
    for index, token in enumerate(tokens):
        kind = token.type
        if kind not in _HANDLED:
            continue
        if kind in _BOXES and opened:
            is_first = tokens[index - 1].type in _CONTAINERS
            token.meta = {**token.meta, DEPTH: min(depth, MAX_DEPTH), FIRST_CLASS: is_first}
        if kind == "blockquote_open":
            token.meta = {**token.meta, RIGHT_TO_LEFT: is_right_to_left(_first_words(tokens, index))}
        if kind in _OPENINGS:
            opened.append(_Opened(token, depth))
            depth = 0 if kind == "blockquote_open" else depth + 1
        elif kind in _CLOSINGS:
            closed = opened.pop()
            depth = closed.depth
            closed.opening.meta = {**closed.opening.meta, ITEMS: closed.num_items}
            if depth and kind != "blockquote_close" and _ends_all(tokens, index, depth):
                closed.add_class(LAST_CLASS)
        elif kind == "list_item_open":
            opened[-1].num_items += 1
            _handle_item(tokens, index, opened[-1])


def _first_words(tokens: Sequence[Token], opening: int) -> str:
    """The first words of a quote; may be empty."""
    for index in range(opening + 1, len(tokens)):
        if tokens[index].type == "inline":
            return tokens[index].content
        if tokens[index].type == "blockquote_close":
            break
    return ""


def _ends_all(tokens: Sequence[Token], index: int, depth: int) -> bool:
    """Whether all enclosing lists end with this one."""
    following = (token.type for token in tokens[index + 1 : index + 1 + 2 * depth])
    return all(kind in _CLOSINGS or kind == "list_item_close" for kind in following)


def _handle_item(tokens: Sequence[Token], index: int, inside: _Opened) -> None:
    item, paragraph = tokens[index : index + 2]
    words = tokens[index + 2] if paragraph.type == "paragraph_open" else None
    marked = _with_check_mark(words.children or ()) if words is not None else None
    if words is not None and paragraph.hidden and tokens[index + 4].type != "list_item_close":
        tokens[index + 3].hidden = paragraph.hidden = False
        paragraph.attrJoin("class", TIGHT_CLASS)
    if words is not None and marked:
        words.children = marked
    if inside.opening.type != "bullet_list_open":
        return
    if marked:
        (item if paragraph.hidden else paragraph).attrJoin("class", TASK)
    # Begin another list at an item of another kind.
    is_task = marked is not None
    if inside.is_task is None and is_task:
        inside.opening.attrJoin("class", TASKS)
    elif inside.is_task not in (None, is_task):
        inside.add_class(PART_CLASS)
        inside.split_at, item.meta = item, {NEW_LIST_CLASS: TASKS if is_task else ""}
    inside.is_task = is_task


def _with_check_mark(children: Sequence[Token]) -> list[Token] | None:
    """A task's tokens with a check mark in place of the brackets; None if the item is not a task."""
    if not children or children[0].type != "text" or not children[0].content.startswith("["):
        return None
    found = _MARK.match(children[0].content)
    if found is None:
        return None
    place = int(children[0].meta[OFFSET])
    mark = Token(TASK, "", 0, content=OPEN_BOX if found[1] == " " else DONE_BOX, meta={OFFSET: place + 1})
    rest = Token("text", "", 0, content=children[0].content[found.end() :], meta={OFFSET: place + found.end()})
    return [mark, rest, *children[1:]]
