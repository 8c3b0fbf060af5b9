"""Prevents text that a user typed or pasted from producing control tokens.

A chat template writes control tokens and the user's words into one string. So a private-use character is first inserted
into every control text in the words. The rendered string is split at that character and tokenized piece by piece, so no
piece contains a control text from the user.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable

from engine.errors import PromptError
from engine.interfaces import Tokenizer

_PRIVATE_USE = range(0xE000, 0xF900)  # Unicode's private use area, which has no letters or spaces


class UserTextTokenizer:
    """Marks control texts in a user's words, and tokenizes text with such marks."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        controls = {text for text in tokenizer.control_texts if text}
        self._short = {text for text in controls if len(text) == 1}
        self._controls = controls
        self._lengths: dict[str, set[int]] = {}  # lengths by first character; few, even for thousands of texts
        for text in controls:
            self._lengths.setdefault(text[0], set()).add(len(text))
        self._firsts = re.compile("[" + re.escape("".join(self._lengths)) + "]") if controls else None
        # Texts that could form a control text together with the template's text before or after them.
        self._heads = _PrefixSet(controls)
        self._tails = _PrefixSet(text[::-1] for text in controls)
        self._adds_space = adds_space(tokenizer)

    @staticmethod
    def mark_for(texts: Iterable[str]) -> str:
        """A private-use character that occurs in none of ``texts``; raises `PromptError` if all occur."""
        used = set().union(*texts)
        mark = next((chr(code) for code in _PRIVATE_USE if chr(code) not in used), None)
        if mark is None:
            raise PromptError("The messages use every private character of Unicode, so none is left to mark them.")
        return mark

    def protect(self, text: str, mark: str) -> str:
        """Insert ``mark`` into every control text of ``text``, and at edges where one could form."""
        cuts = set(self._control_cuts(text))
        begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
        if begin < end and self._tails.end(text[begin : begin + self._tails.longest][::-1]):
            cuts.add(begin)
        if begin < end and self._heads.end(text[max(begin, end - self._heads.longest) : end]):
            cuts.add(end)
        edges = [0, *sorted(cuts), len(text)]
        return mark.join(text[edges[i] : edges[i + 1]] for i in range(len(edges) - 1))

    def tokenize(self, text: str, mark: str, *, continues: bool = False) -> list[int]:
        """Ids of a rendered prompt, or with ``continues`` of a later part of one; no control token spans a mark."""
        ids: list[int] = []
        for piece in text.split(mark):
            special = piece not in self._short
            begins = not ids and not continues
            if piece and self._adds_space and not begins:
                ids += tokens_within_text(self._tokenizer, piece, special=special)
            elif piece or begins:
                ids += self._tokenizer.tokenize(piece, special=special)
        return ids

    def _control_cuts(self, text: str) -> Iterable[int]:
        """Offsets after the first character of every control text, and around control texts of one character."""
        if self._firsts is None:
            return
        for match in self._firsts.finditer(text):
            begin = match.start()
            if any(text[begin : begin + length] in self._controls for length in self._lengths[match.group()]):
                yield begin + 1
                if match.group() in self._short:
                    yield begin


def adds_space(tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer adds a space before a text, like SentencePiece."""
    ids = tokenizer.tokenize("a", special=False)
    return bool(ids) and tokenizer.piece(ids[0]).startswith(b" ")


def whole_characters(text: str) -> str:
    """Replace each half of a surrogate pair, which JSON allows and UTF-8 does not, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def tokens_within_text(tokenizer: Tokenizer, text: str, *, special: bool = False) -> list[int]:
    """The tokens of a text within another text, without the space that SentencePiece adds before a text."""
    before = tokenizer.tokenize("\n", special=False)
    ids = tokenizer.tokenize("\n" + text, special=special)
    return ids[len(before) :] if ids[: len(before)] == before else tokenizer.tokenize(text, special=special)


class _PrefixSet:
    """Tests for proper prefixes of a set of texts by bisection.

    (An untrusted file may have a control text of 64 kB, whose prefixes together have two billion characters.)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = sorted(texts)
        self._firsts = {text[0] for text in self._texts}
        self.longest = max(map(len, self._texts), default=1) - 1

    def end(self, text: str) -> bool:
        """Whether ``text`` ends with one of the prefixes."""
        begins = (i for i in range(len(text) - 1, -1, -1) if text[i] in self._firsts)
        return any(self._have(text[begin:]) for begin in begins)

    def _have(self, part: str) -> bool:
        """Whether ``part`` is a proper prefix of a text; in sorted order such a text follows ``part``."""
        texts = self._texts
        index = bisect_left(texts, part)
        if index < len(texts) and texts[index] == part:
            index += 1
        return index < len(texts) and texts[index].startswith(part)
