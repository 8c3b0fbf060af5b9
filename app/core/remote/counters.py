"""Reads counters of proposed and accepted tokens from remote servers; each program has its own format.

llama-server reports them for an answer in ``timings``, SGLang in ``sglext.spec_tokens_details`` (requested by
``return_spec_tokens_details``) and in ``meta_info``. vLLM counts all requests together, in ``/metrics``: the difference
over an answer includes concurrent requests. With ``--per-request-spec-decode-metrics summary`` (0.32) it also reports
them for an answer, in ``metrics.speculative_decoding`` beside the usage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_COUNT = 10**9
_SAMPLE = re.compile(
    r"^vllm:spec_decode_num_(drafts|draft_tokens|accepted_tokens|accepted_tokens_per_pos)_total"
    r"(?:\{([^}]*)\})?\s+([0-9.eE+]+)\s*$",
    re.MULTILINE,
)
_POSITION = re.compile(r'position="(\d{1,2})"')


@dataclass(frozen=True, slots=True)
class Drafted:
    """Counters of an answer, or of all requests so far. ``passes``: number of verified drafts; 0 if unknown."""

    proposed: int = 0
    accepted: int = 0
    passes: int = 0
    accepted_by_depth: tuple[int, ...] = ()

    def since(self, before: Drafted) -> Drafted | None:
        """The difference from earlier counters; None if a counter decreased, because the server was restarted."""
        depths = max(len(self.accepted_by_depth), len(before.accepted_by_depth))
        now, then = (each.accepted_by_depth + (0,) * (depths - len(each.accepted_by_depth)) for each in (self, before))
        added = Drafted(
            self.proposed - before.proposed,
            self.accepted - before.accepted,
            self.passes - before.passes,
            tuple(late - early for late, early in zip(now, then, strict=True)),
        )
        return None if min(added.proposed, added.accepted, added.passes, *added.accepted_by_depth, 0) < 0 else added


def has_counters(metrics: str) -> bool:
    """True if vLLM's metrics have counters of drafted tokens, which means that it drafts."""
    return _SAMPLE.search(metrics) is not None


def of_metrics(metrics: str) -> Drafted | None:
    """The counters in vLLM's ``/metrics``, summed over its engines; None without counters."""
    sums: dict[str, int] = {}
    depths: dict[int, int] = {}
    for name, labels, text in _SAMPLE.findall(metrics):
        try:
            value = int(float(text))
        except (ValueError, OverflowError):
            continue
        place = _POSITION.search(labels)
        if name != "accepted_tokens_per_pos":
            sums[name] = sums.get(name, 0) + value
        elif place is not None:
            depths[int(place[1])] = depths.get(int(place[1]), 0) + value
    if not sums:
        return None
    by_depth = tuple(depths.get(depth, 0) for depth in range(max(depths) + 1)) if depths else ()
    return Drafted(sums.get("draft_tokens", 0), sums.get("accepted_tokens", 0), sums.get("drafts", 0), by_depth)


def of_event(event: Mapping[str, Any]) -> Drafted | None:
    """The counters in an object of an answer; None without counters."""
    timings = event.get("timings")
    if isinstance(timings, dict) and "draft_n" in timings:
        proposed, accepted = count(timings.get("draft_n")), count(timings.get("draft_n_accepted"))
        return Drafted(proposed, accepted, max(count(timings.get("predicted_n")) - accepted, 0))
    metrics = event.get("metrics")
    reported = metrics.get("speculative_decoding") if isinstance(metrics, dict) else None
    if isinstance(reported, dict):
        return _of_vllm(reported)
    for details in _sglang_places(event):
        if "spec_verify_ct" in details:
            proposed = count(details.get("spec_num_proposed_drafts", details.get("spec_draft_token_num")))
            accepted = count(details.get("spec_num_correct_drafts", details.get("spec_accept_token_num")))
            return Drafted(proposed, accepted, count(details["spec_verify_ct"]))
    return None


def _of_vllm(reported: Mapping[str, Any]) -> Drafted:
    """Entry j of the histogram counts the passes that accepted exactly j drafted tokens."""
    histogram = reported.get("acceptance_histogram")
    kept = [count(each) for each in histogram] if isinstance(histogram, list) else []
    by_depth = tuple(sum(kept[depth:]) for depth in range(1, len(kept)))
    proposed, accepted = count(reported.get("num_draft_tokens")), count(reported.get("num_accepted_draft_tokens"))
    return Drafted(proposed, accepted, count(reported.get("num_spec_steps")), by_depth)


def _sglang_places(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    choices = event.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    found: list[Mapping[str, Any]] = []
    for holder in (event, choice):
        extra = holder.get("sglext")
        places = [holder.get("meta_info"), extra.get("spec_tokens_details") if isinstance(extra, dict) else None]
        first = [place[0] if isinstance(place, list) and place else place for place in places]
        found += [place for place in first if isinstance(place, dict)]
    return found


def count(value: Any) -> int:  # noqa: ANN401 (JSON)
    """A reported counter; 0 if the value is no valid number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < MAX_COUNT else 0
