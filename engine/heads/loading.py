"""Opens heads beside a loaded target: those inside its file, and files of their own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.drafters.pairing import check_pair
from engine.errors import DecodeError, DraftRefusedError, EngineError
from engine.gguf.head_files import (
    ASSISTANT,
    BLOCKS,
    EAGLE3,
    MTP,
    OWN_PRODUCTS,
    block_shape,
    head_method,
    next_token_weights,
)
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.model_parts import size_of_files
from engine.heads.assistant import LoadedAssistant, load_assistant
from engine.heads.block import BlockModel
from engine.heads.compatibility import check_head_file, missing_sentence
from engine.heads.loaded import LoadedHead
from engine.heads.medusa import open_medusa
from engine.heads.model import MOST_LOST, HeadModel, HeadShape
from engine.heads.tap import FOLLOW_AT, HiddenTap
from engine.llama import library
from engine.llama.context import MAX_ROWS, N_BATCH, ContextParams
from engine.llama.head_context import MAX_HEAD_ROWS, BlockContext, HeadContext
from engine.llama.hidden_rows import RowPart
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadedModel, LoadOptions, try_rollback
from engine.loading.memory_use import reported_memory
from engine.records import MemoryUse, ModelInfo
from engine.sampling.sampler import History
from engine.sentences import said
from engine.sequence import CachedSequence, shared_tokens

log = logging.getLogger(__name__)

_ROW_BYTES = 4
_REREAD_S = 2.0  # so long may the target read a beginning again whose rows were not kept
_UNTIMED = 64  # tokens that are soon read on any machine


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedLayers(LoadedHead):
    """A head that llama.cpp computes. ``model`` is the target's own where its file has the head (``is_own``)."""

    context: HeadContext | BlockContext
    reader: HeadModel | BlockModel
    tap: HiddenTap
    shape: HeadShape

    def follow(self, *, on: bool) -> None:
        """Have the head see the passes of the target that follow, or none."""
        self.tap.switch(on=on)
        self.target.after_pass = self._read_along if on else None
        self.target.before_run = self._read_all if on else None
        self.target.limit_reuse = self._with_rows if on else None

    @property
    def block(self) -> int:
        """See `Loaded.block`."""
        return self.reach or 1

    def beside(self, target: LoadedModel) -> LoadedLayers:
        """See `LoadedHead.beside`."""
        info, own = self.info, self.context
        options = LoadOptions(None, own.threads, None, info.cache_type, info.flash_attention)
        params, context = _params(target, options), own
        if isinstance(own, BlockContext):
            context = BlockContext(self.model, params, target.context, own.width, own.shape)
        else:
            context = HeadContext(self.model, params, target.context, own.width, is_mtp=own.is_mtp)
        tap = HiddenTap(target.context, self.tap.parts, self.tap.n_embd)
        return _loaded(target, _Opened(self.model, context, tap, self.shape, info, owns_weights=False), None)

    def gave_rows(self, num_tokens: int) -> bool:
        """See `LoadedHead.gave_rows`."""
        return bool(self.tap.rows(0, num_tokens).any())

    def _with_rows(self, num_shared: int) -> int:
        """How many of the tokens that the target holds may stay: all that the head knows, or can soon be given.

        What the target read while nobody drafted left no rows, and a head without the beginning of a conversation is
        a poor drafter. Where reading it once more takes the target a moment, it does; a picture is not read again for
        it, nor what is before the last one.
        """
        held = self.target.ids[:num_shared]
        known = floor = int(np.flatnonzero(held < 0)[-1]) + 1 if (held < 0).any() else 0
        has_lost = self.reader.has_lost_beginning(floor)
        if not has_lost:
            known = max(floor, min(num_shared, shared_tokens(self.sequence.ids, np.append(held, -1))))
            if self.tap.first <= known + MOST_LOST:
                known = min(num_shared, max(known, self.tap.end))
        if num_shared - known <= MOST_LOST:
            return num_shared
        if self.target.num_snapshots is not None:  # it can't go back into what it read, only begin anew
            if floor:
                return num_shared
            known = 0
        speed = self.target.prompt_speed
        if num_shared - known > (_UNTIMED if speed is None else _REREAD_S * speed):
            return num_shared
        if not known:
            self.sequence.clear()
        elif has_lost:
            self.sequence.rollback(known)
        return known

    def _read_along(self) -> None:
        """Read what lies behind the target's last pass once enough rows wait: that pass may be taken back yet."""
        if self.tap.end - self.tap.first >= FOLLOW_AT:
            self._read(self.target.ids[: self.target.num_past - MAX_ROWS])

    def _read_all(self) -> None:
        """Read all before a run, which leaves no rows: they are gone behind it."""
        if self.tap.end > self.tap.first:
            self._read(self.target.ids)

    def _read(self, ids: History) -> None:
        sequence = self.sequence
        try:
            sequence.reuse(ids)
            for first in range(sequence.num_past, len(ids), N_BATCH):
                sequence.forward(ids[first : first + N_BATCH], 0)
        except DecodeError as error:  # a stop may end a pass in the middle; what is missing is read without its rows
            log.info("the head could not read along: %s", error.message)


def open_own_heads(target: LoadedModel, options: LoadOptions) -> LoadedLayers:
    """Open the next-token layers that were loaded with a target.

    Raises:
        DraftRefusedError: this build of llama.cpp cannot run them.
        ContextError: there is no room for their context.
        DecodeError: they cannot compute.
    """
    reason = missing_sentence(MTP)
    if reason:
        raise DraftRefusedError(reason)
    num_params, size_bytes = next_token_weights(read_header(target.model.path))
    width = target.model.n_embd_out
    with library.places() as reported:
        context = HeadContext(target.model, _params(target, options), target.context, width, is_mtp=True)
    tap = HiddenTap(target.context, (RowPart(),), width)
    memory = reported_memory(reported, 0, target.model.device_of_buffer, context_only=True)
    info = replace(target.info, num_params=num_params, size_bytes=size_bytes, head=MTP)
    head = _Opened(target.model, context, tap, HeadShape(target.model.n_layer_nextn), info, owns_weights=False)
    return _loaded(target, head, memory)


def open_head_file(
    path: str, target: LoadedModel, options: LoadOptions, progress: Callable[[float], bool] | None = None
) -> LoadedHead:
    """Open a head that is a file of its own, where the target's output layer is.

    Raises:
        DraftRefusedError: it does not belong to this target.
        EngineError: it cannot be opened.
    """
    header = read_header(Path(path))
    check_head_file(read_header(target.model.path), header)
    if head_method(header) in OWN_PRODUCTS:
        return open_medusa(Path(path), target, options)
    method = head_method(header)
    layers, placement = target.model.gpu_layers, replace(target.model.placement, cpu_moe_layers=None, overrides=())
    with library.places() as reported:
        has_nextn = method in (MTP, ASSISTANT)
        model = LlamaModel(path, gpu_layers=layers, progress=progress, placement=placement, with_heads=has_nextn)
        try:
            check_pair(target.model.vocab, model.vocab)
            opened = _opened(model, target, options, header)
        except EngineError:
            model.close()
            raise
    memory = reported_memory(reported, model.size_bytes, model.device_of_buffer)
    if isinstance(opened, LoadedAssistant):
        return replace(opened, info=replace(opened.info, memory=memory))
    return _loaded(target, opened, memory)


def _opened(
    model: LlamaModel, target: LoadedModel, options: LoadOptions, header: GgufHeader
) -> _Opened | LoadedAssistant:
    """Make the context of a head from a file, with what it reads of the target.

    Raises:
        ContextError: there is no memory for it.
    """
    params, method = _params(target, options), head_method(header)
    info = replace(
        target.info,
        path=str(model.path),
        name=model.name,
        architecture=model.architecture,
        num_params=model.num_params,
        size_bytes=size_of_files(model.path),
        n_ctx_train=model.n_ctx_train,
        head=method,
    )
    if method == ASSISTANT:
        return load_assistant(model, target, params, info)
    is_mtp = method == MTP
    parts = (RowPart(),) if is_mtp else _parts(header, target)
    tap = HiddenTap(target.context, parts, target.model.n_embd_out if is_mtp else target.model.n_embd)
    context: HeadContext | BlockContext
    if method in BLOCKS:
        context = BlockContext(model, params, target.context, len(parts) * tap.n_embd, block_shape(header))
    else:
        context = HeadContext(model, params, target.context, model.n_embd_out, is_mtp=is_mtp)
    shape = HeadShape(model.n_layer_nextn) if is_mtp else HeadShape(encodes=method == EAGLE3, reads_first=False)
    return _Opened(model, context, tap, shape, info, owns_weights=True)


def _parts(header: GgufHeader, target: LoadedModel) -> tuple[RowPart, ...]:
    layers = header.own("target_layers")
    named = layers if isinstance(layers, tuple) else ()
    return tuple(RowPart(None if layer == target.model.n_layer else int(layer)) for layer in named)


def _params(target: LoadedModel, options: LoadOptions) -> ContextParams:
    threads = options.threads or target.context.threads
    kinds = (options.cache_type, options.flash_attention)
    return ContextParams(target.context.n_ctx, threads, 0, *kinds, max_rows=MAX_HEAD_ROWS)


@dataclass(frozen=True, slots=True)
class _Opened:
    """What `LoadedHead` is made of."""

    model: LlamaModel
    context: HeadContext | BlockContext
    tap: HiddenTap
    shape: HeadShape
    info: ModelInfo
    owns_weights: bool


def _loaded(target: LoadedModel, opened: _Opened, memory: MemoryUse | None) -> LoadedLayers:
    """Try it, and describe it: with what is kept of the target's rows, in the tap and as llama.cpp gives them."""
    context, tap = opened.context, opened.tap
    if memory is not None:
        given = len(tap.parts) * min(N_BATCH, context.n_ctx) * tap.n_embd * _ROW_BYTES
        memory = replace(memory, compute_bytes=memory.compute_bytes + tap.num_bytes + given)
    info = replace(
        opened.info,
        memory=memory,
        n_ctx=context.n_ctx,
        threads=context.threads,
        cache_type=context.params.cache_type,
        flash_attention=context.params.flash_attention,
        recommended=(),
    )
    reader = BlockModel(context, tap) if isinstance(context, BlockContext) else HeadModel(context, tap, opened.shape)
    head = LoadedLayers(
        model=opened.model,
        context=context,
        reader=reader,
        sequence=CachedSequence(reader),
        info=info,
        can_rollback=True,
        owns_weights=opened.owns_weights,
        target=target.sequence,
        tap=tap,
        shape=opened.shape,
        is_own=opened.model is target.model,
        reach=context.shape.num_drafted if isinstance(context, BlockContext) else None,
    )
    try:
        if not try_rollback(head.sequence):
            raise DraftRefusedError(said("The head cannot forget what it drafted."))
    except EngineError:
        head.close()
        raise
    return head
