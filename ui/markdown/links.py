"""Bare addresses as links: ``https://…``, ``http://…`` and ``www.…``. No Qt, opens nothing.

Follows GitHub's Markdown (https://github.github.com/gfm/#autolinks-extension-), but an address also ends at unescaped
quotes, backslashes, Chinese and Japanese punctuation, and before a bracket that closes an outer one, so that
``[https://a.org](https://b.org)`` stays a link.
"""

import re
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.rules_inline import StateInline

from ui.markdown.inline import BARE_LINK, OFFSET
from ui.text.links import is_safe

RULE_NAME = "bare_link"
MAX_CHARS = 2_000  # a longer run is not an address: it would be searched again and again
_SCHEME = re.compile(r"(?<![a-z])https?\Z", re.IGNORECASE)
_WWW = re.compile(r"(?:\A|(?<=[\s*_~()\[\]\"']))www\Z", re.IGNORECASE)
_RUN = re.compile(rf"""[^\s<>"`\\\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f“”„«»]{{1,{MAX_CHARS}}}""")
_DOMAIN = re.compile(r"[^\W_][\w-]*(?:\.[\w-]+)*")
_ENTITY = re.compile(r"&[A-Za-z0-9]+;\Z")
_TRAILING = "?!.,:*_~'’…"
_OPENED = {"]": "[", "}": "{"}
_NUM_SCHEME = len("https")


def add_bare_links(parser: MarkdownIt) -> None:
    """Add bare addresses to a parser. Its text rule then also stops before the full stop of ``www.``."""
    signs = parser.inline.terminator_re.pattern.removeprefix("[").removesuffix("]")
    # The pattern begins with a character set, which keeps the search fast.
    parser.inline.terminator_re = re.compile(rf"[{signs}.](?:(?<!\.)|(?<=[Ww]{{3}}\.))")
    parser.inline.ruler.after("text", RULE_NAME, _rule)


def may_be_link(text: str) -> bool:
    """Whether plain words contain, or may become, a bare address."""
    return "://" in text or "www." in text.lower()


def _rule(state: StateInline, silent: bool) -> bool:
    """Parser rule for a colon or full stop; the text before it is already pending."""
    src, pos = state.src, state.pos
    if src[pos] == ":":
        begin = _SCHEME.search(src, max(pos - _NUM_SCHEME, 0), pos) if src.startswith("://", pos) else None
    else:
        begin = _WWW.search(src, max(pos - 3, 0), pos) if src[pos] == "." else None
    if begin is None or state.linkLevel:
        return False
    start = begin.start()
    shown = _address(src[start : min(state.posMax, start + MAX_CHARS)], pos - start)
    href = _href(shown) if shown.isprintable() else ""
    if not href:
        return False
    if not silent:
        if not state.pending.endswith(begin[0]):
            return False
        state.pending = state.pending[: -len(begin[0])]
        opening = state.push("link_open", "a", 1)
        opening.attrSet("href", href)
        words = state.push("text", "", 0)
        words.content = shown
        closing = state.push("link_close", "a", -1)
        for token in (opening, words, closing):
            token.markup, token.meta = BARE_LINK, {OFFSET: start}
    state.pos = start + len(shown)
    return True


def _address(text: str, num_scheme: int) -> str:
    """The address at the start of a text; empty if there is none."""
    run = _RUN.match(text)
    if run is None or run.end() == MAX_CHARS:
        return ""
    address = _without_punctuation(_before_unmatched_bracket(run[0]))
    first = num_scheme + len("://") if address.startswith("://", num_scheme) else 0
    domain = _DOMAIN.match(address, first)
    if domain is None or (not first and domain.end() <= num_scheme):
        return ""
    return "" if any("_" in part for part in domain[0].split(".")[-2:]) else address


def _before_unmatched_bracket(address: str) -> str:
    """The address up to the first unmatched closing bracket."""
    opened: list[str] = []
    for place, char in enumerate(address):
        if char in "[{":
            opened.append(char)
        elif char in _OPENED and (not opened or opened.pop() != _OPENED[char]):
            return address[:place]
    return address


def _without_punctuation(address: str) -> str:
    """The address without trailing punctuation and unmatched parentheses."""
    num_extra = address.count(")") - address.count("(")
    while address:
        if address[-1] == ")" and num_extra > 0:
            num_extra -= 1
        elif address[-1] == ";":
            entity = _ENTITY.search(address)
            address = address[: entity.start() + 1] if entity else address
        elif address[-1] not in _TRAILING:
            break
        address = address[:-1]
    return address


@lru_cache(maxsize=256)
def _href(shown: str) -> str:
    """The target of a safe link, else empty. Cached: an open block is parsed repeatedly."""
    if not shown:
        return ""
    address = shown.replace("&amp;", "&")
    address = normalizeLink(address if "://" in shown[:8] else f"http://{address}")
    return address if is_safe(address) else ""
