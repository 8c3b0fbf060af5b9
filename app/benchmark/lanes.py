"""The lanes of a race, opened: what they are called, whether all fit the memory together, a session for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from app.benchmark.race import MODES_WITH_DRAFT, LaneFailedError, base_of
from app.benchmark.race_report import Gap
from app.benchmark.runs import PLAIN, Variant
from engine.errors import DraftRefusedError, EngineError, ModeUnavailableError, NotEnoughMemoryError, SettingError
from engine.fit.fit import CacheShape, FitReport, Verdict, all_parts_bytes, estimate
from engine.gguf.header import read_header
from engine.loading.loading import AUTOMATIC_N_CTX, SMALLEST_AUTOMATIC_N_CTX, target_options
from engine.pacing.pace import choose_pace
from engine.records import CacheType, ChatRequest, EngineReady, FlashAttention, LoadRequest, Mode
from engine.session.session import Session

MOST_LANES = 3
_GIVE_LESS = "Race two lanes, give a smaller context with --ctx or a smaller model, or close other programs."


def read_lanes(text: str) -> tuple[Variant, ...]:
    """Read ``off,auto`` or ``plain,draft:3,suffix``; a single lane races plain decoding.

    Raises:
        ValueError: these are no two or three different lanes.
    """
    lanes = tuple(_read_lane(word.strip()) for word in text.split(",") if word.strip())
    if len(lanes) == 1 and lanes[0] != PLAIN:
        lanes = (PLAIN, *lanes)
    if not 2 <= len(set(lanes)) == len(lanes) <= MOST_LANES:
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
        choose_pace(Mode(mode), int(depth), can_pace=True)
    except SettingError as error:
        raise ValueError(error.message) from error
    return Variant(mode, int(depth))


def uses_draft(variant: Variant) -> bool:
    """Whether a lane wants the draft model, where there is one."""
    return Mode(variant.mode) in MODES_WITH_DRAFT


def settle_memory(variants: Sequence[Variant], load: LoadRequest, available_bytes: int | None = None) -> LoadRequest:
    """Judge the memory of all lanes together, and settle one context for all: the asked one, or the largest that fits.

    With a GPU the main memory is not the limit, and llama.cpp tells what does not fit there.

    Raises:
        EngineError: a header cannot be read, or the lanes do not fit the free memory.
    """
    trained = read_header(Path(load.target)).own("context_length")
    largest = trained if isinstance(trained, int) and trained > 0 else AUTOMATIC_N_CTX
    n_ctx = min(load.n_ctx or AUTOMATIC_N_CTX, largest)
    if target_options(load).may_leave_main_memory:
        return replace(load, n_ctx=n_ctx)
    report = _needed(variants, load, n_ctx, available_bytes)
    while report.verdict is Verdict.TOO_LARGE and load.n_ctx is None and n_ctx > SMALLEST_AUTOMATIC_N_CTX:
        n_ctx //= 2
        report = _needed(variants, load, n_ctx, available_bytes)
    if report.verdict is Verdict.TOO_LARGE:
        raise NotEnoughMemoryError(
            f"Each of the {len(variants)} lanes loads its own models. {report.sentence}", _GIVE_LESS
        )
    return replace(load, n_ctx=n_ctx)


def _needed(variants: Sequence[Variant], load: LoadRequest, n_ctx: int, available_bytes: int | None) -> FitReport:
    reports = [_needed_for(load.target, len(variants), load, (n_ctx, load.cache_type), available_bytes)]
    drafting = sum(uses_draft(variant) for variant in variants)
    if load.draft is not None and drafting:
        shape = (n_ctx, load.draft_cache_type)
        reports.append(_needed_for(load.draft, drafting, load, shape, reports[0].available_bytes))
    return FitReport(
        sum(report.weights_bytes for report in reports),
        sum(report.cache_bytes for report in reports),
        sum(report.compute_bytes for report in reports),
        reports[0].available_bytes,
    )


def _needed_for(
    path: str, count: int, load: LoadRequest, shape: tuple[int, CacheType], available_bytes: int | None
) -> FitReport:
    header = read_header(Path(path))
    cache = CacheShape(*shape, fused=load.flash_attention is not FlashAttention.OFF)
    return estimate([header] * count, cache, available_bytes, [all_parts_bytes(Path(path), header)] * count)


@dataclass(frozen=True, slots=True)
class OpenLane:
    """A lane with its loaded session."""

    variant: Variant
    session: Session
    ready: EngineReady


def logit_gap_of(lanes: Sequence[OpenLane], request: ChatRequest) -> Gap | None:
    """Where the target's own logits decide between two tokens, and nothing else, they say how close that was."""
    sampling = request.sampling
    penalties = (sampling.repeat_penalty - 1.0, sampling.frequency_penalty, sampling.presence_penalty)
    if not sampling.greedy or any(penalties):
        return None
    base = base_of([lane.variant for lane in lanes])
    session = next(lane.session for lane in lanes if lane.variant == base)

    def gap(before: Sequence[int], first: int, second: int) -> float | None:
        try:
            return session.logit_gap(request, before, first, second)
        except EngineError:  # the race is over, and its figures count without it
            return None

    return gap


def open_lanes(
    variants: Sequence[Variant],
    load: LoadRequest,
    open_session: Callable[[], Session],
    stack: ExitStack,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[OpenLane]:
    """Load every lane and measure what passes cost; ``stack`` closes them. A lane that proposes no draft has none.

    The first lane's figures and choices are kept, and the others begin with them: none has an advantage. Where the
    machine was too busy for that and lanes chose other numbers of threads, all are loaded again with the most of them.

    Raises:
        LaneFailedError: a lane cannot be loaded, or cannot run as it was asked to.
    """
    with ExitStack() as own:
        lanes = _open(variants, load, open_session, own, should_stop)
        threads = {lane.session.threads for lane in lanes}
        if len(threads) == 1 or load.threads is not None or should_stop():
            stack.push(own.pop_all())
            return lanes
    return _open(variants, replace(load, threads=max(threads)), open_session, stack, should_stop)


def _open(
    variants: Sequence[Variant],
    load: LoadRequest,
    open_session: Callable[[], Session],
    stack: ExitStack,
    should_stop: Callable[[], bool],
) -> list[OpenLane]:
    """One lane after the other, those with a draft first: a session reads what is kept when it is made."""
    found: dict[Variant, OpenLane] = {}
    for variant in sorted(variants, key=lambda one: not uses_draft(one)):
        session = open_session()
        stack.callback(session.close)
        session.is_load_cancelled = should_stop
        own = replace(load, draft=load.draft if uses_draft(variant) else None)
        try:
            ready = session.load(own, lambda _path, _fraction: not should_stop())
            _check(variant, own, ready)
            session.measure(should_stop=should_stop)
        except EngineError as error:
            raise LaneFailedError(variant, error) from error
        found[variant] = OpenLane(variant, session, ready)
    lanes = [found[variant] for variant in variants]
    _check_alike(lanes)
    return lanes


def _check(variant: Variant, load: LoadRequest, ready: EngineReady) -> None:
    """Refuse what would answer in another way than its lane says.

    Raises:
        DraftRefusedError, ModeUnavailableError: it would.
    """
    if load.draft is not None and ready.draft is None:
        advice = "Give a draft of the same model family, or leave --draft out."
        raise DraftRefusedError(ready.unavailable.get(Mode.DRAFT, ""), advice)
    reason = ready.unavailable.get(Mode(variant.mode))
    if reason is not None:
        raise ModeUnavailableError(reason, "Leave it out of --lanes.")


def _check_alike(lanes: Sequence[OpenLane]) -> None:
    """Lanes are loaded one after the other, and what is free for the first may not last for all.

    Raises:
        LaneFailedError: the target lies elsewhere, or attends otherwise, in one of them.
    """
    kinds = [
        (target.gpu_layers, target.placement, target.n_ctx, target.flash_attention)
        for target in (lane.ready.target for lane in lanes)
    ]
    for lane, kind in zip(lanes, kinds, strict=True):
        if kind != kinds[0]:
            message = "Its target is not placed as that of the first lane, since memory was short."
            advice = "Give --gpu-layers and --flash-attention for all lanes, or close other programs."
            raise LaneFailedError(lane.variant, NotEnoughMemoryError(message, advice))
