"""Opens heads beside a loaded target: those inside its file, and files of their own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.drafters.pairing import check_pair
from engine.errors import DecodeError, DraftRefusedError, EngineError
from engine.gguf.head_files import EAGLE3, MTP, head_method, next_token_weights
from engine.gguf.header import GgufHeader, read_header
from engine.heads.compatibility import check_head_file, missing_sentence
from engine.heads.model import HeadModel, HeadShape
from engine.heads.tap import FOLLOW_AT, HiddenTap
from engine.llama import library
from engine.llama.context import MAX_ROWS, N_BATCH, ContextParams
from engine.llama.head_context import MAX_HEAD_ROWS, HeadContext
from engine.llama.hidden_rows import RowPart
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadedModel, LoadOptions, try_rollback
from engine.loading.memory_use import reported_memory
from engine.records import MemoryUse, ModelInfo
from engine.sentences import said
from engine.sequence import CachedSequence

log = logging.getLogger(__name__)

_ROW_BYTES = 4


@dataclass(frozen=True, slots=True)
class LoadedHead(LoadedModel):
    """A head that can draft. ``model`` is the target's own where its file has the head."""

    target: CachedSequence
    tap: HiddenTap
    owns_model: bool

    def close(self) -> None:
        """Free everything but the target."""
        self.follow(on=False)
        self.context.close()
        if self.owns_model:
            self.model.close()

    def follow(self, *, on: bool) -> None:
        """Have the head see the passes of the target that follow, or none."""
        self.tap.switch(on=on)
        self.target.after_pass = self._read_along if on else None

    def _read_along(self) -> None:
        """Read what lies behind the target's last pass once enough rows wait: that pass may be taken back yet."""
        if self.tap.end - self.tap.first < FOLLOW_AT:
            return
        ids, sequence = self.target.ids[: max(0, self.target.num_past - MAX_ROWS)], self.sequence
        if not len(ids):
            return
        try:
            sequence.reuse(ids)
            for first in range(sequence.num_past, len(ids), N_BATCH):
                sequence.forward(ids[first : first + N_BATCH], 0)
        except DecodeError as error:  # a stop may end a pass in the middle; what is missing is read without its rows
            log.info("the head could not read along: %s", error.message)


def open_own_heads(target: LoadedModel, options: LoadOptions) -> LoadedHead:
    """Open the next-token layers that were loaded with a target.

    Raises:
        DraftRefusedError: this build of llama.cpp cannot run them.
        ContextError: there is no room for their context.
        DecodeError: they cannot compute.
    """
    reason = missing_sentence(MTP)
    if reason:
        raise DraftRefusedError(reason)
    header = read_header(target.model.path)
    num_params, size_bytes = next_token_weights(header)
    shape = HeadShape(target.model.n_layer_nextn)
    info = replace(target.info, num_params=num_params, size_bytes=size_bytes, head=MTP)
    with library.buffers() as told:
        context = HeadContext(
            target.model, _params(target, options), target.context, target.model.n_embd_out, is_mtp=True
        )
    tap = HiddenTap(target.context, (RowPart(),), target.model.n_embd_out)
    memory = reported_memory(told, 0, context_only=True)
    return _loaded(target, target.model, context, tap, shape, _with_memory(info, options, memory, tap), owns=False)


def open_head_file(
    path: str, target: LoadedModel, options: LoadOptions, progress: Callable[[float], bool] | None = None
) -> LoadedHead:
    """Open a head that is a file of its own.

    Raises:
        DraftRefusedError: it does not belong to this target.
        EngineError: it cannot be opened.
    """
    header = read_header(Path(path))
    check_head_file(read_header(target.model.path), header)
    method = head_method(header)
    with library.buffers() as told:
        model = LlamaModel(path, gpu_layers=target.model.gpu_layers, progress=progress, with_heads=method == MTP)
        try:
            check_pair(target.model.vocab, model.vocab)
            context = HeadContext(
                model, _params(target, options), target.context, model.n_embd_out, is_mtp=method == MTP
            )
        except EngineError:
            model.close()
            raise
    parts = _parts(header, target) if method == EAGLE3 else (RowPart(),)
    tap = HiddenTap(target.context, parts, target.model.n_embd if method == EAGLE3 else target.model.n_embd_out)
    shape = HeadShape(encodes=True, reads_first=False) if method == EAGLE3 else HeadShape(model.n_layer_nextn)
    info = replace(
        target.info,
        path=str(model.path),
        name=model.name,
        architecture=model.architecture,
        num_params=model.num_params,
        size_bytes=model.size_bytes,
        n_ctx_train=model.n_ctx_train,
        head=method,
    )
    memory = reported_memory(told, model.size_bytes)
    return _loaded(target, model, context, tap, shape, _with_memory(info, options, memory, tap), owns=True)


def _parts(header: GgufHeader, target: LoadedModel) -> tuple[RowPart, ...]:
    layers = header.own("target_layers")
    named = layers if isinstance(layers, tuple) else ()
    return tuple(RowPart(None if layer == target.model.n_layer else int(layer)) for layer in named)


def _params(target: LoadedModel, options: LoadOptions) -> ContextParams:
    threads = options.threads or target.context.threads
    kinds = (options.cache_type, options.key_type, options.flash_attention)
    return ContextParams(target.context.n_ctx, threads, 0, *kinds, max_rows=MAX_HEAD_ROWS)


def _with_memory(info: ModelInfo, options: LoadOptions, memory: MemoryUse | None, tap: HiddenTap) -> ModelInfo:
    """With what is kept of the target's rows: the tap's buffer, and as llama.cpp gives them after a pass."""
    if memory is not None:
        given = tap.num_parts * min(N_BATCH, info.n_ctx) * tap.n_embd * _ROW_BYTES
        memory = replace(memory, compute_bytes=memory.compute_bytes + tap.num_bytes + given)
    kinds = (options.cache_type, options.key_type, options.flash_attention)
    return replace(
        info, memory=memory, cache_type=kinds[0], key_type=kinds[1], flash_attention=kinds[2], recommended=()
    )


def _loaded(  # noqa: PLR0913  (what was opened)
    target: LoadedModel,
    model: LlamaModel,
    context: HeadContext,
    tap: HiddenTap,
    shape: HeadShape,
    info: ModelInfo,
    *,
    owns: bool,
) -> LoadedHead:
    sequence = CachedSequence(HeadModel(context, tap, shape))
    head = LoadedHead(model, context, sequence, info, True, target.sequence, tap, owns)
    try:
        if not try_rollback(sequence):
            raise DraftRefusedError(said("The head cannot forget what it drafted."))
    except EngineError:
        head.close()
        raise
    return replace(head, info=replace(info, threads=context.threads))
