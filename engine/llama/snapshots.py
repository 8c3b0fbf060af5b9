"""How many states of a recurrent memory llama.cpp should keep for rollbacks (0 if the architecture has none)."""

from __future__ import annotations

from engine.fit import cache_size
from engine.llama.model import LlamaModel

_BYTES = 4  # states are 32-bit floats
_MOST_DIGITS = 9  # of a size; an untrusted file may contain any text


def affordable_snapshots(model: LlamaModel) -> int:
    """Snapshots to request, as in the memory estimate; every layer counts as recurrent."""
    has_rows_only = model.metadata(f"{model.architecture}.shortconv.l_cache") is not None
    inner, state = (_number(model, f"ssm.{name}") for name in ("inner_size", "state_size"))
    return cache_size.affordable_snapshots(inner * state * _BYTES * model.n_layer, is_small=has_rows_only)


def _number(model: LlamaModel, key: str) -> int:
    text = model.metadata(f"{model.architecture}.{key}")
    return int(text) if text is not None and text.isdecimal() and len(text) <= _MOST_DIGITS else 0
