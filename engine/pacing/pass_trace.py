"""A trace of passes with decision, expected gain and result: one line of JSON per pass."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from engine.decoding.pass_report import PassReport, PlainRunReport
from engine.pacing.pacer import Decision, Pacer


@dataclass(frozen=True, slots=True)
class TracedPass:
    """One pass of the target.

    Attributes:
        token: number of the answer's tokens before the pass.
        decision: the pacer's decision; None if the request fixed the depth.
        proposed: number of proposed tokens.
        accepted: number of accepted tokens.
        milliseconds: time of the pass, including drafting.
        plain_ms: estimated time of a plain pass.
        token_ms: the value of one more token.
    """

    token: int
    decision: Decision | None
    proposed: int
    accepted: int
    milliseconds: float
    plain_ms: float | None = None
    token_ms: float | None = None

    def as_json(self) -> str:
        """One line of JSON; times are in milliseconds."""
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
    """Reports every pass. It must observe passes before the pacer does, which learns from them."""

    def __init__(self, on_trace: OnTrace, num_prompt: int, pacer: Pacer | None) -> None:
        """``num_prompt``: tokens of the prompt. ``pacer`` is None if the depth is fixed."""
        self._on_trace, self._num_prompt, self._pacer = on_trace, num_prompt, pacer

    def on_pass(self, report: PassReport) -> None:
        self._report(report.num_history, report.num_proposed, report.num_accepted, report.total_ms)

    def on_plain_run(self, report: PlainRunReport) -> None:
        for number, milliseconds in enumerate(report.passes_ms):
            self._report(report.num_history + number, 0, 0, milliseconds)

    def _report(self, num_history: int, num_proposed: int, num_kept: int, milliseconds: float) -> None:
        decision = plain_ms = token_ms = None
        if (pacer := self._pacer) is not None:
            decision, plain_ms, token_ms = pacer.decision, pacer.prices.plain_ms, pacer.token_ms
        token = num_history - self._num_prompt
        self._on_trace(TracedPass(token, decision, num_proposed, num_kept, milliseconds, plain_ms, token_ms))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
