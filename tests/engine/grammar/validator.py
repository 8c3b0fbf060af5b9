"""A JSON Schema validator for the keywords that the tests use, written from the standard."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from typing import Any

Json = Any
_KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "boolean": bool,
}
_FORMATS = {
    "date": r"\d{4}-\d\d-\d\d",
    "time": r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "date-time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "ipv4": r"\d{1,3}(\.\d{1,3}){3}",
}


def is_valid(value: Json, schema: Json, root: Json = None) -> bool:
    root = schema if root is None else root
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].split("/")[1:]:
            target = target[part]
        if not is_valid(value, target, root):
            return False

    def holds(other: Json) -> bool:
        return is_valid(value, other, root)

    return (
        all(holds(one) for one in schema.get("allOf", []))
        and any(holds(one) for one in schema.get("anyOf", [True]))
        and sum(holds(one) for one in schema.get("oneOf", [True])) == 1
        and _is_of_type(value, schema)
        and any(_same(value, one) for one in schema.get("enum", [value]))
        and _same(value, schema.get("const", value))
        and _is_in_range(value, schema)
        and (not isinstance(value, str) or _is_text(value, schema))
        and (not isinstance(value, list) or _is_array(value, schema, root))
        and (not isinstance(value, dict) or _is_object(value, schema, root))
    )


def _same(one: Json, other: Json) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _is_of_type(value: Json, schema: Mapping[str, Any]) -> bool:
    names = schema.get("type", [])
    names = names if isinstance(names, list) else [names]
    return not names or any(_is_of(value, name) for name in names)


def _is_of(value: Json, name: str) -> bool:
    if name == "null":
        return value is None
    if name == "integer":
        return not isinstance(value, bool) and isinstance(value, int | float) and value == int(value)
    return isinstance(value, _KINDS[name]) and (name == "boolean" or not isinstance(value, bool))


def _is_in_range(value: Json, schema: Mapping[str, Any]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and value > schema.get("exclusiveMinimum", -inf)
        and value < schema.get("exclusiveMaximum", inf)
    )


def _is_text(value: str, schema: Mapping[str, Any]) -> bool:
    return (
        schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        and re.search(schema.get("pattern", ""), value) is not None
        and ("format" not in schema or re.fullmatch(_FORMATS[schema["format"]], value) is not None)
    )


def _is_array(value: list[Any], schema: Mapping[str, Any], root: Json) -> bool:
    first = schema.get("prefixItems", [])
    return (
        schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        and all(is_valid(item, one, root) for item, one in zip(value, first, strict=False))
        and all(is_valid(item, schema.get("items", True), root) for item in value[len(first) :])
    )


def _is_object(value: dict[str, Any], schema: Mapping[str, Any], root: Json) -> bool:
    properties = schema.get("properties", {})
    return set(schema.get("required", [])) <= set(value) and all(
        is_valid(item, properties.get(name, schema.get("additionalProperties", True)), root)
        for name, item in value.items()
    )
