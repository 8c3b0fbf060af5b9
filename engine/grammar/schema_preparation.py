"""Converts JSON schemas to schemas that llguidance can express.

Every allowed value conforms to the original schema, except for keywords that were dropped and are reported. Some valid
values are not allowed: objects whose properties one schema names have no others, integers have at most 15 digits, and a
schema without a type allows only the type that its keywords imply.
"""

from collections.abc import Mapping, Set
from functools import lru_cache
from typing import Any, TypeGuard
from urllib.parse import quote, unquote

from llguidance import LLMatcher

from engine.errors import GrammarError
from engine.sentences import i18n

Schema = dict[str, Any]
MAX_STEPS = 20_000  # limit of visited parts, since a few references can expand to an unbounded number
MAX_DEPTH = 100
_MAX_DIGITS = 15  # digits of an integer that a double can represent
_MAP_KEYWORDS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions"}
)  # keywords that map names to schemas
_LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLE_KEYWORDS = frozenset({"items", "additionalProperties", "additionalItems"})
_CHOICES = ("anyOf", "oneOf")
_IGNORED = frozenset({"$id", "id", "$schema", "x-guidance", "title", "description", "default", "examples", "$comment"})
_COUNT_KEYWORDS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_BOUND_KEYWORDS = frozenset({"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"})
# No grammar can express these keywords; ``then``, ``else`` and the counts of ``contains`` depend on them.
_INEXPRESSIBLE_KEYWORDS = frozenset(
    {
        "not",
        "if",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "contains",
        "uniqueItems",
        "unevaluatedItems",
        "propertyNames",
        "$dynamicRef",
        "$recursiveRef",
    }
)
_DEPENDENT_KEYWORDS = frozenset({"then", "else", "minContains", "maxContains", "unevaluatedProperties"})
_KEYWORDS_BY_TYPE = {
    "object": {
        "properties",
        "required",
        "additionalProperties",
        "unevaluatedProperties",
        "patternProperties",
        "minProperties",
        "maxProperties",
    },
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"},
    "string": {"pattern", "minLength", "maxLength", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}
_ALL_TYPES = frozenset({"integer", "null", "boolean", *_KEYWORDS_BY_TYPE})
_KNOWN_FORMATS = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}
)


class SchemaPreparation:
    """Prepares a schema.

    Attributes:
        schema: the prepared schema.
        dropped: keywords that were left out, each with the JSON pointer of its first occurrence.
        annotations: unknown formats, which the standard does not enforce.

    Raises:
        GrammarError: not a schema, or it has too many parts.
    """

    def __init__(self, root: object) -> None:
        self._root = root
        self._num_steps = 0
        self._composed: set[int] = set()  # ids of schemas combined with others; these must not forbid names
        self.dropped: dict[str, str] = {}
        self.annotations: dict[str, None] = {}
        self._find_composed(root, 0)
        self.schema = self._prepared(root, "#", 0)

    # ---- references -------------------------------------------------------------------------------------------------

    def _target(self, reference: str) -> object:
        found: Any = self._root
        try:
            for step in unquote(reference.removeprefix("#")).split("/")[1:]:
                name = step.replace("~1", "/").replace("~0", "~")
                found = found[int(name)] if isinstance(found, list) else found[name]
        except (LookupError, TypeError, ValueError) as error:
            message = i18n("The schema refers to {reference}, which it does not have.", reference=reference[:200])
            raise GrammarError(message) from error
        return found

    @staticmethod
    def _is_pointer(reference: object) -> TypeGuard[str]:
        return isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))

    # ---- objects and their names ------------------------------------------------------------------------------------

    def _find_composed(self, node: object, depth: int) -> None:
        """Visit all schemas, and record those that apply to the same value as another schema."""
        self._count_step(depth)
        if not isinstance(node, Mapping):
            return
        for part in self._combined_parts(node):
            self._mark(part)
        for key, value in node.items():
            for inner in _subschemas(key, value):
                self._find_composed(inner, depth + 1)

    def _combined_parts(self, node: Mapping[str, Any]) -> list[object]:
        """The subschemas that apply to the same value as the schema itself."""
        choices = [part for key in _CHOICES for part in _listed(node.get(key))]
        found = _listed(node.get("allOf"))
        if len(found) == 1 and not node.keys() & {"$ref", *_CHOICES, *_KEYWORDS_BY_TYPE["object"]}:
            return []  # the schema is this part, with a title or a default
        has_names = any(node.get(key) for key in ("properties", "required", "patternProperties"))
        if has_names or found or "$ref" in node or all(key in node for key in _CHOICES):
            found = [*found, *choices]
        reference = node.get("$ref")
        if self._is_pointer(reference) and (has_names or found):
            found = [*found, self._target(reference)]
        return found

    def _mark(self, node: object) -> None:
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if not isinstance(one, Mapping) or id(one) in self._composed:
                continue
            self._count_step(0)
            self._composed.add(id(one))
            waiting += [part for key in ("allOf", *_CHOICES) for part in _listed(one.get(key))]
            if self._is_pointer(one.get("$ref")):
                waiting.append(self._target(one["$ref"]))

    def _close(self, node: Mapping[str, Any], made: Schema, pointer: str) -> None:
        """Forbid unnamed properties if the schema names some and no keyword or other schema may allow others."""
        if id(node) in self._composed or self._combined_parts(node):
            if node.get("unevaluatedProperties") is False:
                self.dropped.setdefault("unevaluatedProperties", pointer)
        elif "additionalProperties" not in node and "unevaluatedProperties" in node:
            made["additionalProperties"] = self._prepared(node["unevaluatedProperties"], pointer, 0)
        elif "properties" in made and not made.keys() & {"additionalProperties", "patternProperties"}:
            for name in _listed(made.get("required")):
                made["properties"].setdefault(name, True)
            made["additionalProperties"] = False

    # ---- the parts of a schema --------------------------------------------------------------------------------------

    def _prepared(self, node: object, pointer: str, depth: int) -> Any:  # noqa: ANN401  (a schema: true, false or a map)
        self._count_step(depth)
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            raise GrammarError("A JSON schema must be an object, true or false.")
        made: Schema = {}
        for key, value in node.items():
            if key in _IGNORED or key in _DEPENDENT_KEYWORDS:
                continue
            if key in _INEXPRESSIBLE_KEYWORDS:
                self._check_keyword(key, value, node, pointer)
            else:
                made[key] = self._value(key, value, f"{pointer}/{key}", depth)
        if not _types_of(made) <= _ALL_TYPES:
            raise GrammarError("A type of the schema is none of JSON's.")
        if "type" not in made and (kinds := [kind for kind, words in _KEYWORDS_BY_TYPE.items() if words & node.keys()]):
            made["type"] = kinds
        self._text(made, pointer)
        self._numbers(made, pointer, may_bound=id(node) not in self._composed)
        if "$ref" in made:
            self._reference(made, pointer)
        self._close(node, made, pointer)
        if "oneOf" in made:  # as in llama.cpp: a value that several alternatives allow is not excluded
            choices = {"anyOf": made.pop("oneOf")}
            made = {**made, "allOf": [*_listed(made.get("allOf")), choices]} if "anyOf" in made else made | choices
        return made

    def _value(self, key: str, value: object, pointer: str, depth: int) -> object:
        if key in _MAP_KEYWORDS and isinstance(value, Mapping):
            return {str(name): self._prepared(one, f"{pointer}/{name}", depth + 1) for name, one in value.items()}
        if (key in _LIST_KEYWORDS or key == "items") and isinstance(value, list):
            return [self._prepared(one, f"{pointer}/{number}", depth + 1) for number, one in enumerate(value)]
        if key in _SINGLE_KEYWORDS:
            return self._prepared(value, pointer, depth + 1)
        if key in _COUNT_KEYWORDS and isinstance(value, float) and value.is_integer():
            return int(value)
        return value

    # ---- keywords ---------------------------------------------------------------------------------------------------

    def _check_keyword(self, key: str, value: object, node: Mapping[str, Any], pointer: str) -> None:
        """Drop a keyword that cannot be expressed, and report it unless it has no effect."""
        asks_nothing = {
            "not": value is False,
            "if": not node.keys() & {"then", "else"},
            "contains": node.get("minContains") == 0 and "maxContains" not in node,
            "uniqueItems": value is not True or node.get("maxItems", 2) in (0, 1),
            "unevaluatedItems": value in (True, {}),
            "propertyNames": value in (True, {}, {"type": "string"}),
        }
        if not asks_nothing.get(key, value in ({}, [])):
            self.dropped.setdefault(key, pointer)

    def _text(self, made: Schema, pointer: str) -> None:
        name = made.get("format")
        if isinstance(name, str) and name not in _KNOWN_FORMATS:
            del made["format"]
            if "string" in _listed(made.get("type", "string")):
                self.annotations[name[:100]] = None
        pattern = made.get("pattern")
        if isinstance(pattern, str) and _refusal({"pattern": pattern}):
            del made["pattern"]
            self.dropped.setdefault("pattern", pointer)
        patterns = made.get("patternProperties")
        if isinstance(patterns, dict) and patterns and _refusal({"patternProperties": dict.fromkeys(patterns, True)}):
            del made["patternProperties"]
            if made.get("additionalProperties") is False:  # it applied to names that match no pattern
                del made["additionalProperties"]
            self.dropped.setdefault("patternProperties", pointer)

    def _numbers(self, made: Schema, pointer: str, *, may_bound: bool) -> None:
        if (
            may_bound
            and made.get("type") == "integer"
            and not made.keys() & {*_BOUND_KEYWORDS, "enum", "const", "allOf", "$ref"}
        ):
            made |= {"minimum": 1 - 10**_MAX_DIGITS, "maximum": 10**_MAX_DIGITS - 1}
        if "multipleOf" in made and _refusal({"type": "number", "multipleOf": made["multipleOf"]}):
            del made["multipleOf"]
            self.dropped.setdefault("multipleOf", pointer)

    def _reference(self, made: Schema, pointer: str) -> None:
        reference = made["$ref"]
        if self._is_pointer(reference):
            self._target(reference)
            made["$ref"] = "#" + quote(unquote(reference[1:]), safe="/~$!&'()*+,;=:@")
        elif not isinstance(reference, str):
            raise GrammarError("A $ref of the schema must be a string.")
        elif not reference.startswith("#"):
            del made["$ref"]
            self.dropped.setdefault("$ref", pointer)

    def _count_step(self, depth: int) -> None:
        self._num_steps += 1
        if self._num_steps > MAX_STEPS:
            raise GrammarError("The schema has too many parts, or its references and alternatives multiply.")
        if depth > MAX_DEPTH:
            raise GrammarError("The schema is nested too deep.")


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _types_of(schema: Mapping[str, Any]) -> Set[str]:
    """The types that a schema allows; "number" includes "integer"."""
    named = {str(name) for name in _listed(schema.get("type"))} or _ALL_TYPES
    return named | {"integer"} if "number" in named else named


def _subschemas(key: str, value: object) -> list[object]:
    if key in _MAP_KEYWORDS:
        return list(value.values()) if isinstance(value, Mapping) else []
    if key in _LIST_KEYWORDS or key in _SINGLE_KEYWORDS:
        return _listed(value)
    return []


def _refusal(schema: Mapping[str, Any]) -> str:
    """Llguidance's reason for refusing a subschema by itself; empty if accepted."""
    return _refusal_of(LLMatcher.grammar_from_json_schema(dict(schema)))


@lru_cache(maxsize=256)
def _refusal_of(grammar: str) -> str:
    return LLMatcher.validate_grammar(grammar)
