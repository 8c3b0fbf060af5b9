"""Types of command line options: numbers, names, comma-separated lists."""

from __future__ import annotations

import argparse

from app.core.domain.devices import MAX_PARTS
from engine.records import Mode

MOST_THREADS = 512  # more would abort llama.cpp
MOST_PARALLEL = 64  # concurrent answers: a pass computes one row or more for each
MOST_LAYERS = 10_000  # more than any model has; also the limit in the settings
CONTEXTS = (256, 10_000_000)  # in tokens
_MOST_MINUTES = 100_000


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


def words(text: str) -> list[str]:
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
    return min(int(text), MOST_LAYERS)


def layer_numbers(text: str) -> list[int]:
    """Layer numbers, from 0."""
    return [whole(part, 0, MOST_LAYERS) for part in text.split(",")]


def context(text: str) -> int:
    return whole(text, *CONTEXTS)


def threads(text: str) -> int:
    return whole(text, 1, MOST_THREADS)


def port(text: str) -> int:
    """A port; 0 means any free port."""
    return whole(text, 0, 65_535)


def minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0.0 < minutes <= _MOST_MINUTES:
        raise argparse.ArgumentTypeError(f"must be a number above 0, to {_MOST_MINUTES:,}")
    return minutes


def origin(text: str) -> str:
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


def parallel(text: str) -> int:
    """Number of concurrent answers; 0 means automatic."""
    return whole(text, 0, MOST_PARALLEL)


def queue(text: str) -> int:
    return whole(text, 0, 10_000)


def whole(text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"must be a number from {least:,} to {most:,}")
    return int(text)


def main_gpu(text: str) -> int:
    return whole(text, 0, MAX_PARTS - 1)


def whole_layers(text: str) -> int:
    """Read ``N`` or ``all``; the number is not checked against a model."""
    number = layers(text)
    return MOST_LAYERS if number is None else number
