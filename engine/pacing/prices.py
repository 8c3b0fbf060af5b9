"""Current prices of a pass, a drafted token and a rollback in milliseconds, corrected by every pass."""

from collections.abc import Sequence

from engine.decoding.pass_report import PassReport, PlainRunReport
from engine.interfaces import SINGLE_ANSWER, BatchComposition
from engine.pacing.constants import LOOK_AHEAD, OVERHEAD_WEIGHT, READ_SHARE, STALL_CLIP
from engine.pacing.cost_curve import CostCurve
from engine.pacing.graph_replay import GraphReplayCost
from engine.pacing.rollback_cost import RollbackCost

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
