"""Types of command line options: numbers, names, comma-separated lists."""

import argparse
import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from engine.records import Mode

MAX_THREADS = 512  # more would abort llama.cpp
MAX_PARALLEL = 64  # concurrent answers: a pass computes one row or more for each
MAX_LAYERS = 10_000  # more than any model has; also the limit in the settings
CONTEXTS = (256, 10_000_000)  # in tokens
_MAX_MINUTES = 100_000

T = TypeVar("T")


def integer(text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"must be a number from {least:,} to {most:,}")
    return int(text)


context = partial(integer, least=CONTEXTS[0], most=CONTEXTS[1])
threads = partial(integer, least=1, most=MAX_THREADS)
port = partial(integer, least=0, most=65_535)  # 0 means any free port
parallel = partial(integer, least=0, most=MAX_PARALLEL)  # concurrent answers; 0 means automatic
queue = partial(integer, least=0, most=10_000)
count = partial(integer, least=1, most=10_000_000)


def _list_of(text: str, kind: Callable[[str], T], expected: str) -> list[T]:
    try:
        return [kind(word) for word in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be {expected}") from error


def modes(text: str) -> list[Mode]:
    return list(dict.fromkeys(_list_of(text, Mode, f"from {', '.join(Mode)}")))


def depths(text: str) -> list[int | None]:
    """Token counts; None for auto."""
    return _list_of(text, lambda word: None if word == "auto" else int(word), "numbers or auto")


def numbers(text: str) -> list[float]:
    return _list_of(text, float, "numbers")


def layers(text: str) -> int | None:
    """Read ``N`` or ``all``; None (for ``all``) means as many as fit."""
    if text != "all" and not text.isdecimal():
        raise argparse.ArgumentTypeError("must be a number or all")
    return None if text == "all" else min(int(text), MAX_LAYERS)


def layer_count(text: str) -> int:
    """Read ``N`` or ``all``; the number is not checked against a model."""
    number = layers(text)
    return MAX_LAYERS if number is None else number


def minutes(text: str) -> float:
    (number,) = _list_of(text, float, f"a number above 0, to {_MAX_MINUTES:,}")
    if not 0.0 < number <= _MAX_MINUTES:
        raise argparse.ArgumentTypeError(f"must be a number above 0, to {_MAX_MINUTES:,}")
    return number


def web_origin(text: str) -> str:
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@\\]+", text) is None:
        raise argparse.ArgumentTypeError("must be an origin, such as https://app.example")
    return text.lower()  # as browsers send it


def host(text: str) -> str:
    from app.core.domain.local_server import host_name  # noqa: PLC0415

    return _list_of(text, host_name, "a host name without a port")[0]
