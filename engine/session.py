"""One target with its cache kept across turns, and what may draft for it: from a request to a stream of events.

Owns the loaded models and the choice of the drafter. Knows no thread and no window: whoever iterates decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from engine.answer import Answer
from engine.cost_curve import BUDGET_S, CostCurve
from engine.drafters.base import Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.none import NoDrafter
from engine.drafters.paced import PacedDrafter
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.drafters.suffix import SuffixDrafter
from engine.errors import DraftRefusedError, EngineError, ModeUnavailableError, TemplateError
from engine.loading import (
    LoadedModel,
    draft_options,
    fitting,
    open_model,
    placement_notices,
    target_options,
)
from engine.measuring import measure_passes, step_ms
from engine.pacer import Pacer
from engine.pairing import check_pair
from engine.prompt import PromptBuilder
from engine.records import ChatRequest, EngineReady, Event, LoadRequest, Message, Mode

Progress = Callable[[str, float], bool]  # path, fraction -> go on?
HURRIED_BUDGET_S = 0.3  # somebody waits for the answer
Inspect = Callable[[Path], object]  # raises where a file must not be opened in this process


class Session:
    """Loads, answers, switches drafts. Not thread-safe: one thread owns it.

    ``inspect`` looks at every file before it is opened here; the probe in a child process is such a look.
    """

    def __init__(self, inspect: Inspect | None = None) -> None:
        self._inspect: Inspect = inspect or (lambda _path: None)
        self._request = LoadRequest("")
        self._target: LoadedModel | None = None
        self._draft: LoadedModel | None = None
        self._prompt: PromptBuilder | None = None
        self._lookup = PromptLookupDrafter()
        self._suffix = SuffixDrafter()
        self._pacer: Pacer | None = None
        self._draft_reason = "No draft model is chosen."

    # ---- loading ------------------------------------------------------------------------------------------------

    def load(self, request: LoadRequest, progress: Progress = lambda _path, _fraction: True) -> EngineReady:
        """Load a target, and a draft where one is asked for; a refused draft leaves the target without one.

        Raises:
            EngineError: the target cannot be loaded; what was loaded before still answers.
        """
        self._inspect(Path(request.target))
        options = fitting([request.target], target_options(request))
        target = open_model(request.target, options, lambda fraction: progress(request.target, fraction))
        try:
            prompt = PromptBuilder(target.model.vocab, target.model.chat_template)
            notices = (*_try_template(prompt), *placement_notices(request))
        except EngineError:
            target.close()
            raise
        self.close()
        info = replace(target.info, template_name=prompt.template_name)
        self._request, self._prompt = request, prompt
        self._target = replace(target, info=info)
        if request.draft:
            try:
                self.set_draft(request.draft, progress)
            except EngineError as error:
                self._draft_reason = error.message
                notices = (*notices, f"{error.title}: {error.message} {error.advice}")
        return replace(self.ready(), notices=notices)

    def set_draft(self, path: str | None, progress: Progress = lambda _path, _fraction: True) -> EngineReady:
        """Use another draft model, or none; the target and its cache stay as they are.

        Raises:
            DraftRefusedError: it does not fit the target.
            EngineError: it cannot be loaded. The draft before it stays in use.
        """
        target = self._loaded()
        if path is None:
            self._close_draft("No draft model is chosen.")
            return self.ready()
        self._inspect(Path(path))
        options = fitting([path], draft_options(self._request, target.context.n_ctx))
        draft = open_model(path, options, lambda fraction: progress(path, fraction))
        try:
            check_pair(target.model.vocab, draft.model.vocab)
            _check_memory(draft)
        except DraftRefusedError:
            draft.close()
            raise
        self._close_draft("")
        self._draft = draft
        self._pacer = None
        return self.ready()

    def ready(self) -> EngineReady:
        """What is loaded, and why which mode cannot run."""
        target = self._loaded()
        draft = self._draft.info if self._draft else None
        return EngineReady(target.info, draft, self._unavailable(target))

    def close(self) -> None:
        """Free all models."""
        self._close_draft("No draft model is chosen.")
        if self._target:
            self._target.close()
        self._target = self._prompt = self._pacer = None

    # ---- answering ----------------------------------------------------------------------------------------------

    def generate(self, request: ChatRequest, should_stop: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Answer ``request``: progress, text and counters as they come, `Finished` last.

        A mode that cannot run is answered plain, and the decisions of the statistics say why.

        Raises:
            EngineError: the prompt is too long or not possible, or a pass failed; the session stays usable.
        """
        target = self._loaded()
        if self._prompt is None:
            raise ModeUnavailableError("No model is loaded.", "Open a model first.")
        reason = self._unavailable(target).get(request.mode, "")
        mode = Mode.OFF if reason else request.mode
        pacer = self._pacer_for(mode, request.depth)
        drafter = self._drafter(mode, pacer)
        request = replace(request, mode=mode)
        answer = Answer(target.sequence, target.model.vocab, drafter, request, self._prompt, pacer)
        answer.stats.plain_ms = self._pacer.plain_ms if self._pacer else None
        if reason:
            answer.stats.decisions.append(f"plain decoding instead: {reason}")
        yield from answer.events(should_stop)

    def _drafter(self, mode: Mode, pacer: Pacer | None) -> Drafter:
        if mode is Mode.OFF:
            return NoDrafter()
        texts: dict[Mode, Drafter] = {Mode.NGRAM: self._lookup, Mode.AUTO: self._suffix}
        text = texts.get(mode)
        model = None if mode is Mode.NGRAM else self._draft_model()
        if pacer is not None:
            return PacedDrafter(pacer, text, model, may_rest=mode is Mode.AUTO)
        return model or text or NoDrafter()

    def _draft_model(self) -> DraftModelDrafter | None:
        if self._draft is None:
            return None
        vocab = self._loaded().model.vocab
        return DraftModelDrafter(self._draft.sequence, vocab.n_vocab, vocab.eog_ids)

    # ---- costs --------------------------------------------------------------------------------------------------

    def measure(self, budget_s: float = BUDGET_S) -> None:
        """Measure what passes cost here, once for a loaded pair, within about ``budget_s`` seconds.

        Raises:
            EngineError: no model is loaded, or a pass failed.
        """
        target = self._loaded()
        if self._pacer is not None or not target.can_rollback:
            return
        draft_step_ms = step_ms(self._draft.sequence) if self._draft else 0.0
        self._pacer = Pacer(CostCurve(measure_passes(target.sequence, budget_s)), draft_step_ms)

    @property
    def needs_measuring(self) -> bool:
        """Whether `measure` has something to do."""
        return self._target is not None and self._target.can_rollback and self._pacer is None

    def _pacer_for(self, mode: Mode, depth: int | None) -> Pacer | None:
        """The pacer of an answer whose depth is left to it; measured quickly now if there was no time before."""
        if mode is Mode.OFF or depth is not None:
            return None
        self.measure(HURRIED_BUDGET_S)
        return self._pacer

    def _unavailable(self, target: LoadedModel) -> dict[Mode, str]:
        if not target.can_rollback:
            reason = (
                f"The memory of this model ({target.info.architecture}, recurrent) cannot forget rejected tokens, "
                "so it runs plain."
            )
            return dict.fromkeys((Mode.NGRAM, Mode.DRAFT, Mode.AUTO), reason)
        return {} if self._draft else {Mode.DRAFT: self._draft_reason}

    def _loaded(self) -> LoadedModel:
        if self._target is None:
            raise ModeUnavailableError("No model is loaded.", "Open a model first.")
        return self._target

    def _close_draft(self, reason: str) -> None:
        self._draft_reason = reason
        self._pacer = None
        if self._draft:
            self._draft.close()
            self._draft = None


def _try_template(prompt: PromptBuilder) -> tuple[str, ...]:
    """Render once while loading, which also starts the helper that does it; a broken template is told at once."""
    try:
        prompt.build((Message("user", "Hello"),))
    except TemplateError as error:
        return (f"{error.title}: {error.message} {error.advice}",)
    return ()


def _check_memory(draft: LoadedModel) -> None:
    if not draft.can_rollback:
        raise DraftRefusedError(
            f"The memory of {draft.info.name} ({draft.info.architecture}, recurrent) cannot forget rejected tokens."
        )
