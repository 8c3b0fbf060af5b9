"""Decides, pass by pass, what to propose and how far: the most expected tokens per expected millisecond.

Owns the measured costs, the estimates of acceptance and the reasons of its decisions; lives as long as a target and
draft are loaded. Knows no tokens: drafters ask it, the loop reports to it.

With the best rate so far, r tokens per millisecond, a choice is worth its expected tokens minus r times its cost; the
choice of the greatest worth maximises the long-run rate (Dinkelbach 1967, https://doi.org/10.1287/mnsc.13.7.492).
Plain decoding is always one of the choices. What is decided about a token never looks at the token itself once it is
drawn, so the distribution of the output is not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean

from engine import reasons
from engine.acceptance import AcceptanceEstimate, Part
from engine.choice import Choice
from engine.cost_curve import MAX_PASS, CostCurve
from engine.explanation import Explanation
from engine.lessons import Lessons
from engine.prices import Prices
from engine.records import Source
from engine.recovery import Recovery
from engine.slips import Slips

MAX_DEPTH = MAX_PASS - 1
LONGEST_REST = 64  # plain passes in a row
_LOOK_AHEAD = 16  # how many more tokens a decision to go on considers
_FIRST_OVERHEAD_MS = 0.05
_FIRST_ROW_MS = 0.02
_OVERHEAD_RATE = 0.05  # weight of a plain pass in what surrounds one
_PROBE_WEIGHT = 6.0  # looks that a token of a probe is worth
_PROBE_DEPTH = 3
_REWORK_RATE = 0.01  # rare and large: the average must be long
_LIKELY_CHANCE = 0.85  # a draft of which nothing is known is not hoped to be kept more often
_WORTH_HOPING = 1.08  # times plain decoding: what promises less does not pay for reading what it missed
_HOPED = 0.2  # more than lately a draft is hoped to be kept
_BEST_CHANCE = 0.98  # no draft is kept more often for long
_CATCH_UP = 3.0  # times what drafting takes by the measured step: more is put down to reading the past
# A token costs no more than plain decoding where nothing else is to be had, whatever was reached elsewhere: the rate
# that decides lies between. (At the full rate a CPU of steep costs drafted too little, at the plain one too much.)
_RATE_SHARE = 0.8


class Pacer:
    """One for a loaded target and draft."""

    def __init__(self, curve: CostCurve, draft_step_ms: float = 0.0, recovery: Recovery | None = None) -> None:
        """``recovery`` knows what rejected tokens cost, where the target's memory cannot simply forget them."""
        self.curve = curve
        self.recovery = recovery
        # Whether near ties are decided again: what was speculated may then have to be decoded once more.
        self.pays_rework = False
        self._rework_ms = 0.0  # of a speculated token
        self.draft_step_ms = draft_step_ms
        self.overhead_ms = _FIRST_OVERHEAD_MS  # of a plain pass, beside its time in the model
        self.start_ms = 0.0  # what drafting for a pass takes, however few tokens: choosing, and the first one's excess
        self.row_ms = _FIRST_ROW_MS  # of each proposed token: its row is looked at as well
        self.lessons = Lessons(self.plain_ms, MAX_DEPTH)
        self.learnt = self.lessons.current  # by answers of the kind in the making
        self._choice = Choice.PLAIN
        self.is_probing, self._may_rest = False, True  # is: a try of what does not seem to pay
        self._hopeless = False  # the draft model takes too long for any acceptance to make up for it
        self._expected_ms = 0.0  # what the last pass should have taken
        self._slips = Slips()
        self.explanation = Explanation()

    @property
    def reason(self) -> str:
        """Why drafting goes on or rests, the last time that this changed; empty before anything is known."""
        return self.explanation.reason

    @property
    def most(self) -> int:
        """Tokens that are worth proposing at once, however sure they are."""
        return self.curve.largest - 1

    @property
    def plain_ms(self) -> float:
        """Cost of a plain pass with everything around it."""
        return self.curve.cost_ms(1) + self.overhead_ms

    @property
    def rate(self) -> float:
        """Tokens per millisecond that this answer's kind of text reaches, never less than plain decoding's."""
        plain = 1.0 / self.plain_ms
        return max(plain + _RATE_SHARE * (self.learnt.rate - plain), plain)

    def use(self, curve: CostCurve) -> None:
        """Go on with another curve: the cache has grown, or other threads compute. What was learnt is scaled to it."""
        if curve is self.curve:
            return
        factor = curve.cost_ms(1) / self.curve.cost_ms(1)
        self.curve = curve
        self.lessons.scale(factor)

    def begin(self, kind: str = "") -> None:
        """Another answer begins: what did not pay in the last one is tried again soon.

        What is learnt from answers of one ``kind`` serves those of the same kind.
        """
        self.learnt = self.lessons.begin(kind)
        self._hopeless = not self._pays(_BEST_CHANCE)
        hoped = self._pays(min(self.learnt.by_depth.chance(0) + _HOPED, _BEST_CHANCE), _WORTH_HOPING)
        self.learnt.model.judge(self.plain_ms, likely=self._pays(_LIKELY_CHANCE), hoped=hoped)

    # ---- before a pass ----------------------------------------------------------------------------------------------

    def choose(
        self,
        text_confidences: Sequence[float],
        *,
        has_model: bool,
        limit: int,
        may_rest: bool = True,
        looks: bool = False,
    ) -> tuple[Choice, int]:
        """What to do in the next pass, and at most how many tokens to propose.

        Without ``may_rest`` drafting was asked for by name: then at least one token is proposed where one can be.
        Where the draft model ``looks``, what it drafts need not be proposed: trying it costs no more than running it.
        """
        tries_plain = may_rest and self.curve.doubts_plain
        text_gain, text_depth = (0.0, 0) if tries_plain else self.text_gain(text_confidences[:limit])
        plain_worth = 1.0 - self.rate * self.plain_ms
        can_model = has_model and limit > 0 and not (may_rest and self._hopeless) and not tries_plain
        can_draft = bool(text_depth) or can_model
        options = [] if can_draft and not may_rest else [(plain_worth, Choice.PLAIN, 0)]
        if text_depth:
            options.append((plain_worth + text_gain, Choice.TEXT, text_depth))
        if can_model:
            model_worth = self.learnt.model.tokens - self.rate * self.learnt.model.cost_ms * self._slips.of_model
            options.append((model_worth, Choice.MODEL, min(limit, MAX_DEPTH)))
        _worth, choice, depth = max(options, key=lambda option: option[0])
        self.is_probing, self._may_rest = False, may_rest
        if choice is Choice.PLAIN and may_rest and can_model and self.learnt.model.due():
            # Once in a while a short try of the draft model that does not seem to pay.
            choice, depth = Choice.MODEL, limit if looks else min(_PROBE_DEPTH, limit)
            self.is_probing = True
        self._choice = choice
        self._explain(choice, has_model=has_model)
        if choice is Choice.PLAIN and text_depth and not has_model:
            self.text_rests(text_confidences[:limit])
        return choice, depth

    def text_gain(self, confidences: Sequence[float], start: int = 0, alive: float = 1.0) -> tuple[float, int]:
        """What the best number of these tokens gains, and that number; they are there already, only verifying costs.

        Args:
            confidences: of the text that would follow.
            start: tokens proposed already in this pass.
            alive: chance that all of them are kept.
        """
        best, best_depth, expected = float("-inf"), 0, 0.0
        rate = self.rate
        value = 1.0 - rate * self.rework_ms
        chances = self.learnt.tail_chances if start else self.learnt.text_chances
        here_ms = self._verified_ms(start + 1) + self._risk_ms(start, alive)
        for depth, confidence in enumerate(confidences[: MAX_DEPTH - start], 1):
            alive *= chances.chance(confidence)
            expected += alive
            cost_ms = self._verified_ms(start + depth + 1) + self._risk_ms(start + depth, alive)
            gain = expected * value - rate * (cost_ms - here_ms)
            if gain > best:
                best, best_depth = gain, depth
        return best, best_depth

    def prices(self) -> Prices:
        """What the pass at hand may cost and gain, for whoever has to ask at every token."""
        row_ms = self.row_ms
        pass_ms = [cost + i * row_ms for i, cost in enumerate(self.curve.costs_ms)]
        risk_ms = self._risk_ms if self.recovery is not None else None
        chances = self.learnt.by_depth.chances
        overhead_ms = self.overhead_ms + self.start_ms
        return Prices(pass_ms, self.rate, self.draft_step_ms, self.rework_ms, chances, risk_ms, overhead_ms)

    def _pass_ms(self, num_tokens: int) -> float:
        return self._verified_ms(num_tokens) + self.overhead_ms

    def _verified_ms(self, num_tokens: int) -> float:
        return self.curve.cost_ms(num_tokens) + (num_tokens - 1) * self.row_ms

    def rest(self, *, has_model: bool) -> int:
        """How many plain passes may follow each other before it is time to ask the draft model again."""
        trial = self.learnt.model
        if not has_model or self._hopeless:
            return LONGEST_REST
        pays = trial.tokens - self.rate * trial.cost_ms * self._slips.of_model > 1.0 - self.rate * self.plain_ms
        return 0 if pays else min(max(trial.patience - 1, 0), LONGEST_REST)

    # ---- while a draft model drafts ---------------------------------------------------------------------------------

    def chance(self, confidence: float) -> float:
        """Chance that a token that the draft model draws with this confidence is kept."""
        return self.learnt.model_chances.chance(confidence)

    def worth_drawing(self, drawn: int, alive: float, confidence: float, room: int) -> bool:
        """Whether to draw and submit one more token, whose distribution is known already.

        Args:
            drawn: tokens drawn so far in this pass.
            alive: chance that all of them are kept.
            confidence: the draft's, in its next token, before that is drawn.
            room: at most so many more tokens in this pass.
        """
        alive *= self.learnt.model_chances.chance(confidence)
        if (self.is_probing and drawn < _PROBE_DEPTH) or (drawn == 0 and not self._may_rest):
            return True
        return self._gain_of_going_on(drawn, alive, room) > 0.0

    def gain_of_running(self, drawn: int, alive: float, room: int) -> float:
        """What running the draft model once more gains, to learn the distribution of one more token."""
        if self.is_probing and drawn < _PROBE_DEPTH:
            return float("inf")
        alive *= self.learnt.by_depth.chance(drawn)
        return self._gain_of_going_on(drawn, alive, room, self.draft_step_ms)

    def _gain_of_going_on(self, drawn: int, alive: float, room: int, first_ms: float = 0.0) -> float:
        """The best worth of 1, 2, ... more tokens over stopping here; ``alive`` includes the first of them."""
        rate, step_ms = self.rate, self.draft_step_ms
        value = 1.0 - rate * self.rework_ms
        here = drawn + 1
        here_ms = self._verified_ms(here) + self._risk_ms(here - 1, alive) - first_ms
        best, expected = float("-inf"), 0.0
        for more in range(1, min(room, _LOOK_AHEAD) + 1):
            expected += alive
            risk_ms = self._risk_ms(here + more - 1, alive)
            cost_ms = self._verified_ms(here + more) + risk_ms - here_ms + (more - 1) * step_ms
            best = max(best, expected * value - rate * cost_ms)
            alive *= self.learnt.by_depth.chance(drawn + more)
        return best

    def _risk_ms(self, num_proposed: int, alive: float) -> float:
        """What proposing so many costs beside the pass, all of them kept with the chance ``alive``."""
        if self.recovery is None or num_proposed == 0:
            return 0.0
        return self.recovery.risk_ms(self.curve, num_proposed, alive)

    @property
    def rework_ms(self) -> float:
        """What a speculated token costs later, on the average, where near ties are decided again."""
        return self._rework_ms if self.pays_rework else 0.0

    # ---- after a pass -----------------------------------------------------------------------------------------------

    def observe_pass(self, num_tokens: int, milliseconds: float) -> None:
        """The target took so long for a pass of so many tokens."""
        factor = self.curve.observe(num_tokens, milliseconds)
        if factor != 1.0:
            self.lessons.scale(factor)
            self._expected_ms *= factor

    def observe_plain(self) -> None:
        """A pass proposed nothing."""
        self.learnt.count(1.0, self.plain_ms)
        self._expected_ms = self.plain_ms

    def observe_run(self, num_passes: int, pass_ms: float, other_ms: float, *, decided: bool = True) -> None:
        """So many plain passes took so long each. Not ``decided`` here, they correct costs and teach nothing else."""
        self.observe_pass(1, pass_ms)
        if not decided:
            return
        self._slips.observe_run(pass_ms + other_ms, self.plain_ms, num_passes)
        usual = self.overhead_ms
        self.overhead_ms += (min(other_ms, 4.0 * usual) - usual) * (1.0 - (1.0 - _OVERHEAD_RATE) ** num_passes)
        self.learnt.count(1.0, self.plain_ms, num_passes)
        self.learnt.model.wait(num_passes)

    def observe_elapsed(self, milliseconds: float) -> None:
        """The pass just observed took so long, with everything around it."""
        self._slips.observe(self._choice, milliseconds, self._expected_ms)

    def observe(
        self, parts: Sequence[Part], num_accepted: int, draft_ms: float = 0.0, num_drafted: int | None = None
    ) -> None:
        """These were proposed, in this order; so many tokens were kept.

        The draft model took ``draft_ms`` for ``num_drafted`` tokens, where it looked at more than were proposed.
        """
        left = num_accepted
        for i, part in enumerate(parts):
            of_model = part.source is Source.DRAFT
            of_text = self.learnt.tail_chances if i else self.learnt.text_chances
            if part.is_stated:
                self._learn(self.learnt.model_chances if of_model else of_text, part.confidences, left)
            if of_model:
                self.learnt.by_depth.observe(len(part.confidences), left, self._weight)
            if left < len(part.confidences):
                break
            left -= len(part.confidences)
        by_model = sum(len(part.confidences) for part in parts if part.source is Source.DRAFT)
        num_drawn = num_drafted if num_drafted is not None else by_model
        read_ms = draft_ms
        # A draft that rested reads first what it missed: paid once, it says nothing of what drafting on costs.
        draft_ms = min(draft_ms, _CATCH_UP * (num_drawn + 1) * self.draft_step_ms or draft_ms)
        read_ms -= draft_ms
        num_proposed = sum(len(part.confidences) for part in parts)
        cost_ms = self._pass_ms(num_proposed + 1) + draft_ms
        if self.recovery is not None:
            cost_ms += self.recovery.spent_ms(self.curve, num_proposed, num_accepted)
        cost_ms += self.rework_ms * (1 + num_accepted)
        self._expected_ms = cost_ms
        if self._choice is Choice.MODEL:
            if parts and parts[0].source is not Source.DRAFT:  # text was worth more: the model only took its time
                self._try_ended(1.0, self.plain_ms + draft_ms, read_ms)
            else:
                self._try_ended(1.0 + num_accepted, cost_ms, read_ms)
        self.learnt.count(1.0 + num_accepted, cost_ms)

    def _try_ended(self, tokens: float, cost_ms: float, read_ms: float) -> None:
        """The draft model was asked; reading what it had missed took ``read_ms`` more."""
        plain_ms, trial = self.plain_ms / self._slips.of_model, self.learnt.model
        trial.observe(tokens, cost_ms, plain_ms, probed=self.is_probing)
        if self.is_probing:
            trial.pay((cost_ms + read_ms) / plain_ms - tokens)

    def observe_unsent(self, source: Source, confidences: Sequence[float], num_right: int, num_sent: int = 0) -> None:
        """These could have been proposed and were not; what came then shows that the first so many were right.

        The ``num_sent`` tokens before them were proposed, and kept.
        """
        estimate = self.learnt.model_chances if source is Source.DRAFT else self.learnt.text_chances
        self._learn(estimate, confidences, num_right)
        if source is Source.DRAFT:
            self.learnt.by_depth.observe(len(confidences), num_right, self._weight, num_sent)

    def observe_drafting(self, step_ms: float) -> None:
        """A token took the draft model so long, with all that Python does about it, where it had little to read."""
        usual = self.draft_step_ms
        self.draft_step_ms += (min(step_ms, _CATCH_UP * usual or step_ms) - usual) * 0.1

    def observe_start(self, milliseconds: float) -> None:
        """Drafting for a pass took so long beside `draft_step_ms` for each token."""
        usual = self.start_ms
        self.start_ms += (min(milliseconds, _CATCH_UP * usual or milliseconds) - usual) * _OVERHEAD_RATE

    def observe_rework(self, milliseconds: float, num_tokens: int) -> None:
        """So many tokens were speculated, and deciding near ties again took so long."""
        self._rework_ms += (milliseconds - num_tokens * self._rework_ms) * _REWORK_RATE

    def observe_overhead(self, milliseconds: float, num_proposed: int = 0) -> None:
        """What a pass took beside drafting and verifying: once, and for each token that was proposed."""
        if num_proposed == 0:
            self.overhead_ms += (min(milliseconds, 4.0 * self.overhead_ms) - self.overhead_ms) * _OVERHEAD_RATE
            return
        row_ms = max(0.0, milliseconds - self.overhead_ms) / num_proposed
        self.row_ms += (min(row_ms, 4.0 * self.row_ms + 0.01) - self.row_ms) * 0.1

    @property
    def _weight(self) -> float:
        return _PROBE_WEIGHT if self.is_probing else 1.0

    def _learn(self, estimate: AcceptanceEstimate, confidences: Sequence[float], num_accepted: int) -> None:
        estimate.observe_all(confidences, num_accepted, self._weight)

    # ---- reasons ----------------------------------------------------------------------------------------------------

    def break_even(self) -> float | None:
        """The acceptance per token from which the draft model pays here; None where it never can."""
        return reasons.break_even(self._pays)

    def _pays(self, acceptance: float, times: float = 1.0) -> bool:
        expected = alive = 1.0
        for depth in range(1, MAX_DEPTH + 1):
            alive *= acceptance
            expected += alive
            cost_ms = self._pass_ms(depth + 1) + self.start_ms + depth * self.draft_step_ms
            cost_ms += self._risk_ms(depth, alive)
            if expected * self.plain_ms > times * cost_ms:
                return True
        return False

    def _explain(self, choice: Choice, *, has_model: bool) -> None:
        pays = self.learnt.model.gain(self.plain_ms / self._slips.of_model) > 0.0 and not self._hopeless
        state = self.explanation.follow(choice, pays=pays, has_model=has_model, may_rest=self._may_rest)
        if state is not None:  # a sentence takes longer than all the rest
            self.explanation.tell(state, self._sentence(choice, state))

    def _sentence(self, choice: Choice, state: Choice) -> str:
        by_depth, recovery = self.learnt.by_depth, self.recovery
        accepted, is_seen = by_depth.chance(0), by_depth.is_seen
        if state is not Choice.PLAIN:
            return reasons.TEXT if state is Choice.TEXT else reasons.drafting(accepted, is_seen=is_seen)
        rejection_ms = recovery.rejection_ms(self.curve) if recovery and recovery.num_snapshots == 0 else None
        as_asked = choice is Choice.MODEL
        return reasons.not_paying(accepted, self.break_even(), rejection_ms, as_asked=as_asked, is_seen=is_seen)

    def text_rests(self, confidences: Sequence[float]) -> None:
        """Text was found that is not worth proposing, and there is no draft model: say so where it goes on."""
        if self.explanation.rests():
            chances = self.learnt.text_chances
            accepted = geometric_mean([chances.chance(confidence) for confidence in confidences])
            needed = reasons.text_break_even(self.prices().gain_of, len(confidences))
            self.explanation.tell(Choice.PLAIN, reasons.text_not_paying(accepted, needed, is_seen=chances.is_seen))
