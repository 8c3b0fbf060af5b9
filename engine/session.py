"""One target with its cache kept across turns, and what may draft for it: from a request to a stream of events.

Owns the loaded models and the choice of the drafter. Knows no thread and no window: whoever iterates decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from engine.answer import Answer
from engine.cost_curve import BUDGET_S
from engine.cost_store import CostStore
from engine.drafters.by_mode import DraftersByMode
from engine.drafters.draft_model import DraftModelDrafter
from engine.errors import DraftRefusedError, EngineError, ModeUnavailableError, TemplateError
from engine.loading import (
    LoadedModel,
    draft_options,
    fitting,
    open_model,
    placement_notices,
    target_options,
)
from engine.pair_costs import PairCosts
from engine.pairing import check_pair
from engine.prompt import PromptBuilder
from engine.records import ChatRequest, EngineReady, Event, LoadRequest, Message, Mode
from engine.tie_safe import TieBound, measure_bound

Progress = Callable[[str, float], bool]  # path, fraction -> go on?
Inspect = Callable[[Path], object]  # raises where a file must not be opened in this process


class Session:
    """Loads, answers, switches drafts. Not thread-safe: one thread owns it.

    ``inspect`` looks at every file before it is opened here; the probe in a child process is such a look. What passes
    cost is kept in ``cost_folder`` for the next start.
    """

    def __init__(self, inspect: Inspect | None = None, cost_folder: Path | None = None) -> None:
        self._inspect: Inspect = inspect or (lambda _path: None)
        self._request = LoadRequest("")
        self._target: LoadedModel | None = None
        self._draft: LoadedModel | None = None
        self._prompt: PromptBuilder | None = None
        self._drafters = DraftersByMode()
        self._costs: PairCosts | None = None
        self._store = CostStore(cost_folder)
        self._draft_reason = "No draft model is chosen."
        self._tie_bound: TieBound | None = None

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
        self._target = self._prompt = self._tie_bound = None

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
        tie_safe = request.tie_safe and request.sampling.greedy
        reason = self._unavailable(target).get(request.mode, "")
        if tie_safe and request.mode is not Mode.OFF and target.sequence.num_snapshots is not None:
            reason = "tie-safe needs a memory that can go back any distance, and this model's cannot."
        mode = Mode.OFF if reason else request.mode
        costs = self._pair_costs()
        paced = mode is not Mode.OFF and request.depth is None
        costs.prepare(paced=paced)
        pacer = costs.pacer if paced else None
        drafter = self._drafters.drafter(mode, self._draft_model(), pacer)
        request = replace(request, mode=mode)
        answer = Answer(target.sequence, target.model.vocab, drafter, request, self._prompt, pacer)
        answer.stats.plain_ms = costs.pacer.plain_ms if costs.pacer else None
        answer.on_pass = None if tie_safe else costs.passed  # another number of threads would change the last bits
        answer.tie_bound = self._tie_bound_of(target) if tie_safe and mode is not Mode.OFF else None
        if reason:
            answer.stats.decisions.append(f"plain decoding instead: {reason}")
        yield from answer.events(should_stop)

    def prompt_ids(self, request: ChatRequest) -> list[int]:
        """The ids that ``request`` would be answered from, for whoever asks another engine the same.

        Raises:
            EngineError: no model is loaded, or the template refuses the messages.
        """
        if self._prompt is None:
            raise ModeUnavailableError("No model is loaded.", "Open a model first.")
        if request.raw_prompt is not None:
            return self._prompt.raw(request.raw_prompt)
        return self._prompt.build(request.messages)

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
        self._pair_costs().measure(budget_s)

    @property
    def needs_measuring(self) -> bool:
        """Whether `measure` has something to do."""
        return self._target is not None and self._pair_costs().needs_measuring

    def _pair_costs(self) -> PairCosts:
        if self._costs is None:
            self._costs = PairCosts(self._loaded(), self._draft, self._request, self._store)
        return self._costs

    def _tie_bound_of(self, target: LoadedModel) -> TieBound:
        if self._tie_bound is None:
            self._tie_bound = measure_bound(target.sequence, BUDGET_S)
        return self._tie_bound

    def _unavailable(self, target: LoadedModel) -> dict[Mode, str]:
        if not target.can_rollback:
            reason = (
                f"The memory of this model ({target.info.architecture}) can neither forget rejected tokens nor be "
                "taken back to before them, so it runs plain."
            )
            return {mode: reason for mode in Mode if mode is not Mode.OFF}
        return {} if self._draft else dict.fromkeys((Mode.DRAFT, Mode.HYBRID), self._draft_reason)

    def _loaded(self) -> LoadedModel:
        if self._target is None:
            raise ModeUnavailableError("No model is loaded.", "Open a model first.")
        return self._target

    def _close_draft(self, reason: str) -> None:
        self._draft_reason = reason
        if self._costs:
            self._costs.save()
        self._costs = None
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
            f"The memory of {draft.info.name} ({draft.info.architecture}) can neither forget rejected tokens nor be "
            "taken back to before them."
        )
