"""Chooses for each pass among text, a draft model, both in turn and nothing, as the pacer finds it worth.

Knows the drafters and the pacer; the pacer knows no tokens.
"""

from __future__ import annotations

from time import perf_counter

from engine.drafters.base import Draft, Drafter
from engine.drafters.chain import Chain
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.lookahead import TEXT_DEPTH, Lookahead
from engine.drafters.seen import Seen, text_seen
from engine.drafters.suffix import SuffixDrafter
from engine.pacer import MAX_DEPTH, Choice, Pacer
from engine.records import Source
from engine.sampling import History, Sampler


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
        self._model = model
        self._choice = Choice.PLAIN
        self._chain = Chain()
        self._draft_ms, self._num_drafted = 0.0, 0
        self._looks = False  # whether what the model drafts may be left: nothing is drawn at temperature 0
        self._ahead = Seen(source=Source.DRAFT)  # what the model drafted beyond the history
        self._unsent: list[tuple[Seen, int]] = []  # what might have been proposed, and how much of it was
        self._num_history = 0
        self.source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None:
        """Prepare the drafters."""
        self._pacer.begin()
        self._looks, self._unsent, self._ahead = sampler.greedy, [], Seen(source=Source.DRAFT)
        self._num_history = len(history)
        for drafter in (self._text, self._model):
            if drafter is not None:
                drafter.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """What the pacer finds worth most; possibly nothing."""
        self._learn(history)
        text = Seen()
        if self._text is not None:
            text = text_seen(self._text.propose(history, min(limit, TEXT_DEPTH)))
        self._choice, depth = self._pacer.choose(
            text.confidences,
            has_model=self._model is not None,
            limit=min(limit, MAX_DEPTH),
            may_rest=self._may_rest,
            looks=self._looks,
        )
        self._chain, self._draft_ms, self._num_drafted = Chain(), 0.0, 0
        if self._choice is Choice.TEXT:
            self._add(text.part(0, depth))
        elif self._choice is Choice.MODEL and self._model is not None:
            started = perf_counter()
            if self._looks:
                self._look_ahead(self._model, history, text, depth)
            else:
                self._draw(self._model, history, depth)
            self._draft_ms = (perf_counter() - started) * 1000.0
        if not self._chain.parts or self._chain.parts[0].source is Source.DRAFT:
            self._unsent.append((text, 0))
        return self._chain.draft()

    def _add(self, seen: Seen) -> None:
        self._chain.add(Draft(seen.ids, seen.source), seen.confidences)

    def _draw(self, model: DraftModelDrafter, history: History, limit: int) -> None:
        """Let the model draw, and text follow where that promises more. What was drawn is proposed."""
        gate = _Gate(self._pacer, self._following, limit)
        drawn = model.propose(history, limit, gate)
        self._num_drafted = len(drawn.ids)
        self._chain.add(drawn, drawn.scores or [])
        self._add(gate.following)

    def _look_ahead(self, model: DraftModelDrafter, history: History, text: Seen, limit: int) -> None:
        """Let the model draft as far as that may pay, and propose what is worth most of all that was seen.

        What it drafted beyond the last pass, and what turned out to be right since, need not be drafted again.
        """
        gate = Lookahead(self._pacer, self._following, text, limit)
        seen = self._ahead.part(0, limit)
        # Not a generator in `all`: the gate has to hear of every token, in turn.
        going_on = True
        for token_id, confidence in zip(seen.ids, seen.confidences, strict=True):
            going_on = gate.worth_drawing(confidence) and gate.worth_running(token_id)
            if not going_on:
                break
        room = limit - len(seen.ids)
        if going_on and room > 0 and not (seen.ids and model.ends(seen.ids[-1])):
            more = model.propose(history, room, gate, seen.ids)
            self._num_drafted = len(more.ids)
            seen = Seen([*seen.ids, *more.ids], [*seen.confidences, *(more.scores or [])], Source.DRAFT)
            self._ahead = seen
        plan = gate.plan(may_rest=self._may_rest)
        self._add(seen.part(0, plan.num_drafted))
        self._add(plan.text)
        self._unsent.append((self._ahead, plan.num_drafted))

    @property
    def _following(self) -> SuffixDrafter | None:
        return self._text if isinstance(self._text, SuffixDrafter) else None

    def _learn(self, history: History) -> None:
        """See what became of the places where something else was proposed than might have been, or less of it.

        Only text and what was drafted without drawing is looked at: that it comes is as likely as that it is kept.
        """
        fresh = history[self._num_history :].tolist()
        for seen, num_sent in self._unsent:
            right = seen.num_equal(fresh)
            confidences = seen.confidences[num_sent : min(right + 1, len(fresh))]
            if right >= num_sent and confidences:
                self._pacer.observe_unsent(seen.source, confidences, right - num_sent)
        self._unsent = []
        if fresh and self._looks and self._model is not None:
            right = self._ahead.num_equal(fresh)
            if right < len(fresh):
                self._model.forget_after(self._num_history + right)
            self._ahead = self._ahead.part(right if right == len(fresh) else len(self._ahead.ids))
        self._num_history = len(history)

    def observe(self, num_accepted: int) -> None:
        """Tell the drafter and the pacer what was kept."""
        if self._text is not None:
            self._text.observe(num_accepted if self._choice is Choice.TEXT else 0)
        if self._model is not None and self._choice is Choice.MODEL and not self._looks:
            self._model.observe(num_accepted)
        if self._choice is Choice.PLAIN:
            self._pacer.observe_plain()
        else:
            self._pacer.observe(self._chain.parts, num_accepted, self._draft_ms, self._num_drafted)


class _Gate:
    """Implements `draft_model.Gate` for one proposal: goes on while that pays, and notices where text pays more."""

    def __init__(self, pacer: Pacer, text: SuffixDrafter | None, limit: int) -> None:
        self._pacer = pacer
        self._text = text
        self._room = limit
        self._drawn = 0
        self._alive = 1.0
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
        gain = self._pacer.gain_of_running(self._drawn, self._alive, self._room)
        if self._text is not None:
            text = text_seen(self._text.propose_after((drawn_id,), min(self._room, TEXT_DEPTH)))
            text_gain, depth = self._pacer.text_gain(text.confidences, self._drawn, self._alive)
            if text_gain > max(gain, 0.0):
                self.following = text.part(0, depth)
                return False
        return gain > 0.0
