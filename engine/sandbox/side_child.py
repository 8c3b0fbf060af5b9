"""The helper process that shows a picture to a target with its side file: what crashes here harms nobody.

Two pictures are encoded and read, one of them among text. Prints one JSON line: nothing, or an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import ModelLoadError
from engine.fit.fit import all_parts_bytes, estimate
from engine.gguf.header import read_header
from engine.gguf.hyperparameters import read_checked_header
from engine.gguf.model_parts import all_parts
from engine.llama import library
from engine.llama.context import N_BATCH, ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.picture import Picture
from engine.pictures.encoder import PictureEncoder
from engine.pictures.side_file import check_side_file, num_at_once
from engine.sandbox.limits import limit_memory
from engine.sandbox.probe_child import answer_as_json
from engine.sentences import said
from engine.sequence import CachedSequence

N_CTX = 2048  # places: what small pictures take
_SIZES = ((96, 64), (64, 160))  # pixels
_ENCODER_BYTES = 4 << 30  # what an encoder may compute with, beside its weights


def main(arguments: list[str]) -> int:
    """Try the side file and the target that ``arguments`` name."""
    side, target = (Path(argument) for argument in arguments)
    return answer_as_json(lambda: examine(side, target), side.name)


def examine(side: Path, target: Path) -> dict[str, Any]:
    """Open both, and read two pictures.

    Raises:
        EngineError: they cannot be used together; the message says why.
    """
    header = read_checked_header(target)
    check_side_file(side, header)
    num_bytes = sum(part.stat().st_size for part in all_parts(target)) + side.stat().st_size
    needed = estimate([header], N_CTX, weights_bytes=[all_parts_bytes(target, header)]).needed_bytes
    limit_memory(needed + 2 * num_bytes + read_header(side).weights_bytes + _ENCODER_BYTES)
    with LlamaModel(target, repack=False) as model:
        threads = library.default_threads(model.num_params)
        encoder = PictureEncoder(side, model, threads)
        n_ctx = min(N_CTX, model.n_ctx_train or N_CTX)
        with LlamaContext(model, ContextParams(n_ctx, threads, num_at_once=max(N_BATCH, num_at_once(side)))) as context:
            _show(encoder, context, side, model.vocab.bos_id or 0)
    return {}


def _show(encoder: PictureEncoder, context: LlamaContext, side: Path, word: int) -> None:
    sequence = CachedSequence(context)
    sequence.runs = encoder.runs_for(context)
    for width, height in _SIZES:
        shades = np.linspace(0, 255, width * height * 3).astype(np.uint8)
        ids = encoder.ids_of(Picture(width, height, shades.tobytes()))
        if sequence.num_past + len(ids) + 2 > context.n_ctx:
            break
        for _ in sequence.prefill(np.asarray([word, *ids], dtype=np.int32)):
            pass
        if not np.isfinite(sequence.forward([word], 1)).all():
            raise ModelLoadError(
                said("{path} is damaged: behind a picture the numbers are not finite.", path=side.name)
            )
