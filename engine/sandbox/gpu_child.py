"""The helper process that tries the graphics processors on a small model: a driver that crashes here harms nobody.

It loads the model as the program would, with all layers there, runs passes of several sizes on an empty and on a filled
cache, takes tokens back, has the device pick the likeliest tokens, and compares with the processor's rows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.llama import library
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.llama.top_k_sampler import NUM_CANDIDATES
from engine.loading.devices import ALL_LAYERS
from engine.records import NO_DEVICE, FlashAttention, Placement
from engine.sandbox.kernel_child import SIZES, are_alike
from engine.sandbox.probe_child import answer_as_json
from engine.sentences import to_json

N_CTX = 256  # tokens
_TOP = 32  # of the likeliest tokens, which are compared where the device picks them
_VERIFIED = (1, 4, 9)  # tokens of passes behind others: plain decoding, and drafts of 3 and 8 tokens

Row = NDArray[np.float32]


def main(arguments: list[str]) -> int:
    """Try the model that ``arguments`` name with the flash attention that they name next; off: no picking either."""
    path, flash = Path(arguments[0]), FlashAttention(arguments[1])
    status = answer_as_json(lambda: try_gpus(path, flash), path.name)
    os._exit(status)  # some drivers crash when a process ends, which says nothing of passes


def try_gpus(path: Path, flash: FlashAttention) -> dict[str, Any]:
    """Compare; ``works`` says whether the numbers are right, ``refusal`` why nothing could be computed, if so."""
    try:
        expected = _rows(path, 0, FlashAttention.OFF)
        found = _rows(path, ALL_LAYERS, flash)
    except EngineError as error:
        return {"works": False, "refusal": to_json(error.message)}
    return {"works": all(map(are_alike, expected, found)), "refusal": None}


def _rows(path: Path, gpu_layers: int, flash: FlashAttention) -> list[Row]:
    placement = Placement() if gpu_layers else Placement((NO_DEVICE,))
    with LlamaModel(path, gpu_layers=gpu_layers, repack=False, placement=placement) as model:
        threads, picked = (
            library.default_threads(model.num_params),
            0 if flash is FlashAttention.OFF else NUM_CANDIDATES,
        )
        params = ContextParams(N_CTX, threads, flash_attention=flash, num_candidates=picked)
        with LlamaContext(model, params) as context:
            ids = [model.vocab.bos_id or 0, *(7 * i % model.vocab.n_vocab for i in range(1, max(SIZES)))]
            return [*_from_nothing(context, ids), *_on_what_is_cached(context, ids), *_picked(context, ids)]


def _from_nothing(context: LlamaContext, ids: list[int]) -> list[Row]:
    rows = []
    for size in SIZES:
        context.clear()
        rows.append(np.array(context.forward(ids[:size], 1)[0]))
    return rows


def _on_what_is_cached(context: LlamaContext, ids: list[int]) -> list[Row]:
    """Verify tokens and take them back, as decoding does, behind ``ids``; nothing where they cannot be taken back."""
    rows: list[Row] = []
    for size in _VERIFIED:
        rows += [np.array(row) for row in context.forward(ids[:size], size)]
        if not context.rollback(len(ids)):
            break
    return rows


def _picked(context: LlamaContext, ids: list[int]) -> list[Row]:
    """Read as a draft does, tokens one by one: rows in which all but the likeliest tokens are as the last of these."""
    rows = []
    context.clear()
    for token_ids in (ids[:-1], ids[-1:]):
        found = context.forward_candidates(token_ids)
        last = float(np.sort(found.logits)[-min(_TOP, len(found.logits))])
        row = np.full(context.n_vocab, last, dtype=np.float32)
        row[found.ids] = np.maximum(found.logits, last)
        rows.append(row)
    return rows
