"""Decides, pass by pass, what to propose and how far: the most expected tokens per expected millisecond.

One pacer serves as long as a target and draft are loaded. Drafters ask it; it observes the passes.

With the best rate so far, r tokens per millisecond, a choice is worth its expected tokens minus r times its cost; the
choice of the greatest worth maximises the long-run rate (Dinkelbach 1967, https://doi.org/10.1287/mnsc.13.7.492). Plain
decoding is always one of the choices. What is decided about a token never looks at the token itself once it is drawn,
so the distribution of the output is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from engine.pacing.acceptance import draft_kind
from engine.pacing.constants import (
    ANSWER_TOKENS,
    FEW_UNREAD,
    LOOK_AHEAD,
    MAX_DEPTH,
    MAX_PAUSE,
    PROBE_DEPTH,
    PROBE_REFUND,
    PROBE_SHARE,
    RATE_SHARE,
    SLOW,
)
from engine.pacing.cost_curve import CostCurve
from engine.pacing.graph_replay import GraphReplayCost
from engine.pacing.learning import AcceptanceStats, DraftAverage, Numbers, StatsByKind
from engine.pacing.pass_report import PassReport, PlainRunReport
from engine.pacing.prices import Prices
from engine.pacing.reasons import Explanation
from engine.pacing.rollback_cost import RollbackCost

_MOST_BUDGET = 1e4  # plain passes


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


@dataclass(frozen=True, slots=True)
class _DraftedPass:
    """What the draft model did for a pass: how sure it was of each token, and milliseconds of reading first."""

    confidences: Sequence[float]
    reading_ms: float


class Pacer:
    """Chooses for each pass by prices and by what was seen; implements `PassObserver`.

    Attributes:
        prices: of passes, drafting and rollbacks.
        acceptance: what answers of the kind that is made have taught.
        decision: of the last pass that was asked for.
        explanation: follows the decisions in words.
    """

    def __init__(
        self,
        curve: CostCurve,
        draft_step_ms: float = 0.0,
        rollback: RollbackCost | None = None,
        graph_replay: GraphReplayCost | None = None,
    ) -> None:
        """See `Prices`."""
        self.prices = Prices(curve, draft_step_ms, rollback, graph_replay)
        self.acceptance = AcceptanceStats(greedy=True)
        self._kinds = StatsByKind()
        self.decision = Decision(Choice.PLAIN, 0)
        self._predicted: DraftAverage | None = None  # what passes with the draft should give, by what they cost
        self._drafted: _DraftedPass | None = None  # for the pass that comes
        self._may_pause = True
        self._decided_start_ms = 0.0  # what the decided pass costs behind it, if it is larger
        self._probe_budget = 0.0  # plain passes that may be lost by trying a draft that does not seem to pay
        self.explanation = Explanation()

    @property
    def reason(self) -> str:
        """Say why drafting goes on or rests, the last time that this changed; empty before anything is known."""
        return self.explanation.reason

    @property
    def curve(self) -> CostCurve:
        """The cost of passes by their tokens."""
        return self.prices.curve

    @property
    def is_drafting(self) -> bool:
        """Whether the draft model was asked for the last pass."""
        return self.decision.choice is Choice.DRAFT

    @property
    def has_company(self) -> bool:
        """Whether other answers are being made, so that what takes time here is in part their work."""
        return self.prices.beside.num_answers > 0

    @property
    def token_ms(self) -> float:
        """Milliseconds of a token on the average, and so what one more is worth; never more than a plain pass.

        Beside other answers: of a token of any of them.
        """
        prices = self.prices
        if prices.beside.num_tokens:
            return prices.least_ms / (1.0 + prices.beside.tokens)
        return prices.plain_ms / max(1.0, 1.0 + RATE_SHARE * (self.acceptance.rate - 1.0))

    def use(self, curve: CostCurve) -> None:
        """Go on with another curve; see `Prices.use`."""
        self.prices.use(curve)
        self._predicted = None

    def expect_drafting(self, step_ms: float, read_ms: float | None = None) -> None:
        """Use measured milliseconds of the draft; see `Prices.expect_drafting`."""
        self.prices.expect_drafting(step_ms, read_ms)
        self._predicted = None

    def begin(self, kind: str = "", *, greedy: bool = True) -> None:
        """Begin another answer; what is learnt from answers of one ``kind`` serves those of the same kind."""
        self.acceptance, self._predicted = self._kinds.begin(kind, greedy=greedy), None
        self.explanation.begin()
        self.prices.begin()

    @property
    def numbers(self) -> dict[str, Numbers]:
        """What was learnt; see `StatsByKind.numbers`."""
        return self._kinds.numbers

    def restore(self, kept: Mapping[str, Numbers]) -> None:
        """Begin with what an earlier start learnt; see `StatsByKind.restore`."""
        self._kinds.restore(kept)

    # ---- before a pass ----------------------------------------------------------------------------------------------

    def choose(
        self, text: Sequence[int], *, has_model: bool, limit: int, may_pause: bool = True, num_unread: int = 0
    ) -> Decision:
        """Decide what to do in the next pass.

        Args:
            text: the classes of the tokens of text that could be proposed.
            has_model: whether a draft model can be asked.
            limit: at most so many proposed tokens.
            may_pause: without it drafting was asked for by name: then a token is drafted where one can be.
            num_unread: tokens that the draft model has to read before it drafts.
        """
        prices, text = self.prices, text[:limit]
        self._drafted = None
        self._may_pause = may_pause or not has_model
        tries_plain = may_pause and prices.curve.is_plain_uncertain
        text_gain, text_depth = (0.0, 0) if tries_plain else self.text_gain(text)
        can_draft = has_model and limit > 0 and not tries_plain
        draft_gain = self._draft_gain(num_unread) if can_draft else None
        decision = Decision(Choice.PLAIN, 0, text_gain, draft_gain, 1.0, prices.least_ms)
        if text_depth and (draft_gain is None or text_gain >= draft_gain):
            expected, cost_ms = self._expected(text[:text_depth]), prices.pass_ms(text_depth)
            decision = Decision(Choice.TEXT, text_depth, text_gain, draft_gain, expected, cost_ms)
        elif draft_gain is not None:
            if draft_gain > 0.0 or not self._may_pause:
                decision = self._drafting(text_gain, draft_gain, limit, is_probe=False)
            elif self._probe_budget >= self._probe_loss(num_unread):
                decision = self._drafting(text_gain, draft_gain, limit, is_probe=True)
        self.decision, self._decided_start_ms = decision, prices.start_ms
        self.explanation.follow(self, text, has_model=has_model)
        return decision

    def text_gain(self, kinds: Sequence[int]) -> tuple[float, int]:
        """Give the milliseconds that the best number of these tokens saves, and that number; only verifying costs."""
        best, best_depth, expected, alive = 0.0, 0, 0.0, 1.0
        if not kinds:
            return best, best_depth
        prices = self.prices
        value, chances = self.token_ms, self.acceptance.text.chances
        costs_ms, row_ms, has_rollback = prices.costs_ms, prices.row_ms, prices.rollback is not None
        for depth, kind in enumerate(kinds[: min(MAX_DEPTH, len(costs_ms) - 1)], 1):
            alive *= chances[kind]
            expected += alive
            gain = expected * value - (costs_ms[depth] - costs_ms[0] + depth * row_ms)
            if has_rollback:
                gain -= prices.rollback_ms(depth, alive)
            if gain > best:
                best, best_depth = gain, depth
        best -= prices.start_ms
        return (best, best_depth) if best > 0.0 else (0.0, 0)

    def _expected(self, kinds: Sequence[int]) -> float:
        """Give the expected tokens of a pass that proposes text of these classes."""
        expected = alive = 1.0
        for kind in kinds:
            alive *= self.acceptance.text.chance(kind)
            expected += alive
        return expected

    def _drafting(self, text_gain: float, draft_gain: float, limit: int, *, is_probe: bool) -> Decision:
        average = self.drafting_average()
        depth, cost_ms = min(limit, MAX_DEPTH), average.cost * self.prices.least_ms
        return Decision(Choice.DRAFT, depth, text_gain, draft_gain, average.tokens, cost_ms, is_probe)

    def drafting_average(self) -> DraftAverage:
        """Give what a drafting pass gives in this answer; before the first, as over answers, or as prices promise."""
        seen, prices = self.acceptance, self.prices
        if prices.beside.num_tokens:  # what passes gave and took alone says nothing of these
            tokens, cost_ms = self._best_draft(seen.drafted.chance(0))
            return DraftAverage(tokens, cost_ms / prices.least_ms)
        if seen.in_answer is not None:
            return seen.in_answer
        if seen.average is not None:
            return seen.average
        if self._predicted is None:
            tokens, cost_ms = self._best_draft(seen.drafted.chance(0))
            self._predicted = DraftAverage(tokens, cost_ms / prices.plain_ms)
        return self._predicted

    def _best_draft(self, chance: float) -> tuple[float, float]:
        """Give tokens and milliseconds of a pass of the best depth (at least 1), each token kept with this chance."""
        prices = self.prices
        best_gain, best = float("-inf"), (1.0, prices.plain_ms)
        expected = alive = 1.0
        for depth in range(1, max(min(prices.max_proposed, prices.max_drafted), 1) + 1):
            alive *= chance
            expected += alive
            cost_ms = prices.pass_ms(depth) + prices.drafting_ms(depth) + prices.rollback_ms(depth, alive)
            if (gain := expected * self.token_ms - cost_ms) > best_gain:
                best_gain, best = gain, (expected, cost_ms)
        return best

    def _draft_gain(self, num_unread: int) -> float:
        """Give the milliseconds that a pass with the draft model saves.

        Reading a few tokens, as after text, is a part of what passes with it take; reading a prompt is spread over an
        answer.
        """
        average, prices, token_ms = self.drafting_average(), self.prices, self.token_ms
        gain = average.tokens * token_ms - average.cost * prices.least_ms
        gain -= token_ms - prices.least_ms  # what a plain pass gives
        reading_ms = max(num_unread - FEW_UNREAD, 0) * prices.draft_read_ms
        return gain - reading_ms * min(average.tokens / ANSWER_TOKENS, 1.0)

    def _probe_loss(self, num_unread: int) -> float:
        """Give the plain passes that a try of the draft loses where next to nothing of it is kept."""
        prices = self.prices
        work_ms = prices.drafting_ms(PROBE_DEPTH) + max(num_unread - 1, 0) * prices.draft_read_ms
        return (prices.pass_ms(PROBE_DEPTH) + work_ms + prices.start_ms) / prices.plain_ms - 0.5

    def pause_length(self, *, has_model: bool, num_unread: int = 0) -> int:
        """Give how many plain passes may follow each other before it is time to ask the draft model again."""
        if not has_model:
            return MAX_PAUSE
        if self._draft_gain(num_unread) > 0.0:
            return 0
        missing = self._probe_loss(num_unread) - self._probe_budget
        return max(0, min(int(missing / PROBE_SHARE), MAX_PAUSE))

    # ---- while a draft model drafts ---------------------------------------------------------------------------------

    def worth_drawing(self, drawn: int, alive: float, confidence: float, room: int) -> bool:
        """Decide whether to draw and submit one more token, whose distribution is known already.

        Args:
            drawn: tokens drawn so far in this pass.
            alive: chance that all of them are kept.
            confidence: the draft's, in its next token, before that is drawn.
            room: at most so many more tokens in this pass.
        """
        alive *= self.acceptance.draft.chance(draft_kind(confidence))
        if (self.decision.is_probe and drawn < PROBE_DEPTH) or (drawn == 0 and not self._may_pause):
            return True
        return self._gain_of_going_on(drawn, alive, room) > 0.0

    def worth_running(self, drawn: int, alive: float, room: int) -> bool:
        """Decide whether to run the draft model once more, to learn the distribution of one more token."""
        if self.decision.is_probe and drawn < PROBE_DEPTH:
            return True
        alive *= self.acceptance.drafted.chance(0)
        return self._gain_of_going_on(drawn, alive, room) > self.prices.next_ms

    def _gain_of_going_on(self, drawn: int, alive: float, room: int) -> float:
        """Give the milliseconds that the best of 1, 2, ... more tokens save; ``alive`` includes the first of them."""
        prices = self.prices
        value, step_ms, chance = self.token_ms, prices.next_ms, self.acceptance.drafted.chance(0)
        costs_ms, row_ms, has_rollback = prices.costs_ms, prices.row_ms, prices.rollback is not None
        if drawn >= len(costs_ms):
            return -1.0
        here_ms = costs_ms[drawn] + prices.rollback_ms(drawn, alive)
        best, expected, more_ms = float("-inf"), 0.0, -step_ms
        for depth in range(drawn + 1, min(drawn + min(room, LOOK_AHEAD), len(costs_ms) - 1) + 1):
            expected += alive
            more_ms += step_ms + row_ms
            cost_ms = costs_ms[depth] - here_ms + more_ms
            if has_rollback:
                cost_ms += prices.rollback_ms(depth, alive)
            best = max(best, expected * value - cost_ms)
            alive *= chance
        return best

    # ---- after a pass -----------------------------------------------------------------------------------------------

    def note_draft(self, confidences: Sequence[float], reading_ms: float) -> None:
        """Take down that the draft model, so sure of its tokens, drafted for the pass that comes.

        ``reading_ms``: what reading the conversation took it there.
        """
        self._drafted = _DraftedPass(confidences, reading_ms)

    def on_pass(self, report: PassReport) -> None:
        """Learn from a pass; of one that was made with others', only what was kept."""
        prices, drafted, num_kept = self.prices, self._drafted, report.num_accepted
        self._drafted = None
        if report.is_joined:
            if drafted is not None:
                self.acceptance.observe_drafted(drafted.confidences, num_kept)
            return
        prices.on_pass(report)
        elapsed_ms, other_ms = report.total_ms, report.verify_ms + report.emit_ms
        if prices.rollback is None:
            other_ms += report.rollback_ms
        self.observe_step(elapsed_ms, other_ms, report.num_proposed, num_kept)
        if drafted is not None:
            self.observe_draft(drafted.confidences, num_kept, elapsed_ms - drafted.reading_ms, drafted.reading_ms)
        prices.observe_rollback(report)

    def on_plain_run(self, report: PlainRunReport) -> None:
        """Learn from plain passes that followed each other."""
        if report.num_joined:
            return
        num_passes = len(report.forward_ms)
        other_ms = report.total_ms / num_passes - sum(report.forward_ms) / num_passes
        self.observe_run(report.forward_ms, other_ms)

    def observe_pass(self, num_tokens: int, milliseconds: float) -> None:
        """Record the milliseconds of a pass of the target of so many tokens."""
        self.prices.observe_passes(num_tokens, (milliseconds,))

    def observe_run(self, passes_ms: Sequence[float], other_ms: float) -> None:
        """Record the milliseconds of plain passes in a row, and of what surrounds one of them."""
        self.prices.observe_passes(1, passes_ms)
        self.prices.observe_overhead(other_ms, len(passes_ms))
        self._count(1.0, 1.0, len(passes_ms))

    def observe_step(self, milliseconds: float, other_ms: float, num_proposed: int, num_kept: int) -> None:
        """Record a pass of which so much was proposed and kept, in milliseconds with all around it.

        ``other_ms`` counts neither drafting nor the target's pass.
        """
        if num_proposed:
            self.prices.observe_rows(other_ms, num_proposed)
        else:
            self.prices.observe_overhead(other_ms)
        self._count(1.0 + num_kept, milliseconds / self.prices.plain_ms)

    def observe_text(self, kinds: Sequence[int], num_right: int) -> None:
        """Record that of text of these classes, proposed or not, the first so many tokens were right, and no more."""
        self.acceptance.text.observe(kinds, num_right)

    def observe_draft(
        self, confidences: Sequence[float], num_kept: int, milliseconds: float, reading_ms: float = 0.0
    ) -> None:
        """Record a pass with the draft model, so sure of its tokens, in milliseconds without ``reading_ms``.

        Reading what the draft had missed is paid once; it says nothing of what drafting on costs. Nor does a stall: who
        believed one would not draft for many answers, and only drafting shows that it is over.
        """
        prices = self.prices
        self.acceptance.observe_drafted(confidences, num_kept)
        num_drafted = max(len(confidences), 1)
        usual_ms = prices.pass_ms(num_drafted) + prices.drafting_ms(num_drafted)
        usual_ms += prices.rollback_ms(num_drafted, 0.0)
        tokens, cost = 1.0 + num_kept, min(milliseconds, SLOW * usual_ms) / prices.plain_ms
        self.acceptance.observe_draft_pass(tokens, cost, self.drafting_average())
        if self.decision.is_probe:  # one that gained much is followed by another at once
            beside_ms = reading_ms + self._decided_start_ms
            loss = cost + beside_ms / prices.plain_ms - tokens
            self._probe_budget -= loss if loss > 0.0 else PROBE_REFUND * loss

    def _count(self, tokens: float, cost: float, num_passes: int = 1) -> None:
        """Count passes that gave so many tokens each, in so many times a plain pass."""
        self.acceptance.observe_rate(tokens, cost, num_passes)
        self._probe_budget = min(self._probe_budget + PROBE_SHARE * cost * num_passes, _MOST_BUDGET)
