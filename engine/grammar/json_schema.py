"""JSON schemas (2020-12, and what draft 7 has in common with it) as grammars in GBNF.

What a grammar allows is valid by its schema. It may be less than all that is: properties stand in the schema's order,
keys that it does not name are left out where it names some, and spaces are as `json_text` has them. What a grammar
cannot promise is refused by name, never passed over.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import GrammarError
from engine.grammar import json_text, number_ranges
from engine.grammar.gbnf import MAX_REPEATED, RuleBook, any_of
from engine.grammar.patterns import pattern_symbol
from engine.grammar.schema_merging import Schema, constraints, merged, resolve, type_names
from engine.sentences import said

_ALL_TYPES = ("object", "array", "string", "number", "boolean", "null")
_KNOWN = frozenset(
    {
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "properties",
        "required",
        "additionalProperties",
        "unevaluatedProperties",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minProperties",
        "maxProperties",
        "uniqueItems",
        "multipleOf",
    }
)
_MAX_DEPTH = 64  # of parts that hold at once, and of references in them
_MAX_STEPS = 20_000  # parts looked at, and pairs of alternatives: few words can mean parts without number
_YEAR = "[0-9]{4}"
_DATE = (
    f'{_YEAR} "-" (("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])'
    ' | ("0" [469] | "11") "-" ("0" [1-9] | [12] [0-9] | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]))'
)
_TIME = (
    '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})?'
    ' ("Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])'
)
_BYTE = '("25" [0-5] | "2" [0-4] [0-9] | "1" [0-9]{2} | [1-9]? [0-9])'
_FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f'{_DATE} "T" {_TIME}',
    "uuid": '[0-9a-f]{8} ("-" [0-9a-f]{4}){3} "-" [0-9a-f]{12}',
    "ipv4": f'{_BYTE} ("." {_BYTE}){{3}}',
}


def grammar_of(schema: object) -> str:
    """The grammar of the JSON texts that are valid by ``schema``, itself JSON.

    Raises:
        GrammarError: it is no schema, nothing is valid by it, or a grammar cannot promise what it demands.
    """
    try:
        rules = RuleBook()
        return rules.text(SchemaRules(schema, rules).symbol(schema))
    except (TypeError, AttributeError, ValueError, RecursionError) as error:
        raise GrammarError("The JSON schema is none: a value in it is of the wrong type.") from error


def any_object_grammar() -> str:
    """The grammar of any JSON object."""
    rules = RuleBook()
    return rules.text(json_text.dictionary(rules, json_text.value(rules)))


class SchemaRules:
    """Puts the rules of a schema into a book; ``root`` is the whole schema, which references are looked up in."""

    def __init__(self, root: object, rules: RuleBook) -> None:
        self.rules = rules
        self._root = root
        self._references: dict[str, str] = {}
        self._num_steps = 0
        self._by_type: dict[str, Callable[[Schema], str]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "number": self._number,
            "integer": self._integer,
            "boolean": lambda _schema: json_text.boolean(),
            "null": lambda _schema: '"null"',
        }

    def symbol(self, schema: object, depth: int = 0) -> str:
        """What is valid by a schema, as one symbol."""
        self._count_step()
        if schema is True:
            return json_text.value(self.rules)
        if not isinstance(schema, Mapping):
            if schema is False:
                raise GrammarError("Nothing is valid by a schema that is false.")
            raise GrammarError("A JSON schema must be an object, true or false.")
        demands = constraints(schema)
        if set(demands) == {"$ref"}:
            return self._reference(demands["$ref"])
        if not demands:
            return json_text.value(self.rules)
        self._check(demands)
        flat = self._flat(demands, depth)
        if "anyOf" in flat or "oneOf" in flat:
            return self._alternatives(flat, depth)
        if "enum" in flat or "const" in flat:
            return self.rules.add(any_of(json_text.spelled(value) for value in self._values(flat)), "enum")
        names = type_names(flat) or self._implied_types(flat)
        return self.rules.add(any_of(self._by_type[name](flat) for name in names), names[0])

    def _count_step(self) -> None:
        self._num_steps += 1
        if self._num_steps > _MAX_STEPS:
            raise GrammarError("The schema has too many parts, or its references and alternatives multiply.")

    def _reference(self, reference: object) -> str:
        """The symbol of another place in the schema, which may contain this one."""
        target = resolve(self._root, reference)
        key = str(reference)
        name = self._references.get(key)
        if name is None:
            name = self._references[key] = self.rules.reserve("ref")
            self.rules.define(name, self.symbol(target))
        return name

    @staticmethod
    def _check(demands: Schema) -> None:
        for name, value in demands.items():
            if name not in _KNOWN:
                if name in _REFUSED:
                    raise GrammarError(said("The schema has {name}, which a grammar cannot promise.", name=name))
                continue
            if (
                (name == "uniqueItems" and value is True)
                or (name == "multipleOf" and value != 1)
                or (name == "unevaluatedProperties" and value not in (True, False, {}))
            ):
                raise GrammarError(said("The schema has {name}, which a grammar cannot promise.", name=name))

    def _flat(self, demands: Schema, depth: int) -> Schema:
        """The same with what ``allOf`` and a reference beside other demands say."""
        parts = [*demands.get("allOf", ()), *([{"$ref": demands["$ref"]}] if "$ref" in demands else [])]
        if not parts:
            return demands
        flat: Schema = {name: value for name, value in demands.items() if name not in ("allOf", "$ref")}
        for part in parts:
            flat = merged(flat, self._resolved(part, depth + 1))
        self._check(flat)
        return self._flat(flat, depth + 1) if "allOf" in flat else flat

    def _resolved(self, part: object, depth: int) -> Schema:
        self._count_step()
        if depth > _MAX_DEPTH:
            raise GrammarError("The schema refers to itself without an end.")
        if part is True:
            return {}
        if not isinstance(part, Mapping):
            raise GrammarError("Nothing is valid by a schema that is false.")
        demands = constraints(part)
        if "$ref" in demands:
            rest = {name: value for name, value in demands.items() if name != "$ref"}
            return merged(rest, self._resolved(resolve(self._root, demands["$ref"]), depth + 1))
        return demands

    def _alternatives(self, flat: Schema, depth: int) -> str:
        """One of several. Those of ``oneOf`` must exclude each other, else two might be valid at once."""
        if "anyOf" in flat and "oneOf" in flat:
            raise GrammarError("The schema has anyOf and oneOf in one place, which cannot be followed.")
        key = "anyOf" if "anyOf" in flat else "oneOf"
        base = {name: value for name, value in flat.items() if name != key}
        choices = [self._resolved(choice, depth + 1) for choice in flat[key] if choice is not False]
        whole = [merged(base, choice) if base else choice for choice in choices]
        if key == "oneOf":
            self._check_exclusive(whole)
        symbols = list[str]()
        refusals = list[GrammarError]()
        for original, choice in zip([one for one in flat[key] if one is not False], whole, strict=True):
            try:
                symbols.append(self.symbol(original if not base else choice, depth + 1))
            except GrammarError as refusal:
                refusals.append(refusal)
        if refusals:  # leaving one out would be valid, but nobody would see why it never comes
            raise refusals[0]
        if not symbols:
            raise GrammarError("Nothing is valid by an anyOf or oneOf without alternatives.")
        return self.rules.add(any_of(symbols), "choice")

    def _check_exclusive(self, choices: list[Schema]) -> None:
        for place, one in enumerate(choices):
            for other in choices[place + 1 :]:
                if not self._excludes(one, other):
                    raise GrammarError(
                        "Two alternatives of a oneOf may be valid at once; use anyOf, or give each a property with a "
                        "const of its own."
                    )

    def _excludes(self, one: Schema, other: Schema) -> bool:
        """Whether it is plain to see that nothing is valid by both."""
        self._count_step()
        values, other_values = self._listed_values(one), self._listed_values(other)
        if values is not None and other_values is not None:
            return {_spelled(value) for value in values}.isdisjoint(map(_spelled, other_values))
        types, other_types = (set(type_names(each) or _ALL_TYPES) for each in (one, other))
        for each in (types, other_types):
            if "number" in each:
                each.add("integer")
        if not types & other_types:
            return True
        shared = set(one.get("required", ())) & set(other.get("required", ()))
        properties, others = one.get("properties", {}), other.get("properties", {})
        return types == other_types == {"object"} and any(
            self._excludes(self._resolved(properties[name], 0), self._resolved(others[name], 0))
            for name in shared
            if name in properties and name in others and self._listed_values(self._resolved(properties[name], 0))
        )

    @staticmethod
    def _listed_values(schema: Schema) -> list[Any] | None:
        if "const" in schema:
            return [schema["const"]]
        return list(schema["enum"]) if "enum" in schema else None

    def _values(self, flat: Schema) -> list[Any]:
        """The values that enum and const leave, of the types that are named."""
        values = list(flat["enum"]) if "enum" in flat else [flat["const"]]
        if "const" in flat:
            wanted = _spelled(flat["const"])
            values = [value for value in values if _spelled(value) == wanted]
        if further := set(flat) - {"enum", "const", "type", "format"}:
            raise GrammarError(
                said("The schema has {name} beside an enum, which cannot be followed.", name=min(further))
            )
        names = type_names(flat)
        values = [value for value in values if names is None or any(_is_of(value, name) for name in names)]
        if not values:
            raise GrammarError("An enum of the schema has no value that is valid.")
        return values

    @staticmethod
    def _implied_types(flat: Schema) -> list[str]:
        """Where no type is named: that which the demands are about, though they say nothing of others."""
        about = {
            "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
            "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"},
            "string": {"pattern", "minLength", "maxLength", "format"},
            "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
        }
        found = [name for name, words in about.items() if words & set(flat)]
        return found or list(_ALL_TYPES)

    # ---- types ------------------------------------------------------------------------------------------------------

    def _object(self, flat: Schema) -> str:
        properties: dict[str, object] = dict(flat.get("properties", {}))
        further = flat.get("additionalProperties", flat.get("unevaluatedProperties", True))
        required = dict.fromkeys(flat.get("required", ()))
        for name in required:
            if name not in properties:
                if further is False:
                    raise GrammarError(said("{name} is required, and not allowed, by the schema.", name=repr(name)))
                properties[name] = further
        least, most = flat.get("minProperties", 0), flat.get("maxProperties", math.inf)
        if not properties:
            if least > (further is not False) or most < math.inf:
                raise GrammarError("The schema counts properties that it does not name, which cannot be followed.")
            if further is False:
                return self.rules.add('"{}"', "object")
            return json_text.dictionary(self.rules, self.symbol(further), least=least)
        if least > len(required) or most < len(properties):
            raise GrammarError("The schema counts optional properties, which cannot be followed.")
        pairs = [
            (name, self.symbol(value), name in required)
            for name, value in properties.items()
            if value is not False or name in required
        ]
        return json_text.object_of(self.rules, pairs)

    def _array(self, flat: Schema) -> str:
        least, most = int(flat.get("minItems", 0)), flat.get("maxItems")
        items, first = flat.get("items", True), flat.get("prefixItems", [])
        if isinstance(items, list):  # draft 7
            first, items = items, flat.get("additionalItems", True)
        if most is not None and most < least:
            raise GrammarError("An array of the schema must have more items than it may have.")
        if least > MAX_REPEATED:
            raise GrammarError(said("An array of at least {least:,} items cannot be followed.", least=least))
        bound = None if most is None else max(least, min(int(most), MAX_REPEATED))
        if not first:
            if items is False or bound == 0:
                if least:
                    raise GrammarError("An array of the schema must have items, and none is allowed.")
                return self.rules.add('"[]"', "array")
            return self.rules.add(json_text.array(self.symbol(items), least, bound), "array")
        return self._tuple(list(first), items, least, bound)

    def _tuple(self, first: list[object], items: object, least: int, bound: int | None) -> str:
        """An array whose first items are each of their own kind."""
        room = len(first) if bound is None else min(bound, len(first))
        tail = '"]"'
        if items is not False and (bound is None or bound > len(first)):
            further = None if bound is None else bound - len(first)
            name = self.symbol(items)
            more = json_text.listed(name, max(least - len(first), 1), further)
            tail = f'({json_text.COMMA} {more} "]" | "]")' if least <= len(first) else f'{json_text.COMMA} {more} "]"'
        elif least > len(first):
            raise GrammarError("An array of the schema must have more items than it may have.")
        for place in range(room - 1, -1, -1):
            item = self.symbol(first[place])
            before = f"{json_text.COMMA} " if place else ""
            with_it = self.rules.add(f"{before}{item} {tail}", "items")
            tail = with_it if place < least else self.rules.add(f'{with_it} | "]"', "items")
        return self.rules.add(f'"[" {tail}', "array")

    def _string(self, flat: Schema) -> str:
        least, most = int(flat.get("minLength", 0)), flat.get("maxLength")
        if "pattern" in flat:
            if least or most is not None or flat.get("format") in _FORMATS:
                raise GrammarError("The schema has a pattern beside a length or a format, which cannot be followed.")
            return self.rules.add(f'"\\"" {pattern_symbol(flat["pattern"])} "\\""', "pattern")
        if (known := _FORMATS.get(flat.get("format", ""))) is not None:
            if least or most is not None:
                raise GrammarError("The schema has a format beside a length, which cannot be followed.")
            return self.rules.add(f'"\\"" {known} "\\""', "format")
        if most is not None and most < least:
            raise GrammarError("A string of the schema must be longer than it may be.")
        if least > MAX_REPEATED:
            raise GrammarError(said("A string of at least {least:,} characters cannot be followed.", least=least))
        return json_text.string(self.rules, least, None if most is None else int(most))

    def _integer(self, flat: Schema) -> str:
        lowest, highest = _lowest(flat), _highest(flat)
        if lowest is None and highest is None:
            return json_text.integer(self.rules)
        low = None if lowest is None else math.floor(lowest[0]) + 1 if lowest[1] else math.ceil(lowest[0])
        high = None if highest is None else math.ceil(highest[0]) - 1 if highest[1] else math.floor(highest[0])
        return number_ranges.integers(self.rules, low, high)

    def _number(self, flat: Schema) -> str:
        if flat.get("multipleOf") == 1:
            return self._integer(flat)
        lowest, highest = _lowest(flat), _highest(flat)
        if lowest is None and highest is None:
            return json_text.number(self.rules)
        return number_ranges.numbers(
            self.rules,
            None if lowest is None else lowest[0],
            None if highest is None else highest[0],
            above=lowest is not None and lowest[1],
            below=highest is not None and highest[1],
        )


# Further words of the standard that demand something.
_REFUSED = frozenset(
    {
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "patternProperties",
        "propertyNames",
        "contains",
        "minContains",
        "maxContains",
        "unevaluatedItems",
        "$dynamicRef",
        "$recursiveRef",
    }
)


def _lowest(flat: Schema) -> tuple[float, bool] | None:
    """The lower bound, and whether it is excluded itself."""
    inside, outside = _bound(flat, "minimum"), _bound(flat, "exclusiveMinimum")
    if inside is None and outside is None:
        return None
    if outside is None or (inside is not None and inside > outside):
        assert inside is not None  # noqa: S101  (for the type checker)
        return inside, False
    return outside, True


def _highest(flat: Schema) -> tuple[float, bool] | None:
    """The upper bound, and whether it is excluded itself."""
    inside, outside = _bound(flat, "maximum"), _bound(flat, "exclusiveMaximum")
    if inside is None and outside is None:
        return None
    if outside is None or (inside is not None and inside < outside):
        assert inside is not None  # noqa: S101  (for the type checker)
        return inside, False
    return outside, True


def _bound(flat: Schema, name: str) -> float | None:
    value = flat.get(name)
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value)
    ):
        raise GrammarError(said("{name} of the schema must be a number.", name=name))
    return value


def _spelled(value: object) -> str:
    """A value as text, to compare as JSON sees it: true is not 1."""
    return json.dumps(value, sort_keys=True)


def _is_of(value: object, name: str) -> bool:
    """Whether a value is of a type by its name."""
    if name == "null":
        return value is None
    if name == "boolean" or isinstance(value, bool):
        return name == "boolean" and isinstance(value, bool)
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    kinds: dict[str, type | tuple[type, ...]] = {"object": dict, "array": list, "number": (int, float), "string": str}
    return isinstance(value, kinds[name])
