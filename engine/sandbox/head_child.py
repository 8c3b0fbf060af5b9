"""The helper process that runs a target together with its heads: what crashes here harms nobody.

A few tokens are read by both and drafted by the head. Prints one JSON line: nothing, or an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DraftRefusedError, ModelLoadError
from engine.fit.fit import all_parts_bytes, estimate
from engine.gguf.head_files import own_heads_sentence
from engine.gguf.hyperparameters import read_checked_head, read_checked_header
from engine.gguf.model_parts import all_parts
from engine.heads.loaded import LoadedHead
from engine.heads.loading import open_head_file, open_own_heads
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.sandbox.limits import limit_memory
from engine.sandbox.probe_child import answer_as_json
from engine.sentences import said

N_CTX = 64  # tokens
_READ, _DRAFTED = 6, 3


def main(arguments: list[str]) -> int:
    """Try the target that ``arguments`` name alone, or last, behind the head's file."""
    *heads, target = (Path(argument) for argument in arguments)
    head = heads[0] if heads else None
    return answer_as_json(lambda: examine(target, head), (head or target).name)


def examine(target: Path, head: Path | None) -> dict[str, Any]:
    """Open both and run a few tokens.

    Raises:
        EngineError: they cannot be used together; the message says why.
    """
    headers = [read_checked_header(target), *([read_checked_head(head)] if head is not None else [])]
    files = [target, *([head] if head is not None else [])]
    wholes = [all_parts_bytes(path, header) for path, header in zip(files, headers, strict=True)]
    num_bytes = sum(part.stat().st_size for path in files for part in all_parts(path))
    limit_memory(2 * estimate(headers, N_CTX, weights_bytes=wholes).needed_bytes + 2 * num_bytes)
    options = LoadOptions(n_ctx=N_CTX, gpu_layers=0, heads=head is None)
    loaded = open_model(target, options)
    if head is None and not loaded.model.n_layer_nextn:
        raise DraftRefusedError(own_heads_sentence(headers[0], target.name))
    opened = open_own_heads(loaded, options) if head is None else open_head_file(str(head), loaded, options)
    _run(loaded, opened)
    return {}


def _run(target: LoadedModel, head: LoadedHead) -> None:
    head.follow(on=True)
    first = target.model.vocab.bos_id or 0
    ids = [first, *(first + 1 + i for i in range(_READ))]
    ids = [one % target.model.vocab.n_vocab for one in ids]
    target.sequence.forward(ids[:-1], _READ)
    if not head.gave_rows(_READ):
        raise DraftRefusedError(
            said("llama.cpp gives no hidden rows of {architecture} models.", architecture=target.info.architecture)
        )
    row = head.sequence.forward(ids, 1)[0]
    for _ in range(min(_DRAFTED, head.reach or _DRAFTED)):
        if np.isnan(row).any() or not np.isfinite(row).any():
            raise ModelLoadError(
                said("{path} is damaged: its head gave numbers that are not finite.", path=Path(head.info.path).name)
            )
        row = head.sequence.forward([int(row.argmax())], 1)[0]
