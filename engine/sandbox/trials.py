"""Trials of untrusted models, which run in helper processes.

Each trial takes its helper's arguments (``words``), and returns an answer that `engine.sandbox.helper` prints as JSON.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DraftRefusedError, EngineError, ModelFileError, ModelHeaderError, ModelLoadError
from engine.fit.fit import all_parts_bytes, check_fit, estimate
from engine.gguf.header import parse_header, read_header
from engine.gguf.hyperparameters import check_tokens, read_checked_head, read_checked_header
from engine.gguf.model_parts import size_of_files
from engine.gguf.source import open_for_reading
from engine.llama import library
from engine.llama.context import N_BATCH, ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.llama.pass_check import compare_passes
from engine.llama.top_k_sampler import NUM_CANDIDATES
from engine.loading.devices import ALL_LAYERS
from engine.picture import Picture
from engine.records import NO_DEVICE, FlashAttention, Placement
from engine.sandbox.limits import limit_memory
from engine.sandbox.probe import FOR_DEVICES
from engine.sentences import i18n, to_json
from engine.sequence import CachedSequence

if TYPE_CHECKING:  # the trials import what they need
    from engine.heads.loaded import LoadedHead
    from engine.loading.loading import LoadedModel
    from engine.pictures.encoder import PictureEncoder

log = logging.getLogger(__name__)

Row = NDArray[np.float32]

N_CTX = 64  # tokens of the context
_NUM_IN_A_PASS = 8  # tokens of the larger pass; fits the smallest context that a header may have
_NUM_SAMPLED = 2000  # number of tokens whose texts are tokenized again
_ORDINARY_TEXT = "Hello, 世界! <|im_start|>\n\t 123"
_TEXT_OF_ALL_FIRST_BYTES = (
    *range(1, 0x80),
    *range(0x80, 0x800, 0x40),
    0x800,
    *range(0x1000, 0x10000, 0x1000),
    0x10000,
    *range(0x40000, 0x110000, 0x40000),
)
_NUM_READ_TOKENS, _NUM_DRAFTED = 6, 3  # tokens that a head reads and drafts
_VISION_CTX = 2048  # tokens; enough for small pictures
_PICTURE_SIZES = ((96, 64), (64, 160))  # pixels
_ENCODER_BYTES = 4 << 30  # limit of an encoder's compute buffers
_HEADER_COPIES = 16  # memory for both vocabularies, as a multiple of the header's size
SIZES = (1, 2, 5, 16, 33)  # tokens of passes; kernels compute 4, 8, 16 or 32 at once, and the remainder separately
_NUM_PAST = 90  # tokens before the rows that are compared bit for bit
_MIN_CORRELATION = 0.98  # least correlation of rows that differ only by rounding; wrong rows are far below
_GPU_CTX = 256  # tokens
_NUM_TOP_TOKENS = 32  # number of compared tokens that the device selects
_PASS_SIZES = (1, 4, 9)  # tokens of passes on a filled cache, as for plain decoding and drafts of 3 and 8 tokens


# ---- a model by itself ---------------------------------------------------------------------------------------------


def try_model(words: list[str]) -> dict[str, Any]:
    """Check the header of a file, load its weights, and decode some tokens.

    The file is memory-mapped, so that all of it can be read even if it does not fit in main memory.

    Raises:
        EngineError: the file cannot be used; the message says why.
    """
    path, is_for_devices = Path(words[0]), FOR_DEVICES in words[1:]
    header = read_checked_header(path)
    whole = [all_parts_bytes(path, header)]
    if not is_for_devices:
        check_fit([header], N_CTX, weights_bytes=whole)
    limit_memory(estimate([header], N_CTX, weights_bytes=whole).needed_bytes + 2 * size_of_files(path))
    with LlamaModel(path, repack=False) as model:
        model.check_writes_text()
        _run_passes(model, _try_vocabulary(model))
    return {}


def _run_passes(model: LlamaModel, ids: list[int]) -> None:
    """Decode one token, then several: they use other kernels, and positions above 0 reveal errors of RoPE."""
    params = ContextParams(N_CTX, library.default_threads(model.num_params))
    with LlamaContext(model, params) as context:
        for some in ([model.vocab.bos_id or 0], ids[:_NUM_IN_A_PASS]):
            if some and not np.isfinite(context.forward(some, 1)).all():
                raise ModelLoadError(
                    i18n("{path} is damaged: its first passes gave numbers that are not finite.", path=model.path.name)
                )


def _try_vocabulary(model: LlamaModel) -> list[int]:
    """Call every function of the vocabulary that the program uses, since each reads lists from the file.

    Also tokenizes a character for each possible first byte, and texts of tokens from the whole vocabulary. Returns the
    ids of an ordinary text.
    """
    vocab = model.vocab
    ordinary = vocab.tokenize(_ORDINARY_TEXT, special=False)
    if not ordinary:
        raise ModelLoadError(
            i18n("{path} has no tokens for ordinary text, so no prompt would reach it.", path=model.path.name)
        )
    ids = vocab.tokenize(_ORDINARY_TEXT, special=True, add_bos=True)
    for code in _TEXT_OF_ALL_FIRST_BYTES:
        ids += vocab.tokenize(chr(code), special=False)
    sample = "\n".join(map(vocab.token_text, range(0, vocab.n_vocab, vocab.n_vocab // _NUM_SAMPLED + 1)))
    for special in (False, True):
        ids += vocab.tokenize(sample, special=special)
    for token_id in {*ids, *range(min(vocab.n_vocab, 300)), vocab.n_vocab - 1}:
        vocab.piece(token_id)
        vocab.token_text(token_id)
    return ordinary


# ---- a model with what goes beside it ------------------------------------------------------------------------------


def try_head(words: list[str]) -> dict[str, Any]:
    """Run a target with its next-token layers, or with a head file, which is then the first argument.

    Raises:
        EngineError: they cannot be used together; the message says why.
    """
    from engine.gguf.head_files import own_heads_sentence  # noqa: PLC0415
    from engine.heads.loading import open_head_file, open_own_heads  # noqa: PLC0415
    from engine.loading.loading import LoadOptions, open_model  # noqa: PLC0415

    *heads, target = map(Path, words)
    head = heads[0] if heads else None
    files = [target, *heads]
    headers = [read_checked_header(target), *map(read_checked_head, heads)]
    wholes = [all_parts_bytes(path, header) for path, header in zip(files, headers, strict=True)]
    limit_memory(2 * estimate(headers, N_CTX, weights_bytes=wholes).needed_bytes + 2 * sum(map(size_of_files, files)))
    options = LoadOptions(n_ctx=N_CTX, gpu_layers=0, heads=head is None)
    loaded = open_model(target, options)
    if head is None and not loaded.model.n_layer_nextn:
        raise DraftRefusedError(own_heads_sentence(headers[0], target.name))
    _run_head(loaded, open_own_heads(loaded, options) if head is None else open_head_file(str(head), loaded, options))
    return {}


def _run_head(target: LoadedModel, head: LoadedHead) -> None:
    head.record_rows(on=True)
    first = target.model.vocab.bos_id or 0
    ids = [first, *(first + 1 + i for i in range(_NUM_READ_TOKENS))]
    ids = [one % target.model.vocab.n_vocab for one in ids]
    target.sequence.forward(ids[:-1], _NUM_READ_TOKENS)
    if not head.tap.has_rows_of(_NUM_READ_TOKENS):
        raise DraftRefusedError(
            i18n("llama.cpp gives no hidden states of {architecture} models.", architecture=target.info.architecture)
        )
    row = head.sequence.forward(ids, 1)[0]
    for _ in range(min(_NUM_DRAFTED, head.max_depth or _NUM_DRAFTED)):
        if np.isnan(row).any() or not np.isfinite(row).any():
            raise ModelLoadError(
                i18n("{path} is damaged: its head gave numbers that are not finite.", path=Path(head.info.path).name)
            )
        row = head.sequence.forward([int(row.argmax())], 1)[0]


def try_side_file(words: list[str]) -> dict[str, Any]:
    """Decode two pictures, one of them after text, with a target and its side file.

    Raises:
        EngineError: they cannot be used together; the message says why.
    """
    from engine.pictures.encoder import PictureEncoder  # noqa: PLC0415
    from engine.pictures.side_file import check_side_file, picture_ubatch  # noqa: PLC0415

    side, target = map(Path, words)
    header = read_checked_header(target)
    check_side_file(side, header)
    needed = estimate([header], _VISION_CTX, weights_bytes=[all_parts_bytes(target, header)]).needed_bytes
    num_bytes = size_of_files(target) + side.stat().st_size
    limit_memory(needed + 2 * num_bytes + read_header(side).weights_bytes + _ENCODER_BYTES)
    with LlamaModel(target, repack=False) as model:
        threads = library.default_threads(model.num_params)
        encoder = PictureEncoder(side, model, threads)
        n_ctx = min(_VISION_CTX, model.n_ctx_train or _VISION_CTX)
        with LlamaContext(
            model, ContextParams(n_ctx, threads, picture_ubatch=max(N_BATCH, picture_ubatch(side)))
        ) as context:
            _decode_pictures(encoder, context, side, model.vocab.bos_id or 0)
    return {}


def _decode_pictures(encoder: PictureEncoder, context: LlamaContext, side: Path, word: int) -> None:
    sequence = CachedSequence(context)
    sequence.runs = encoder.runs_for(context)
    for width, height in _PICTURE_SIZES:
        shades = np.linspace(0, 255, width * height * 3).astype(np.uint8)
        ids = encoder.ids_of(Picture(width, height, shades.tobytes()))
        if sequence.num_past + len(ids) + 2 > context.n_ctx:
            break
        for _ in sequence.prefill(np.asarray([word, *ids], dtype=np.int32)):
            pass
        if not np.isfinite(sequence.forward([word], 1)).all():
            raise ModelLoadError(i18n("{path} is damaged: after a picture the numbers are not finite.", path=side.name))


def compare_vocabularies(words: list[str]) -> dict[str, Any]:
    """Compare a target's vocabulary with the vocabularies of several drafts: models, or stubs of remote models.

    Returns a verdict for each draft: whether it fits, and why not.

    Raises:
        ModelFileError: the target's vocabulary cannot be used.
    """
    target, *drafts = map(Path, words)
    size = _checked_size(target)
    problems: dict[Path, str] = {}
    largest = 0
    for path in drafts:
        try:
            largest = max(largest, _checked_size(path))
        except EngineError as error:
            problems[path] = error.message
    limit_memory(_HEADER_COPIES * (size + largest))
    with LlamaModel(target, vocab_only=True) as model:
        verdicts = [_verdict(problems[path]) if path in problems else _judge_draft(model, path) for path in drafts]
    return {"verdicts": verdicts}


def _judge_draft(target: LlamaModel, path: Path) -> dict[str, Any]:
    from engine.drafters.translation.comparison import find_translation  # noqa: PLC0415

    try:
        with LlamaModel(path, vocab_only=True) as draft:
            found = find_translation((target.vocab, target.chat_template), (draft.vocab, draft.chat_template))
    except EngineError as error:
        return _verdict(error.message)
    return _verdict("", coverage=None if found is None else found.coverage)


def _verdict(reason: str, coverage: float | None = None) -> dict[str, Any]:
    return {"matches": not reason, "reason": to_json(reason), "coverage": coverage}


def _checked_size(path: Path) -> int:
    """Check a header's values that llama.cpp trusts; return the header's size."""
    with open_for_reading(path) as (read_at, file_size):
        header = parse_header(read_at, file_size)
        check_tokens(header, read_at)
    return header.data_offset


# ---- the kernels and the graphics processors, on a small model ------------------------------------------------------


def try_kernels(words: list[str]) -> dict[str, Any]:
    """Run passes of several sizes with repacked weights and with the file's layout, and compare the rows.

    Raises:
        ModelHeaderError: the model cannot be used without the kernels either.
        EngineError: the results are wrong, or the model cannot be used with the kernels.
    """
    path = Path(words[0])
    limit_memory(3 * path.stat().st_size)
    try:
        expected = _kernel_rows(path, repack=False)
    except ModelFileError as error:
        raise ModelHeaderError(error.message) from error
    found = _kernel_rows(path, repack=True)
    if not all(map(rows_match, expected, found)):
        raise ModelLoadError(i18n("The kernels for this processor give wrong numbers."))
    return {"works": True, "exact": library.has_every_kernel() and _is_exact(path)}


def _is_exact(path: Path) -> bool:
    """Whether rows have the same bits in passes of all shapes."""
    with LlamaModel(path) as model:
        found = list(compare_passes(model, num_before_values=(_NUM_PAST,)))
    for one in found:
        if one.num_different:
            log.warning(
                "%s of %s rows differ by up to %.3g in %s", one.num_different, one.num_rows, one.largest_difference, one
            )
    return not any(one.num_different for one in found)


def _kernel_rows(path: Path, *, repack: bool) -> list[Row]:
    with LlamaModel(path, repack=repack) as model:
        params = ContextParams(N_CTX, library.default_threads(model.num_params))
        with LlamaContext(model, params) as context:
            return _uncached_rows(context, _some_ids(model))


def _some_ids(model: LlamaModel) -> list[int]:
    return [model.vocab.bos_id or 0, *(7 * i % model.vocab.n_vocab for i in range(1, max(SIZES)))]


def _uncached_rows(context: LlamaContext, ids: list[int]) -> list[Row]:
    rows = []
    for size in SIZES:
        context.clear()
        rows.append(np.array(context.forward(ids[:size], 1)[0]))
    return rows


def rows_match(expected: Row, found: Row) -> bool:
    """Whether two rows of logits differ only by rounding."""
    return bool(np.isfinite(found).all() and np.corrcoef(expected, found)[0, 1] > _MIN_CORRELATION)


def try_gpus(words: list[str]) -> dict[str, Any]:
    """Load a model with all layers on the GPUs, and compare its rows with the CPU's.

    It runs passes of several sizes on an empty and a filled cache, rolls back, and lets the device select the top
    tokens. The second argument is the flash attention to try; "off" also disables the selection. ``works``: whether the
    results are right; ``refusal``: why the GPUs could not compute.
    """
    path, flash = Path(words[0]), FlashAttention(words[1])
    try:
        expected = _gpu_rows(path, 0, FlashAttention.OFF)
        found = _gpu_rows(path, ALL_LAYERS, flash)
    except EngineError as error:
        return {"works": False, "refusal": to_json(error.message)}
    return {"works": all(map(rows_match, expected, found)), "refusal": None}


def _gpu_rows(path: Path, gpu_layers: int, flash: FlashAttention) -> list[Row]:
    placement = Placement() if gpu_layers else Placement((NO_DEVICE,))
    picked = 0 if flash is FlashAttention.OFF else NUM_CANDIDATES
    with LlamaModel(path, gpu_layers=gpu_layers, repack=False, placement=placement) as model:
        threads = library.default_threads(model.num_params)
        params = ContextParams(_GPU_CTX, threads, flash_attention=flash, num_candidates=picked)
        with LlamaContext(model, params) as context:
            ids = _some_ids(model)
            return [*_uncached_rows(context, ids), *_cached_rows(context, ids), *_candidate_rows(context, ids)]


def _cached_rows(context: LlamaContext, ids: list[int]) -> list[Row]:
    """Run passes after ``ids`` and roll back, as in decoding; ends early if the cache cannot roll back."""
    rows: list[Row] = []
    for size in _PASS_SIZES:
        rows += [np.array(row) for row in context.forward(ids[:size], size)]
        if not context.rollback(len(ids)):
            break
    return rows


def _candidate_rows(context: LlamaContext, ids: list[int]) -> list[Row]:
    """Run two passes that return candidates, as a draft does.

    Lower logits are raised to the `_NUM_TOP_TOKENS`-th highest.
    """
    rows = []
    context.clear()
    for token_ids in (ids[:-1], ids[-1:]):
        found = context.forward_candidates(token_ids)
        last = float(np.sort(found.logits)[-min(_NUM_TOP_TOKENS, len(found.logits))])
        row = np.full(context.n_vocab, last, dtype=np.float32)
        row[found.ids] = np.maximum(found.logits, last)
        rows.append(row)
    return rows
