"""How many states of a recurrent memory to ask llama.cpp to keep, so that rejected tokens can be forgotten.

Knows headers' figures only. llama.cpp gives none where the architecture cannot do it.
"""

from __future__ import annotations

from engine.llama.model import LlamaModel

MOST_SNAPSHOTS = 15  # a pass of 16 tokens is the largest that often pays
UNKNOWN_SNAPSHOTS = 3  # where a header does not say how large a state is
BUDGET_BYTES = 256 * 2**20
_BYTES = 4  # states are kept as 32-bit floats


def affordable_snapshots(model: LlamaModel) -> int:
    """Snapshots that fit `BUDGET_BYTES`, at most `MOST_SNAPSHOTS`; every layer is taken for a recurrent one."""
    if model.metadata(f"{model.architecture}.shortconv.l_cache") is not None:
        return MOST_SNAPSHOTS  # a state of a few rows only
    inner, state = (_number(model, f"ssm.{name}") for name in ("inner_size", "state_size"))
    state_bytes = inner * state * _BYTES * model.n_layer
    return min(MOST_SNAPSHOTS, BUDGET_BYTES // state_bytes) if state_bytes else UNKNOWN_SNAPSHOTS


def _number(model: LlamaModel, key: str) -> int:
    text = model.metadata(f"{model.architecture}.{key}")
    return int(text) if text is not None and text.isdigit() else 0
