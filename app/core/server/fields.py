"""Reads the JSON object of a request, limited in bytes, time and depth, and checks the types of its fields.

Unknown fields are reported as warnings of the answer.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request

from app.core.domain.local_server import GONE
from app.core.server.errors import ApiError
from engine.prompt.typed_text import whole_characters

MAX_BODY_BYTES = 8 * 2**20  # more characters than any context holds
MAX_BYTES_WITH_PICTURES = 64 * 2**20  # in base64: some twenty photographs from a camera
BODY_TIMEOUT_S = 30.0  # on loopback a body arrives at once
MAX_DEPTH = 32  # levels of nested objects and arrays; known bodies have up to four
MAX_WARNINGS = 32
# Warnings for the client of the current request.
_warnings: ContextVar[list[str]] = ContextVar("warnings")


# ---- the body -------------------------------------------------------------------------------------------------------


async def read_object(
    request: Request, max_bytes: int = MAX_BODY_BYTES, timeout_s: float = BODY_TIMEOUT_S
) -> dict[str, object]:
    """Read the JSON object of a request, which has no warnings yet.

    Raises:
        ApiError: 413 if it is too large, 408 if it is too slow, 400 if it is no JSON object.
    """
    clear_warnings()
    announced, raw = request.headers.get("content-length", ""), bytearray()
    too_large = ApiError(413, f"The body has more than {max_bytes:,} bytes.", headers={"Connection": "close"})
    if announced.isdecimal() and int(announced) > max_bytes:
        raise too_large
    try:
        async with asyncio.timeout(timeout_s):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > max_bytes:
                    raise too_large
    except TimeoutError as error:
        message = f"The body did not arrive within {timeout_s:g} seconds."
        raise ApiError(408, message, headers={"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise ApiError(GONE, "The client went away.") from error
    return parse_object(bytes(raw))


def parse_object(raw: bytes) -> dict[str, object]:
    """Parse a JSON object: UTF-8, no NaN, not deeper than `MAX_DEPTH`."""
    too_deep = ApiError(400, f"The body is nested deeper than {MAX_DEPTH} levels.", code="invalid_json")
    try:
        value = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except RecursionError as error:
        raise too_deep from error
    except ValueError as error:
        raise ApiError(400, "The body is no JSON in UTF-8.", code="invalid_json") from error
    if not isinstance(value, dict):
        raise ApiError(400, "The body must be a JSON object.", code="invalid_json")
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(inner, dict | list)
        ]
    if level:
        raise too_deep
    whole: dict[str, object] = _without_half_surrogates(value) if b"\\u" in raw else value
    return whole


def _without_half_surrogates(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """Replace half a surrogate pair by U+FFFD; programs produce one by cutting a text."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {whole_characters(name): _without_half_surrogates(inner) for name, inner in value.items()}
    return [_without_half_surrogates(inner) for inner in value] if isinstance(value, list) else value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # Python accepts NaN and infinities, JSON does not


# ---- warnings and errors --------------------------------------------------------------------------------------------


def clear_warnings() -> None:
    """Begin a request. Each request has a context of its own, in which the server runs its task."""
    _warnings.set([])


def warn(message: str) -> None:
    """Report an unsupported field to the client."""
    warnings = _warnings.get()
    if message not in warnings and len(warnings) < MAX_WARNINGS:
        warnings.append(message)


def current_warnings() -> tuple[str, ...]:
    return tuple(_warnings.get())


def warnings_field() -> dict[str, object]:
    """The warnings as a field of an answer; empty without warnings."""
    warnings = current_warnings()
    return {"warnings": list(warnings)} if warnings else {}


def wrong_type(param: str, wanted: str) -> ApiError:
    return ApiError(400, f"`{param}` must be {wanted}.", param=param, code="invalid_type")


def invalid(param: str, message: str) -> ApiError:
    return ApiError(400, message, param=param, code="invalid_value")


def missing(param: str) -> ApiError:
    return ApiError(400, f"`{param}` is missing.", param=param, code="missing_required_parameter")


def unsupported(param: str, message: str = "") -> ApiError:
    return ApiError(
        400, message or f"`{param}` is not supported by this server.", param=param, code="unsupported_parameter"
    )


# ---- the fields of an object ----------------------------------------------------------------------------------------


def check_text(param: str, value: object) -> str:
    """Return ``value`` if it is a string."""
    if not isinstance(value, str):
        raise wrong_type(param, "a string")
    return value


def as_list(param: str, value: object, at_most: int | None = None) -> list[object]:
    """Return ``value`` if it is an array of at most so many items; an empty list for None."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type(param, "an array")
    if at_most is not None and len(value) > at_most:
        raise invalid(param, f"`{param}` may have {at_most:,} items at most, and these are {len(value):,}.")
    return value


def as_fields(param: str, value: object) -> Fields:
    """The fields of an object."""
    if not isinstance(value, dict):
        raise wrong_type(param, "an object")
    return Fields(value, param)


class Fields:
    """The fields of an object; ``null`` counts as missing. Getters raise `ApiError` for a wrong type.

    ``param``: the object's own position in the request, for errors; empty for the request itself.
    """

    def __init__(self, values: Mapping[str, object], param: str = "") -> None:
        self._remaining = {name: value for name, value in values.items() if value is not None}
        self.param = param

    def path(self, name: str) -> str:
        """The position of a field in the request, for example ``messages[2].content``."""
        return f"{self.param}.{name}" if self.param else name

    def has(self, name: str) -> bool:
        """True if the field is present and was not taken yet."""
        return name in self._remaining

    def pop(self, name: str) -> object:
        """Take the value of a field; None if it is missing."""
        return self._remaining.pop(name, None)

    def ignore(self, *names: str) -> None:
        """Take fields that have no effect."""
        for name in names:
            self.pop(name)

    def text(self, name: str) -> str | None:
        value = self.pop(name)
        return None if value is None else check_text(self.path(name), value)

    def required(self, name: str) -> str:
        """Take a required string that is not empty."""
        text = self.text(name)
        if not text:
            raise missing(self.path(name))
        return text

    def boolean(self, name: str, *, default: bool = False) -> bool:
        value = self.pop(name)
        if value is not None and not isinstance(value, bool):
            raise wrong_type(self.path(name), "a boolean")
        return default if value is None else value

    def integer(self, name: str, at_least: int | None = None, at_most: int | None = None) -> int | None:
        """Take an integer within these limits; 12.0 is accepted."""
        value = self.pop(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong_type(self.path(name), "an integer")
        if (at_least is not None and value < at_least) or (at_most is not None and value > at_most):
            wanted = f"{at_least} or more" if at_most is None else f"a number from {at_least} to {at_most}"
            raise invalid(self.path(name), f"`{self.path(name)}` must be {wanted}.")
        return value

    def number(self, name: str) -> float | None:
        """Take a finite number."""
        value = self.pop(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_type(self.path(name), "a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise ApiError(400, f"`{self.path(name)}` is too large.", param=self.path(name))
        return number

    def nested(self, name: str) -> Fields | None:
        value = self.pop(name)
        return None if value is None else as_fields(self.path(name), value)

    def objects(self, name: str, at_most: int | None = None) -> list[Fields]:
        """Take an array of objects; empty if it is missing."""
        param = self.path(name)
        return [
            as_fields(f"{param}[{index}]", one) for index, one in enumerate(as_list(param, self.pop(name), at_most))
        ]

    def remaining(self) -> dict[str, object]:
        """Take all remaining fields."""
        left, self._remaining = self._remaining, {}
        return left

    def refuse_unless(self, neutral: Mapping[str, Iterable[object]]) -> None:
        """Take fields that may only have one of their ``neutral`` values."""
        for name, values in neutral.items():
            value = self.pop(name)
            if value is not None and not any(value == one and type(value) is type(one) for one in values):
                raise unsupported(self.path(name))

    def check_unknown(self) -> None:
        """Report the remaining fields."""
        for name in self.remaining():
            warn(f"`{self.path(name[:100])}` is not a field that this server knows.")
