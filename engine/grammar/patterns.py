r"""Regular expressions of a schema's ``pattern`` as GBNF for the inside of a JSON string.

What ECMA-262 and Python's re read alike and a grammar can follow: characters, escapes, sets, groups, alternatives and
counts, with anchors at both ends only. Classes such as ``\w`` mean characters of ASCII.
"""

from __future__ import annotations

import re
from string import hexdigits

from engine.errors import GrammarError
from engine.grammar.gbnf import MAX_REPEATED, CharacterSet, any_of, repeated
from engine.grammar.json_text import WRITABLE, character
from engine.sentences import said

MAX_PATTERN_CHARS = 1000
_MAX_NESTING = 30
_ASCII = CharacterSet([(0, 0x7F)])
_DIGITS = CharacterSet([(0x30, 0x39)])
_WORD = _DIGITS | CharacterSet([(0x41, 0x5A), (0x61, 0x7A), (0x5F, 0x5F)])
_SPACE = CharacterSet.of(" \t\n\r\f\v")
_LINE_ENDS = CharacterSet.of("\n\r\u2028\u2029")
# What a class leaves out may differ between the dialects beyond ASCII, so nothing of that is written.
_CLASSES = {
    "d": _DIGITS,
    "w": _WORD,
    "s": _SPACE,
    "D": _ASCII - _DIGITS,
    "W": _ASCII - _WORD,
    "S": _ASCII - _SPACE - CharacterSet([(0, 0x1F), (0x7F, 0x7F)]),
}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNT = re.compile("([0-9]+)(,?)([0-9]*)")
_OPERATORS = "^$*+?{}()[]|."


def pattern_symbol(pattern: str) -> str:
    """The inside of a JSON string that a pattern finds something in.

    Raises:
        GrammarError: the pattern is wrong, or has something that a grammar cannot follow.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise GrammarError(said("A pattern has more than {most:,} characters.", most=MAX_PATTERN_CHARS))
    parser = _Parser(pattern)
    begins = parser.take("^")
    body, num_choices = parser.alternatives()
    ends = parser.is_ended
    parser.finish()
    anything = f"{character(WRITABLE)}*"
    if (begins or ends) and num_choices > 1:
        raise parser.refusal("anchors beside alternatives; put the alternatives into a group")
    return " ".join(([] if begins else [anything]) + [body] + ([] if ends else [anything]))


class _Parser:
    """Recursive descent; a position in the pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0
        self._nesting = 0
        self._has_class = False  # in the set that is read
        self.is_ended = False  # by a $

    def refusal(self, what: str) -> GrammarError:
        """Say what cannot be followed."""
        return GrammarError(said("The pattern {pattern} cannot be followed: {what}.", pattern=self._pattern, what=what))

    def take(self, text: str) -> bool:
        """Go on behind ``text`` where it stands next."""
        if not self._pattern.startswith(text, self._place):
            return False
        self._place += len(text)
        return True

    def finish(self) -> None:
        """Check that all was read."""
        if self._place < len(self._pattern):
            raise self.refusal(f"an unexpected {self._pattern[self._place]}")

    def alternatives(self) -> tuple[str, int]:
        """All up to the end of a group; and how many alternatives there are."""
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise self.refusal("too many groups in each other")
        choices = [self._sequence()]
        while self.take("|"):
            choices.append(self._sequence())
        self._nesting -= 1
        return any_of(choices), len(choices)

    def _sequence(self) -> str:
        parts = list[str]()
        while self._place < len(self._pattern) and self._pattern[self._place] not in "|)":
            if self._nesting == 1 and self._pattern[self._place :] == "$":
                self._place += 1
                self.is_ended = True
                break
            parts.append(self._counted(self._atom()))
        return " ".join(parts) or '""'

    def _next(self) -> str:
        if self._place >= len(self._pattern):
            raise self.refusal("it ends too early")
        self._place += 1
        return self._pattern[self._place - 1]

    def _atom(self) -> str:
        one = self._next()
        if one == "(":
            if self.take("?") and not self.take(":"):
                raise self.refusal("a group with a question mark")
            body, _ = self.alternatives()
            if not self.take(")"):
                raise self.refusal("a group that does not end")
            return f"({body})"
        if one == "[":
            return self._symbol(self._set())
        if one == ".":
            return self._symbol(~_LINE_ENDS)
        if one == "\\":
            return self._symbol(self._escape())
        if one in _OPERATORS:
            raise self.refusal(f"{one} in this place")
        return self._symbol(CharacterSet.of(one))

    def _symbol(self, allowed: CharacterSet) -> str:
        symbol = character(allowed)
        if not symbol:
            raise self.refusal("a character that is not written")
        return symbol

    def _escape(self) -> CharacterSet:
        one = self._next()
        if one in _CLASSES:
            self._has_class = True
            return _CLASSES[one]
        if one in ("x", "u"):
            digits = "".join(self._next() for _ in range(2 if one == "x" else 4))
            if not set(digits) <= set(hexdigits):  # int would read more: a sign, spaces
                raise self.refusal(f"\\{one}{digits}")
            return CharacterSet.of(chr(int(digits, 16)))
        if one in _ESCAPES:
            return CharacterSet.of(_ESCAPES[one])
        if one.isalnum():
            raise self.refusal(f"\\{one}")
        return CharacterSet.of(one)

    def _set(self) -> CharacterSet:
        is_complement, self._has_class = self.take("^"), False
        found = CharacterSet()
        while not self.take("]"):
            first = self._member()
            if self._pattern.startswith("-", self._place) and not self._pattern.startswith("-]", self._place):
                self._place += 1
                found |= self._span(first, self._member())
            else:
                found |= first
        if not is_complement:
            return found
        return _ASCII - found if self._has_class else ~found

    def _member(self) -> CharacterSet:
        one = self._next()
        if one == "[":
            raise self.refusal("[ in a set; write \\[")
        if one == "\\":
            return CharacterSet.of("\b") if self.take("b") else self._escape()
        return CharacterSet.of(one)

    def _span(self, first: CharacterSet, last: CharacterSet) -> CharacterSet:
        ends = (*first.ranges, *last.ranges)
        if len(ends) != 2 or any(one != other for one, other in ends) or ends[0] > ends[1]:
            raise self.refusal("a range in a set")
        return CharacterSet([(ends[0][0], ends[1][0])])

    def _counted(self, atom: str) -> str:
        counts: tuple[int, int | None]
        if self._place < len(self._pattern) and self._pattern[self._place] in _COUNTS:
            counts = _COUNTS[self._next()]
        elif self.take("{"):
            counts = self._bounds()
        else:
            return atom
        self.take("?")  # as few as possible: the same texts
        if self._place < len(self._pattern) and self._pattern[self._place] in "*+{":
            raise self.refusal("two counts behind each other")
        return repeated(atom, *counts)

    def _bounds(self) -> tuple[int, int | None]:
        text = ""
        while not self.take("}"):
            text += self._next()
        counts = _COUNT.fullmatch(text)
        if counts is None:
            raise self.refusal(f"{{{text}}}")
        low, comma, most = int(counts[1]), counts[2], counts[3]
        high = (int(most) if most else None) if comma else low
        if (high is not None and high < low) or max(low, high or 0) > MAX_REPEATED:
            raise self.refusal(f"{{{text}}}")
        return low, high
