"""Converts JSON schemas (2020-12, and the common part of draft 7) to grammars.

Every text of a grammar conforms to its schema, except for keywords that no grammar can express; warnings name these.
Not every valid text is allowed: properties follow the schema's order, unnamed keys are forbidden if one schema names
some, and spaces are those of Python's json.
"""

import re
from dataclasses import dataclass

from engine.errors import GrammarError
from engine.grammar import lark
from engine.grammar.constraint import check_rules
from engine.grammar.schema_preparation import Schema, SchemaPreparation
from engine.sentences import i18n

_UNIMPLEMENTED = re.compile(r'"([^"]+)"')
# Parts of llguidance's messages about valid schemas that exceed its limits.
_TOO_MUCH = ("circular references", "stack level", "not disjoint", "Unable to determine", "not supported", "too many")
_TOO_DEEP = "recursion limit exceeded"
_NOTHING = "Unsatisfiable schema: "


@dataclass(frozen=True, slots=True)
class Grammar:
    """The ``text`` of a grammar, and a warning for each part of its schemas that it does not express."""

    text: str
    warnings: tuple[str, ...] = ()


def schema_grammar(schema: object, *, strict: bool = False) -> Grammar:
    """Convert ``schema`` to a grammar of valid JSON texts.

    ``strict`` refuses keywords that no grammar can express; otherwise the warnings name them.

    Raises:
        GrammarError: not a schema, no text conforms to it, or ``strict`` refuses it.
    """
    made, warnings = prepared_schema(schema, strict=strict)
    text, _ = check_rules([f"start: {lark.json_of(made)}"])
    return Grammar(text, warnings)


def prepared_schema(schema: object, *, strict: bool = False) -> tuple[Schema, tuple[str, ...]]:
    """Convert a schema to one that a grammar can express; return it and warnings.

    Errors are those of `schema_grammar`.
    """
    try:
        preparation = SchemaPreparation(schema)
        made, dropped = _expressible(preparation.schema, preparation.dropped)
    except (TypeError, AttributeError, ValueError, RecursionError) as error:
        raise GrammarError("The JSON schema is none: a value in it is of the wrong type.") from error
    if strict and dropped:
        name = next(iter(dropped))
        raise GrammarError(
            i18n("The schema has `{name}`, which a grammar cannot promise.", name=name),
            "Leave it out, or leave out `strict`.",
        )
    places = (
        i18n("No grammar can hold `{name}` of the schema (at {place}): the answer may break it.", name=name, place=at)
        for name, at in dropped.items()
    )
    formats = (
        i18n("The format {name} of the schema is not known here: it was passed over.", name=name)
        for name in preparation.annotations
    )
    return made, (*places, *formats)


def _expressible(schema: object, dropped: dict[str, str]) -> tuple[Schema, dict[str, str]]:
    """The schema, or only its type if llguidance cannot express it, and the keywords that are lost."""
    if isinstance(schema, bool):
        if not schema:
            raise GrammarError("Nothing is valid by a schema that is false.")
        return {}, dropped
    assert isinstance(schema, dict)  # noqa: S101  (the preparation gives nothing else)
    try:
        _, messages = check_rules([f"start: {lark.json_of(schema)}"])
    except GrammarError as error:
        reason = error.message.partition("failed to compile JSON schema: ")[2] or error.message
        first_line = reason.partition("\n")[0].rstrip(".")[:300]
        if first_line.startswith(_NOTHING):
            reason = first_line.removeprefix(_NOTHING)
            raise GrammarError(i18n("Nothing is valid by the schema: {reason}.", reason=reason)) from error
        if _TOO_DEEP in reason:
            raise GrammarError("The schema is nested too deep.") from error
        if not any(words in reason for words in _TOO_MUCH):
            raise GrammarError(i18n("The JSON schema cannot be followed: {reason}.", reason=first_line)) from error
        kept = {key: value for key, value in schema.items() if key == "type"}
        return kept, {**dropped, i18n("more than the type"): "#"}
    for message in messages:
        for name in _dropped_keywords(message):
            dropped = {name: "#", **dropped}
    return schema, dropped


def _dropped_keywords(message: str) -> list[str]:
    """The keywords of a schema in a warning of llguidance."""
    if message.startswith("Unimplemented keys"):
        return _UNIMPLEMENTED.findall(message)
    if message.startswith("oneOf"):
        return ["oneOf"]
    return ["minProperties/maxProperties"] if message.startswith("min/maxProperties") else [message[:100]]
