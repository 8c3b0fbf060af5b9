"""Several JSON schemas that hold at once as one, and where a ``$ref`` leads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import GrammarError
from engine.sentences import said

Schema = Mapping[str, Any]
# They describe, and demand nothing: also a format that a grammar does not know, as the standard has it.
ANNOTATIONS = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "example",
        "$schema",
        "$id",
        "$comment",
        "$anchor",
        "deprecated",
        "readOnly",
        "writeOnly",
        "definitions",
        "$defs",
        "discriminator",
        "contentEncoding",
        "contentMediaType",
        "strict",
        "nullable",
        "x-order",
    }
)
_NUMBER = "number"


def type_names(schema: Schema) -> list[str] | None:
    """The types that a schema names; None where it names none.

    Raises:
        GrammarError: it is no type.
    """
    given = schema.get("type")
    if given is None:
        return None
    names = given if isinstance(given, list) else [given]
    known = ("null", "boolean", "object", "array", "number", "integer", "string")
    if not names or not all(isinstance(name, str) and name in known for name in names):
        raise GrammarError("A type of the schema is none of JSON's.")
    return list(dict.fromkeys(names))


def constraints(schema: Schema) -> dict[str, Any]:
    """What of a schema demands something."""
    return {name: value for name, value in schema.items() if name not in ANNOTATIONS}


def resolve(root: object, reference: object) -> object:
    """The schema that a ``$ref`` names: a place in the whole schema.

    Raises:
        GrammarError: there is nothing, or it is elsewhere.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise GrammarError("A $ref must name a place in the schema itself, as #/$defs/name.")
    here = root
    for part in reference[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(here, Mapping) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            raise GrammarError(said("The schema has no {reference}.", reference=reference))
    return here


def merged(one: Schema, other: Schema) -> dict[str, Any]:
    """A schema that says what both say.

    Raises:
        GrammarError: that cannot be said in one.
    """
    result = constraints(_with_further_ones(one, other))
    both_open = _allows_more(one) and _allows_more(other)
    for name, value in constraints(_with_further_ones(other, one)).items():
        result[name] = _both(name, result[name], value) if name in result else value
    if not both_open:
        _drop_what_is_closed(one, other, result)
        result["additionalProperties"] = False
    return result


def _with_further_ones(schema: Schema, beside: Schema) -> Schema:
    """The same, where what it demands of further properties is said of those that the one beside it names.

    Raises:
        GrammarError: it would have to be said of items.
    """
    if schema.get("items", True) not in (True, {}) and "prefixItems" in beside and "prefixItems" not in schema:
        raise GrammarError(said("Two parts of the schema that hold at once both have {name}.", name="items"))
    further, properties = schema.get("additionalProperties"), schema.get("properties", {})
    if not isinstance(further, Mapping):
        return schema
    others = [name for name in beside.get("properties", {}) if name not in properties]
    return {**schema, "properties": {**properties, **dict.fromkeys(others, further)}}


def _allows_more(schema: Schema) -> bool:
    return schema.get("additionalProperties") is not False and schema.get("unevaluatedProperties") is not False


def _drop_what_is_closed(one: Schema, other: Schema, result: dict[str, Any]) -> None:
    """Properties that one of two names and the other, which takes no further ones, does not."""
    for closed, open_one in ((one, other), (other, one)):
        if _allows_more(closed):
            continue
        for name in set(open_one.get("properties", {})) - set(closed.get("properties", {})):
            result["properties"] = {key: value for key, value in result["properties"].items() if key != name}


def _both(name: str, one: Any, other: Any) -> Any:  # noqa: ANN401  (JSON)
    if one == other:
        return one
    if name not in _MERGED:
        raise GrammarError(said("Two parts of the schema that hold at once both have {name}.", name=name))
    return _MERGED[name](one, other)


def _common_types(one: Schema, other: Schema) -> list[str]:
    first, second = type_names(one) or [], type_names(other) or []
    common = [name for name in first if name in second or (name == "integer" and _NUMBER in second)]
    common += [name for name in second if name == "integer" and _NUMBER in first and name not in common]
    if not common:
        raise GrammarError("Two parts of the schema that hold at once have different types.")
    return common


def _all_properties(one: Schema, other: Schema) -> dict[str, Any]:
    return {**one, **{key: {"allOf": [one[key], value]} if key in one else value for key, value in other.items()}}


def _common_values(one: list[Any], other: list[Any]) -> list[Any]:
    spelled = {json.dumps(value, sort_keys=True) for value in other}
    return [value for value in one if json.dumps(value, sort_keys=True) in spelled]


# What two demands of one name are together, where both hold.
_MERGED: dict[str, Callable[[Any, Any], Any]] = {
    "type": lambda one, other: _common_types({"type": one}, {"type": other}),
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    "enum": _common_values,
    "allOf": lambda one, other: [*one, *other],
    "properties": _all_properties,
    **dict.fromkeys(("items", "additionalProperties"), lambda one, other: {"allOf": [one, other]}),
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}
