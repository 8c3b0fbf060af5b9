"""The lanes of a race: what they are called, and whether all fit the memory together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.core.benchmark.runs import PLAIN, Variant
from app.core.domain.speed.races import LEAST_LANES, MODES_WITH_DRAFT, MOST_LANES
from engine.errors import NotEnoughMemoryError, SettingError
from engine.fit.fit import CacheShape, FitReport, FitVerdict, all_parts_bytes, estimate
from engine.gguf.header import read_header
from engine.loading.loading import AUTOMATIC_N_CTX, SMALLEST_AUTOMATIC_N_CTX, target_options
from engine.pacing.draft_length import choose_draft_length
from engine.records import FlashAttention, LoadRequest, Mode

_GIVE_LESS = "Race two lanes, give a smaller context with --ctx or a smaller model, or close other programs."


def read_lanes(text: str) -> tuple[Variant, ...]:
    """Read ``off,auto`` or ``plain,draft:3,suffix``; a single lane races plain decoding.

    Raises:
        ValueError: these are no two or three different lanes.
    """
    lanes = tuple(_read_lane(word.strip()) for word in text.split(",") if word.strip())
    if len(lanes) == 1 and lanes[0] != PLAIN:
        lanes = (PLAIN, *lanes)
    if not LEAST_LANES <= len(set(lanes)) == len(lanes) <= MOST_LANES:
        raise ValueError(
            f"A race has two or three different lanes, and {text} gives {len(set(lanes))} of {len(lanes)}."
        )
    return lanes


def _read_lane(word: str) -> Variant:
    mode, colon, depth = word.partition(":")
    mode = Mode.OFF.value if mode == PLAIN.label else mode
    if mode not in set(Mode):
        raise ValueError(f"There is no mode {mode}; lanes are of {', '.join(Mode)}, with a depth as in draft:3.")
    if not colon:
        return Variant(mode)
    if not depth.isdecimal() or mode in (Mode.OFF, Mode.AUTO):
        raise ValueError(f"The lane {word} has no depth that can be used: off and auto have none, others a number.")
    try:
        choose_draft_length(Mode(mode), int(depth), can_pace=True)
    except SettingError as error:
        raise ValueError(error.message) from error
    return Variant(mode, int(depth))


def uses_draft(variant: Variant) -> bool:
    """Whether a lane wants the draft model, where there is one."""
    return Mode(variant.mode) in MODES_WITH_DRAFT


def settle_memory(variants: Sequence[Variant], load: LoadRequest, available_bytes: int | None = None) -> LoadRequest:
    """Judge the memory of all lanes before anything is loaded, and settle a context: the asked one, or what fits.

    The weights are loaded once; each lane has contexts of its own beside those that are loaded first. A draft that no
    lane uses is left out. With a GPU the main memory is not the limit, and llama.cpp tells what does not fit there.

    Raises:
        EngineError: a header cannot be read, or the lanes do not fit the free memory.
    """
    if not any(map(uses_draft, variants)):
        load = replace(load, draft=None)
    trained = read_header(Path(load.target)).own("context_length")
    largest = trained if isinstance(trained, int) and trained > 0 else AUTOMATIC_N_CTX
    n_ctx = min(load.n_ctx or AUTOMATIC_N_CTX, largest)
    if target_options(load).may_leave_main_memory:
        return replace(load, n_ctx=n_ctx)
    report = _needed(variants, load, n_ctx, available_bytes)
    while report.verdict is FitVerdict.TOO_LARGE and load.n_ctx is None and n_ctx > SMALLEST_AUTOMATIC_N_CTX:
        n_ctx //= 2
        report = _needed(variants, load, n_ctx, available_bytes)
    if report.verdict is FitVerdict.TOO_LARGE:
        raise NotEnoughMemoryError(
            f"The {len(variants)} lanes share the weights, and each has a context of its own. {report.sentence}",
            _GIVE_LESS,
        )
    return replace(load, n_ctx=n_ctx)


def _needed(variants: Sequence[Variant], load: LoadRequest, n_ctx: int, available_bytes: int | None) -> FitReport:
    fused = load.flash_attention is not FlashAttention.OFF
    reports = [whole_report(load.target, len(variants) + 1, CacheShape(n_ctx, load.cache_type, fused), available_bytes)]
    if load.draft is not None:
        shape = CacheShape(n_ctx, load.draft_cache_type, fused)
        reports.append(whole_report(load.draft, sum(map(uses_draft, variants)) + 1, shape, available_bytes))
    return sum_of(reports)


def whole_report(path: str, contexts: int, shape: CacheShape, available_bytes: int | None) -> FitReport:
    """Memory of a model with ``count`` contexts on the same weights, in bytes."""
    header = read_header(Path(path))
    one = estimate([header], shape, available_bytes, [all_parts_bytes(Path(path), header)])
    return replace(one, cache_bytes=one.cache_bytes * contexts, compute_bytes=one.compute_bytes * contexts)


def sum_of(reports: Sequence[FitReport]) -> FitReport:
    """All of them together."""
    return FitReport(
        sum(report.weights_bytes for report in reports),
        sum(report.cache_bytes for report in reports),
        sum(report.compute_bytes for report in reports),
        reports[0].available_bytes,
    )
