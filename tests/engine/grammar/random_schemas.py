"""Random JSON schemas for tests, of the kinds that grammars can enforce."""

from typing import Any

import numpy as np

_NAMES = ("name", "age", "tags", "city", "is_open", "price", "näme", 'qu"ote', "a b", "items", "id", "note")
_WORDS = ("red", "green", "deep blue", 'say "hi"', "tab\there", "ünïcode", "")
_PATTERNS = (
    r"^[A-Z]{2}-\d{3}$",
    r"^(foo|bar)+$",
    r"^\w{1,8}\.(txt|md)$",
    r"^[^\"\\]{2,5}$",
    r"^a*b?c{2,4}$",
    r"^#[0-9a-fA-F]{6}$",
)
_FORMATS = ("date", "time", "date-time", "uuid", "ipv4")


def random_schema(rng: np.random.Generator, depth: int = 3) -> dict[str, Any]:
    """A random schema with at most ``depth`` levels."""
    makers = [_string, _number, _integer, _enum, _string, _plain]
    if depth > 0:
        makers += [_object, _object, _object, _array, _array, _tuple, _choice, _together, _reference]
    maker = makers[int(rng.integers(len(makers)))]
    return maker(rng, depth)


def _flip(rng: np.random.Generator, chance: float = 0.5) -> bool:
    return bool(rng.random() < chance)


def _string(rng: np.random.Generator, _depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    kind = int(rng.integers(4))
    if kind == 0:
        least = int(rng.integers(0, 4))
        schema |= {"minLength": least, "maxLength": least + int(rng.integers(0, 12))}
    elif kind == 1:
        schema["pattern"] = str(rng.choice(_PATTERNS))
    elif kind == 2:
        schema["format"] = str(rng.choice(_FORMATS))
    else:
        schema["maxLength"] = 20
    return schema


def _integer(rng: np.random.Generator, _depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    low = int(rng.integers(-2000, 2000))
    if _flip(rng):
        schema["minimum" if _flip(rng) else "exclusiveMinimum"] = low
    if _flip(rng):
        schema["maximum" if _flip(rng) else "exclusiveMaximum"] = low + 2 + int(rng.integers(0, 3000))
    return schema


def _number(rng: np.random.Generator, _depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "number"}
    low = float(np.round(rng.normal(0, 50), 1))
    if _flip(rng):
        schema["minimum" if _flip(rng) else "exclusiveMinimum"] = low
    if _flip(rng):
        schema["maximum" if _flip(rng) else "exclusiveMaximum"] = float(np.round(low + 2 + rng.exponential(30), 1))
    return schema


def _plain(rng: np.random.Generator, _depth: int) -> dict[str, Any]:
    return {"type": str(rng.choice(["boolean", "null"]))}


def _enum(rng: np.random.Generator, _depth: int) -> dict[str, Any]:
    values: list[Any] = [str(one) for one in rng.choice(_WORDS, 3, replace=False)]
    values += [int(rng.integers(100)), None, True][: int(rng.integers(0, 4))]
    return {"enum": values} if _flip(rng, 0.8) else {"const": values[0]}


def _object(rng: np.random.Generator, depth: int) -> dict[str, Any]:
    if _flip(rng, 0.15):
        return {"type": "object", "additionalProperties": random_schema(rng, depth - 1)}
    names = [str(name) for name in rng.choice(_NAMES, int(rng.integers(1, 5)), replace=False)]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: random_schema(rng, depth - 1) for name in names},
        "required": [name for name in names if _flip(rng, 0.7)],
    }
    if _flip(rng):
        schema["additionalProperties"] = False
    return schema


def _array(rng: np.random.Generator, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "array", "items": random_schema(rng, depth - 1)}
    least = int(rng.integers(0, 3))
    if _flip(rng):
        schema["minItems"] = least
    schema["maxItems"] = least + int(rng.integers(0, 4))
    return schema


def _tuple(rng: np.random.Generator, depth: int) -> dict[str, Any]:
    items = [random_schema(rng, depth - 1) for _ in range(int(rng.integers(1, 4)))]
    schema: dict[str, Any] = {"type": "array", "prefixItems": items, "minItems": int(rng.integers(0, len(items) + 1))}
    schema["items"] = False if _flip(rng) else random_schema(rng, depth - 1)
    if schema["items"] is not False:
        schema["maxItems"] = len(items) + 2
    return schema


def _choice(rng: np.random.Generator, depth: int) -> dict[str, Any]:
    if _flip(rng):
        return {"anyOf": [random_schema(rng, depth - 1) for _ in range(int(rng.integers(2, 4)))]}
    alternatives = []
    for kind in ("cat", "dog", "eel")[: int(rng.integers(2, 4))]:
        properties = {"kind": {"const": kind}, "of": random_schema(rng, depth - 1)}
        alternatives.append({"type": "object", "properties": properties, "required": ["kind"]})
    return {"oneOf": alternatives}


def _together(rng: np.random.Generator, depth: int) -> dict[str, Any]:
    first, second = _object(rng, depth - 1), _object(rng, depth - 1)
    for schema in (first, second):
        schema.pop("additionalProperties", None)
    second["properties"] = {
        name: value for name, value in second.get("properties", {}).items() if name not in first.get("properties", {})
    }
    second["required"] = [name for name in second.get("required", []) if name in second["properties"]]
    return {"allOf": [first, second]}


def _reference(rng: np.random.Generator, depth: int) -> dict[str, Any]:
    """A recursive list; only as a root schema, since references start at the root."""
    if depth < 3:
        return _plain(rng, depth)
    properties = {"value": random_schema(rng, 1), "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}
    node = {"type": "object", "properties": properties, "required": ["value", "next"]}
    return {"$defs": {"node": node}, "$ref": "#/$defs/node"}
