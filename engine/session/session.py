"""A target with its draft and their caches, which are kept between requests; converts requests to streams of events.

A session holds the loaded models and chooses the drafter. The thread that iterates over the events does the work; in
`engine.session.worker` that is the engine thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import filelock  # noqa: F401  (the stores lock files with it: no answer waits for this import)
import psutil

from engine.cache.states import StateCache
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.forced import GrammarDrafter
from engine.drafters.history import PastText
from engine.drafters.translation.sequence import TranslatedSequence
from engine.errors import EngineError, ModeUnavailableError, NotEnoughMemoryError
from engine.fit.estimate import ENCODER_BYTES
from engine.gguf.header import read_header
from engine.gguf.model_kind import PICTURES
from engine.grammar.constraint import GrammarConstraint
from engine.grammar.tool_calls import valid_calls
from engine.heads.loaded import LoadedHead
from engine.interfaces import ComputeContext
from engine.llama import library
from engine.llama.context import N_BATCH
from engine.llama.devices import find_gpus
from engine.llama.interrupt import Interrupt
from engine.loading.loading import (
    Loaded,
    LoadedModel,
    LoadOptions,
    another_sequence,
    cache_identity,
    load_notices,
    open_another,
    open_model,
    target_options,
    with_draft_memory,
    with_parallel,
)
from engine.pacing.constants import BUDGET_S
from engine.pacing.pair_costs import PairCosts
from engine.pacing.plain_speed import PlainPasses
from engine.picture import Picture
from engine.pictures.encoder import PictureEncoder
from engine.pictures.side_file import check_side_file, find_side_file, picture_ubatch
from engine.prompt.chat_prompt import PromptBuilder
from engine.prompt.overflow import check_length
from engine.prompt.pictures import no_vision_error
from engine.prompt.typed_text import tokens_within_text
from engine.records import (
    MIN_ANSWER_TOKENS,
    MODES_WITH_DRAFT,
    ChatRequest,
    EngineReady,
    Event,
    LoadRequest,
    Mode,
    ModelInfo,
    Overflow,
)
from engine.sandbox.machine_check import gpu_notices, kernel_notices
from engine.sandbox.probe import InspectHead, InspectSide
from engine.sentences import i18n
from engine.session.answer import Answer, AnswerPlan
from engine.session.batcher import Batcher
from engine.session.drafter_choice import (
    NO_DRAFT,
    DraftersByMode,
    HeadChoice,
    explain_stripped_heads,
    model_drafter,
    open_draft,
    unavailable_modes,
)
from engine.session.summarising import Summariser
from engine.storage.cost_store import CostStore

log = logging.getLogger(__name__)

Progress = Callable[[str, float], bool]  # path, fraction -> continue?
# Raises if a file must not be opened in this process. If the third argument is True, the file may exceed main memory.
Inspect = Callable[..., object]


class Session:
    """Loads models, answers requests, and switches drafts. Not thread-safe: one thread owns it.

    ``inspect`` checks every file before it is opened in this process, for example by a child process. Costs of passes
    are stored in ``cost_folder`` for the next start, text of conversations in ``past_folder``, and their caches in
    ``state_folder``, once ``states`` has a limit.

    Attributes:
        request: the last load request.
        interrupt: ends the current pass once `should_stop` returns True.
    """

    def __init__(
        self,
        inspect: Inspect | None = None,
        cost_folder: Path | None = None,
        past_folder: Path | None = None,
        state_folder: Path | None = None,
        inspect_head: InspectHead | None = None,
        inspect_side: InspectSide | None = None,
    ) -> None:
        self._inspect: Inspect = inspect or (lambda *_: None)
        self.is_load_cancelled: Callable[[], bool] = lambda: False  # True cancels an inspection
        self.request = LoadRequest("")
        self._target: LoadedModel | None = None
        self._draft: Loaded | None = None
        self._translated: TranslatedSequence | None = None  # set for a draft with another vocabulary
        self._prompt: PromptBuilder | None = None
        self._library_notices: tuple[str, ...] = ()
        self._drafters = DraftersByMode()
        self._past = PastText(past_folder)
        self._costs: PairCosts | None = None
        self._store = CostStore(cost_folder)
        self._draft_reason: str = NO_DRAFT
        self._heads = HeadChoice(inspect_head)
        self._vision = Vision(inspect_side)
        self.states = StateCache(state_folder)
        self.batcher = Batcher()
        self._slot = 0
        self._slots: list[Session] = []  # slots 1, 2, ... for parallel answers
        self._main: Session | None = None  # slot 0, if this session is another slot
        self._plain_passes = PlainPasses()  # of all answers of the target
        self.interrupt = Interrupt()

    # ---- loading ------------------------------------------------------------------------------------------------

    def load(self, request: LoadRequest, progress: Progress = lambda _path, _fraction: True) -> EngineReady:
        """Load a target and an optional draft; if the draft is refused, the target is loaded alone.

        Raises:
            EngineError: the target cannot be loaded; the previous models stay loaded.
        """
        elsewhere = (True,) if target_options(request).may_leave_main_memory else ()
        with explain_stripped_heads(request.target):
            self._inspect(Path(request.target), self.is_load_cancelled, *elsewhere)
        options = self._heads.prepare(request.target, target_options(request), self.is_load_cancelled)
        options = with_parallel(request, options)
        vision = Vision(self._vision.inspect)
        options = with_draft_memory(request.draft, request, options)
        options = vision.prepare(request, options, self.is_load_cancelled)
        with explain_stripped_heads(request.target):
            target = open_model(request.target, options, lambda fraction: progress(request.target, fraction))
        try:
            prompt = PromptBuilder(target.model.vocab, target.model.chat_template)
            notices = (
                *prompt.check_template(),
                *kernel_notices(),
                *gpu_notices(request),
                *load_notices(request, target.info, target.model.n_layer),
            )
            vision.open(target)
            notices = (*notices, *vision.notices)
            info = replace(
                target.info,
                template_name=prompt.template_name,
                reasoning_start_tag=prompt.reasoning_start_tag(),
                thinking=prompt.thinking_options(),
                tool_format=prompt.tool_format,
                tool_refusal=prompt.tool_refusal,
                supports_infill=target.model.vocab.infill_ids is not None,
                **vision.fields(target.info),
            )
        except Exception:
            vision.close()
            target.close()
            raise
        self.unload()
        self._vision = vision
        vision.attach(target, prompt)
        self.request, self._prompt = request, prompt
        self._target = replace(target, info=info)
        self._library_notices = library.library_notices()
        self.states.attach("target", target.sequence, cache_identity(target))
        self._join_batch(self._target)
        if not request.draft:
            self._use_own_heads()
        else:
            try:
                self.set_draft(request.draft, progress)
            except EngineError as error:
                self._use_own_heads()
                self._draft_reason = error.message
                notices = (*notices, error.one_line)
        return replace(self.ready(), notices=notices)

    def set_draft(self, path: str | None, progress: Progress = lambda _path, _fraction: True) -> EngineReady:
        """Use another draft model, or none; the target and its cache do not change.

        Raises:
            DraftRefusedError: it does not fit the target.
            EngineError: the draft cannot be loaded. The previous draft stays in use.
        """
        target = self._loaded()
        if path is None:
            self._close_draft(NO_DRAFT)
            self._use_own_heads()
            return self.ready()

        def on_progress(fraction: float) -> bool:
            return progress(path, fraction)

        head = self._heads.open_file(path, target, self.request, on_progress, self.is_load_cancelled)
        if head is not None:
            self._close_draft("")
            self._use_draft(head)
            return self.ready()
        self._inspect(Path(path), self.is_load_cancelled)
        draft, translation = open_draft(path, target, self.request, on_progress)
        self._close_draft("")
        if translation is not None:
            draft = replace(draft, info=replace(draft.info, coverage=translation.coverage))
            self._translated = TranslatedSequence(draft.sequence, translation)
        self._use_draft(draft)
        return self.ready()

    def _use_own_heads(self) -> None:
        """Draft with the target's own heads, if there are any and no other draft is loaded."""
        target = self._loaded()
        head = self._heads.open_own(target, self.request) if self._draft is None and target.can_rollback else None
        if head is not None:
            self._close_draft(self._draft_reason)
            self._use_draft(head)

    def _use_draft(self, draft: Loaded) -> None:
        self._draft = draft
        self.states.attach("draft", draft.sequence, cache_identity(draft), self._slot)
        self._join_batch(draft)

    def another_session(self, n_ctx: int, *, with_draft: bool = True) -> Session:
        """Return another session on the loaded models, with shared weights and separate caches and texts.

        Its contexts have ``n_ctx`` tokens. It shares the stored costs and the `interrupt`, and stores nothing else.
        Close it before this session loads or closes models.

        Raises:
            EngineError: no model is loaded, or memory for the contexts is short.
        """
        target = self._loaded()
        if self._costs is not None:
            self._costs.save()
        other: Session = self._sibling()
        other.request = self.request if with_draft else replace(self.request, draft=None)
        other._prompt = self._prompt
        other._target = open_another(target, n_ctx)
        other._vision = self._vision.open_for(other._target)
        other.states.attach("target", other._target.sequence, cache_identity(other._target))
        draft = self._draft if with_draft else None
        if draft is not None:
            try:
                if isinstance(draft, LoadedHead):
                    other._draft = draft.open_for(other._target)
                else:
                    assert isinstance(draft, LoadedModel)  # noqa: S101  (every other draft is a model)
                    other._draft = open_another(draft, n_ctx, gives_candidates=True)
            except EngineError:
                other.close()
                raise
            other._translate_as(self, other._draft)
            other.states.attach("draft", other._draft.sequence, cache_identity(other._draft))
        return other

    def _sibling(self) -> Session:
        """An empty session with this session's stores, inspections and `interrupt`."""
        other = Session(self._inspect)
        other._store = self._store
        other.interrupt = self.interrupt
        return other

    def _translate_as(self, main: Session, draft: Loaded) -> None:
        if main._translated is not None:
            self._translated = TranslatedSequence(draft.sequence, main._translated.translation)

    @property
    def parallel(self) -> int:
        """How many answers can run in parallel on the loaded models."""
        return 1 if self._target is None else self._target.context.params.num_sequences

    def slot(self, number: int) -> Session:
        """Return the session for parallel answers in slot ``number``; slot 0 is this session.

        Each slot has a sequence in each context. Models, costs, past text and stored caches are shared.
        """
        if number and not self._slots:
            self._slots = [self._make_slot(other) for other in range(1, self.parallel)]
        return self._slots[number - 1] if number else self

    def _make_slot(self, number: int) -> Session:
        target = self._loaded()
        other: Session = self._sibling()
        other.request, other._prompt = self.request, self._prompt
        other._past, other.states, other.batcher, other._slot = self._past, self.states, self.batcher, number
        other._draft_reason, other._heads, other._main = self._draft_reason, self._heads, self
        other._target = another_sequence(target, number)
        other._vision = self._vision.open_for(other._target)
        self.states.attach("target", other._target.sequence, cache_identity(target), number)
        other._join_batch(other._target)
        if isinstance(self._draft, LoadedModel) and self._draft.context.params.num_sequences > number:
            draft = another_sequence(self._draft, number)
            other._use_draft(draft)
            other._translate_as(self, draft)
        elif self._draft is not None:
            other._draft_reason = i18n("It drafts for one answer at a time, and another is being written.")
        other._costs = self._pair_costs().of_slot(other._target)
        return other

    def prepare_slots(self, should_stop: Callable[[], bool]) -> None:
        """Measure the costs that parallel answers need; see `PairCosts.prepare`.

        Raises:
            DecodeError: a pass failed.
        """
        costs, batcher = self._pair_costs(), self.batcher
        with self.interrupt.attached_to(self._contexts()):
            costs.prepare(paced=True, should_stop=should_stop)
        batcher.on_pass, batcher.read_budget = costs.observe_joined_pass, costs.read_budget

    def release_slot(self) -> None:
        """End an answer: save and clear the caches of its slot, except in slot 0."""
        if self._slot:
            self.states.save_and_clear(self._slot)

    def _join_batch(self, loaded: Loaded) -> None:
        if self.parallel < 2 or not isinstance(loaded, LoadedModel):
            return
        self.batcher.add(loaded.context, loaded.sequence)
        if loaded is self._target and not self._slot:
            self.batcher.target = loaded.context

    def ready(self) -> EngineReady:
        """Describe the loaded models, and the unavailable modes with reasons."""
        target = self._loaded()
        draft = self._draft.info if self._draft else None
        is_own = isinstance(self._draft, LoadedHead) and self._draft.is_own
        draft, own_head = (None, draft) if is_own else (draft, None)
        return EngineReady(
            target.info,
            draft,
            self._unavailable(target),
            devices=find_gpus(),
            own_head=own_head,
            has_heads=self._heads.mentions_heads,
            library_notices=self._library_notices,
        )

    @property
    def threads(self) -> int:
        """Current number of threads of the target's passes.

        Raises:
            EngineError: no model is loaded.
        """
        return self._loaded().context.threads

    def close(self) -> None:
        """Free all models, and write stored data for the next start."""
        self.unload()
        self.states.flush()

    @property
    def is_loaded(self) -> bool:
        return self._target is not None

    def unload(self) -> None:
        """Free all models; another `load` may follow."""
        self._close_draft(NO_DRAFT)
        self.states.detach("target")
        self._past.save_and_drop()
        self._vision.close()
        self.batcher.forget()
        if self._target:
            self._target.close()
        self._target = self._prompt = None
        self._plain_passes = PlainPasses()

    # ---- answering ----------------------------------------------------------------------------------------------

    def generate(
        self,
        request: ChatRequest,
        should_stop: Callable[[], bool] = lambda: False,
        should_skip: Callable[[], bool] = lambda: False,
    ) -> Iterator[Event]:
        """Answer ``request``: yields progress, text and counters, and finally `Finished`.

        An unavailable mode is replaced by plain decoding, with the reason among the decisions of the statistics. If the
        conversation is too long and the request allows it, the oldest messages are summarised first; ``should_skip``
        cancels only the summary.

        Raises:
            EngineError: the prompt is too long or invalid, or a pass failed; the session stays usable.
        """
        target, prompt = self._loaded(), self.prompts
        note = ""
        with self._vision.pictures_in_use():
            if request.overflow is Overflow.SUMMARISE and request.raw_prompt is None:
                summarising = Summariser(prompt.build, prompt.count, target.context.n_ctx, MIN_ANSWER_TOKENS)
                request = yield from summarising.fit_request(
                    request, lambda inner: self._answer(inner, lambda: should_stop() or should_skip()), should_stop
                )
                note = summarising.note
            yield from self._answer(request, should_stop, note)

    def _answer(self, request: ChatRequest, should_stop: Callable[[], bool], note: str = "") -> Iterator[Event]:
        target, prompt = self._loaded(), self.prompts
        reason = self._unavailable(target).get(request.mode, "")
        pictures = self._vision.ids_in(request)
        mode = Mode.OFF if reason else request.mode
        costs = self._pair_costs()
        paced = mode is not Mode.OFF and request.depth is None
        with self.interrupt.attached_to(self._contexts()):
            costs.prepare(paced=paced, should_stop=lambda: should_stop() or len(self.batcher) > 1)
        pacer = costs.pacer if paced else None
        is_blind = bool(pictures) and isinstance(self._draft, LoadedModel) and mode in MODES_WITH_DRAFT
        model = None if is_blind else self._draft_model(mode, should_stop)
        vocab, grammar = target.model.vocab, request.grammar or valid_calls(request, prompt.tool_format)
        outlines = self._drafters.tool_call_index(request, prompt.tool_format, vocab)
        index = self._past.index if request.use_past else outlines
        predicted = tokens_within_text(vocab, request.predicted)[: target.context.n_ctx] if request.predicted else []
        # Proposals stop before a picture.
        drafter = self._drafters.drafter(mode, model, pacer, index, vocab.eog_ids | pictures, predicted)
        constraint = GrammarConstraint(vocab, grammar) if grammar else None
        if constraint is not None and mode is not Mode.OFF:
            drafter = GrammarDrafter(drafter, constraint)
        notes = [i18n("without drafting: {reason}", reason=reason)] if reason else []
        if is_blind:
            notes.append(i18n("draft left out: {reason}", reason=i18n("it cannot see pictures")))
        plan = AnswerPlan(
            replace(request, mode=mode),
            drafter,
            costs.pacer,
            (self._main or self)._plain_passes,  # noqa: SLF001  (of the same class)
            constraint,
            costs.observe_passes,
            notes=(*notes, *((note,) if note else ())),
        )
        answer = Answer(target.sequence, vocab, prompt, plan)
        if model is not None:
            model.on_prompt_read = answer.stats.add_draft_prefill_time
            model.on_failure = lambda why: answer.stats.add_decision(i18n("draft left out: {reason}", reason=why))
        self.states.begin(request.conversation_id, answer.stats, self._slot)
        with self.interrupt.attached_to(self._contexts()):
            yield from answer.events(should_stop)
        if request.use_past and not answer.stats.looped:
            self._past.learn([one for one in answer.conversation_ids if one >= 0], vocab)

    def prompt_ids(self, request: ChatRequest) -> list[int]:
        """Return the ids of the prompt for ``request``.

        Raises:
            EngineError: no model is loaded, the prompt is far too long, or the template refuses the messages.
        """
        check_length(request, self._loaded().context.n_ctx)
        with self._vision.pictures_in_use():
            return self.prompts.ids_of_request(request)

    def _draft_model(self, mode: Mode, should_stop: Callable[[], bool]) -> DraftModelDrafter | None:
        if isinstance(self._draft, LoadedHead):
            self._draft.record_rows(on=mode in MODES_WITH_DRAFT)
        return model_drafter(self._draft, self._translated, self._loaded().model.vocab, should_stop)

    # ---- past conversations -------------------------------------------------------------------------------------

    @property
    def has_idle_work(self) -> bool:
        if self._target is None:
            return False
        return self.states.has_work or self._past.has_work

    def use_idle_time(self, budget_s: float) -> None:
        """For about ``budget_s`` seconds, save caches, and read, index and save text of past conversations."""
        if self.states.has_work:
            self.states.work(budget_s)
        else:
            self._past.work(budget_s, self._loaded().model.vocab)

    def forget_past(self) -> None:
        """Delete the text of past conversations of every model; later text may be learnt again.

        Raises:
            OSError: a file cannot be deleted.
        """
        self._past.forget()

    # ---- costs --------------------------------------------------------------------------------------------------

    def measure(self, budget_s: float = BUDGET_S, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Measure the costs of the loaded pair once, within about ``budget_s`` seconds.

        Raises:
            EngineError: no model is loaded, or a pass failed.
        """
        with self.interrupt.attached_to(self._contexts()):
            self._pair_costs().measure(budget_s, should_stop)

    @property
    def needs_measuring(self) -> bool:
        return self._target is not None and self._pair_costs().needs_measuring

    def _contexts(self) -> list[ComputeContext]:
        if self._main is not None:
            return self._main._contexts()  # noqa: SLF001  (of the same class)
        return [each.context for each in (self._loaded(), self._draft) if each is not None]

    def _pair_costs(self) -> PairCosts:
        if self._costs is None:
            self._costs = PairCosts(self._loaded(), self._draft, self.request, self._store)
        return self._costs

    def _unavailable(self, target: LoadedModel) -> dict[Mode, str]:
        return unavailable_modes(target, self._draft, self._draft_reason, self._heads.reason)

    def _loaded(self) -> LoadedModel:
        if self._target is None:
            raise ModeUnavailableError("No model is loaded.", "Open a model first.")
        return self._target

    @property
    def prompts(self) -> PromptBuilder:
        """The builder of prompts; raises `ModeUnavailableError` if no model is loaded."""
        if self._prompt is None:
            raise ModeUnavailableError("No model is loaded.", "Open a model first.")
        return self._prompt

    def _close_draft(self, reason: str) -> None:
        self._draft_reason, self._slots = reason, []
        if self._costs:
            self._costs.save()
        self._costs = None
        self.states.detach("draft")
        if self._draft:
            self._draft.close()
            self._draft = self._translated = None


class Vision:
    """The picture encoder of a session. If a side file does not fit, the target gets no vision; ``notices`` say why.

    ``inspect`` checks side files before this process opens them.
    """

    def __init__(self, inspect: InspectSide | None, encoder: PictureEncoder | None = None) -> None:
        """``encoder`` belongs to another `Vision`, which closes it."""
        self.inspect: InspectSide = inspect or (lambda *_: None)
        self.notices: tuple[str, ...] = ()
        self._encoder, self._owns_encoder = encoder, encoder is None
        self._side: Path | None = None  # the chosen side file

    def prepare(self, request: LoadRequest, options: LoadOptions, should_stop: Callable[[], bool]) -> LoadOptions:
        """Complete ``options`` for a vision model, if the request names a usable side file."""
        if request.mmproj is None:
            return options
        target = Path(request.target)
        side = Path(request.mmproj) if request.mmproj else find_side_file(target)
        if side is None:
            return options
        try:
            check_side_file(side, read_header(target))
            self.inspect(target, side, should_stop)
            # Raise `NotEnoughMemoryError` if memory for the encoder is short.
            needed = side.stat().st_size + ENCODER_BYTES
            if not options.may_leave_main_memory and psutil.virtual_memory().available < needed:
                raise NotEnoughMemoryError(
                    i18n("{name} needs about {size} MB, which are not free.", name=side.name, size=needed >> 20),
                    "Leave it out, or close other programs.",
                )
            at_once = max(N_BATCH, picture_ubatch(side))
        except EngineError as error:
            if should_stop():
                raise
            self.notices = (error.one_line,)
            return options
        self._side = side
        return replace(options, num_at_once=at_once)

    def open(self, target: LoadedModel) -> None:
        """Open the side file that `prepare` has chosen, for a target opened with the options of `prepare`."""
        if self._side is not None:
            try:
                self._encoder = PictureEncoder(self._side, target.model, target.context.threads)
            except EngineError as error:
                self.notices = (error.one_line,)

    def fields(self, info: ModelInfo) -> dict[str, Any]:
        """Fields of `ModelInfo` about the target's vision."""
        if self._encoder is None:
            return {"has_vision": False}
        return {
            "has_vision": True,
            "unused_abilities": tuple(part for part in info.unused_abilities if part != PICTURES),
        }

    def attach(self, target: LoadedModel, prompt: PromptBuilder) -> None:
        """Encode pictures of ``prompt`` for ``target`` from now on."""
        if self._encoder is not None:
            target.sequence.runs = self._encoder.runs_for(target.context)
            prompt.ids_of_picture = self._encoder.ids_of

    def open_for(self, target: LoadedModel) -> Vision:
        """The vision of another context of the target, with the same encoder."""
        if self._encoder is not None:
            target.sequence.runs = self._encoder.runs_for(target.context)
        return Vision(self.inspect, self._encoder)

    def ids_in(self, request: ChatRequest) -> frozenset[int]:
        """Return the ids of a request's pictures.

        Raises:
            PictureError: a picture cannot be used, or the target accepts no pictures.
        """
        pictures: list[Picture] = [picture for message in request.messages for _, picture in message.pictures]
        if not pictures or request.raw_prompt is not None:
            return frozenset()
        if self._encoder is None:
            raise no_vision_error()
        return frozenset(one for picture in pictures for one in self._encoder.ids_of(picture) if one < 0)

    @contextmanager
    def pictures_in_use(self) -> Iterator[None]:
        """Keep encoded pictures in memory during the block, even if a parallel answer ends."""
        encoder = self._encoder
        if encoder is None:
            yield
            return
        encoder.num_readers += 1
        try:
            yield
        finally:
            encoder.num_readers -= 1
            if not encoder.num_readers:
                encoder.release()

    def close(self) -> None:
        if self._encoder is not None and self._owns_encoder:
            self._encoder.close()
        self._encoder = None
