"""What was decided for each pass, what that was expected to give, and what came: one line of JSON a pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from engine.pacing.pacer import Decision, Pacer
from engine.pacing.pass_report import PassReport, PlainRunReport
from engine.records import Source


@dataclass(frozen=True, slots=True)
class TracedPass:
    """One pass of the target.

    Attributes:
        token: tokens of the answer before it.
        decision: what it was to do; None where the depth was fixed by the request.
        proposed: tokens that were proposed.
        accepted: of these, the ones that were kept.
        milliseconds: all of it, drafting included.
        plain_ms: what a plain pass is believed to take.
        token_ms: what one token more was worth.
        sources: of the proposed tokens, one each.
    """

    token: int
    decision: Decision | None
    proposed: int
    accepted: int
    milliseconds: float
    plain_ms: float | None = None
    token_ms: float | None = None
    sources: tuple[Source, ...] = ()

    def as_json(self) -> str:
        """Give it as one line; times are milliseconds."""
        decision = self.decision
        line: dict[str, object] = {"token": self.token}
        if decision is not None:
            line |= {
                "choice": decision.choice.value,
                "probe": decision.is_probe,
                "text_gain_ms": _rounded(decision.text_gain_ms),
                "draft_gain_ms": _rounded(decision.draft_gain_ms),
                "expected_tokens": _rounded(decision.expected_tokens),
                "expected_ms": _rounded(decision.expected_ms),
                "plain_ms": _rounded(self.plain_ms),
                "token_ms": _rounded(self.token_ms),
            }
        line |= {"proposed": self.proposed, "accepted": self.accepted, "tokens": self.accepted + 1}
        return json.dumps(line | {"ms": _rounded(self.milliseconds)})


OnTrace = Callable[[TracedPass], None]


class PassTracer:
    """Implements `PassObserver` before the pacer learns from a pass: it tells what was believed until then."""

    def __init__(self, on_trace: OnTrace, num_prompt: int, pacer: Pacer | None) -> None:
        """Tell every pass behind a prompt of so many tokens; ``pacer`` is there where it decides."""
        self._on_trace, self._num_prompt, self._pacer = on_trace, num_prompt, pacer

    def on_pass(self, report: PassReport) -> None:
        """See `PassObserver`."""
        self._tell(report.num_history, report.num_accepted, report.total_ms, tuple(report.draft.provenance))

    def on_plain_run(self, report: PlainRunReport) -> None:
        """See `PassObserver`."""
        for number, milliseconds in enumerate(report.passes_ms):
            self._tell(report.num_history + number, 0, milliseconds, ())

    def _tell(self, num_history: int, num_kept: int, milliseconds: float, sources: tuple[Source, ...]) -> None:
        decision = plain_ms = token_ms = None
        if (pacer := self._pacer) is not None:
            decision, plain_ms, token_ms = pacer.decision, pacer.prices.plain_ms, pacer.token_ms
        token = num_history - self._num_prompt
        self._on_trace(TracedPass(token, decision, len(sources), num_kept, milliseconds, plain_ms, token_ms, sources))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
