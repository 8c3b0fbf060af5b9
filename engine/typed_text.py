"""Text that a person typed or pasted stays text: it never becomes a control token.

A chat template writes control tokens and the person's words into one string. Here a private character is put
into every control text that the words contain, before the template sees them; afterwards the string is cut at
that character and tokenized piece by piece, so that no piece holds a control text of the person's. Knows no
template.
"""

from __future__ import annotations

import re
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
        self._by_first: dict[str, tuple[str, ...]] = {}
        for text in controls:
            self._by_first[text[0]] = (*self._by_first.get(text[0], ()), text)
        self._firsts = re.compile("[" + re.escape("".join(self._by_first)) + "]") if controls else None
        # What could become a control text together with the template's own text before or after it.
        self._heads = tuple({text[:end] for text in controls for end in range(1, len(text))})
        self._tails = tuple({text[begin:] for text in controls for begin in range(1, len(text))})
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
        if begin < end and text.startswith(self._tails, begin):
            cuts.add(begin)
        if begin < end and text.endswith(self._heads, begin, end):
            cuts.add(end)
        edges = [0, *sorted(cuts), len(text)]
        return mark.join(text[edges[i] : edges[i + 1]] for i in range(len(edges) - 1))

    def tokenize(self, text: str, mark: str) -> list[int]:
        """Ids of a rendered prompt: control tokens parsed, but none across a mark."""
        ids: list[int] = []
        for piece in text.split(mark):
            special = piece not in self._short
            ids += self._go_on(piece, special) if ids else self._tokenizer.tokenize(piece, special=special)
        return ids

    def _control_cuts(self, text: str) -> Iterable[int]:
        """After the first character of every control text, overlapping ones too; around those of one character."""
        if self._firsts is None:
            return
        for match in self._firsts.finditer(text):
            begin = match.start()
            if text.startswith(self._by_first[match.group()], begin):
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
