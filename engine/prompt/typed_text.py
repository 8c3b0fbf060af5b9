"""Text that a person typed or pasted stays text: it never becomes a control token.

A chat template writes control tokens and the person's words into one string. Here a private character is put into every
control text that the words contain, before the template sees them; afterwards the string is cut at that character and
tokenized piece by piece, so that no piece holds a control text of the person's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from engine.errors import PromptError
from engine.interfaces import Tokenizer

_PRIVATE_USE = range(0xE000, 0xF900)  # Unicode's private use area: no letter, no space, no case


class TypedText:
    """Marks control texts in what a person typed, and tokenizes a text with such marks."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        controls = {text for text in tokenizer.control_texts if text}
        self._short = {text for text in controls if len(text) == 1}
        self._controls = controls
        self._lengths: dict[str, set[int]] = {}  # of those with this first character: few, where there are thousands
        for text in controls:
            self._lengths.setdefault(text[0], set()).add(len(text))
        self._firsts = re.compile("[" + re.escape("".join(self._lengths)) + "]") if controls else None
        # What could become a control text together with the template's own text before or after it.
        self._heads = _ProperPrefixes(controls)
        self._tails = _ProperPrefixes(text[::-1] for text in controls)
        self._adds_space = self._tokenizer_adds_space()

    @staticmethod
    def mark_for(texts: Iterable[str]) -> str:
        """Return a character that occurs in none of ``texts``.

        Raises:
            PromptError: they use up all of Unicode's private characters.
        """
        used = set().union(*texts)
        mark = next((chr(code) for code in _PRIVATE_USE if chr(code) not in used), None)
        if mark is None:
            raise PromptError("The messages use every private character of Unicode, so none is left to mark them.")
        return mark

    def protect(self, text: str, mark: str) -> str:
        """Put ``mark`` inside every control text of ``text``, and where one could arise at its edges."""
        cuts = set(self._control_cuts(text))
        begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
        if begin < end and self._tails.end(text[begin : begin + self._tails.longest][::-1]):
            cuts.add(begin)
        if begin < end and self._heads.end(text[max(begin, end - self._heads.longest) : end]):
            cuts.add(end)
        edges = [0, *sorted(cuts), len(text)]
        return mark.join(text[edges[i] : edges[i + 1]] for i in range(len(edges) - 1))

    def tokenize(self, text: str, mark: str, *, goes_on: bool = False) -> list[int]:
        """Ids of a rendered prompt, or of what follows in one: control tokens parsed, but none across a mark."""
        ids: list[int] = []
        for piece in text.split(mark):
            special = piece not in self._short
            ids += self._go_on(piece, special) if ids or goes_on else self._tokenizer.tokenize(piece, special=special)
        return ids

    def _control_cuts(self, text: str) -> Iterable[int]:
        """After the first character of every control text, overlapping ones too; around those of one character."""
        if self._firsts is None:
            return
        for match in self._firsts.finditer(text):
            begin = match.start()
            if any(text[begin : begin + length] in self._controls for length in self._lengths[match.group()]):
                yield begin + 1
                if match.group() in self._short:
                    yield begin

    def _go_on(self, piece: str, special: bool) -> list[int]:
        """Ids of a piece in the middle of a text: without the space that SentencePiece puts before a beginning."""
        if not self._adds_space or not piece:
            return self._tokenizer.tokenize(piece, special=special) if piece else []
        before = self._tokenizer.tokenize("\n", special=False)
        ids = self._tokenizer.tokenize("\n" + piece, special=special)
        whole = ids[: len(before)] == before
        return ids[len(before) :] if whole else self._tokenizer.tokenize(piece, special=special)

    def _tokenizer_adds_space(self) -> bool:
        ids = self._tokenizer.tokenize("a", special=False)
        return bool(ids) and self._tokenizer.piece(ids[0]).startswith(b" ")


def whole_characters(text: str) -> str:
    """The same with U+FFFD for each half of a surrogate pair, which JSON can spell and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def tokens_amid(tokenizer: Tokenizer, text: str) -> list[int]:
    """The tokens of a text in the middle of another: without what SentencePiece puts before a beginning."""
    before = tokenizer.tokenize("\n", special=False)
    ids = tokenizer.tokenize("\n" + text, special=False)
    return ids[len(before) :] if ids[: len(before)] == before else tokenizer.tokenize(text, special=False)


class _ProperPrefixes:
    """The proper beginnings of some texts: looked up in the texts themselves, since all of them would be too many.

    A file of a stranger may have a control text of 64 kB, whose beginnings have two thousand million characters.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = sorted(texts)
        self._firsts = {text[0] for text in self._texts}
        self.longest = max(map(len, self._texts), default=1) - 1

    def end(self, text: str) -> bool:
        """Whether ``text`` ends in one of them."""
        places = (i for i in range(len(text) - 1, -1, -1) if text[i] in self._firsts)
        return any(self._have(text[place:]) for place in places)

    def _have(self, part: str) -> bool:
        """Whether a text begins with this and goes on: in order they stand together, the part itself first."""
        texts = self._texts
        place = bisect_left(texts, part)
        if place < len(texts) and texts[place] == part:
            place += 1
        return place < len(texts) and texts[place].startswith(part)
