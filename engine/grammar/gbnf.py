"""Writes llama.cpp's GBNF: literals, sets of characters, and a book of rules with a bound.

The format: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engine.errors import GrammarError
from engine.sentences import said

MAX_RULES = 4000
MAX_CHARS = 400_000
MAX_REPEATED = 1000  # llama.cpp refuses more than 2,000
LAST = 0x10FFFF
Range = tuple[int, int]  # first and last code point
_PLAIN = re.compile(r"[A-Za-z0-9_]")


def literal(text: str) -> str:
    """A text that must stand there."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return "\\" + character
    if 32 <= code < 127:
        return character
    return _code(code)


def _code(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def repeated(item: str, least: int, most: int | None) -> str:
    """``item``, one symbol or a group, so many times; None is without end."""
    if (least, most) in ((1, 1), (0, None), (1, None), (0, 1)):
        return item + {(1, 1): "", (0, None): "*", (1, None): "+", (0, 1): "?"}[least, most]
    if most is None:
        return f"{item}{{{least},}}"
    if most == least > 0:
        return f"{item}{{{least}}}"
    return f"{item}{{{least},{most}}}" if most else '""'


def any_of(choices: Iterable[str]) -> str:
    """One of several, as a group."""
    different = list(dict.fromkeys(choices))
    return different[0] if len(different) == 1 else "(" + " | ".join(different) + ")"


class CharacterSet:
    """Some characters of Unicode, without surrogates."""

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self.ranges = tuple(_joined(ranges))

    @classmethod
    def of(cls, characters: str) -> CharacterSet:
        """Those that a text has."""
        return cls((ord(one), ord(one)) for one in characters)

    def __or__(self, other: CharacterSet) -> CharacterSet:
        return CharacterSet((*self.ranges, *other.ranges))

    def __contains__(self, character: str) -> bool:
        return any(first <= ord(character) <= last for first, last in self.ranges)

    def __invert__(self) -> CharacterSet:
        rest, begin = list[Range](), 0
        for first, last in (*self.ranges, (LAST + 1, LAST + 1)):
            if begin < first:
                rest.append((begin, first - 1))
            begin = last + 1
        return CharacterSet(rest)

    def __sub__(self, other: CharacterSet) -> CharacterSet:
        return ~(~self | other)

    def symbol(self) -> str:
        """One of them, as GBNF; empty where there is none."""
        inside = self - SURROGATES
        parts = (
            _code_in_set(first) + (f"-{_code_in_set(last)}" if last > first else "") for first, last in inside.ranges
        )
        return f"[{''.join(parts)}]" if inside.ranges else ""


def _code_in_set(code: int) -> str:
    return chr(code) if _PLAIN.match(chr(code)) else _code(code)


def _joined(ranges: Iterable[Range]) -> Iterator[Range]:
    """The same without overlaps, in order."""
    held: Range | None = None
    for first, last in sorted(ranges):
        if held is not None and first <= held[1] + 1:
            held = (held[0], max(held[1], last))
            continue
        if held is not None:
            yield held
        held = (first, last)
    if held is not None:
        yield held


SURROGATES = CharacterSet([(0xD800, 0xDFFF)])


class RuleBook:
    """The rules of a grammar. Equal ones are one."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._num_chars = 0
        self.shared: dict[str, str] = {}  # names by what they are for, where a rule mentions itself

    def add(self, body: str, hint: str = "rule") -> str:
        """Have a rule with this body; its name. A body that is a name needs none."""
        if body in self._rules:
            return body
        name = self._names.get(body)
        if name is None:
            name = self._names[body] = self.reserve(hint)
            self.define(name, body)
        return name

    def reserve(self, hint: str) -> str:
        """A new name; `define` must follow: for rules that mention themselves.

        Raises:
            GrammarError: there are too many.
        """
        if len(self._rules) >= MAX_RULES:
            raise GrammarError(said("The schema needs more than {most:,} rules.", most=MAX_RULES))
        name = f"{re.sub('[^a-z]+', '-', hint.lower()).strip('-')[:20] or 'rule'}-{len(self._rules)}"
        self._rules[name] = ""
        return name

    def define(self, name: str, body: str) -> None:
        """Say what a name stands for.

        Raises:
            GrammarError: the grammar becomes too long.
        """
        self._num_chars += len(body)
        if self._num_chars > MAX_CHARS:
            raise GrammarError(said("The schema needs a grammar of more than {most:,} characters.", most=MAX_CHARS))
        self._rules[name] = body

    def text(self, root: str) -> str:
        """The whole grammar; it begins with ``root``."""
        return "\n".join((f"root ::= {root}", *(f"{name} ::= {body}" for name, body in self._rules.items()))) + "\n"
