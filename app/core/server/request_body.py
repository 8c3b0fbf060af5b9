"""The body of a request: a JSON object, limited in bytes, time and depth."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request

from app.core.domain.local_server import GONE
from app.core.server.errors import ApiError
from engine.prompt.typed_text import whole_characters

MAX_BODY_BYTES = 8 * 2**20  # more characters than any context holds
MAX_BYTES_WITH_PICTURES = 64 * 2**20  # in base64: some twenty photographs from a camera
BODY_TIMEOUT_S = 30.0  # on loopback a body arrives at once
MAX_DEPTH = 32  # levels of nested objects and arrays; known bodies have up to four
CLIENT_GONE = GONE  # nginx's status for a client that is gone


async def read_object(
    request: Request, max_bytes: int = MAX_BODY_BYTES, timeout_s: float = BODY_TIMEOUT_S
) -> dict[str, object]:
    """Read the JSON object of a request.

    Raises:
        ApiError: 413 if it is too large, 408 if it is too slow, 400 if it is no JSON object.
    """
    try:
        async with asyncio.timeout(timeout_s):
            raw = await _read_bounded(request, max_bytes)
    except TimeoutError as error:
        message = f"The body did not arrive within {timeout_s:g} seconds."
        raise ApiError(408, message, headers={"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise ApiError(CLIENT_GONE, "The client went away.") from error
    return parse_object(raw)


async def _read_bounded(request: Request, max_bytes: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise _too_large(max_bytes)
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(raw)


def _too_large(max_bytes: int) -> ApiError:
    return ApiError(413, f"The body has more than {max_bytes:,} bytes.", headers={"Connection": "close"})


def parse_object(raw: bytes) -> dict[str, object]:
    """Parse a JSON object: UTF-8, no NaN, not deeper than `MAX_DEPTH`.

    Raises:
        ApiError: the body is no such object. The message does not quote the body.
    """
    try:
        value = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise ApiError(400, "The body is no JSON in UTF-8.", code="invalid_json") from error
    if not isinstance(value, dict):
        raise ApiError(400, "The body must be a JSON object.", code="invalid_json")
    _check_depth(value)
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


def _check_depth(value: object) -> None:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _members(outer)]
        if not level:
            return
    raise _too_deep()


def _members(value: object) -> list[object]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [member for member in inner if isinstance(member, dict | list)]


def _too_deep() -> ApiError:
    return ApiError(400, f"The body is nested deeper than {MAX_DEPTH} levels.", code="invalid_json")
