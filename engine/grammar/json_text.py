"""Parts of JSON as GBNF, in the one spelling that this program has models write: no free spaces.

``, `` and ``: `` separate, as Python's json writes it. So everything between two values is known beforehand, a model
cannot go on with spaces for ever, and there is one way to say the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.grammar.gbnf import MAX_REPEATED, CharacterSet, RuleBook, any_of, literal, repeated

COMMA, COLON = '", "', '": "'
MAX_DIGITS = 15  # of whole numbers; a double has no more
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
DIRECT = ~(CharacterSet([(0, 0x1F), (0x7F, 0x7F)]) | CharacterSet.of('"\\'))  # stand in a string as they are
WRITABLE = DIRECT | CharacterSet.of("".join(_ESCAPED))
_DIGIT = "[0-9]"


def spelled(value: object) -> str:
    """A value as JSON, as it must stand there."""
    return literal(json.dumps(value, ensure_ascii=False))


def character(allowed: CharacterSet) -> str:
    """One character of a string, escaped where it has to be; empty where none is left."""
    direct = (allowed - (~DIRECT)).symbol()
    escapes = [literal(escape) for one, escape in _ESCAPED.items() if one in allowed]
    choices = [*([direct] if direct else []), *escapes]
    return any_of(choices) if choices else ""


def string(rules: RuleBook, least: int = 0, most: int | None = None) -> str:
    """A string of so many characters; a bound that is too high for a grammar becomes one that is not."""
    if most is None and least == 0:
        return rules.add(f'"\\"" {_any_character(rules)}* "\\""', "string")
    bound = None if most is None else max(least, min(most, MAX_REPEATED))
    return rules.add(f'"\\"" {repeated(_any_character(rules), least, bound)} "\\""', "string")


def _any_character(rules: RuleBook) -> str:
    # Halves of surrogate pairs, escaped one by one, would count twice.
    code = "[0-9a-cA-CefEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}"
    return rules.add(f'{DIRECT.symbol()} | "\\\\" (["\\\\/bfnrt] | "u" ({code}))', "char")


def integer(rules: RuleBook) -> str:
    """A whole number."""
    return rules.add(f'"-"? ("0" | [1-9] {_DIGIT}{{0,{MAX_DIGITS - 1}}})', "integer")


def number(rules: RuleBook) -> str:
    """Any number."""
    return rules.add(f'{integer(rules)} ("." {_DIGIT}{{1,{MAX_DIGITS}}})? ([eE] [-+]? {_DIGIT}{{1,2}})?', "number")


def boolean() -> str:
    """True or false."""
    return '("true" | "false")'


def listed(item: str, least: int, most: int | None) -> str:
    """So many items with commas between them, without brackets; may be nothing."""
    more = repeated(f"({COMMA} {item})", max(least - 1, 0), None if most is None else most - 1)
    all_items = f"{item} {more}" if more != '""' else item
    return all_items if least > 0 else f"({all_items})?"


def array(item: str, least: int = 0, most: int | None = None) -> str:
    """An array of so many equal items."""
    return f'"[" {listed(item, least, most)} "]"'


def value(rules: RuleBook) -> str:
    """Any JSON value."""
    name = rules.shared.get("any")
    if name is None:
        name = rules.shared["any"] = rules.reserve("value")
        choices = (
            string(rules),
            number(rules),
            dictionary(rules, name),
            rules.add(array(name), "array"),
            boolean(),
            '"null"',
        )
        rules.define(name, " | ".join(choices))
    return name


def dictionary(rules: RuleBook, item: str, least: int = 0) -> str:
    """An object with any keys, whose values are all alike."""
    pair = rules.add(f"{string(rules)} {COLON} {item}", "pair")
    return rules.add(f'"{{" {listed(pair, least, None)} "}}"', "object")


def object_of(rules: RuleBook, pairs: Sequence[tuple[str, str, bool]]) -> str:
    """An object with these keys in this order: key, the symbol of its value, whether it must be there."""
    first = more = rules.add('"}"', "end")
    for key, symbol, is_required in reversed(pairs):
        pair = f"{spelled(key)} {COLON} {symbol}"
        with_it, after_another = f"{pair} {more}", f"{COMMA} {pair} {more}"
        first = rules.add(with_it if is_required else f"{with_it} | {first}", "first")
        more = rules.add(after_another if is_required else f"{after_another} | {more}", "more")
    return rules.add(f'"{{" {first}', "object")
