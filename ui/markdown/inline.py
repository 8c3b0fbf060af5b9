"""The inline parser: records token positions and caches parsed inline text. No Qt.

A growing answer is parsed repeatedly. Cached are whole cells and items, and the start of a long paragraph up to the
point where following text cannot change its meaning.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType

BARE_LINK = "bare"  # a token's markup in a bare link, whose characters are no delimiters
OFFSET = "place"  # key in a token's meta: its offset in the source of its inline block
CACHE_SIZE = 64  # cached sources
LONG_CHARS = 200  # the start of a source is cached from this length on
_OPEN_DELIMITERS = frozenset("*_~`[$")  # a literal one may still become markup when more text follows
_OPEN_ESCAPES = frozenset(("\\(", "\\["))  # escapes that open formulas
_WORDS = frozenset(("text", "text_special"))


# CJK letters: their writing puts no spaces around emphasis. CommonMark requires a space or punctuation outside of a
# delimiter run that has punctuation inside, so the stars of ``是**“重点”**内容`` would stay. Here a CJK letter outside
# acts as a space, full-width punctuation inside as a letter: https://github.com/tats-u/markdown-cjk-friendly
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u2ff0-\u303f\u3041-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff01-\uffee\U00020000-\U0003ffff]"
)


def is_cjk(char: str) -> bool:
    """Whether a character is CJK, full-width punctuation included."""
    return _CJK.match(char) is not None


def _is_punctuation(char: str) -> bool:
    return bool(isMdAsciiPunct(ord(char)) or isPunctChar(char))


def _is_western_punctuation(char: str) -> bool:
    return _is_punctuation(char) and not is_cjk(char)


class _PositionedState(StateInline):
    def __init__(self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]) -> None:  # noqa: N803
        super().__init__(src, md, env, outTokens)
        self._pending_place = 0
        self._last_push = (-1, 0)  # offset and length of the last push: delimiters are pushed one by one

    def append_pending(self, text: str) -> None:
        if not self.pending:
            self._pending_place = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta = {OFFSET: self._pending_place}
        return token

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N803
        scanned = super().scanDelims(start, canSplitWord)
        end = start + scanned.length
        before = self.src[start - 1] if start > 0 else " "
        after = self.src[end] if end < self.posMax else " "
        if is_cjk(before) or is_cjk(after):
            # Whether a delimiter run between two characters can open and close; a block's start and end count as
            # spaces.
            count = scanned.length
            sign_before, sign_after = _is_western_punctuation(before), _is_western_punctuation(after)
            outside_before = isWhiteSpace(ord(before)) or sign_before or is_cjk(before)
            outside_after = isWhiteSpace(ord(after)) or sign_after or is_cjk(after)
            left = not isWhiteSpace(ord(after)) and (not sign_after or outside_before)
            right = not isWhiteSpace(ord(before)) and (not sign_before or outside_after)
            return Scanned(
                left and (canSplitWord or not right or _is_punctuation(before)),
                right and (canSplitWord or not left or _is_punctuation(after)),
                count,
            )
        return scanned

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        place, written = self._last_push
        if ttype == "text" and place == self.pos:
            written += len(self.tokens[-2].content) if len(self.tokens) > 1 else 0
        else:
            written = 0
        self._last_push = (self.pos, written)
        token.meta = {OFFSET: self.pos + written}
        return token


@dataclass(frozen=True, slots=True)
class _StablePrefix:
    """The start of a source whose tokens will not change."""

    src: str = ""
    tokens: Sequence[Token] = ()


class PositionedInline(ParserInline):
    """The inline parser that records positions. Tokens may be shared between calls: do not change them."""

    def __init__(self) -> None:
        super().__init__()
        self._cached_prefixes: OrderedDict[str, list[Token]] = OrderedDict()
        self._last_prefix = _StablePrefix()

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        known = self._cached_prefixes.get(src)
        if known is None:
            known = self._cached_prefixes[src] = self._parse(src, md, env)
            if len(self._cached_prefixes) > CACHE_SIZE:
                self._cached_prefixes.popitem(last=False)
        else:
            self._cached_prefixes.move_to_end(src)
        tokens += known
        return tokens

    def _parse(self, src: str, md: MarkdownIt, env: EnvType) -> list[Token]:
        begun = self._last_prefix if src.startswith(self._last_prefix.src) else _StablePrefix()
        start = len(begun.src)
        state = _PositionedState(src[start:], md, env, [])
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        for token in state.tokens if start else ():
            token.meta = {**token.meta, OFFSET: int(token.meta[OFFSET]) + start}
        parsed = [*begun.tokens, *state.tokens]
        if len(src) - start > LONG_CHARS:
            self._last_prefix = _stable_prefix(src, parsed)
        return parsed


def _stable_prefix(src: str, tokens: Sequence[Token]) -> _StablePrefix:
    """The prefix of a source that later text cannot change: it ends before a word, outside of all delimiters.

    A word after a space does not change the meaning of text before that space: see the rules for delimiter runs,
    https://spec.commonmark.org/0.31.2/#emphasis-and-strong-emphasis
    """
    found, depth = _StablePrefix(), 0
    for number, token in enumerate(tokens):
        depth += token.nesting
        if token.markup == BARE_LINK:
            continue
        if token.type in _WORDS and (_OPEN_DELIMITERS.intersection(token.content) or token.markup in _OPEN_ESCAPES):
            return found
        if token.type != "text" or depth:
            continue
        words, place = token.content, int(token.meta[OFFSET])
        cut = words.rfind(" ") + 1
        if 0 < cut < len(words) and words[cut].isalnum() and src.startswith(words, place):
            kept = Token("text", "", 0, content=words[:cut], meta={OFFSET: place})
            found = _StablePrefix(src[: place + cut], (*tokens[:number], kept))
    return found
