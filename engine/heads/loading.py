"""Opens heads for a loaded target, from the target's file or from a separate file."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.drafters.pairing import is_same_vocabulary
from engine.errors import DecodeError, DraftRefusedError, EngineError
from engine.gguf.head_files import (
    ASSISTANT,
    BLOCKS,
    EAGLE3,
    MTP,
    block_shape,
    head_method,
    next_token_weights,
)
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.model_parts import size_of_files
from engine.heads.assistant import load_assistant
from engine.heads.compatibility import check_head_file, unsupported_reason
from engine.heads.loaded import LoadedHead, with_context_facts
from engine.heads.model import MAX_LOST_ROWS, BlockModel, HeadModel, HeadShape
from engine.heads.tap import READ_AT_ROWS, HiddenRowRecorder
from engine.llama import library
from engine.llama.context import MAX_ROWS, N_BATCH, ContextParams
from engine.llama.head_context import MAX_HEAD_ROWS, BlockContext, HeadContext
from engine.llama.hidden_rows import RowPart
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadedModel, LoadOptions, probe_rollback
from engine.loading.memory_use import reported_memory
from engine.records import MemoryUse, ModelInfo
from engine.sampling.sampler import History
from engine.sentences import i18n
from engine.sequence import CachedSequence, shared_tokens

log = logging.getLogger(__name__)

_BYTES_PER_NUMBER = 4
_MAX_REREAD_S = 2.0  # most seconds that the target may spend on reading tokens again because their rows are lost
_MAX_UNTIMED_REREAD = 64  # most tokens to read again if no speed was measured


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaCppHead(LoadedHead):
    """A head that llama.cpp computes. ``model`` is the target's if its file has the head (``is_own``)."""

    context: HeadContext | BlockContext
    head_model: HeadModel | BlockModel
    tap: HiddenRowRecorder
    shape: HeadShape

    def record_rows(self, *, on: bool) -> None:
        self.tap.set_recording(on=on)
        self.target.after_pass = self._read_waiting_rows if on else None
        self.target.before_run = self._read_all if on else None
        self.target.limit_reuse = self._num_reusable if on else None

    @property
    def block_size(self) -> int:
        return self.max_depth or 1

    def open_for(self, target: LoadedModel) -> LlamaCppHead:
        own, params = self.context, self.context.params
        options = LoadOptions(None, own.threads, None, params.cache_type, params.flash_attention)
        params = _params(target, options)
        if isinstance(own, BlockContext):
            context: HeadContext | BlockContext = BlockContext(self.model, params, target.context, own.width, own.shape)
        else:
            context = HeadContext(self.model, params, target.context, own.width, is_mtp=own.is_mtp)
        tap = HiddenRowRecorder(target.context, self.tap.parts, self.tap.n_embd)
        other = _make_loaded(target, self.model, context, tap, self.shape, self.info)
        return _check_rollback(replace(other, owns_weights=False), None)

    def _num_reusable(self, num_shared: int) -> int:
        """How many cached tokens of the target to reuse: those whose rows the head has or can get quickly.

        Tokens that the target read while no head was used have no rows, and a head drafts poorly without the beginning
        of a conversation. The target reads the beginning again if that is fast, but never a picture or tokens before
        it.
        """
        held = self.target.ids[:num_shared]
        known = floor = int(np.flatnonzero(held < 0)[-1]) + 1 if (held < 0).any() else 0
        has_lost = self.head_model.has_lost_beginning(floor)
        if not has_lost:
            known = max(floor, min(num_shared, shared_tokens(self.sequence.ids, np.append(held, -1))))
            if self.tap.first <= known + MAX_LOST_ROWS:
                known = min(num_shared, max(known, self.tap.end))
        if num_shared - known <= MAX_LOST_ROWS:
            return num_shared
        if self.target.num_snapshots is not None:  # a recurrent memory can only start over
            if floor:
                return num_shared
            known = 0
        speed = self.target.prompt_speed
        if num_shared - known > (_MAX_UNTIMED_REREAD if speed is None else _MAX_REREAD_S * speed):
            return num_shared
        if not known:
            self.sequence.clear()
        elif has_lost:
            self.sequence.rollback(known)
        return known

    def _read_waiting_rows(self) -> None:
        """Read waiting rows once they are many, except those of the last passes, which may be rolled back."""
        if self.tap.end - self.tap.first >= READ_AT_ROWS:
            self._read(self.target.ids[: self.target.num_past - MAX_ROWS])

    def _read_all(self) -> None:
        """Read all waiting tokens before a picture, since its rows would overwrite the rows of the tokens."""
        if self.tap.end > self.tap.first:
            self._read(self.target.ids)

    def _read(self, ids: History) -> None:
        sequence = self.sequence
        try:
            sequence.reuse(ids)
            for first in range(sequence.num_past, len(ids), N_BATCH):
                sequence.forward(ids[first : first + N_BATCH], 0)
        except DecodeError as error:  # a stop may interrupt the pass; missing tokens are later read without rows
            log.info("the head could not read along: %s", error.message)


def open_own_heads(target: LoadedModel, options: LoadOptions) -> LlamaCppHead:
    """Open the next-token layers that were loaded with a target.

    Raises:
        DraftRefusedError: this build of llama.cpp cannot run them.
        ContextError: memory for their context is short.
        DecodeError: a test pass failed.
    """
    reason = unsupported_reason(MTP)
    if reason:
        raise DraftRefusedError(reason)
    num_params, size_bytes = next_token_weights(read_header(target.model.path))
    width = target.model.n_embd_out
    with library.placement_lines() as reported:
        context = HeadContext(target.model, _params(target, options), target.context, width, is_mtp=True)
    tap = HiddenRowRecorder(target.context, (RowPart(),), width)
    memory = reported_memory(reported, 0, context_only=True)
    info = replace(target.info, num_params=num_params, size_bytes=size_bytes, head_method=MTP)
    layers = _make_loaded(target, target.model, context, tap, HeadShape(target.model.n_layer_nextn), info)
    return _check_rollback(layers, memory)


def open_head_file(
    path: str, target: LoadedModel, options: LoadOptions, progress: Callable[[float], bool] | None = None
) -> LoadedHead:
    """Open a head in a separate file, on the device of the target's output layer.

    Raises:
        DraftRefusedError: it does not belong to this target.
        EngineError: it cannot be opened.
    """
    header = read_header(Path(path))
    check_head_file(read_header(target.model.path), header)
    method = head_method(header)
    layers, placement = target.model.gpu_layers, replace(target.model.placement, cpu_moe_layers=None)
    with library.placement_lines() as reported:
        has_nextn = method in (MTP, ASSISTANT)
        model = LlamaModel(path, gpu_layers=layers, progress=progress, placement=placement, with_heads=has_nextn)
        try:
            if not is_same_vocabulary(target.model.vocab, model.vocab):
                raise DraftRefusedError(i18n("The head has another vocabulary: it belongs to another model."))
            opened = _open_head(model, target, options, header)
        except EngineError:
            model.close()
            raise
    memory = reported_memory(reported, model.size_bytes)
    if isinstance(opened, LlamaCppHead):
        return _check_rollback(opened, memory)
    return replace(opened, info=replace(opened.info, memory=memory))


def _open_head(model: LlamaModel, target: LoadedModel, options: LoadOptions, header: GgufHeader) -> LoadedHead:
    """Create the context of a head from a file; raises `ContextError` if memory is short."""
    params, method = _params(target, options), head_method(header)
    info = replace(
        target.info,
        path=str(model.path),
        name=model.name,
        architecture=model.architecture,
        num_params=model.num_params,
        size_bytes=size_of_files(model.path),
        n_ctx_train=model.n_ctx_train,
        head_method=method,
    )
    if method == ASSISTANT:
        return load_assistant(model, target, params, info)
    is_mtp = method == MTP
    parts = (RowPart(),) if is_mtp else _row_parts(header, target)
    tap = HiddenRowRecorder(target.context, parts, target.model.n_embd_out if is_mtp else target.model.n_embd)
    context: HeadContext | BlockContext
    if method in BLOCKS:
        context = BlockContext(model, params, target.context, len(parts) * tap.n_embd, block_shape(header))
    else:
        context = HeadContext(model, params, target.context, model.n_embd_out, is_mtp=is_mtp)
    shape = (
        HeadShape(model.n_layer_nextn) if is_mtp else HeadShape(has_encoder=method == EAGLE3, reads_first_token=False)
    )
    return _make_loaded(target, model, context, tap, shape, info)


def _row_parts(header: GgufHeader, target: LoadedModel) -> tuple[RowPart, ...]:
    layers = header.arch_value("target_layers")
    named = layers if isinstance(layers, tuple) else ()
    return tuple(RowPart(None if layer == target.model.n_layer else int(layer)) for layer in named)


def _params(target: LoadedModel, options: LoadOptions) -> ContextParams:
    threads = options.threads or target.context.threads
    kinds = (options.cache_type, options.flash_attention)
    return ContextParams(target.context.n_ctx, threads, 0, *kinds, max_rows=MAX_HEAD_ROWS)


def _make_loaded(
    target: LoadedModel,
    model: LlamaModel,
    context: HeadContext | BlockContext,
    tap: HiddenRowRecorder,
    shape: HeadShape,
    info: ModelInfo,
) -> LlamaCppHead:
    reader = BlockModel(context, tap) if isinstance(context, BlockContext) else HeadModel(context, tap, shape)
    return LlamaCppHead(
        model=model,
        context=context,
        head_model=reader,
        sequence=CachedSequence(reader),
        info=info,
        can_rollback=True,
        owns_weights=model is not target.model,
        target=target.sequence,
        tap=tap,
        shape=shape,
        is_own=model is target.model,
        max_depth=context.shape.num_drafted if isinstance(context, BlockContext) else None,
    )


def _check_rollback(head: LlamaCppHead, memory: MemoryUse | None) -> LlamaCppHead:
    """Check that the head can roll back, and complete its info; adds the buffers of the target's rows to ``memory``."""
    context, tap = head.context, head.tap
    if memory is not None:
        given = len(tap.parts) * min(N_BATCH, context.n_ctx) * tap.n_embd * _BYTES_PER_NUMBER
        memory = replace(memory, compute_bytes=memory.compute_bytes + tap.num_bytes + given)
    try:
        if not probe_rollback(head.sequence):
            raise DraftRefusedError(i18n("The head cannot discard its rejected drafts."))
    except EngineError:
        head.close()
        raise
    return replace(head, info=replace(with_context_facts(head.info, context), memory=memory))
