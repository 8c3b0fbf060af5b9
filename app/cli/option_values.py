"""Types of command line options: numbers, names, comma-separated lists."""

from __future__ import annotations

import argparse
from functools import partial

from app.core.domain.devices import MAX_PARTS
from engine.records import Mode

MAX_THREADS = 512  # more would abort llama.cpp
MAX_PARALLEL = 64  # concurrent answers: a pass computes one row or more for each
MAX_LAYERS = 10_000  # more than any model has; also the limit in the settings
CONTEXTS = (256, 10_000_000)  # in tokens
_MAX_MINUTES = 100_000


def integer(text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"must be a number from {least:,} to {most:,}")
    return int(text)


context = partial(integer, least=CONTEXTS[0], most=CONTEXTS[1])
threads = partial(integer, least=1, most=MAX_THREADS)
port = partial(integer, least=0, most=65_535)  # 0 means any free port
parallel = partial(integer, least=0, most=MAX_PARALLEL)  # concurrent answers; 0 means automatic
queue = partial(integer, least=0, most=10_000)
main_gpu = partial(integer, least=0, most=MAX_PARTS - 1)


def modes(text: str) -> list[Mode]:
    try:
        return list(dict.fromkeys(Mode(word) for word in text.split(",")))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be from {', '.join(Mode)}") from error


def depths(text: str) -> list[int | None]:
    """Token counts; None for auto."""
    if not all(word == "auto" or word.isdecimal() for word in text.split(",")):
        raise argparse.ArgumentTypeError("must be numbers or auto")
    return [None if word == "auto" else int(word) for word in text.split(",")]


def word_list(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError("must be numbers") from error


def layers(text: str) -> int | None:
    """Read ``N`` or ``all``; None (for ``all``) means as many as fit."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("must be a number or all")
    return min(int(text), MAX_LAYERS)


def layer_numbers(text: str) -> list[int]:
    """Layer numbers, from 0."""
    return [integer(part, 0, MAX_LAYERS) for part in text.split(",")]


def minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0.0 < minutes <= _MAX_MINUTES:
        raise argparse.ArgumentTypeError(f"must be a number above 0, to {_MAX_MINUTES:,}")
    return minutes


def web_origin(text: str) -> str:
    from app.core.server.access import origin_of  # noqa: PLC0415  (other commands do without the server's libraries)

    try:
        return origin_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def host(text: str) -> str:
    from app.core.domain.local_server import host_name  # noqa: PLC0415

    try:
        return host_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def layer_count(text: str) -> int:
    """Read ``N`` or ``all``; the number is not checked against a model."""
    number = layers(text)
    return MAX_LAYERS if number is None else number
