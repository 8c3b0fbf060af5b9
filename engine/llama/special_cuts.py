"""Cuts a long text before control tokens, so that splitting it into tokens takes time by its length alone.

llama.cpp looks for each control text from each place where one was found up to the end of the whole text
(`llama_vocab::impl::tokenizer_st_partition`): the time grows with the square of a chat's messages. Each piece here is
split as it would be within the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

PIECE_CHARS = 4096  # at least, of each piece but the last


class SpecialCuts:
    """The places in a text where it may be cut."""

    def __init__(self, cutting: Iterable[str], parsed: Iterable[str]) -> None:
        """``cutting`` are texts that may begin a piece: those that take nothing of what stands before them.

        ``parsed`` are all texts that are parsed as tokens before the rest is split, these among them.
        """
        self._cutting = frozenset(filter(None, cutting))
        self._parsed = tuple(dict.fromkeys(filter(None, parsed)))
        self._lengths: dict[str, list[int]] = {}  # of those with this first character, the longest first
        for text in sorted(self._cutting, key=len, reverse=True):
            lengths = self._lengths.setdefault(text[0], [])
            if len(text) not in lengths:
                lengths.append(len(text))
        self._firsts = re.compile("[" + re.escape("".join(self._lengths)) + "]") if self._cutting else None

    def pieces(self, text: str) -> Iterator[str]:
        """Give the pieces of ``text``, together the same."""
        begin = 0
        while (place := self._next(text, begin + PIECE_CHARS)) is not None:
            yield text[begin:place]
            begin = place
        yield text[begin:]

    def _next(self, text: str, start: int) -> int | None:
        """The first place from ``start`` on where the text may be cut."""
        if self._firsts is None:
            return None
        for match in self._firsts.finditer(text, start):
            place = match.start()
            for length in self._lengths[match.group()]:
                if text[place : place + length] in self._cutting:
                    if self._is_apart(text, place, place + length):
                        return place
                    break
        return None

    def _is_apart(self, text: str, begin: int, end: int) -> bool:
        """Whether no other text that is parsed reaches into this one from outside, and might be taken in its place."""
        for other in self._parsed:
            size = len(other)
            place = text.find(other, max(0, begin - size + 1), end + size - 1)
            while place >= 0:
                if place < begin or place + size > end:
                    return False
                place = text.find(other, place + 1, end + size - 1)
        return True
