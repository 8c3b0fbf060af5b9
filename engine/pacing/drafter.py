"""Chooses before each pass between suffix matching, a draft model and plain decoding.

It gets tokens from the drafters, and their expected gain from the pacer.
"""

from math import ceil
from time import perf_counter

from engine.drafters.base import Draft, Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.pacing.acceptance import draft_kind, text_kinds
from engine.pacing.constants import MAX_UNSEARCHED, MAX_USUAL_UNREAD, SEARCH_SHARE, STALL_CLIP
from engine.pacing.pacer import Choice, Pacer
from engine.records import Source
from engine.sampling.sampler import History, Sampler

_EMPTY = Draft([], Source.TARGET)
_USUAL_NUM_READ = 2  # tokens that a draft model usually reads before it drafts; reading more does not count as drafting
_FIRST_SEARCH_MS, _SEARCH_WEIGHT = 0.02, 0.1


class PacedDrafter:
    """Implements `Drafter` over the drafters that a mode allows.

    With ``may_pause`` it may propose nothing for some passes; without, the user chose a mode that always drafts. A
    suffix match that cannot pay off is never proposed.
    """

    def __init__(
        self, pacer: Pacer, text: Drafter | None, model: DraftModelDrafter | None, *, may_pause: bool = True
    ) -> None:
        self._pacer = pacer
        self._may_pause = may_pause
        self._text = text
        self._model = model
        self._draft = _EMPTY
        self._kinds: list[int] = []  # classes of the proposed tokens of a suffix match
        self._unproposed: Draft | None = None  # match after `_num_history` tokens that was not proposed
        self._num_history = 0
        self._was_plain = False  # whether the last decision was a plain pass
        self._search_ms, self._num_unsearched = _FIRST_SEARCH_MS, 0
        self._has_drafted = False  # whether the draft model drafted for the last decision
        self.source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None:
        temperature = "greedy" if sampler.greedy else "sampled"
        kind = f"{type(self._text).__name__} {self._model is not None} {temperature}"
        self._pacer.begin(kind, greedy=sampler.greedy)
        self._draft, self._unproposed, self._was_plain = _EMPTY, None, False
        for drafter in (self._text, self._model):
            if drafter is not None:
                drafter.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """Propose the tokens with the highest expected gain, possibly none."""
        self._learn(history)
        if self._model is not None and self._model.failure:
            self._model = None
        limit = min(limit, self._pacer.prices.max_proposed)
        text = self._match_text(history, limit)
        kinds = text_kinds(text)
        model = self._model
        decision = self._pacer.decide(
            kinds,
            has_model=model is not None,
            limit=limit,
            may_pause=self._may_pause or model is None,
            num_unread=model.num_unread(len(history)) if model is not None else 0,
        )
        self._draft, self._kinds, self._has_drafted = _EMPTY, [], False
        self._was_plain = decision.choice is Choice.PLAIN
        if decision.choice is Choice.TEXT:
            self._draft, self._kinds = text.first(decision.depth), kinds[: decision.depth]
        elif model is not None and decision.choice is Choice.DRAFT:
            self._draft = self._run_model(model, history, decision.depth)
        if decision.choice is not Choice.TEXT:
            self._unproposed = text
        return self._draft

    def _match_text(self, history: History, limit: int) -> Draft:
        if self._text is None or limit <= 0:
            return _EMPTY
        return self._text.propose(history, limit)

    def _run_model(self, model: DraftModelDrafter, history: History, limit: int) -> Draft:
        """Let the draft model draft at most ``limit`` tokens, and record the time."""
        if model.would_delay_first_token(len(history)):  # a plain pass instead, which the pacer observes
            return _EMPTY
        pacer, started = self._pacer, perf_counter()
        draft = model.propose(history, limit, _PacedGate(pacer, limit))
        draft_ms = (perf_counter() - started) * 1000.0
        self._has_drafted, reading_ms = not model.was_stopped, 0.0
        if model.was_stopped:
            return draft
        if not pacer.shares_passes:
            read_ms = model.read_s * 1000.0
            if pacer.prices.block_size > 1 and model.num_read <= MAX_USUAL_UNREAD:
                pacer.prices.observe_drafting(read_ms)
            elif model.num_read > _USUAL_NUM_READ:
                beside_step_ms = max(read_ms - pacer.prices.draft_step_ms, 0.0)
                pacer.prices.observe_reading(model.num_read, beside_step_ms)
                reading_ms = beside_step_ms if model.num_read > MAX_USUAL_UNREAD else 0.0
            elif len(draft.ids) > 1:
                pacer.prices.observe_drafting((draft_ms - read_ms) / (len(draft.ids) - 1))
        pacer.note_draft(draft.scores or [], reading_ms)
        return draft

    def pause_length(self, history: History) -> int:
        """Number of plain passes without a call of `propose`, unless `ends_pause` returns True earlier.

        A row of plain passes has less overhead than single plain passes.
        """
        if not self._was_plain or not (self._may_pause or self._model is None):
            return 0
        if len(history) > self._num_history + self._num_unsearched and self.ends_pause(history):
            return 0  # the last pass was a single plain pass, so `ends_pause` was not called
        model = self._model
        num_unread = model.num_unread(len(history)) if model is not None else 0
        return self._pacer.pause_length(has_model=model is not None, num_unread=num_unread)

    def ends_pause(self, history: History) -> bool:
        """Search for a match that is worth proposing; called after each plain pass of a pause.

        A search takes microseconds, which matters only if passes take less than a millisecond.
        """
        self._num_unsearched += 1
        if self._text is None or self._num_unsearched < min(
            ceil(self._search_ms / (SEARCH_SHARE * self._pacer.prices.plain_ms)), MAX_UNSEARCHED
        ):
            return False
        started = perf_counter()
        self._num_unsearched = 0
        self._learn(history)
        text = self._match_text(history, self._pacer.prices.max_proposed)
        gain, _depth = self._pacer.text_gain(text_kinds(text))
        self._unproposed = text
        elapsed_ms = (perf_counter() - started) * 1000.0
        self._search_ms += (min(elapsed_ms, STALL_CLIP * self._search_ms) - self._search_ms) * _SEARCH_WEIGHT
        if gain > 0.0:
            self._was_plain = False  # makes `pause_length` return 0
        return gain > 0.0

    def _learn(self, history: History) -> None:
        """Learn from a match that was not proposed: its tokens count as accepted if the target emitted them."""
        text, since = self._unproposed, self._num_history
        self._unproposed, self._num_history, self._num_unsearched = None, len(history), 0
        if text is None or not text.ids or len(history) <= since:
            return
        actual = history[since : since + len(text.ids)].tolist()
        pairs = enumerate(zip(text.ids, actual, strict=False))
        right = next((i for i, (one, other) in pairs if one != other), len(actual))
        # If all comparable tokens of the match were right, the next token of the match is unknown.
        self._pacer.observe_text(text_kinds(text)[: right if right == len(actual) else right + 1], right)

    def observe(self, num_accepted: int) -> None:
        """Report accepted tokens to drafter and pacer."""
        if self._text is not None:
            self._text.observe(num_accepted if self._kinds else 0)
        if self._kinds:
            self._pacer.observe_text(self._kinds, num_accepted)
        elif self._model is not None and self._has_drafted:
            self._model.observe(num_accepted)


class _PacedGate:
    """Implements `draft_model.Gate`: drafts as long as that pays off."""

    def __init__(self, pacer: Pacer, limit: int) -> None:
        self._pacer = pacer
        self._chance = pacer.acceptance.draft.probability
        self._room, self._sampled, self._alive = limit, 0, 1.0

    def should_sample(self, confidence: float) -> bool:
        if not self._pacer.should_sample(self._sampled, self._alive, confidence, self._room):
            return False
        self._alive *= self._chance(draft_kind(confidence))
        self._sampled += 1
        self._room -= 1
        return True

    def should_run_model(self) -> bool:
        return self._room > 0 and self._pacer.should_run_model(self._sampled, self._alive, self._room)


class TextOrModelDrafter:
    """Implements `Drafter` at a fixed depth: proposes a suffix match, or if there is none, drafted tokens."""

    source = Source.DRAFT

    def __init__(self, text: Drafter, model: DraftModelDrafter) -> None:
        self._text, self._model = text, model
        self._used: Drafter = text  # made the last proposal

    def begin(self, history: History, sampler: Sampler) -> None:
        self._text.begin(history, sampler)
        self._model.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        draft, self._used = self._text.propose(history, limit), self._text
        if not draft.ids:
            draft, self._used = self._model.propose(history, limit), self._model
        return draft

    def observe(self, num_accepted: int) -> None:
        self._used.observe(num_accepted)
