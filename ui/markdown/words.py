"""Detects words that only extend the open block and need no parsing. Pure, no Qt.

If neither the new words nor the text before them contain a Markdown character, the words extend the same block. Most
chunks of an answer are like this.
"""

import re
from collections.abc import Sequence

from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

from ui.markdown.links import may_be_link

_CLOSINGS = frozenset(
    {"paragraph_close", "heading_close", "list_item_close", "bullet_list_close", "ordered_list_close"}
)
_END_TAGS = re.compile(r"(?:</\w+>|\s)*\Z")
_END_CHARS = 64  # longer than the end tags of all but the most deeply nested list
_TAGS = re.compile(r"<[^>]*>")
_SPACES = re.compile(r"\s+")
_WORDS = re.compile(r"\S+")
_ENTITIES = re.compile(r"&#?\w+;")
# Letters, digits, signs without a Markdown meaning within a line that has a letter, and printable non-ASCII characters.
_PLAIN_TEXT = re.compile("[0-9A-Za-z .,:'\"?/%=+\u00a1-\U0010ffff-]*")


def accepts_words(group: Sequence[Token]) -> bool:
    """Whether a block ends with plain words at the end of its document."""
    last = next((token for token in reversed(group) if token.type not in _CLOSINGS), None)
    if last is None or last.type != "inline" or not last.children:
        return False
    child = last.children[-1]
    return child.type == "text" and child.level == 0 and bool(child.content)


def words_to_append(text: str, num_known: int) -> str | None:
    """The words that extend the shown end of ``text[:num_known]``, without trailing spaces; None: parse again."""
    known = text[:num_known].rstrip(" ")
    added = text[len(known) :]
    if "  " in added or not known or not _is_plain(known[-1] + added):
        return None
    word = max(known.rfind(" "), known.rfind("\n")) + 1
    if may_be_link(text[word:]):
        return None
    line = known[known.rfind("\n") + 1 :]
    return added.rstrip(" ") if any(map(str.isalpha, line)) else None


def append_to_html(html: str, words: str) -> str:
    """A block's HTML with ``words`` added at its end."""
    first = max(len(html) - _END_CHARS, 0)
    end = _END_TAGS.search(html, first)
    if end is not None and (end.start() == first or ">" in html[first : end.start()]):  # ``first`` may be inside a tag
        end = _END_TAGS.search(html)
    place = end.start() if end is not None else len(html)
    return f"{html[:place]}{escapeHtml(words)}{html[place:]}"


def first_difference(text: str, before: str, html: str) -> int:
    """The first shown position at which two HTML texts differ; may be too early."""
    same = html[: _common_length(before, html)]
    same = same[: max(same.rfind("<") if same.rfind("<") > same.rfind(">") else len(same), 0)]
    num_letters = len(_SPACES.sub("", _TAGS.sub("", same)))  # an entity counts as too many letters, never too few
    num_letters -= sum(len(found) - 1 for found in _ENTITIES.findall(_TAGS.sub("", same))) + same.count("&")
    place = 0
    for found in _WORDS.finditer(text):
        if len(found[0]) >= num_letters:
            return found.start() + max(num_letters, 0)
        num_letters -= len(found[0])
        place = found.end()
    return place


def _common_length(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one.startswith(other[:middle]) else (low, middle - 1)
    return low


def _is_plain(text: str) -> bool:
    return text.isprintable() and _PLAIN_TEXT.fullmatch(text) is not None
