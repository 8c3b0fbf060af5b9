"""Converts grammars in llama.cpp's GBNF to llguidance's dialect of Lark.

GBNF matches character by character, while llguidance first splits a text into terminals, the longest first. So every
terminal of a converted grammar is one character: then both allow the same texts.
"""

import re

from engine.errors import GrammarError
from engine.grammar.lark import literal
from engine.sentences import i18n

MAX_GRAMMAR_CHARS = 65_536
_MAX_DEPTH = 50  # nested groups
_CHARACTER = r'\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[tnr\\"\[\]-]|[^\\]'
_CHARACTERS = re.compile(_CHARACTER)
_RANGES = re.compile(rf"({_CHARACTER})(?:-({_CHARACTER}))?")
_TOKEN = re.compile(
    rf"""(?:\s+|\#[^\r\n]*)+
    |(?P<rule>[\w-]+)\s*::=
    |(?P<name>[\w-]+)
    |"(?P<text>(?:(?!")(?:{_CHARACTER}))*)"
    |\[(?P<set>\^?(?:(?!\])(?:{_CHARACTER}))*)\]
    |(?P<sign>\{{\s*\d+\s*(?:,\s*\d*\s*)?\}}|[*+?|()])
    |(?P<any>\.)""",
    re.VERBOSE | re.ASCII,
)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r"}


def lark_rules(text: str) -> list[str]:
    """Convert a grammar with a rule ``root`` to rules in Lark, the first named ``start``.

    Raises:
        GrammarError: the text is not a grammar, or is too large.
    """
    if not text.strip() or len(text) > MAX_GRAMMAR_CHARS:
        raise GrammarError(i18n("A grammar must have rules, and {most:,} characters at most.", most=MAX_GRAMMAR_CHARS))
    names, rules = {"root": "start"}, dict[str, list[str]]()
    position, depth, parts = 0, 0, list[str]()
    while position < len(text):
        found = _TOKEN.match(text, position)
        kind = found.lastgroup if found is not None else ""
        if found is None or (kind not in ("rule", None) and not rules) or depth > _MAX_DEPTH:
            line = text.count("\n", 0, position) + 1
            raise GrammarError(i18n("The grammar cannot be read: line {line} is no GBNF.", line=line))
        position = found.end()
        if kind == "rule":
            names.setdefault(found["rule"], f"rule_{len(names)}")
            parts, depth = rules.setdefault(found["rule"], []), 0
            parts.clear()  # a later rule of the same name replaces an earlier one, as in llama.cpp
        elif kind is not None:
            depth += (found[kind] == "(") - (found[kind] == ")")
            parts.append(
                names.setdefault(found[kind], f"rule_{len(names)}") if kind == "name" else _lark(kind, found[kind])
            )
    if names.keys() - rules.keys():
        raise GrammarError("The grammar cannot be read: it has no rule called root, or names a rule that is missing.")
    return [f"{name}: {' '.join(rules[rule])}" for rule, name in names.items()]


def _lark(kind: str, token: str) -> str:
    """Convert a token of GBNF other than a name."""
    if kind == "text":
        return "(" + " ".join(literal(chr(_code(one))) for one in _CHARACTERS.findall(token)) + ")" if token else '""'
    if kind == "set":
        ranges = _RANGES.findall(token.removeprefix("^"))
        inner = "".join(f"\\x{{{_code(first):x}}}-\\x{{{_code(last or first):x}}}" for first, last in ranges)
        return f"/[{'^' if token.startswith('^') else ''}{inner}]/"
    return token if kind == "sign" else "/(?s:.)/"


def _code(character: str) -> int:
    """The code point of a character, or of an escape."""
    if character[0] != "\\" or character == "\\":
        return ord(character)
    if character[1] in "xuU":
        return int(character[2:], 16)
    return ord(_ESCAPES.get(character[1], character[1]))
