"""The lanes of a race: reads them from a command line, and opens a session for each; the weights are loaded once."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from app.core.domain.speed.races import MAX_LANES, MIN_LANES, PLAIN_LANE, LaneChoice
from engine.errors import (
    EngineError,
    ModeUnavailableError,
    NotEnoughMemoryError,
    PacelineError,
    PromptTooLongError,
    SettingError,
)
from engine.fit.cache_size import CacheSetup
from engine.fit.fit import estimate
from engine.gguf.header import read_header
from engine.loading.loading import target_options
from engine.pacing.draft_length import choose_draft_length
from engine.records import MIN_ANSWER_TOKENS, ChatRequest, EngineReady, FlashAttention, Mode
from engine.sentences import i18n, joined, phrase
from engine.session.session import Session

EXTRA_TOKENS = 64  # context tokens beyond prompt and answer, for drafted tokens and measured passes
CONTEXT_STEP = 256  # llama.cpp rounds context sizes up to multiples of this

ShouldStop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane and its loaded session."""

    choice: LaneChoice
    session: Session


class LaneFailedError(PacelineError):
    """The engine of one lane failed; the message names the lane."""

    def __init__(self, choice: LaneChoice, error: EngineError) -> None:
        lane = phrase("Modes", choice.mode.value)
        super().__init__(i18n("The lane {lane}: {reason}", lane=lane, reason=joined([error.message])), error.advice)
        self.title, self.choice, self.error = error.title, choice, error


def read_lanes(text: str) -> tuple[LaneChoice, ...]:
    """Read for example ``off,auto`` or ``plain,draft:3,suffix``. A single lane is compared with plain decoding.

    Raises:
        ValueError: the text does not name two or three different lanes.
    """
    lanes = tuple(_read_lane(word.strip()) for word in text.split(",") if word.strip())
    if len(lanes) == 1 and lanes[0] != PLAIN_LANE:
        lanes = (PLAIN_LANE, *lanes)
    if not MIN_LANES <= len(set(lanes)) == len(lanes) <= MAX_LANES:
        raise ValueError(
            f"A race has two or three different lanes, and {text} gives {len(set(lanes))} of {len(lanes)}."
        )
    return lanes


def _read_lane(word: str) -> LaneChoice:
    mode, colon, depth = word.partition(":")
    mode = Mode.OFF.value if mode == "plain" else mode
    if mode not in set(Mode):
        raise ValueError(f"There is no mode {mode}; lanes are of {', '.join(Mode)}, with a depth as in draft:3.")
    if not colon:
        return LaneChoice(Mode(mode))
    if not depth.isdecimal() or mode in (Mode.OFF, Mode.AUTO):
        raise ValueError(f"The lane {word} has an invalid depth: off and auto have none, others a number.")
    try:
        choose_draft_length(Mode(mode), int(depth), can_pace=True)
    except SettingError as error:
        raise ValueError(error.message) from error
    return LaneChoice(Mode(mode), int(depth))


def open_lanes(
    choices: Sequence[LaneChoice],
    session: Session,
    request: ChatRequest,
    stack: ExitStack,
    should_stop: ShouldStop = lambda: False,
) -> list[Lane]:
    """Open lanes on the models that ``session`` has loaded; ``stack`` closes them.

    Lanes share the weights; contexts, caches and text are separate. A context holds the prompt and the longest answer
    of ``request``. Another draft is loaded for its lane. Pass costs are measured first, for all lanes.

    Raises:
        LaneFailedError: a lane's mode is not available, or its models or contexts cannot be opened.
        EngineError: nothing is loaded, the prompt is too long, or there is no memory for all lanes.
    """
    ready = session.ready()
    for choice in choices:
        if not choice.draft:  # lanes with their own draft are checked after loading
            _check_mode(choice, ready)
            continue
        try:
            read_header(Path(choice.draft))
        except EngineError as error:
            raise LaneFailedError(choice, error) from error
    n_ctx = _context_for(ready, len(session.prompt_ids(request)), request.max_tokens)
    _check_memory(choices, session, n_ctx)
    if session.needs_measuring:
        session.measure(should_stop=should_stop)
    lanes = []
    for choice in choices:
        try:
            lanes.append(_open_lane(choice, session, n_ctx, stack, should_stop))
        except EngineError as error:
            raise LaneFailedError(choice, error) from error
    return lanes


def _open_lane(choice: LaneChoice, session: Session, n_ctx: int, stack: ExitStack, should_stop: ShouldStop) -> Lane:
    lane = session.another_session(n_ctx, with_draft=choice.uses_draft and not choice.draft)
    stack.callback(lane.close)
    if choice.draft:
        lane.is_load_cancelled = should_stop
        lane.set_draft(choice.draft, lambda _path, _fraction: not should_stop())
    _check_mode(choice, lane.ready())
    return Lane(choice, lane)


def _check_mode(choice: LaneChoice, ready: EngineReady) -> None:
    reason = ready.unavailable.get(choice.mode)
    if reason is not None:
        raise LaneFailedError(choice, ModeUnavailableError(reason, "Choose another mode for this lane."))


def _context_for(ready: EngineReady, num_prompt: int, max_tokens: int | None) -> int:
    """The context size of a lane in tokens, at most the loaded model's.

    Raises:
        PromptTooLongError: the prompt leaves no space for an answer.
    """
    max_context = ready.target.n_ctx
    if num_prompt + MIN_ANSWER_TOKENS > max_context:
        raise PromptTooLongError(
            i18n(
                "The question and the messages before it have {num_ids:,} tokens, but the context holds {size:,}.",
                num_ids=num_prompt,
                size=max_context,
            ),
            "Ask something shorter, or choose a larger context in the settings.",
        )
    if max_tokens is None:
        return max_context
    return min(max_context, -(-(num_prompt + max_tokens + EXTRA_TOKENS) // CONTEXT_STEP) * CONTEXT_STEP)


def _check_memory(
    choices: Sequence[LaneChoice], session: Session, n_ctx: int, available_bytes: int | None = None
) -> None:
    """Check that all lanes together fit the free main memory; llama.cpp itself checks the memory of GPUs.

    Raises:
        NotEnoughMemoryError: the lanes do not fit.
    """
    ready, request = session.ready(), session.request
    own = [] if target_options(request).may_leave_main_memory else [one.draft for one in choices if one.draft]
    drafted = sum(one.uses_draft and not one.draft for one in choices)
    needed, free = 0, available_bytes
    for model, count in ((ready.target, len(choices)), (ready.draft, drafted)):
        if model is not None and not model.gpu_layers and count:
            fused = model.flash_attention is not FlashAttention.OFF
            shape = CacheSetup(n_ctx, model.cache_type, model.cache_type, fused)
            report = estimate([Path(model.path)], shape, available_bytes)
            needed, free = needed + count * (report.needed_bytes - report.weights_bytes), report.available_bytes
    for path in own:
        report = estimate([Path(path)], CacheSetup(n_ctx, request.cache_type, request.cache_type), available_bytes)
        needed, free = needed + report.needed_bytes, report.available_bytes
    if free is not None and needed > free:
        raise NotEnoughMemoryError(
            i18n(
                "The {lanes} lanes need about {needed:.1f} GB together; {free:.1f} GB are free.",
                lanes=len(choices),
                needed=needed / 1e9,
                free=free / 1e9,
            ),
            "Race two lanes, ask for a shorter answer, or close other programs.",
        )
