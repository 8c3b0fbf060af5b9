"""The lanes of a race, opened for window and terminal: a session for each, on weights that are loaded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from app.core.benchmark.lanes import uses_draft
from app.core.benchmark.race import LaneFailedError
from app.core.benchmark.runs import Variant
from engine.errors import EngineError, ModeUnavailableError, NotEnoughMemoryError, PromptTooLongError
from engine.fit.cache_size import CacheSetup
from engine.fit.fit import FitReport, FitVerdict, all_parts_bytes, estimate
from engine.gguf.header import read_header
from engine.loading.loading import target_options
from engine.records import LEAST_ROOM, ChatRequest, EngineReady, FlashAttention, Mode, ModelInfo
from engine.sentences import said
from engine.session.session import Session

ROOM_TO_MEASURE = 64  # tokens of a context beyond prompt and answer: drafts, and passes that only measure
CONTEXT_STEP = 256  # llama.cpp makes contexts in such steps
ShouldStop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class OpenLane:
    """A lane with its loaded session."""

    variant: Variant
    session: Session
    ready: EngineReady


@dataclass(frozen=True, slots=True)
class LaneModels:
    """The files that a lane has in place of those that are loaded; empty where it has not.

    A lane with a target of its own drafts with ``draft`` or without a model: the loaded draft is the loaded target's.
    """

    target: str = ""
    draft: str = ""


_NOTHING_OWN = LaneModels()


def why_inexact_of(lanes: Sequence[OpenLane]) -> str:
    """Why answers of lanes may differ, by the first target that says so; empty: they may not."""
    return next((lane.ready.target.inexact for lane in lanes if lane.ready.target.inexact), "")


def open_beside(
    variants: Sequence[Variant],
    session: Session,
    request: ChatRequest,
    stack: ExitStack,
    should_stop: ShouldStop = lambda: False,
    own: Mapping[Variant, LaneModels] = MappingProxyType({}),
) -> list[OpenLane]:
    """Open lanes on the models that ``session`` has loaded; ``stack`` closes them.

    Lanes of one target share its weights; contexts, caches and text are each lane's own. A context holds the prompt and
    the answer that ``request`` asks for, and no more. Nothing is loaded but what lanes have of their ``own``: a target
    once for all lanes that have it, a draft for its lane. What passes cost is measured before, for all alike.

    Raises:
        LaneFailedError: a lane cannot run as it was asked to, or its models or contexts cannot be opened.
        EngineError: nothing is loaded, the prompt is too long, or there is no memory for all lanes.
    """
    ready = session.ready()
    for variant in variants:
        if variant not in own:  # whether other models can do it is found when they are loaded
            _check_mode(variant, ready)
    _check_headers(own)
    n_ctx = _context_for(ready, len(session.prompt_ids(request)), request.max_tokens)
    _check_memory(variants, session, n_ctx, own)
    if session.needs_measuring:
        session.measure(should_stop=should_stop)
    loaded = {"": session}
    lanes = []
    for variant in variants:
        models = own.get(variant, _NOTHING_OWN)
        try:
            if models.target not in loaded:
                loaded[models.target] = _load_apart(models.target, session, stack, should_stop)
            lanes.append(_open_lane(variant, loaded[models.target], request, stack, should_stop, models))
        except EngineError as error:
            raise LaneFailedError(variant, error) from error
    return lanes


def _check_headers(own: Mapping[Variant, LaneModels]) -> None:
    """Refuse what cannot be read, by its lane.

    Raises:
        LaneFailedError: a header cannot be read.
    """
    for variant, models in own.items():
        for path in filter(None, (models.target, models.draft)):
            try:
                read_header(Path(path))
            except EngineError as error:
                raise LaneFailedError(variant, error) from error


def _load_apart(target: str, session: Session, stack: ExitStack, should_stop: ShouldStop) -> Session:
    other = session.apart()
    stack.callback(other.close)
    other.is_load_cancelled = should_stop
    other.load(replace(session.request, target=target, draft=None), lambda _path, _fraction: not should_stop())
    other.measure(should_stop=should_stop)
    return other


def _open_lane(
    variant: Variant,
    session: Session,
    request: ChatRequest,
    stack: ExitStack,
    should_stop: ShouldStop,
    models: LaneModels,
) -> OpenLane:
    """A lane beside the session that has its target."""
    n_ctx = _context_for(session.ready(), len(session.prompt_ids(request)), request.max_tokens)
    lane = session.beside(n_ctx, with_draft=uses_draft(variant) and not models.draft)
    stack.callback(lane.close)
    if models.draft:
        lane.is_load_cancelled = should_stop
        lane.set_draft(models.draft, lambda _path, _fraction: not should_stop())
    ready = lane.ready()
    _check_mode(variant, ready)
    return OpenLane(variant, lane, ready)


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


def _check_memory(
    variants: Sequence[Variant],
    session: Session,
    n_ctx: int,
    own: Mapping[Variant, LaneModels] = MappingProxyType({}),
    available_bytes: int | None = None,
) -> None:
    """Refuse lanes that do not fit the free memory together; what lies on a GPU, llama.cpp judges itself.

    Raises:
        NotEnoughMemoryError: they do not fit.
    """
    ready, request = session.ready(), session.request
    models = [own.get(variant, _NOTHING_OWN) for variant in variants]
    drafts = sum(uses_draft(variant) and one == _NOTHING_OWN for variant, one in zip(variants, models, strict=True))
    reports = [
        *_contexts(ready.target, sum(not one.target for one in models), n_ctx, available_bytes),
        *_contexts(ready.draft, drafts, n_ctx, available_bytes),
    ]
    if not target_options(request).may_leave_main_memory:
        shape, size = CacheSetup(n_ctx, request.cache_type, request.cache_type), ready.target.n_ctx
        for path in {one.target for one in models} - {""}:
            host = _whole_report(path, 1, replace(shape, n_ctx=size), available_bytes)
            lanes = _whole_report(path, sum(one.target == path for one in models), shape, available_bytes)
            reports += [host, replace(lanes, weights_bytes=0)]
        reports += [_whole_report(one.draft, 1, shape, available_bytes) for one in models if one.draft]
    if not reports or (report := _sum_of(reports)).verdict is not FitVerdict.TOO_LARGE:
        return
    raise NotEnoughMemoryError(
        said(
            "The {lanes} lanes need about {needed:.1f} GB together; {free:.1f} GB are free.",
            lanes=len(variants),
            needed=report.needed_bytes / 1e9,
            free=report.available_bytes / 1e9,
        ),
        "Race two lanes, ask for a shorter answer, or close other programs.",
    )


def _contexts(model: ModelInfo | None, count: int, n_ctx: int, available_bytes: int | None) -> list[FitReport]:
    """Memory of additional contexts on a loaded model, in bytes."""
    if model is None or model.gpu_layers or not count:
        return []
    fused = model.flash_attention is not FlashAttention.OFF
    shape = CacheSetup(n_ctx, model.cache_type, model.cache_type, fused)
    return [replace(_whole_report(model.path, count, shape, available_bytes), weights_bytes=0)]


def _whole_report(path: str, contexts: int, shape: CacheSetup, available_bytes: int | None) -> FitReport:
    """Memory of a model with ``contexts`` contexts on the same weights, in bytes."""
    header = read_header(Path(path))
    one = estimate([header], shape, available_bytes, [all_parts_bytes(Path(path), header)])
    return replace(one, cache_bytes=one.cache_bytes * contexts, compute_bytes=one.compute_bytes * contexts)


def _sum_of(reports: Sequence[FitReport]) -> FitReport:
    """All of them together."""
    return FitReport(
        sum(report.weights_bytes for report in reports),
        sum(report.cache_bytes for report in reports),
        sum(report.compute_bytes for report in reports),
        reports[0].available_bytes,
    )
