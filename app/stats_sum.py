"""The figures of an answer that was made in several runs: counters add up, what cannot be added is the last run's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from engine.records import RunStats

_ADDED = (
    "prompt_s", "tokens", "passes", "proposed", "accepted", "rolled_back", "replayed",
    "tie_checks", "tie_tokens", "tie_s",
    "decode_s", "draft_s", "verify_s", "sample_s", "rollback_s",
)  # fmt: skip
_BY_DEPTH = ("proposed_by_depth", "accepted_by_depth")


def summed(first: RunStats | None, second: RunStats | None) -> RunStats | None:
    """Add two runs. The time to the first token is the first run's; mode, depth, percentiles, context the second's."""
    if first is None or second is None:
        return second or first
    changes: dict[str, Any] = {name: getattr(first, name) + getattr(second, name) for name in _ADDED}
    for name in _BY_DEPTH:
        pairs = zip_longest(getattr(first, name), getattr(second, name), fillvalue=0)
        changes[name] = tuple(one + other for one, other in pairs)
    changes["provenance"] = dict(Counter(first.provenance) + Counter(second.provenance))
    changes["time_to_first_token_s"] = first.time_to_first_token_s
    return replace(second, **changes)
