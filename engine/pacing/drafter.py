"""Chooses for each pass among text, a draft model and nothing, as the pacer finds it worth.

It asks the drafters for tokens, and the pacer, which is given numbers only, what they are worth.
"""

from __future__ import annotations

from math import ceil
from time import perf_counter

from engine.drafters.base import Draft, Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.pacing.acceptance import draft_kind, text_kinds
from engine.pacing.constants import FEW_UNREAD, MAX_UNSEARCHED, SEARCH_SHARE, SLOW
from engine.pacing.pacer import Choice, Pacer
from engine.records import Source
from engine.sampling.sampler import History, Sampler

_EMPTY = Draft([], Source.TARGET)
_FEW_READ = 2  # tokens that a draft model reads before it drafts; more is reading, no price of drafting
_FIRST_SEARCH_MS, _SEARCH_RATE = 0.02, 0.1


class PacedDrafter:
    """Implements `Drafter` over the drafters that a mode allows."""

    def __init__(
        self, pacer: Pacer, text: Drafter | None, model: DraftModelDrafter | None, *, may_pause: bool = True
    ) -> None:
        """``may_pause`` lets it draft nothing where that is faster; without it drafting was asked for by name.

        Text that cannot pay is never proposed.
        """
        self._pacer = pacer
        self._may_pause = may_pause
        self._text = text
        self._model = model
        self._draft = _EMPTY
        self._kinds: list[int] = []  # the classes of the proposed tokens, if they are text
        self._unproposed: Draft | None = None  # text that might have been proposed after `_num_history` tokens
        self._num_history = 0
        self._was_plain = False  # the last pass that was asked for
        self._search_ms, self._num_unsearched = _FIRST_SEARCH_MS, 0
        self._has_drafted = False  # the draft model, for the last pass that was asked for
        self.source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None:
        """Prepare the drafters."""
        temperature = "greedy" if sampler.greedy else "sampled"
        kind = f"{type(self._text).__name__} {self._model is not None} {temperature}"
        self._pacer.begin(kind, greedy=sampler.greedy)
        self._draft, self._unproposed, self._was_plain = _EMPTY, None, False
        for drafter in (self._text, self._model):
            if drafter is not None:
                drafter.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """Propose what the pacer finds worth most; possibly nothing."""
        self._learn(history)
        if self._model is not None and self._model.failure:
            self._model = None
        limit = min(limit, self._pacer.prices.max_proposed)
        text = self._match_text(history, limit)
        kinds = text_kinds(text)
        model = self._model
        decision = self._pacer.choose(
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
        """Look for text that could follow."""
        if self._text is None or limit <= 0:
            return _EMPTY
        return self._text.propose(history, limit)

    def _run_model(self, model: DraftModelDrafter, history: History, limit: int) -> Draft:
        """Have the draft model draft at most so many tokens, and note what that took."""
        if model.would_delay_first_token(len(history)):  # a plain pass, to the pacer
            return _EMPTY
        pacer, started = self._pacer, perf_counter()
        draft = model.propose(history, limit, _Gate(pacer, limit))
        draft_ms = (perf_counter() - started) * 1000.0
        self._has_drafted, reading_ms = not model.was_stopped, 0.0
        if model.was_stopped:
            return draft
        if not pacer.has_company:
            read_ms = model.read_s * 1000.0
            if pacer.prices.block > 1 and model.num_read <= FEW_UNREAD:
                pacer.prices.observe_drafting(read_ms)
            elif model.num_read > _FEW_READ:
                beside_step_ms = max(read_ms - pacer.prices.draft_step_ms, 0.0)
                pacer.prices.observe_reading(model.num_read, beside_step_ms)
                reading_ms = beside_step_ms if model.num_read > FEW_UNREAD else 0.0
            elif len(draft.ids) > 1:
                pacer.prices.observe_drafting((draft_ms - read_ms) / (len(draft.ids) - 1))
        pacer.note_draft(draft.scores or [], reading_ms)
        return draft

    def pause_length(self, history: History) -> int:
        """Give how many plain passes may follow without `propose`, unless `ends_pause` says so; 0: it is to be asked.

        What surrounds a plain pass alone takes longer than what surrounds one of many.
        """
        if not self._was_plain or not (self._may_pause or self._model is None):
            return 0
        if len(history) > self._num_history + self._num_unsearched and self.ends_pause(history):
            return 0  # the last pass was a single one, after which nobody looked
        model = self._model
        num_unread = model.num_unread(len(history)) if model is not None else 0
        return self._pacer.pause_length(has_model=model is not None, num_unread=num_unread)

    def ends_pause(self, history: History) -> bool:
        """Find out whether text that is worth proposing follows; asked after each plain pass of a pause.

        Looking takes some microseconds: much where a pass takes a third of a millisecond, nothing where it takes seven.
        """
        self._num_unsearched += 1
        if self._text is None or self._num_unsearched < self._search_every:
            return False
        started = perf_counter()
        self._num_unsearched = 0
        self._learn(history)
        text = self._match_text(history, self._pacer.prices.max_proposed)
        gain, _depth = self._pacer.text_gain(text_kinds(text))
        self._unproposed = text
        elapsed_ms = (perf_counter() - started) * 1000.0
        self._search_ms += (min(elapsed_ms, SLOW * self._search_ms) - self._search_ms) * _SEARCH_RATE
        if gain > 0.0:
            self._was_plain = False  # so that it is asked next
        return gain > 0.0

    @property
    def _search_every(self) -> int:
        return min(ceil(self._search_ms / (SEARCH_SHARE * self._pacer.prices.plain_ms)), MAX_UNSEARCHED)

    def _learn(self, history: History) -> None:
        """See what became of text that was not proposed: that it comes is as likely as that it would be kept."""
        text, since = self._unproposed, self._num_history
        self._unproposed, self._num_history, self._num_unsearched = None, len(history), 0
        if text is None or not text.ids or len(history) <= since:
            return
        actual = history[since : since + len(text.ids)].tolist()
        pairs = enumerate(zip(text.ids, actual, strict=False))
        right = next((i for i, (one, other) in pairs if one != other), len(actual))
        # Of text that came as far as it was followed nothing is known of the token after that.
        self._pacer.observe_text(text_kinds(text)[: right if right == len(actual) else right + 1], right)

    def observe(self, num_accepted: int) -> None:
        """Tell the drafter and the pacer what was kept."""
        if self._text is not None:
            self._text.observe(num_accepted if self._kinds else 0)
        if self._kinds:
            self._pacer.observe_text(self._kinds, num_accepted)
        elif self._model is not None and self._has_drafted:
            self._model.observe(num_accepted)


class _Gate:
    """Implements `draft_model.Gate`: drafts on while that pays."""

    def __init__(self, pacer: Pacer, limit: int) -> None:
        self._pacer = pacer
        self._chance = pacer.acceptance.draft.chance
        self._room, self._drawn, self._alive = limit, 0, 1.0

    def worth_drawing(self, confidence: float) -> bool:
        """See `draft_model.Gate`."""
        if not self._pacer.worth_drawing(self._drawn, self._alive, confidence, self._room):
            return False
        self._alive *= self._chance(draft_kind(confidence))
        self._drawn += 1
        self._room -= 1
        return True

    def worth_running(self, drawn_id: int) -> bool:  # noqa: ARG002  (the output stays exact because it is not looked at)
        """See `draft_model.Gate`."""
        return self._room > 0 and self._pacer.worth_running(self._drawn, self._alive, self._room)
