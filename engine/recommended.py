"""The sampling that a model's makers recommend, where its GGUF says so. Knows only how to ask for an entry.

Keys: https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py (``general.sampling.*``).
"""

from __future__ import annotations

from collections.abc import Callable

from engine.records import SamplingParams

_WHOLE = {"top_k": "top_k"}
_REAL = {"temperature": "temp", "top_p": "top_p", "min_p": "min_p", "repeat_penalty": "penalty_repeat"}


def recommended_sampling(metadata: Callable[[str], str | None]) -> tuple[tuple[str, int | float], ...]:
    """Give name and value of each link of the chain that has one, in the names of `SamplingParams`.

    ``metadata`` gives an entry as text, None where there is none. What is no number or out of its range is left out.
    """
    kinds: tuple[tuple[type[int] | type[float], dict[str, str]], ...] = ((int, _WHOLE), (float, _REAL))
    given = ((name, kind, metadata(f"general.sampling.{key}")) for kind, keys in kinds for name, key in keys.items())
    read = ((name, None if text is None else _number(name, kind, text)) for name, kind, text in given)
    return tuple((name, value) for name, value in read if value is not None)


def _number(name: str, kind: type[int] | type[float], text: str) -> int | float | None:
    try:
        value = kind(text)
        SamplingParams(**{name: value})  # type: ignore[arg-type]
    except ValueError:
        return None
    return value
