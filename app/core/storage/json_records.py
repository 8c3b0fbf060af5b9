"""Reads dataclasses of plain values from untrusted JSON."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

# What reading JSON may raise.
JSON_ERRORS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
MAX_NUMBER = 2**53


def read_record(kind: Any, data: Any) -> Any:  # noqa: ANN401  (JSON)
    """Convert JSON to ``kind``: a dataclass, or the type of a field. Numbers must be from 0 to 2^53.

    Missing fields get their defaults, unknown ones are ignored. Raises one of `JSON_ERRORS` for invalid JSON.
    """
    of, origin = get_args(kind), get_origin(kind)
    if origin is tuple:
        return tuple(read_record(of[0], each) for each in data)
    if origin is Mapping:
        return {of[0](key): read_record(of[1], value) for key, value in data.items()}
    if of:  # for `X | None`
        return None if data is None else read_record(of[0], data)
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: read_record(one, data[name]) for name, one in _types_of(kind).items() if name in data})
    if kind in (int, float, bool):
        return _number(kind, data)
    if not isinstance(data, str):
        raise TypeError("no text")
    return data if kind is str else kind(data)


def _number(kind: Any, data: Any) -> Any:  # noqa: ANN401  (JSON)
    is_kind = isinstance(data, int | float) if kind is float else isinstance(data, kind)
    if not is_kind or isinstance(data, bool) is not (kind is bool):
        raise TypeError("no number")
    if kind is float and -1e-3 < data < 0:  # a difference of times, rounded
        return 0.0
    if not 0 <= data <= MAX_NUMBER:  # also for NaN
        raise ValueError("a number out of range")
    return kind(data)


@cache
def _types_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401  (a dataclass)
    return get_type_hints(kind)
