"""Decides, pass by pass, what to propose and how far: the most expected tokens per expected millisecond.

It holds the measured costs, the estimates of acceptance and the reasons of its decisions for as long as a target and
draft are loaded. Drafters ask it, the loop reports to it.

With the best rate so far, r tokens per millisecond, a choice is worth its expected tokens minus r times its cost; the
choice of the greatest worth maximises the long-run rate (Dinkelbach 1967, https://doi.org/10.1287/mnsc.13.7.492). Plain
decoding is always one of the choices. What is decided about a token never looks at the token itself once it is drawn,
so the distribution of the output is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from engine.interfaces import NOBODY, Beside
from engine.pacing import reasons
from engine.pacing.acceptance import AcceptanceEstimate, draft_estimate, draft_kind, text_estimate
from engine.pacing.constants import (
    ANSWER_TOKENS,
    DRAFT_RATE,
    DRAFTED_CHANCE,
    FEW_UNREAD,
    FIRST_DRAFTS,
    LOOK_AHEAD,
    MAX_DEPTH,
    MAX_PAUSE,
    PROBE_DEPTH,
    PROBE_REFUND,
    PROBE_SHARE,
    RATE_FORGETS,
    RATE_SHARE,
    READ_SHARE,
    REWORK_RATE,
    SLOW,
    WORK_RATE,
)
from engine.pacing.cost_curve import CostCurve
from engine.pacing.recapture import Recapture
from engine.pacing.recovery import Recovery
from engine.sentences import Sentence

_FIRST_OVERHEAD_MS, _FIRST_ROW_MS = 0.05, 0.02
_MOST = 1e4  # no average reaches it
Numbers = dict[str, list[float]]


class Choice(Enum):
    """What a pass of the target does beside giving its own next token."""

    PLAIN = "plain"
    TEXT = "text"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a pass is to do, and what that was expected to give.

    Attributes:
        choice: text, draft or neither.
        depth: at most so many proposed tokens.
        text_gain_ms: what the best length of text saves against a plain pass.
        draft_gain_ms: the same of the draft model; None where there is none that could be asked.
        expected_tokens: of the pass, its own one included.
        expected_ms: of the pass, with drafting.
        is_probe: the draft model does not seem to pay, and is tried.
    """

    choice: Choice
    depth: int
    text_gain_ms: float = 0.0
    draft_gain_ms: float | None = None
    expected_tokens: float = 1.0
    expected_ms: float = 0.0
    is_probe: bool = False


@dataclass(slots=True)
class _DraftAverage:
    """What passes with the draft model give: tokens, and their cost in plain passes; of ``count`` passes."""

    tokens: float
    cost: float
    count: float = FIRST_DRAFTS

    def observe(self, tokens: float, cost: float) -> None:
        self.count += 1.0
        weight = max(DRAFT_RATE, 1.0 / self.count)
        self.tokens += (tokens - self.tokens) * weight
        self.cost += (cost - self.cost) * weight


class Experience:
    """Acceptance and costs of answers of one kind. Costs are in plain passes, so they outlive a change of speed."""

    def __init__(self, *, greedy: bool) -> None:
        self.text = text_estimate()
        self.draft = draft_estimate(greedy=greedy)
        self.drafted = AcceptanceEstimate([DRAFTED_CHANCE])  # of a drafted token, however sure the draft is
        self.average: _DraftAverage | None = None  # over answers; None: never drafted
        self.in_answer: _DraftAverage | None = None  # in the answer that is made, beginning with that
        self.rate = 1.0  # tokens in the time of a plain pass, lately

    def begin(self) -> None:
        """Another answer begins."""
        self.text.begin()
        self.in_answer = None

    @property
    def numbers(self) -> Numbers:
        """What was learnt, for keeping it."""
        average = self.average
        return {
            "text": self.text.numbers,
            "draft": self.draft.numbers,
            "drafted": self.drafted.numbers,
            "average": [average.tokens, average.cost, average.count] if average is not None else [],
        }

    def restore(self, numbers: Numbers) -> None:
        """Go on from what `numbers` gave.

        Raises:
            ValueError, LookupError, TypeError: these cannot be such numbers.
        """
        self.text.restore(numbers["text"])
        self.draft.restore(numbers["draft"])
        self.drafted.restore(numbers["drafted"])
        if numbers["average"]:
            tokens, cost, count = (float(one) for one in numbers["average"])
            if not all(0.0 < one < _MOST for one in (tokens, cost, count)):  # NaN is neither
                raise ValueError("a figure is outside its range")
            self.average = _DraftAverage(tokens, cost, count)


class Pacer:
    """One for a loaded target and draft."""

    def __init__(
        self,
        curve: CostCurve,
        draft_step_ms: float = 0.0,
        recovery: Recovery | None = None,
        recapture: Recapture | None = None,
    ) -> None:
        """``recovery`` knows what rejected tokens cost, where the target's memory cannot simply forget them.

        ``recapture`` knows what a larger pass costs those behind it, where a backend replays graphs.
        """
        self.curve = curve
        self.recovery, self.recapture = recovery, recapture
        self.draft_step_ms = draft_step_ms  # a drafted token
        self.draft_read_ms = READ_SHARE * draft_step_ms  # a token that the draft only reads
        self.overhead_ms, self.row_ms = _FIRST_OVERHEAD_MS, _FIRST_ROW_MS  # beside a plain pass; of each proposed token
        # Whether near ties are decided again: what was speculated may then have to be decoded once more.
        self.pays_rework = False
        self._rework_ms = 0.0  # of a speculated token
        self._by_kind: dict[str, Experience] = {}
        self._begun: set[str] = set()  # here: of other kinds nothing was learnt
        self.experience = Experience(greedy=True)
        self.decision = Decision(Choice.PLAIN, 0)
        self._predicted: _DraftAverage | None = None  # what passes with the draft should give, by what they cost
        self._may_pause = True
        self._decided_start_ms = 0.0  # what the decided pass costs behind it, if it is larger
        self._beside = NOBODY  # what other answers put into the passes
        self._probe_budget = 0.0  # plain passes that may be lost by trying a draft that does not seem to pay
        self.explanation = reasons.Explanation()

    @property
    def reason(self) -> str:
        """Why drafting goes on or rests, the last time that this changed; empty before anything is known."""
        return self.explanation.reason

    @property
    def plain_ms(self) -> float:
        """Cost of a plain pass with everything around it."""
        return self.curve.cost_ms(1) + self.overhead_ms

    @property
    def is_drafting(self) -> bool:
        """Whether the draft model was asked for the last pass."""
        return self.decision.choice is Choice.DRAFT

    def join(self, beside: Beside) -> None:
        """Decide from now on about passes in which others have a part.

        A drafted token is worth then what a token of any answer takes, and costs what it adds to the pass of all; the
        cost of a step of the draft model is shared with those who draft at the same time.
        """
        self._beside = beside

    @property
    def has_company(self) -> bool:
        """Whether other answers are being made, so that what takes time here is in part their work."""
        return self._beside.num_answers > 0

    @property
    def _least_ms(self) -> float:
        """Cost of a pass that proposes nothing: a plain one, with what others put into it."""
        return self.curve.cost_ms(1 + self._beside.num_tokens) + self.overhead_ms

    @property
    def _step_ms(self) -> float:
        """Cost of a drafted token."""
        return self.draft_step_ms / (1 + self._beside.num_drafting)

    @property
    def max_proposed(self) -> int:
        """Tokens that are worth proposing at once, however sure they are."""
        return max(self.curve.largest - 1 - self._beside.num_tokens, 0)

    @property
    def token_ms(self) -> float:
        """What a token takes on the average, and so what one more is worth; never more than a plain pass."""
        if self._beside.num_tokens:
            return self._least_ms / (1.0 + self._beside.tokens)
        return self.plain_ms / max(1.0, 1.0 + RATE_SHARE * (self.experience.rate - 1.0))

    @property
    def rework_ms(self) -> float:
        """What a speculated token costs later, on the average, where near ties are decided again."""
        return self._rework_ms if self.pays_rework else 0.0

    def use(self, curve: CostCurve) -> None:
        """Go on with another curve: the cache has grown, or other threads compute; both slow the draft down as well."""
        before_ms = self.curve.cost_ms(1)
        self.curve, self._predicted = curve, None
        self._scale_drafting(before_ms)

    def _scale_drafting(self, before_ms: float) -> None:
        """A plain pass took so long and takes another time now: what made it so holds for the draft, too.

        Else a draft that was measured while the machine was quick seems to pay where it has become slow.
        """
        factor = self.curve.cost_ms(1) / before_ms
        self.draft_step_ms *= factor
        self.draft_read_ms *= factor

    def expect_drafting(self, step_ms: float, read_ms: float | None = None) -> None:
        """A drafted token takes so long, as measured; one that is only read so long, else a part of it."""
        self.draft_step_ms, self._predicted = step_ms, None
        self.draft_read_ms = READ_SHARE * step_ms if read_ms is None else read_ms

    def begin(self, kind: str = "", *, greedy: bool = True) -> None:
        """Another answer begins; what is learnt from answers of one ``kind`` serves those of the same kind."""
        self._begun.add(kind)
        self.experience, self._predicted = self._by_kind.setdefault(kind, Experience(greedy=greedy)), None
        self.experience.begin()
        self.explanation.begin()
        if self.recapture is not None:
            self.recapture.begin()

    @property
    def numbers(self) -> dict[str, Numbers]:
        """What was learnt here, by kind of answer, for keeping it."""
        return {kind: experience.numbers for kind, experience in self._by_kind.items() if kind in self._begun}

    def restore(self, kept: Mapping[str, Numbers]) -> None:
        """Begin with what `numbers` gave at an earlier start.

        Raises:
            ValueError, LookupError, TypeError: these cannot be such numbers.
        """
        for kind, numbers in kept.items():
            experience = Experience(greedy=kind.endswith("greedy"))
            experience.restore(numbers)
            self._by_kind[kind] = experience

    # ---- before a pass ----------------------------------------------------------------------------------------------

    def choose(
        self, text: Sequence[int], *, has_model: bool, limit: int, may_pause: bool = True, num_unread: int = 0
    ) -> Decision:
        """What to do in the next pass.

        Args:
            text: the classes of the tokens of text that could be proposed.
            has_model: whether a draft model can be asked.
            limit: at most so many proposed tokens.
            may_pause: without it drafting was asked for by name: then a token is drafted where one can be.
            num_unread: tokens that the draft model has to read before it drafts.
        """
        tries_plain = may_pause and self.curve.is_plain_uncertain
        text_gain, text_depth = (0.0, 0) if tries_plain else self.text_gain(text[:limit])
        can_draft = has_model and limit > 0 and not tries_plain
        draft_gain = self._draft_gain(num_unread) if can_draft else None
        self._may_pause = may_pause or not has_model
        decision = Decision(Choice.PLAIN, 0, text_gain, draft_gain, 1.0, self._least_ms)
        if text_depth and (draft_gain is None or text_gain >= draft_gain):
            expected = self._expected(text[:text_depth])
            cost_ms = self._pass_ms(text_depth)
            decision = Decision(Choice.TEXT, text_depth, text_gain, draft_gain, expected, cost_ms)
        elif draft_gain is not None and (draft_gain > 0.0 or not self._may_pause):
            decision = self._drafting(text_gain, draft_gain, limit, is_probe=False)
        elif draft_gain is not None and self._probe_budget >= self._probe_loss(num_unread):
            decision = self._drafting(text_gain, draft_gain, limit, is_probe=True)
        self.decision, self._decided_start_ms = decision, self._start_ms
        self._explain(text[:limit], has_model=has_model)
        return decision

    def text_gain(self, kinds: Sequence[int]) -> tuple[float, int]:
        """Milliseconds that the best number of these tokens saves, and that number; only verifying them costs."""
        best, best_depth, expected, alive = 0.0, 0, 0.0, 1.0
        if not kinds:
            return best, best_depth
        value, chances = self.token_ms - self.rework_ms, self.experience.text.chances
        costs_ms, row_ms, has_risk = self.curve.costs_ms, self.row_ms, self.recovery is not None
        if self._beside.num_tokens:
            costs_ms = costs_ms[self._beside.num_tokens :]
        for depth, kind in enumerate(kinds[: min(MAX_DEPTH, len(costs_ms) - 1)], 1):
            alive *= chances[kind]
            expected += alive
            gain = expected * value - (costs_ms[depth] - costs_ms[0] + depth * row_ms)
            if has_risk:
                gain -= self._risk_ms(depth, alive)
            if gain > best:
                best, best_depth = gain, depth
        best -= self._start_ms
        return (best, best_depth) if best > 0.0 else (0.0, 0)

    def _expected(self, kinds: Sequence[int]) -> float:
        expected = alive = 1.0
        for kind in kinds:
            alive *= self.experience.text.chance(kind)
            expected += alive
        return expected

    def _pass_ms(self, num_proposed: int) -> float:
        num_tokens = num_proposed + 1 + self._beside.num_tokens
        return self.curve.cost_ms(num_tokens) + num_proposed * self.row_ms + self.overhead_ms

    @property
    def _start_ms(self) -> float:
        """What the first larger pass behind plain ones costs beside itself."""
        return self.recapture.start_ms if self.recapture is not None else 0.0

    def _risk_ms(self, num_proposed: int, alive: float) -> float:
        """What proposing so many costs beside the pass, all of them kept with the chance ``alive``."""
        if self.recovery is None or num_proposed == 0:
            return 0.0
        return self.recovery.risk_ms(self.curve, num_proposed, alive)

    def _drafting(self, text_gain: float, draft_gain: float, limit: int, *, is_probe: bool) -> Decision:
        average = self._drafting_average()
        depth = min(limit, MAX_DEPTH)
        cost_ms = average.cost * self._least_ms
        return Decision(Choice.DRAFT, depth, text_gain, draft_gain, average.tokens, cost_ms, is_probe)

    def _drafting_average(self) -> _DraftAverage:
        """What a drafting pass gives in this answer; before the first, as over answers, or as the costs promise."""
        experience = self.experience
        if self._beside.num_tokens:  # what passes gave and took alone says nothing of these
            tokens, cost_ms = self._best_draft(experience.drafted.chance(0))
            return _DraftAverage(tokens, cost_ms / self._least_ms)
        if experience.in_answer is not None:
            return experience.in_answer
        if experience.average is not None:
            return experience.average
        if self._predicted is None:
            tokens, cost_ms = self._best_draft(experience.drafted.chance(0))
            self._predicted = _DraftAverage(tokens, cost_ms / self.plain_ms)
        return self._predicted

    def _best_draft(self, chance: float) -> tuple[float, float]:
        """Tokens and milliseconds of a pass of the best depth (at least 1), each token kept with this chance."""
        best_gain, best = float("-inf"), (1.0, self.plain_ms)
        expected = alive = 1.0
        for depth in range(1, max(min(self.max_proposed, LOOK_AHEAD), 1) + 1):
            alive *= chance
            expected += alive
            cost_ms = self._pass_ms(depth) + depth * self._step_ms + self._risk_ms(depth, alive)
            if (gain := expected * self.token_ms - cost_ms) > best_gain:
                best_gain, best = gain, (expected, cost_ms)
        return best

    def _draft_gain(self, num_unread: int) -> float:
        """Milliseconds that a pass with the draft model saves.

        Reading a few tokens, as after text, is a part of what passes with it take; reading a prompt is spread over an
        answer.
        """
        average = self._drafting_average()
        gain = average.tokens * (self.token_ms - self.rework_ms) - average.cost * self._least_ms
        gain -= self.token_ms - self._least_ms  # what a plain pass gives
        reading_ms = max(num_unread - FEW_UNREAD, 0) * self.draft_read_ms
        return gain - reading_ms * min(average.tokens / ANSWER_TOKENS, 1.0)

    def _probe_loss(self, num_unread: int) -> float:
        """Plain passes that a try of the draft model loses where next to nothing of it is kept."""
        work_ms = PROBE_DEPTH * self.draft_step_ms + max(num_unread - 1, 0) * self.draft_read_ms
        return (self._pass_ms(PROBE_DEPTH) + work_ms + self._start_ms) / self.plain_ms - 0.5

    def pause_length(self, *, has_model: bool, num_unread: int = 0) -> int:
        """How many plain passes may follow each other before it is time to ask the draft model again."""
        if not has_model:
            return MAX_PAUSE
        if self._draft_gain(num_unread) > 0.0:
            return 0
        missing = self._probe_loss(num_unread) - self._probe_budget
        return max(0, min(int(missing / PROBE_SHARE), MAX_PAUSE))

    # ---- while a draft model drafts ---------------------------------------------------------------------------------

    def worth_drawing(self, drawn: int, alive: float, confidence: float, room: int) -> bool:
        """Whether to draw and submit one more token, whose distribution is known already.

        Args:
            drawn: tokens drawn so far in this pass.
            alive: chance that all of them are kept.
            confidence: the draft's, in its next token, before that is drawn.
            room: at most so many more tokens in this pass.
        """
        alive *= self.experience.draft.chance(draft_kind(confidence))
        if (self.decision.is_probe and drawn < PROBE_DEPTH) or (drawn == 0 and not self._may_pause):
            return True
        return self._gain_of_going_on(drawn, alive, room) > 0.0

    def worth_running(self, drawn: int, alive: float, room: int) -> bool:
        """Whether to run the draft model once more, to learn the distribution of one more token."""
        if self.decision.is_probe and drawn < PROBE_DEPTH:
            return True
        alive *= self.experience.drafted.chance(0)
        return self._gain_of_going_on(drawn, alive, room) > self._step_ms

    def _gain_of_going_on(self, drawn: int, alive: float, room: int) -> float:
        """Milliseconds that the best of 1, 2, ... more tokens save; ``alive`` includes the first of them."""
        value, step_ms, chance = self.token_ms - self.rework_ms, self._step_ms, self.experience.drafted.chance(0)
        costs_ms, row_ms = self.curve.costs_ms, self.row_ms
        if self._beside.num_tokens:
            costs_ms = costs_ms[self._beside.num_tokens :]
        if drawn >= len(costs_ms):
            return -1.0
        here_ms = costs_ms[drawn] + self._risk_ms(drawn, alive)
        best, expected, more_ms = float("-inf"), 0.0, -step_ms
        for depth in range(drawn + 1, min(drawn + min(room, LOOK_AHEAD), len(costs_ms) - 1) + 1):
            expected += alive
            more_ms += step_ms + row_ms
            cost_ms = costs_ms[depth] - here_ms + more_ms
            if self.recovery is not None:
                cost_ms += self._risk_ms(depth, alive)
            best = max(best, expected * value - cost_ms)
            alive *= chance
        return best

    # ---- after a pass -----------------------------------------------------------------------------------------------

    def observe_pass(self, num_tokens: int, milliseconds: float) -> None:
        """The target took so long for a pass of so many tokens."""
        self._observe_passes(num_tokens, (milliseconds,))

    def _observe_passes(self, num_tokens: int, passes_ms: Sequence[float]) -> None:
        telling_ms = passes_ms if self.recapture is None else self.recapture.observe(num_tokens, passes_ms)
        if not telling_ms:
            return
        before_ms = self.curve.cost_ms(1)
        self.curve.observe(num_tokens, sum(telling_ms) / len(telling_ms))
        self._scale_drafting(before_ms)

    def observe_run(self, passes_ms: Sequence[float], other_ms: float, *, decided: bool = True) -> None:
        """Plain passes in a row took so long, and ``other_ms`` what surrounds one of them.

        Not ``decided`` here, they correct costs and teach nothing else.
        """
        self._observe_passes(1, passes_ms)
        if decided:
            self._observe_overhead(other_ms, len(passes_ms))
            self._count(1.0, 1.0, len(passes_ms))

    def observe_step(self, milliseconds: float, other_ms: float, num_proposed: int, num_kept: int) -> None:
        """A pass of which so much was proposed and kept took so long with all around it, and so long beside the model.

        ``other_ms`` counts neither drafting nor the pass.
        """
        if num_proposed:
            row_ms = max(0.0, other_ms - self.overhead_ms) / num_proposed
            self.row_ms += (min(row_ms, SLOW * self.row_ms + 0.01) - self.row_ms) * WORK_RATE
        else:
            self._observe_overhead(other_ms, 1)
        self._count(1.0 + num_kept, milliseconds / self.plain_ms)

    def observe_text(self, kinds: Sequence[int], num_right: int) -> None:
        """Of tokens of text of these classes, proposed or not, the first so many were right, and no more."""
        self.experience.text.observe(kinds, num_right)

    def observe_draft(
        self, confidences: Sequence[float], num_kept: int, milliseconds: float, reading_ms: float = 0.0
    ) -> None:
        """A pass with the draft model, so sure of its tokens, took so long with drafting, without ``reading_ms``.

        Reading what the draft had missed is paid once; it says nothing of what drafting on costs. Nor does a stall: who
        believed one would not draft for many answers, and only drafting shows that it is over.
        """
        experience = self.experience
        self.observe_acceptance(confidences, num_kept)
        num_drafted = max(len(confidences), 1)
        usual_ms = self._pass_ms(num_drafted) + num_drafted * self.draft_step_ms + self._risk_ms(num_drafted, 0.0)
        tokens, cost = 1.0 + num_kept, min(milliseconds, SLOW * usual_ms) / self.plain_ms
        before = self._drafting_average()
        if experience.in_answer is None:
            experience.in_answer = _DraftAverage(before.tokens, before.cost)
        if experience.average is None:
            experience.average = _DraftAverage(before.tokens, before.cost)
        experience.average.observe(tokens, cost)
        experience.in_answer.observe(tokens, cost)
        if self.decision.is_probe:  # one that gained much is followed by another at once
            beside_ms = reading_ms + tokens * self.rework_ms + self._decided_start_ms
            loss = cost + beside_ms / self.plain_ms - tokens
            self._probe_budget -= loss if loss > 0.0 else PROBE_REFUND * loss

    def observe_acceptance(self, confidences: Sequence[float], num_kept: int) -> None:
        """Record that of drafted tokens, of which the draft was so sure, the first ``num_kept`` were kept."""
        self.experience.draft.observe([draft_kind(confidence) for confidence in confidences], num_kept)
        self.experience.drafted.observe([0] * len(confidences), num_kept)

    def observe_drafting(self, step_ms: float) -> None:
        """A token took the draft model so long, where it had little to read."""
        usual = self.draft_step_ms
        self.draft_step_ms += (min(step_ms, SLOW * usual or step_ms) - usual) * WORK_RATE

    def observe_reading(self, num_tokens: int, milliseconds: float) -> None:
        """The draft model read so many tokens in so long."""
        self.draft_read_ms += (milliseconds / num_tokens - self.draft_read_ms) * 0.5

    def observe_rework(self, milliseconds: float, num_tokens: int) -> None:
        """So many tokens were speculated, and deciding near ties again took so long."""
        self._rework_ms += (milliseconds - num_tokens * self._rework_ms) * REWORK_RATE

    def _observe_overhead(self, milliseconds: float, num_passes: int) -> None:
        usual = self.overhead_ms
        self.overhead_ms += (min(milliseconds, SLOW * usual + 0.01) - usual) * (1.0 - (1.0 - WORK_RATE) ** num_passes)

    def _count(self, tokens: float, cost: float, num_passes: int = 1) -> None:
        """Passes gave so many tokens each, in so many times a plain pass."""
        kept = RATE_FORGETS ** (num_passes * cost)
        self.experience.rate = self.experience.rate * kept + tokens / max(cost, 1e-3) * (1.0 - kept)
        self._probe_budget = min(self._probe_budget + PROBE_SHARE * cost * num_passes, _MOST)

    # ---- reasons ----------------------------------------------------------------------------------------------------

    def break_even(self) -> float | None:
        """The acceptance per token from which the draft model pays here; None where it never can."""

        def pays(chance: float) -> bool:
            tokens, cost_ms = self._best_draft(chance)
            return tokens * self.plain_ms > cost_ms

        return reasons.break_even(pays)

    def _explain(self, text: Sequence[int], *, has_model: bool) -> None:
        decision, experience = self.decision, self.experience
        average = self._drafting_average() if has_model else None
        pays = average is not None and average.tokens > average.cost
        choice = decision.choice
        state = self.explanation.next_state(
            choice.value, is_probe=decision.is_probe, pays=pays, has_model=has_model, has_text=bool(text)
        )
        if state is None and self.explanation.is_guess and experience.drafted.is_observed:
            state = self.explanation.state
        if state is None:  # a sentence takes longer than all the rest
            return
        if state == reasons.TEXT_RESTS:
            self.explanation.update(state, self._why_text_rests(text))
        elif state == Choice.TEXT.value:
            self.explanation.update(state, reasons.TEXT if pays or not has_model else self._why_text_alone())
        else:
            accepted, is_observed = experience.drafted.chance(0), experience.drafted.is_observed
            if state == Choice.DRAFT.value and pays:
                sentence = reasons.drafting(accepted, is_observed=is_observed)
            else:
                recovery = self.recovery
                rejection_ms = recovery.rejection_ms(self.curve) if recovery and not recovery.num_snapshots else None
                as_asked = state == reasons.AS_ASKED
                sentence = reasons.not_paying(
                    accepted, self.break_even(), rejection_ms, as_asked=as_asked, is_observed=is_observed
                )
            self.explanation.update(state, sentence, is_guess=not is_observed)

    def _why_text_alone(self) -> Sentence:
        drafted = self.experience.drafted
        return reasons.text_without_draft(
            self.draft_step_ms / self.plain_ms, drafted.chance(0), is_observed=drafted.is_observed
        )

    def _why_text_rests(self, kinds: Sequence[int]) -> Sentence:
        accepted, start_ms = self.experience.text.chance(kinds[0]), self._start_ms
        longest = self.max_proposed if start_ms else len(kinds)  # what a start costs, only longer text can bring back

        def pays(chance: float) -> bool:
            alive = [chance**depth for depth in range(1, longest + 1)]
            return any(
                sum(alive[:depth]) * self.token_ms > self._pass_ms(depth) - self._pass_ms(0) + start_ms
                for depth in range(1, longest + 1)
            )

        return reasons.text_not_paying(accepted, reasons.break_even(pays), is_observed=self.experience.text.is_observed)
