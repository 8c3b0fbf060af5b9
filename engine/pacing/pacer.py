"""Decides before each pass what to propose, and how many tokens, to maximise expected tokens per millisecond.

A pacer lives as long as its target and draft are loaded. Drafters call it, and it observes the passes.

Let r be the best rate so far in tokens per millisecond. The gain of a choice is its expected tokens minus r times its
cost, and the choice with the greatest gain maximises the long-run rate (Dinkelbach 1967,
https://doi.org/10.1287/mnsc.13.7.492). Plain decoding is always one of the choices. A decision about a sampled token
never depends on the token, so the distribution of the output does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from engine.decoding.pass_report import PassReport, PlainRunReport
from engine.interfaces import SINGLE_ANSWER, Batch, BatchComposition
from engine.pacing.acceptance import AcceptanceStats, DraftAverage, draft_kind
from engine.pacing.constants import (
    ANSWER_TOKENS,
    LOOK_AHEAD,
    MAX_DEPTH,
    MAX_PAUSE,
    MAX_USUAL_UNREAD,
    OVERHEAD_WEIGHT,
    PROBE_DEPTH,
    PROBE_REFUND,
    PROBE_SHARE,
    READ_SHARE,
    RECENT_RATE_WEIGHT,
    STALL_CLIP,
)
from engine.pacing.cost_curve import CostCurve
from engine.pacing.graph_replay import GraphReplayCost
from engine.pacing.rollback_cost import RollbackCost
from engine.sentences import Sentence, i18n

_MOST_BUDGET = 1e4  # upper limit of a valid probe budget, in plain passes


class Choice(Enum):
    """The source of a pass's proposal."""

    PLAIN = "plain"
    TEXT = "text"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Decision:
    """The proposal for a pass, and its expected gain.

    Attributes:
        choice: suffix match, draft model or nothing.
        depth: maximum number of proposed tokens.
        text_gain_ms: milliseconds that the best length of the suffix match saves, compared with a plain pass.
        draft_gain_ms: milliseconds that the draft model saves; None if it cannot be used.
        expected_tokens: emitted tokens of the pass, including the last one.
        expected_ms: time of the pass, including drafting.
        is_probe: the draft model is only tried, since it does not seem to pay off.
    """

    choice: Choice
    depth: int
    text_gain_ms: float = 0.0
    draft_gain_ms: float | None = None
    expected_tokens: float = 1.0
    expected_ms: float = 0.0
    is_probe: bool = False


class Pacer:
    """Chooses proposals by prices and statistics; implements `PassPlanner` and `PassObserver`.

    Attributes:
        prices: milliseconds of passes, drafting and rollbacks.
        stats_by_kind: statistics of each kind of answer.
        acceptance: statistics of the current kind of answer.
        decision: the last decision.
        explanation: explains decisions in sentences.
    """

    def __init__(
        self,
        curve: CostCurve,
        draft_step_ms: float = 0.0,
        rollback: RollbackCost | None = None,
        graph_replay: GraphReplayCost | None = None,
    ) -> None:
        self.prices = PassPrices(curve, draft_step_ms, rollback, graph_replay)
        self.acceptance = AcceptanceStats(greedy=True)
        self.stats_by_kind: dict[str, AcceptanceStats] = {}
        self.decision = Decision(Choice.PLAIN, 0)
        self._predicted: DraftAverage | None = None  # expected average of drafting passes, before the first one
        self._drafted: tuple[Sequence[float], float] | None = None  # arguments of `note_draft` for the next pass
        self._may_pause = True
        self._decided_start_ms = 0.0  # extra cost that a larger next pass would cause in later passes
        self._probe_budget = 0.0  # cost that probes may have, in plain passes
        self.explanation = DecisionReason()

    @property
    def reason(self) -> str:
        """A sentence about why drafting continues or pauses, as of the last change; empty at first."""
        return self.explanation.reason

    @property
    def curve(self) -> CostCurve:
        return self.prices.curve

    @property
    def is_drafting(self) -> bool:
        return self.decision.choice is Choice.DRAFT

    @property
    def shares_passes(self) -> bool:
        """Whether other answers share the passes, so that measured times include their work."""
        return self.prices.composition.num_answers > 0

    def begin_pass(self, num_pending: int, batch: Batch | None) -> None:
        """Set the pending tokens and the other answers' share of the next pass."""
        composition = SINGLE_ANSWER if batch is None else batch.composition(is_drafting=self.is_drafting)
        self.prices.begin_pass(num_pending, composition)

    @property
    def token_ms(self) -> float:
        """Milliseconds that one more token saves: the average time per token, at most that of a plain pass.

        With parallel answers, per token of all answers.
        """
        prices = self.prices
        if prices.composition.num_tokens:
            return prices.no_proposal_ms / (1.0 + prices.composition.tokens)
        return prices.plain_ms / max(1.0, 1.0 + RECENT_RATE_WEIGHT * (self.acceptance.rate - 1.0))

    def use_curve(self, curve: CostCurve) -> None:
        self.prices.use_curve(curve)
        self._predicted = None

    def use_draft_prices(self, step_ms: float, read_ms: float | None = None) -> None:
        """Use measured prices of the draft; see `Prices.use_draft_prices`."""
        self.prices.use_draft_prices(step_ms, read_ms)
        self._predicted = None

    def begin(self, kind: str = "", *, greedy: bool = True) -> None:
        """Begin another answer; answers of one ``kind`` share statistics."""
        self.acceptance = self.stats_by_kind.setdefault(kind, AcceptanceStats(greedy=greedy))
        self.acceptance.begin()
        self._predicted = None
        self.explanation.begin()
        self.prices.begin()

    # ---- before a pass ----------------------------------------------------------------------------------------------

    def decide(
        self, text: Sequence[int], *, has_model: bool, limit: int, may_pause: bool = True, num_unread: int = 0
    ) -> Decision:
        """Decide what to propose for the next pass.

        Args:
            text: classes of the tokens of the suffix match.
            has_model: whether a draft model can be used.
            limit: maximum number of proposed tokens.
            may_pause: if False, at least one token is drafted, since the user chose a drafting mode.
            num_unread: tokens that the draft model must read before it drafts.
        """
        prices, text = self.prices, text[:limit]
        self._drafted = None
        self._may_pause = may_pause or not has_model
        tries_plain = may_pause and prices.curve.is_plain_uncertain
        text_gain, text_depth = (0.0, 0) if tries_plain else self.text_gain(text)
        can_draft = has_model and limit > 0 and not tries_plain
        draft_gain = self._draft_gain(num_unread) if can_draft else None
        decision = Decision(Choice.PLAIN, 0, text_gain, draft_gain, 1.0, prices.no_proposal_ms)
        if text_depth and (draft_gain is None or text_gain >= draft_gain):
            expected, cost_ms = self._expected(text[:text_depth]), prices.pass_ms(text_depth)
            decision = Decision(Choice.TEXT, text_depth, text_gain, draft_gain, expected, cost_ms)
        elif draft_gain is not None:
            if draft_gain > 0.0 or not self._may_pause:
                decision = self._draft_decision(text_gain, draft_gain, limit, is_probe=False)
            elif self._probe_budget >= self._probe_loss(num_unread):
                decision = self._draft_decision(text_gain, draft_gain, limit, is_probe=True)
        self.decision, self._decided_start_ms = decision, prices.graph_replay_ms
        self.explanation.update(self, text, has_model=has_model)
        return decision

    def text_gain(self, kinds: Sequence[int]) -> tuple[float, int]:
        """Return the milliseconds that the best number of these tokens saves, and that number."""
        best, best_depth, expected, alive = 0.0, 0, 0.0, 1.0
        if not kinds:
            return best, best_depth
        prices = self.prices
        value, chances = self.token_ms, self.acceptance.text.probabilities
        costs_ms, row_ms, has_rollback = prices.costs_ms, prices.row_ms, prices.rollback is not None
        for depth, kind in enumerate(kinds[: min(MAX_DEPTH, len(costs_ms) - 1)], 1):
            alive *= chances[kind]
            expected += alive
            gain = expected * value - (costs_ms[depth] - costs_ms[0] + depth * row_ms)
            if has_rollback:
                gain -= prices.rollback_ms(depth, alive)
            if gain > best:
                best, best_depth = gain, depth
        best -= prices.graph_replay_ms
        return (best, best_depth) if best > 0.0 else (0.0, 0)

    def _expected(self, kinds: Sequence[int]) -> float:
        """Expected tokens of a pass that proposes suffix-match tokens of these classes."""
        expected = alive = 1.0
        for kind in kinds:
            alive *= self.acceptance.text.probability(kind)
            expected += alive
        return expected

    def _draft_decision(self, text_gain: float, draft_gain: float, limit: int, *, is_probe: bool) -> Decision:
        average = self.drafting_average()
        depth, cost_ms = min(limit, MAX_DEPTH), average.cost * self.prices.no_proposal_ms
        return Decision(Choice.DRAFT, depth, text_gain, draft_gain, average.tokens, cost_ms, is_probe)

    def drafting_average(self) -> DraftAverage:
        """Average drafting pass of this answer; before its first, the average of all answers, or the expected one."""
        seen, prices = self.acceptance, self.prices
        if prices.composition.num_tokens:  # the averages are for passes without other answers
            tokens, cost_ms = self._best_draft(seen.drafted.probability(0))
            return DraftAverage(tokens, cost_ms / prices.no_proposal_ms)
        if seen.in_answer is not None:
            return seen.in_answer
        if seen.average is not None:
            return seen.average
        if self._predicted is None:
            tokens, cost_ms = self._best_draft(seen.drafted.probability(0))
            self._predicted = DraftAverage(tokens, cost_ms / prices.plain_ms)
        return self._predicted

    def _best_draft(self, chance: float) -> tuple[float, float]:
        """Expected tokens and milliseconds of a pass of the best depth (>= 1), if ``chance`` is the acceptance."""
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
        """Expected milliseconds that a pass with the draft model saves.

        The average pass includes reading a few tokens; the cost of reading a prompt is spread over an answer.
        """
        average, prices, token_ms = self.drafting_average(), self.prices, self.token_ms
        gain = average.tokens * token_ms - average.cost * prices.no_proposal_ms
        gain -= token_ms - prices.no_proposal_ms  # gain of a plain pass
        reading_ms = max(num_unread - MAX_USUAL_UNREAD, 0) * prices.draft_read_ms
        return gain - reading_ms * min(average.tokens / ANSWER_TOKENS, 1.0)

    def _probe_loss(self, num_unread: int) -> float:
        """Cost, in plain passes, of a probe of the draft if hardly any drafted token is accepted."""
        prices = self.prices
        work_ms = prices.drafting_ms(PROBE_DEPTH) + max(num_unread - 1, 0) * prices.draft_read_ms
        return (prices.pass_ms(PROBE_DEPTH) + work_ms + prices.graph_replay_ms) / prices.plain_ms - 0.5

    def pause_length(self, *, has_model: bool, num_unread: int = 0) -> int:
        """Number of plain passes before the draft model is considered again."""
        if not has_model:
            return MAX_PAUSE
        if self._draft_gain(num_unread) > 0.0:
            return 0
        missing = self._probe_loss(num_unread) - self._probe_budget
        return max(0, min(int(missing / PROBE_SHARE), MAX_PAUSE))

    # ---- while a draft model drafts ---------------------------------------------------------------------------------

    def should_sample(self, num_sampled: int, alive: float, confidence: float, room: int) -> bool:
        """Decide whether to sample and propose one more token from a known distribution.

        Args:
            num_sampled: tokens sampled so far for this pass.
            alive: probability that all of them are accepted.
            confidence: the draft's confidence in its next token, before that is sampled.
            room: maximum number of additional tokens in this pass.
        """
        alive *= self.acceptance.draft.probability(draft_kind(confidence))
        if (self.decision.is_probe and num_sampled < PROBE_DEPTH) or (num_sampled == 0 and not self._may_pause):
            return True
        return self._gain_of_continuing(num_sampled, alive, room) > 0.0

    def should_run_model(self, num_sampled: int, alive: float, room: int) -> bool:
        """Decide whether to run the draft model again to get the distribution of one more token."""
        if self.decision.is_probe and num_sampled < PROBE_DEPTH:
            return True
        alive *= self.acceptance.drafted.probability(0)
        return self._gain_of_continuing(num_sampled, alive, room) > self.prices.next_draft_token_ms

    def _gain_of_continuing(self, num_sampled: int, alive: float, room: int) -> float:
        """Milliseconds that the best number (>= 1) of additional tokens saves; ``alive`` includes the first one."""
        prices = self.prices
        value, step_ms, chance = self.token_ms, prices.next_draft_token_ms, self.acceptance.drafted.probability(0)
        costs_ms, row_ms, has_rollback = prices.costs_ms, prices.row_ms, prices.rollback is not None
        if num_sampled >= len(costs_ms):
            return -1.0
        here_ms = costs_ms[num_sampled] + prices.rollback_ms(num_sampled, alive)
        best, expected, more_ms = float("-inf"), 0.0, -step_ms
        for depth in range(num_sampled + 1, min(num_sampled + min(room, LOOK_AHEAD), len(costs_ms) - 1) + 1):
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
        """Record the draft model's confidences for the next pass.

        ``reading_ms``: its time to read the conversation.
        """
        self._drafted = confidences, reading_ms

    def on_pass(self, report: PassReport) -> None:
        """Learn from a pass; from a joined pass only the acceptance."""
        prices, drafted, num_kept = self.prices, self._drafted, report.num_accepted
        self._drafted = None
        if report.is_joined:
            if drafted is not None:
                self.acceptance.observe_drafted(drafted[0], num_kept)
            return
        prices.on_pass(report)
        elapsed_ms, other_ms = report.total_ms, report.verify_ms + report.emit_ms
        if prices.rollback is None:
            other_ms += report.rollback_ms
        self.observe_step(elapsed_ms, other_ms, report.num_proposed, num_kept)
        if drafted is not None:
            confidences, reading_ms = drafted
            self.observe_draft(confidences, num_kept, elapsed_ms - reading_ms, reading_ms)
        prices.observe_rollback(report)

    def on_plain_run(self, report: PlainRunReport) -> None:
        if report.num_joined:
            return
        num_passes = len(report.forward_ms)
        other_ms = report.total_ms / num_passes - sum(report.forward_ms) / num_passes
        self.observe_run(report.forward_ms, other_ms)

    def observe_pass(self, num_tokens: int, milliseconds: float) -> None:
        self.prices.observe_passes(num_tokens, (milliseconds,))

    def observe_run(self, passes_ms: Sequence[float], other_ms: float) -> None:
        """Record the milliseconds of consecutive plain passes, and the overhead per pass."""
        self.prices.observe_passes(1, passes_ms)
        self.prices.observe_overhead(other_ms, len(passes_ms))
        self._count(1.0, 1.0, len(passes_ms))

    def observe_step(self, milliseconds: float, other_ms: float, num_proposed: int, num_kept: int) -> None:
        """Record the tokens and the total milliseconds of a pass.

        ``other_ms`` excludes drafting and the target's pass.
        """
        if num_proposed:
            self.prices.observe_proposal_overhead(other_ms, num_proposed)
        else:
            self.prices.observe_overhead(other_ms)
        self._count(1.0 + num_kept, milliseconds / self.prices.plain_ms)

    def observe_text(self, kinds: Sequence[int], num_right: int) -> None:
        """Record that exactly the first ``num_right`` tokens of a match, proposed or not, were right."""
        self.acceptance.text.observe(kinds, num_right)

    def observe_draft(
        self, confidences: Sequence[float], num_kept: int, milliseconds: float, reading_ms: float = 0.0
    ) -> None:
        """Record a pass with the draft model; ``milliseconds`` excludes ``reading_ms``.

        Reading time and stalls are not counted as costs of drafting: otherwise a stall would keep the draft from being
        tried for many answers.
        """
        prices = self.prices
        self.acceptance.observe_drafted(confidences, num_kept)
        num_drafted = max(len(confidences), 1)
        usual_ms = prices.pass_ms(num_drafted) + prices.drafting_ms(num_drafted)
        usual_ms += prices.rollback_ms(num_drafted, 0.0)
        tokens, cost = 1.0 + num_kept, min(milliseconds, STALL_CLIP * usual_ms) / prices.plain_ms
        self.acceptance.observe_draft_pass(tokens, cost, self.drafting_average())
        if self.decision.is_probe:  # a probe that gained pays for the next probe
            beside_ms = reading_ms + self._decided_start_ms
            loss = cost + beside_ms / prices.plain_ms - tokens
            self._probe_budget -= loss if loss > 0.0 else PROBE_REFUND * loss

    def _count(self, tokens: float, cost: float, num_passes: int = 1) -> None:
        """Count passes with ``tokens`` each, at ``cost`` times a plain pass."""
        self.acceptance.observe_rate(tokens, cost, num_passes)
        self._probe_budget = min(self._probe_budget + PROBE_SHARE * cost * num_passes, _MOST_BUDGET)


if TYPE_CHECKING:
    from engine.pacing.pacer import Pacer

NGRAM_REASON = i18n("using repeated text (n-gram)")
NGRAM_ONLY_REASON = i18n("the draft is not used: it would slow this model down here; repeated text is used instead")
NGRAM_PAUSED_REASON = i18n("repeated text paused, since it would not pay off")
NGRAM_PAUSED, FORCED_DRAFT = "text rests", "as asked"  # states in addition to the choices of a pass
_PATIENCE = 3  # so many matches in a row that were not proposed change the state


class DecisionReason:
    """Tracks decisions; ``reason`` is the sentence of the last change."""

    def __init__(self) -> None:
        self.state = self._last_choice = ""
        self.reason = ""
        self._num_idle = 0

    def begin(self) -> None:
        """Begin another answer, whose mode may differ."""
        if self.state == FORCED_DRAFT:
            self.state = self.reason = ""

    def update(self, pacer: Pacer, text: Sequence[int], *, has_model: bool) -> None:
        """Track the pacer's last decision; ``text`` has the acceptance classes of the suffix match.

        Creates a sentence only if the state has changed, since that is slow. Drafting is explained once a drafted token
        was observed.
        """
        drafted, average = pacer.acceptance.drafted, pacer.drafting_average() if has_model else None
        pays = average is not None and average.tokens > average.cost
        choice = pacer.decision.choice.value
        again, self._last_choice = choice == self._last_choice, choice
        self._num_idle = self._num_idle + bool(text) if choice == "plain" else 0
        if choice == "draft":
            state, again = "draft" if pays else FORCED_DRAFT, not pacer.decision.is_probe and drafted.is_observed
        elif choice == "text":
            state = choice
        elif has_model:
            state = "plain" if not pays else self.state
        else:
            state, again = NGRAM_PAUSED, bool(text) and self._num_idle >= _PATIENCE
        if not again or state == self.state:
            return
        self.state = state
        if state == NGRAM_PAUSED:
            self.reason = NGRAM_PAUSED_REASON
        elif state == "text":
            self.reason = NGRAM_REASON if pays or not has_model else NGRAM_ONLY_REASON
        else:
            accepted = drafted.probability(0) if drafted.is_observed else None
            self.reason = draft_sentence(accepted, pays=pays, as_asked=state == FORCED_DRAFT)


def draft_sentence(accepted: float | None, *, pays: bool, as_asked: bool = False) -> Sentence:
    """Whether drafting pays off; ``accepted`` is the observed share of tokens at depth 1, None if unknown."""
    if accepted is None:
        return i18n("draft paused, since it would not pay off")
    share = i18n("{percent:.0f}% of its first tokens are accepted", percent=accepted * 100)
    if pays:
        return i18n("draft on: {share}", share=share)
    if as_asked:
        return i18n("draft on as chosen, but it does not pay off: {share}", share=share)
    return i18n("draft paused, since it would not pay off: {share}", share=share)


_FIRST_OVERHEAD_MS, _FIRST_ROW_MS = 0.05, 0.02


class PassPrices:
    """The prices of a loaded target and draft.

    Attributes:
        curve: cost of passes of the target by number of tokens; see `use_curve`.
        rollback: cost of rejected tokens; only for a memory that cannot drop its last tokens.
        graph_replay: extra cost of passes after a larger pass, if the backend replays graphs.
        draft_step_ms: price of a drafted token, or of a block.
        block_size: tokens that one pass of the draft drafts.
        draft_read_ms: price of a token that the draft only reads.
        overhead_ms: time of a plain pass outside of the target.
        row_ms: time per proposed token outside of the target.
        composition: the other answers' share of the next pass.
    """

    def __init__(
        self,
        curve: CostCurve,
        draft_step_ms: float = 0.0,
        rollback: RollbackCost | None = None,
        graph_replay: GraphReplayCost | None = None,
    ) -> None:
        self.curve = curve
        self.rollback, self.graph_replay = rollback, graph_replay
        self.draft_step_ms, self.block_size = draft_step_ms, 1
        self.draft_read_ms = READ_SHARE * draft_step_ms
        self.overhead_ms, self.row_ms = _FIRST_OVERHEAD_MS, _FIRST_ROW_MS
        self.composition = SINGLE_ANSWER

    def begin(self) -> None:
        if self.graph_replay is not None:
            self.graph_replay.begin()

    # ---- of passes --------------------------------------------------------------------------------------------------

    @property
    def plain_ms(self) -> float:
        return self.curve.cost_ms(1) + self.overhead_ms

    @property
    def no_proposal_ms(self) -> float:
        """Milliseconds of a pass without a proposal, including other answers' tokens."""
        return self.curve.cost_ms(1 + self.composition.num_tokens) + self.overhead_ms

    @property
    def costs_ms(self) -> Sequence[float]:
        """Milliseconds of passes with 1, 2, ... tokens of this answer and the tokens of others. Read-only."""
        costs_ms = self.curve.costs_ms
        return costs_ms[self.composition.num_tokens :] if self.composition.num_tokens else costs_ms

    def pass_ms(self, num_proposed: int) -> float:
        """Milliseconds of a pass that verifies ``num_proposed`` tokens, with overhead."""
        num_tokens = num_proposed + 1 + self.composition.num_tokens
        return self.curve.cost_ms(num_tokens) + num_proposed * self.row_ms + self.overhead_ms

    @property
    def max_proposed(self) -> int:
        """Most tokens to propose at once, even if all are certain to be accepted."""
        return max(self.curve.largest - 1 - self.composition.num_tokens, 0)

    @property
    def graph_replay_ms(self) -> float:
        """Extra milliseconds that a larger pass would cause in later plain passes."""
        return self.graph_replay.pending_ms if self.graph_replay is not None else 0.0

    def rollback_ms(self, num_proposed: int, alive: float) -> float:
        """Expected milliseconds of checkpoint and rollback; ``alive``: probability that all tokens are accepted."""
        if self.rollback is None or num_proposed == 0:
            return 0.0
        return self.rollback.expected_ms(self.curve, num_proposed, alive)

    # ---- of drafting ------------------------------------------------------------------------------------------------

    @property
    def shared_draft_step_ms(self) -> float:
        """Milliseconds of a drafted token, which grow if other answers draft at the same time."""
        return self.draft_step_ms / (1 + self.composition.num_drafting)

    @property
    def max_drafted(self) -> int:
        return LOOK_AHEAD if self.block_size == 1 else min(self.block_size, LOOK_AHEAD)

    @property
    def next_draft_token_ms(self) -> float:
        """Milliseconds of one more drafted token; 0 within a block, whose tokens are drafted together."""
        return self.shared_draft_step_ms if self.block_size == 1 else 0.0

    def drafting_ms(self, num_drafted: int) -> float:
        """Milliseconds of drafting ``num_drafted`` tokens, at most one block."""
        return self.shared_draft_step_ms * (num_drafted if self.block_size == 1 else 1)

    def use_draft_prices(self, step_ms: float, read_ms: float | None = None) -> None:
        """Use measured milliseconds of a drafted token, and of a token that is only read (None: estimated)."""
        self.draft_step_ms = step_ms
        self.draft_read_ms = READ_SHARE * step_ms if read_ms is None else read_ms

    # ---- followed ---------------------------------------------------------------------------------------------------

    def use_curve(self, curve: CostCurve) -> None:
        """Use another curve after a change of threads or cache fill, and scale the draft's prices."""
        before_ms = self.curve.cost_ms(1)
        self.curve = curve
        self._scale_drafting(before_ms)

    def _scale_drafting(self, before_ms: float) -> None:
        """Scale the draft's prices like the price of a plain pass, which was ``before_ms``.

        Otherwise a draft that was measured on a fast machine would seem to pay off once the machine is slow.
        """
        factor = self.curve.cost_ms(1) / before_ms
        self.draft_step_ms *= factor
        self.draft_read_ms *= factor

    def begin_pass(self, num_pending: int, composition: BatchComposition) -> None:
        """Set the number of pending tokens and the other answers' share of the next pass."""
        self.composition = composition
        if self.rollback is not None:
            self.rollback.num_pending = num_pending

    def on_pass(self, report: PassReport) -> None:
        """Correct the cost of passes of this size; joined passes are ignored."""
        if not report.is_joined:
            self.observe_passes(report.num_decoded, (report.forward_ms,))

    def on_plain_run(self, report: PlainRunReport) -> None:
        if not report.num_joined:
            self.observe_passes(1, report.forward_ms)

    def observe_passes(self, num_tokens: int, passes_ms: Sequence[float]) -> None:
        """Record the milliseconds of consecutive passes of ``num_tokens`` each."""
        if self.graph_replay is not None:
            passes_ms = self.graph_replay.observe(num_tokens, passes_ms)
            if not passes_ms:
                return
        before_ms = self.curve.cost_ms(1)
        self.curve.observe(num_tokens, sum(passes_ms) / len(passes_ms))
        self._scale_drafting(before_ms)

    def observe_overhead(self, milliseconds: float, num_passes: int = 1) -> None:
        """Record the average overhead of ``num_passes`` plain passes."""
        usual = self.overhead_ms
        self.overhead_ms += (min(milliseconds, STALL_CLIP * usual + 0.01) - usual) * (
            1.0 - (1.0 - OVERHEAD_WEIGHT) ** num_passes
        )

    def observe_proposal_overhead(self, milliseconds: float, num_proposed: int) -> None:
        """Record the overhead of a pass that verified ``num_proposed`` tokens."""
        row_ms = max(0.0, milliseconds - self.overhead_ms) / num_proposed
        self.row_ms += (min(row_ms, STALL_CLIP * self.row_ms + 0.01) - self.row_ms) * OVERHEAD_WEIGHT

    def observe_drafting(self, step_ms: float) -> None:
        """Record the milliseconds of a drafted token of a draft that had little to read."""
        usual = self.draft_step_ms
        self.draft_step_ms += (min(step_ms, STALL_CLIP * usual or step_ms) - usual) * OVERHEAD_WEIGHT

    def observe_reading(self, num_tokens: int, milliseconds: float) -> None:
        self.draft_read_ms += (milliseconds / num_tokens - self.draft_read_ms) * 0.5

    def observe_rollback(self, report: PassReport) -> None:
        """Record the milliseconds of a checkpoint and of its restore, if the pass had these."""
        rollback = self.rollback
        if rollback is None or report.num_proposed <= rollback.num_snapshots:
            return
        if not report.num_pending:
            rollback.observe_save(report.checkpoint_ms)
        if report.num_left_pending:  # restored, and tokens are pending
            rollback.observe_restore(report.rollback_ms)
