"""The Markdown that answers may use, parsed with the place of each token in its source. Knows no Qt.

CommonMark with tables, strikethrough and formulas. Raw HTML and unsafe links stay visible as text.
"""

from __future__ import annotations

from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

from ui.links import is_safe
from ui.markdown_math import add_formulas

PLACE = "place"  # in a token's meta: where in the source of its inline block it begins


class _PlacedState(StateInline):
    """Notes where each token begins."""

    def __init__(self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]) -> None:  # noqa: N803
        super().__init__(src, md, env, outTokens)
        self._pending_place = 0
        self._last_push = (-1, 0)  # its place, and what was written there so far: delimiters are pushed one by one

    def append_pending(self, text: str) -> None:
        """Called by the rules for words that are not a token yet."""
        if not self.pending:
            self._pending_place = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:
        """Called when the words end."""
        token = super().pushPending()
        token.meta = {PLACE: self._pending_place}
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        """Called for every other token."""
        token = super().push(ttype, tag, nesting)
        place, written = self._last_push
        if ttype == "text" and place == self.pos:
            written += len(self.tokens[-2].content) if len(self.tokens) > 1 else 0
        else:
            written = 0
        self._last_push = (self.pos, written)
        token.meta = {PLACE: self.pos + written}
        return token


class _PlacedInline(ParserInline):
    """The inline parser over that state."""

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        """Called by the parser for each inline block."""
        state = _PlacedState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class SafeParser(MarkdownIt):
    """The parser. Reference definitions are off: with them a block could change its meaning after it was closed.

    Text tokens are not joined, so that each keeps its place.
    """

    def __init__(self, *, formulas: bool = True) -> None:
        super().__init__("commonmark", {"html": False})
        self.inline = _PlacedInline()
        self.configure("commonmark", {"html": False})
        self.enable(["table", "strikethrough"]).disable(["reference", "fragments_join", "text_join"])
        if formulas:
            add_formulas(self)

    def validateLink(self, url: str) -> bool:
        """Called by the parser for each address."""
        return is_safe(url)
