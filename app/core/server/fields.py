"""Reads the fields of a JSON object one by one and checks their types.

Unknown fields are reported, or refused in strict mode.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from app.core.server.errors import ApiError

_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "a boolean"),
    (str, "a string"),
    (int, "a number"),
    (float, "a number"),
    (list, "an array"),
    (dict, "an object"),
)


MAX_WARNINGS = 32
# Warnings for the client of the current request; None in strict mode.
_warnings: ContextVar[list[str] | None] = ContextVar("warnings", default=None)


@contextmanager
def lenient() -> Iterator[None]:
    """Within the context, report unknown fields as warnings instead of refusing the request."""
    token = _warnings.set([])
    try:
        yield
    finally:
        _warnings.reset(token)


def warn(message: str) -> bool:
    """Report an ignored field to the client; in strict mode return False instead."""
    warnings = _warnings.get()
    if warnings is not None and message not in warnings and len(warnings) < MAX_WARNINGS:
        warnings.append(message)
    return warnings is not None


def is_lenient() -> bool:
    """True if unsupported fields are reported instead of refused."""
    return _warnings.get() is not None


def warnings_so_far() -> tuple[str, ...]:
    return tuple(_warnings.get() or ())


def wrong_type(param: str, wanted: str, value: object) -> ApiError:
    found = next((name for kind, name in _TYPE_NAMES if isinstance(value, kind)), "null")
    return ApiError(400, f"`{param}` must be {wanted}, not {found}.", param=param, code="invalid_type")


def invalid(param: str, message: str) -> ApiError:
    return ApiError(400, message, param=param, code="invalid_value")


def missing(param: str) -> ApiError:
    return ApiError(400, f"`{param}` is missing.", param=param, code="missing_required_parameter")


def unsupported(param: str, message: str = "") -> ApiError:
    return ApiError(
        400, message or f"`{param}` is not supported by this server.", param=param, code="unsupported_parameter"
    )


def check_text(param: str, value: object) -> str:
    """Return ``value`` if it is a string.

    Raises:
        ApiError: the value is not a string.
    """
    if not isinstance(value, str):
        raise wrong_type(param, "a string", value)
    return value


def _is_one_of(value: object, values: Iterable[object]) -> bool:
    return any(isinstance(value, bool) is isinstance(one, bool) and value == one for one in values)  # True == 1


class Fields:
    """The fields of an object; ``null`` counts as missing. Getters raise `ApiError` for a wrong type.

    ``prefix``: precedes field names in errors, for example ``speculation.``.
    """

    def __init__(self, values: Mapping[str, object], prefix: str = "") -> None:
        self._left = {name: value for name, value in values.items() if value is not None}
        self._prefix = prefix

    def has(self, name: str) -> bool:
        """True if the field is present and was not taken yet."""
        return name in self._left

    def take(self, name: str) -> object:
        """Take the value of a field; None if it is missing."""
        return self._left.pop(name, None)

    def ignore(self, names: Iterable[str]) -> None:
        """Take fields that have no effect."""
        for name in names:
            self.take(name)

    def text(self, name: str) -> str | None:
        value = self.take(name)
        return None if value is None else check_text(self._prefix + name, value)

    def required(self, name: str) -> str:
        """Take a required string."""
        text = self.text(name)
        if text is None:
            raise missing(self._prefix + name)
        return text

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise wrong_type(self._prefix + name, "a boolean", value)
        return default if value is None else value

    def whole(self, name: str) -> int | None:
        """Take an integer; 12.0 is accepted."""
        value = self.take(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise wrong_type(self._prefix + name, "an integer", value)
        return value

    def number(self, name: str) -> float | None:
        """Take a finite number."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_type(self._prefix + name, "a number", value)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise ApiError(400, f"`{self._prefix}{name}` is too large.", param=self._prefix + name)
        return number

    def nested(self, name: str) -> Fields | None:
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise wrong_type(self._prefix + name, "an object", value)
        return Fields(value, f"{self._prefix}{name}.")

    def rest(self) -> dict[str, object]:
        """Take all remaining fields."""
        left, self._left = self._left, {}
        return left

    def rest_without(self, taken: Iterable[str], whole: str) -> dict[str, object]:
        """Like `rest`. The caller sets the fields ``taken`` itself, so a request must not have them.

        Raises:
            ApiError: a field of ``taken`` is present; ``whole`` names the kind of request in the message.
        """
        rest = self.rest()
        if found := sorted(rest.keys() & set(taken)):
            message = f"`{found[0]}` is not a field of a {whole}."
            raise ApiError(400, message, param=found[0], code="unknown_parameter")
        return rest

    def refuse(self, neutral: Mapping[str, Iterable[object]]) -> None:
        """Take fields that may only have one of their ``neutral`` values.

        Raises:
            ApiError: a field has another value.
        """
        for name, values in neutral.items():
            value = self.take(name)
            if value is not None and not _is_one_of(value, values):
                raise unsupported(self._prefix + name)

    def take_neutral(self, neutral: Mapping[str, Iterable[object]]) -> None:
        """Take fields that have one of their ``neutral`` values; other fields stay."""
        for name, values in neutral.items():
            if _is_one_of(self._left.get(name), values):
                self.take(name)

    def end(self) -> None:
        """Report the remaining fields, or refuse them in strict mode.

        Raises:
            ApiError: fields remain, in strict mode.
        """
        for name in self.rest():
            shown = self._prefix + name[:100]
            if not warn(f"`{shown}` is not a field that this server knows; it was ignored."):
                message = f"`{shown}` is not a field that this server knows."
                raise ApiError(400, message, param=shown, code="unknown_parameter")
