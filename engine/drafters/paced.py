"""Chooses for each pass among text, a draft model, both in turn and nothing, as the pacer finds it worth.

Knows the drafters and the pacer; the pacer knows no tokens.
"""

from __future__ import annotations

from math import ceil, prod
from time import perf_counter

from engine.choice import Choice
from engine.drafters.base import Draft, Drafter
from engine.drafters.chain import Chain
from engine.drafters.coasting import Coasting
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.lookahead import TEXT_DEPTH, Lookahead
from engine.drafters.rest import Rest
from engine.drafters.seen import Seen, num_equal, text_seen
from engine.drafters.suffix import SuffixDrafter
from engine.pacer import Pacer
from engine.records import Source
from engine.sampling import History, Sampler

_FEW_READ = 2  # tokens that a draft model reads before it drafts; more would be taken for the price of drafting
_INDEX_SHARE = 0.02  # of the time of plain passes: where indexing takes longer than one, it waits until it is no more


class PacedDrafter:
    """Implements `Drafter` over the drafters that a mode allows.

    With suffix matching and a draft model a proposal can be a chain: the model drafts, and gives way to text as soon as
    what it has drawn matches what came before and the text promises more. (The other way round, the model going on
    from the end of the text, gained nothing: the best length of a text leaves no room where another token would pay.)
    """

    def __init__(
        self, pacer: Pacer, text: Drafter | None, model: DraftModelDrafter | None, *, may_rest: bool = True
    ) -> None:
        """``may_rest`` lets it propose nothing where that is faster; without it drafting was asked for by name."""
        self._pacer = pacer
        self._may_rest = may_rest
        self._text = text
        self._ready: Drafter | None = None  # the text, once it has begun
        self._text_from = 0  # tokens that the history has by then
        self._model = model
        self._choice: Choice | None = None  # of the last pass that was asked for
        self._rest = Rest(eager=False)
        self._chain = Chain()
        self._coasting, self._may_coast = Coasting(), False  # may: all that could be drafted for the pass is proposed
        self._draft_ms, self._num_drafted = 0.0, 0
        self._num_read, self._read_ms = 0, 0.0  # what the model read before it drafted for the last pass
        self._sampler: Sampler | None = None
        self._ahead = Seen(source=Source.DRAFT)  # what the model saw ahead of the history
        self._ends = False  # whether it saw the answer end after that
        self._read: list[int] = []  # what it may hold in its cache beyond the history
        self._unsent: list[tuple[Seen, int]] = []  # what might have been proposed, and how much of it was
        self._num_history = 0
        self.source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None:
        """Prepare the drafters."""
        self._pacer.begin(f"{type(self._text).__name__} {self._model is not None} {sampler.greedy}")
        self._sampler, self._unsent, self._ahead = sampler, [], Seen(source=Source.DRAFT)
        self._read, self._ends = [], False
        self._coasting.observe(0)
        self._num_history = len(history)
        self._text_from = len(history) + self._text_waits(len(history))
        self._ready = None
        self._begin_text(history)
        if self._model is not None:
            self._model.begin(history, sampler)

    def _text_waits(self, num_tokens: int) -> int:
        """Plain passes before the text is indexed: none, unless a pass is so short that nothing may pay for it."""
        passes = num_tokens * self._pacer.lessons.index_ms / self._pacer.plain_ms
        return ceil(passes / _INDEX_SHARE) if self._may_rest and passes > 1.0 else 0

    def _begin_text(self, history: History) -> None:
        if self._ready is None and self._text is not None and self._sampler is not None:
            if len(history) < self._text_from:
                return
            started = perf_counter()
            self._text.begin(history, self._sampler)
            self._ready = self._text
            if isinstance(self._text, SuffixDrafter):
                self._pacer.lessons.observe_indexing(self._text.num_read, (perf_counter() - started) * 1000.0)

    def propose(self, history: History, limit: int) -> Draft:
        """What the pacer finds worth most; possibly nothing."""
        began = perf_counter()
        self._learn(history)
        if self._model is not None and self._model.failure:
            self._model, self._ahead, self._ends = None, Seen(source=Source.DRAFT), False
        self._rest.taken()
        limit = min(limit, self._pacer.most)
        self._chain, self._draft_ms, self._num_drafted = Chain(), 0.0, 0
        self._num_read, self._read_ms = 0, 0.0
        self._may_coast = False
        unasked = self._model if self._coasting.is_due and limit > 0 else None
        self._coasting.begin_pass(is_on=unasked is not None)
        if unasked is not None:
            self._coast(unasked, history, min(limit, self._coasting.depth))
            return self._chain.draft()
        self._begin_text(history)
        text = Seen()
        if self._ready is not None:
            text = text_seen(self._ready.propose(history, min(limit, TEXT_DEPTH)))
        choice, depth = self._pacer.choose(
            text.confidences,
            has_model=self._model is not None,
            limit=limit,
            may_rest=self._may_rest,
            looks=True,
        )
        self._choice = choice
        if choice is not Choice.PLAIN:
            self._rest = Rest()
        if choice is Choice.TEXT:
            self._add(text.part(0, depth))
        elif choice is Choice.MODEL and self._model is not None:
            started = perf_counter()
            if self._run_model(self._model, history, text, depth):
                self._draft_ms = (perf_counter() - started) * 1000.0
                self._pacer.observe_start((started - began) * 1000.0 + self._first_ms)
        if not self._chain.parts or self._chain.parts[0].source is Source.DRAFT:
            self._unsent.append((text, 0))
        return self._chain.draft()

    def rest(self, history: History) -> int:
        """How many plain passes may follow without `propose`, unless `wakes` says so; 0 where it wants to be asked.

        What surrounds a plain pass alone takes longer than what surrounds one of many.
        """
        if self._choice is not Choice.PLAIN or not self._may_rest or not self._can_wake:
            return 0
        num_passes = self._pacer.rest(has_model=self._model is not None)
        if self._ready is None and self._text is not None:
            num_passes = min(num_passes, max(self._text_from - len(history), 0))
        if num_passes and self._num_history + self._rest.num_waiting != len(history):
            self._learn(history)
            self._rest.taken()
            if self._following is not None:
                self._following.propose(history, 0)
        return num_passes

    @property
    def _can_wake(self) -> bool:
        """Whether text can be followed while plain passes run; prompt lookup has to be asked after each."""
        return self._text is None or isinstance(self._text, SuffixDrafter)

    def wakes(self, token_id: int) -> bool:
        """Whether text that is worth proposing follows this token, the next after those that it was told of."""
        text, rest = self._following, self._rest
        if text is None or not rest.is_time(token_id):
            return False
        started = perf_counter()
        fresh = rest.taken()
        text.follow(fresh)
        self._learn_from(fresh)
        seen = text_seen(text.propose_next(TEXT_DEPTH))
        wakes = bool(seen.ids) and self._pacer.text_gain(seen.confidences)[0] > 0.0
        if seen.ids:
            self._unsent.append((seen, 0))
            if not wakes and self._model is None:
                self._pacer.text_rests(seen.confidences)
        rest.looked((perf_counter() - started) * 1000.0, self._pacer.plain_ms)
        return wakes

    @property
    def _first_ms(self) -> float:
        """What the first token took the model more than the others do: after a pass its weights are in no cache."""
        return max(self._read_ms - self._pacer.draft_step_ms, 0.0) if 0 < self._num_read <= _FEW_READ else 0.0

    def _add(self, seen: Seen) -> None:
        self._chain.add(seen.draft, seen.confidences)

    def _run_model(self, model: DraftModelDrafter, history: History, text: Seen, limit: int) -> bool:
        """Let the model look ahead as far as that may pay, and propose what is worth most of all that was seen.

        False where it was stopped before it saw anything: then its time says nothing.
        How far to go is decided before anything is drawn. What was seen ahead of the last pass, and turned out to be
        right since, need not be drafted again.
        """
        gate = Lookahead(self._pacer, self._following, text, limit)
        seen = self._ahead.part(0, limit)
        going_on = True
        for token_id, confidence in zip(seen.ids, seen.confidences, strict=True):
            going_on = gate.worth_drawing(confidence) and gate.worth_running(token_id)
            if not going_on:
                break
        room = limit - len(seen.ids)
        if going_on and room > 0 and not self._ends:
            more = model.look(history, room, gate, seen.ids)
            if model.was_stopped or (model.failure and not more.ids):
                return False
            self._num_drafted, self._num_read, self._read_ms = len(more.ids), model.num_read, 1000.0 * model.read_s
            q = [*(seen.q or []), *more.q] if more.q is not None else seen.q
            seen = Seen([*seen.ids, *more.ids], [*seen.confidences, *(more.scores or [])], Source.DRAFT, q)
            self._ahead, self._read, self._ends = seen, seen.ids, model.saw_end
        plan = gate.plan(
            may_rest=self._may_rest, ends=self._ends and going_on and len(seen.ids) == len(self._ahead.ids)
        )
        self._unsent.append((self._ahead, plan.num_drafted))
        is_whole = going_on and plan.num_drafted == len(seen.ids) and (self._ends or plan.num_drafted == limit)
        self._may_coast = is_whole and seen.q is None and not self._pacer.is_probing
        wanted = seen.part(0, plan.num_drafted)
        drawn = wanted.drawn(self._uniform)
        self._add(drawn)
        if drawn.ids == wanted.ids[: len(drawn.ids)]:
            self._add(plan.text)
        else:
            self._go_on(model, history, drawn, limit)
        return True

    def _coast(self, model: DraftModelDrafter, history: History, limit: int) -> None:
        """Propose what the model drafts, as in the pass before."""
        started = perf_counter()
        draft = model.propose(history, limit)
        count = len(draft.ids)
        if not model.was_stopped:
            self._num_drafted, self._draft_ms = count, (perf_counter() - started) * 1000.0
        self._read, self._may_coast = draft.ids, True
        self._chain.add(draft, list(self._pacer.learnt.by_depth.chances[:count]), are_stated=False)

    def _go_on(self, model: DraftModelDrafter, history: History, drawn: Seen, limit: int) -> None:
        """What was drawn last was not what was seen: draw on from there, and let text follow, where that pays."""
        sure = len(drawn.ids) - 1
        model.forget_after(len(history) + sure)
        self._ahead, self._ends = self._ahead.part(0, sure), False
        self._read = drawn.ids[:sure]
        if model.ends(drawn.ids[-1]):
            return
        following = self._following
        if following is not None:
            following.propose(history, 0)
            following.propose_after(drawn.ids[:-1], 0)
        gate = _Gate(self._pacer, following, limit, drawn.confidences)
        if gate.worth_running(drawn.ids[-1]):
            more = model.propose(history, limit - len(drawn.ids), gate, drawn.ids)
            self._num_drafted += len(more.ids)
            self._num_read = max(self._num_read, model.num_read)
            self._chain.add(more, more.scores or [])
            self._read = [*drawn.ids, *more.ids]
        self._add(gate.following)

    def _uniform(self) -> float:
        assert self._sampler is not None  # noqa: S101  (propose comes after begin)
        return self._sampler.uniform()

    @property
    def _following(self) -> SuffixDrafter | None:
        return self._ready if isinstance(self._ready, SuffixDrafter) else None

    def _learn(self, history: History) -> None:
        """See what became of the places where something else was proposed than might have been, or less of it.

        Only text and what was drafted without drawing is looked at: that it comes is as likely as that it is kept. Of
        what would be drawn some other token might have been kept as well: there it is looked at only where nothing
        was proposed, as else a draft that once failed would never be tried again.
        """
        self._learn_from(history[self._num_history :].tolist())

    def _learn_from(self, fresh: list[int]) -> None:
        for seen, num_sent in self._unsent:
            if seen.q is not None and num_sent:
                continue
            right = num_equal(seen.ids, fresh)
            confidences = seen.confidences[num_sent : min(right + 1, len(fresh))]
            if right >= num_sent and confidences:
                self._pacer.observe_unsent(seen.source, confidences, right - num_sent, num_sent)
        self._unsent = []
        if fresh and self._model is not None:
            right = num_equal(self._read, fresh)
            self._read = self._read[right:] if right == len(fresh) else []
            if right < len(fresh):
                self._model.forget_after(self._num_history + right)
            right = num_equal(self._ahead.ids, fresh)
            self._ahead = self._ahead.part(right if right == len(fresh) else len(self._ahead.ids))
            self._ends = self._ends and right == len(fresh)
        self._num_history += len(fresh)

    def observe(self, num_accepted: int) -> None:
        """Tell the drafter and the pacer what was kept."""
        if self._ready is not None:
            self._ready.observe(num_accepted if self._choice is Choice.TEXT else 0)
        is_kept = self._may_coast and num_accepted == len(self._chain.ids)
        self._coasting.observe(num_accepted if is_kept else 0)
        if self._choice is Choice.PLAIN:
            self._pacer.observe_plain()
        else:
            self._pacer.observe(self._chain.parts, num_accepted, self._draft_ms, self._num_drafted)
            if not self._coasting.is_on and self._num_drafted > 1 and self._num_read <= _FEW_READ:
                self._pacer.observe_drafting((self._draft_ms - self._read_ms) / (self._num_drafted - 1))


class _Gate:
    """Implements `draft_model.Gate` for tokens that are drawn: goes on while that pays, and until text pays more."""

    def __init__(self, pacer: Pacer, text: SuffixDrafter | None, limit: int, drawn: list[float]) -> None:
        """``drawn``: how sure the model was of the tokens that were drawn before."""
        self._pacer = pacer
        self._text = text
        self._room = limit - len(drawn)
        self._drawn = len(drawn)
        self._alive = prod(pacer.chance(confidence) for confidence in drawn)
        self.following = Seen()

    def worth_drawing(self, confidence: float) -> bool:
        """See `draft_model.Gate`."""
        if not self._pacer.worth_drawing(self._drawn, self._alive, confidence, self._room):
            return False
        self._alive *= self._pacer.chance(confidence)
        self._drawn += 1
        self._room -= 1
        return True

    def worth_running(self, drawn_id: int) -> bool:
        """See `draft_model.Gate`."""
        if self._room <= 0:
            return False
        gain = self._pacer.gain_of_running(self._drawn, self._alive, self._room)
        if self._text is not None:
            text = text_seen(self._text.propose_after((drawn_id,), min(self._room, TEXT_DEPTH)))
            text_gain, depth = self._pacer.text_gain(text.confidences, self._drawn, self._alive)
            if text_gain > max(gain, 0.0):
                self.following = text.part(0, depth)
                return False
        return gain > 0.0
