"""The lanes of a race in the window: sessions on the models that are loaded, with contexts of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from app.benchmark.lanes import OpenLane, uses_draft
from app.benchmark.race import LaneFailedError
from app.benchmark.runs import Variant
from engine.errors import EngineError, ModeUnavailableError, NotEnoughMemoryError, PromptTooLongError
from engine.fit.fit import CacheShape, FitReport, estimate
from engine.gguf.header import read_header
from engine.records import ChatRequest, EngineReady, FlashAttention, Mode, ModelInfo
from engine.sentences import said
from engine.session.answer import LEAST_ROOM
from engine.session.session import Session

ROOM_TO_MEASURE = 64  # tokens of a context beyond prompt and answer: drafts, and passes that only measure
CONTEXT_STEP = 256  # llama.cpp makes contexts in such steps


def open_beside(
    variants: Sequence[Variant],
    session: Session,
    request: ChatRequest,
    stack: ExitStack,
    should_stop: Callable[[], bool] = lambda: False,
    drafts: Mapping[Variant, str] = MappingProxyType({}),
) -> list[OpenLane]:
    """Open lanes on the models that ``session`` has loaded; ``stack`` closes them.

    Nothing is loaded but the ``drafts`` of lanes that have one of their own, by its file. Lanes share weights;
    contexts, caches and text are each lane's own. A context holds the prompt and the answer that ``request`` asks for,
    and no more. What passes cost is measured in the session first, for all alike.

    Raises:
        LaneFailedError: a lane cannot run as it was asked to, or its contexts cannot be made.
        EngineError: nothing is loaded, the prompt is too long, or there is no memory for the contexts of all lanes.
    """
    ready = session.ready()
    for variant in variants:
        if variant in drafts:  # whether that one fits the target is found when it is loaded
            continue
        _check_mode(variant, ready)
    n_ctx = _context_for(ready, len(session.prompt_ids(request)), request.max_tokens)
    _check_caches(variants, ready, n_ctx, own_drafts=len(drafts))
    if session.needs_measuring:
        session.measure(should_stop=should_stop)
    lanes = []
    for variant in variants:
        try:
            lane = session.beside(n_ctx, with_draft=uses_draft(variant) and variant not in drafts)
            stack.callback(lane.close)
            if variant in drafts:
                lane.is_load_cancelled = should_stop
                lane.set_draft(drafts[variant], lambda _path, _fraction: not should_stop())
            _check_mode(variant, lane.ready())
        except EngineError as error:
            raise LaneFailedError(variant, error) from error
        lanes.append(OpenLane(variant, lane, lane.ready()))
    return lanes


def _check_mode(variant: Variant, ready: EngineReady) -> None:
    """Refuse a lane that would answer in another mode than it says.

    Raises:
        LaneFailedError: its mode cannot run with what is loaded for it.
    """
    reason = ready.unavailable.get(Mode(variant.mode))
    if reason is not None:
        raise LaneFailedError(variant, ModeUnavailableError(reason, "Choose another mode for this lane."))


def _context_for(ready: EngineReady, num_prompt: int, max_tokens: int | None) -> int:
    """How many tokens a lane's context holds: at most as many as that of the loaded model.

    Raises:
        PromptTooLongError: the prompt leaves no room for an answer.
    """
    most = ready.target.n_ctx
    if num_prompt + LEAST_ROOM > most:
        raise PromptTooLongError(
            said(
                "The question and what goes before it have {num_ids:,} tokens, but the context holds {size:,}.",
                num_ids=num_prompt,
                size=most,
            ),
            "Ask something shorter, or choose a larger context in the settings.",
        )
    if max_tokens is None:
        return most
    return min(most, -(-(num_prompt + max_tokens + ROOM_TO_MEASURE) // CONTEXT_STEP) * CONTEXT_STEP)


def _check_caches(
    variants: Sequence[Variant],
    ready: EngineReady,
    n_ctx: int,
    available_bytes: int | None = None,
    own_drafts: int = 0,
) -> None:
    """Refuse lanes whose contexts do not fit the free memory together; what lies on a GPU, llama.cpp judges itself.

    A draft that a lane loads for itself is judged when it is loaded, ``own_drafts`` of them.

    Raises:
        NotEnoughMemoryError: they do not fit.
    """
    reports = []
    users = ((ready.target, len(variants)), (ready.draft, max(sum(map(uses_draft, variants)) - own_drafts, 0)))
    for model, count in users:
        if model is not None and not model.gpu_layers:
            reports += [_context_report(model, n_ctx, available_bytes)] * count
    needed = sum(report.cache_bytes + report.compute_bytes for report in reports)
    if reports and needed > reports[0].available_bytes:
        free = reports[0].available_bytes
        raise NotEnoughMemoryError(
            said(
                "The caches of {lanes} lanes need about {needed:.1f} GB; {free:.1f} GB are free.",
                lanes=len(variants),
                needed=needed / 1e9,
                free=free / 1e9,
            ),
            "Race two lanes, ask for a shorter answer, or close other programs.",
        )


def _context_report(model: ModelInfo, n_ctx: int, available_bytes: int | None) -> FitReport:
    shape = CacheShape(n_ctx, model.cache_type, fused=model.flash_attention is not FlashAttention.OFF)
    return estimate([read_header(Path(model.path))], shape, available_bytes)
