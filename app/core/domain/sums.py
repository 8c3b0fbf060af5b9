"""Sums of counters: over the runs of one answer, and over answers by pair and mode.

Rates are quotients of sums, so longer answers weigh more.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from engine.records import MODES_WITH_DRAFT, Mode, RunStats

ADDED = (
    "prompt_tokens", "prompt_cached_tokens", "prompt_s", "tokens", "passes", "proposed", "accepted", "rolled_back",
    "replayed", "joined_passes", "decode_s", "draft_s", "draft_prompt_s", "verify_s", "sample_s", "rollback_s",
)  # fmt: skip
BY_DEPTH = ("proposed_by_depth", "accepted_by_depth")
COUNTED = ("provenance", "interval_counts")
_PROMPT_FIELDS = ("prompt_tokens", "prompt_cached_tokens")  # a continued answer counts its last prompt only


@dataclass(frozen=True, slots=True)
class Sums:
    """Counters of ``num_answers`` answers. The percentiles in ``stats`` are computed from interval counts.

    For answers with a known cost of plain decoding, ``compared_s`` is their time without the draft model's
    prompt processing, ``reading_s`` the draft model's prompt processing time, ``compared_tokens`` their tokens,
    and ``plain_s`` the time that plain decoding would have taken.
    """

    num_answers: int = 0
    stats: RunStats = field(default_factory=RunStats)
    plain_s: float = 0.0
    compared_s: float = 0.0
    reading_s: float = 0.0
    compared_tokens: int = 0

    @property
    def saved_s(self) -> float | None:
        """Seconds saved compared with plain decoding; negative for a loss.

        The draft model's prompt processing is subtracted.
        """
        if not (self.plain_s > 0 and self.compared_s > 0):
            return None
        return self.plain_s - self.compared_s - self.reading_s


@dataclass(frozen=True, slots=True)
class PairSums:
    """The sums of a target with a draft ("" means none) in a mode, which may be an unknown name of another version."""

    target: str
    draft: str
    mode: str
    sums: Sums


def summed(first: RunStats | None, second: RunStats | None) -> RunStats | None:
    """Add two runs of one answer.

    The time to the first token is taken from the first run; mode, depth, prompt and context from the second.
    Percentiles cover both runs if both have interval counts.
    """
    if first is None or second is None:
        return second or first
    changes = {name: value for name, value in _added(first, second).items() if name not in _PROMPT_FIELDS}
    both = replace(second, **changes, time_to_first_token_s=first.time_to_first_token_s)
    if not first.interval_counts or not second.interval_counts:
        return both
    percentiles: dict[str, Any] = {f"inter_token_ms_p{percent}": both.interval_ms(percent) for percent in (50, 95, 99)}
    return replace(both, **percentiles)


def sums_of(run: RunStats, num_answers: int = 1) -> Sums:
    """One run as sums; for a continued answer ``num_answers`` is 0.

    A run without drafts is plain decoding, so it neither saves nor loses time. An answer that ended in a loop is not
    compared: repetition is too easy to draft.
    """
    if run.looped:
        return Sums(num_answers, RunStats(mode=run.mode))
    compared = run.plain_s is not None and run.tokens > 0 and run.generation_s > 0
    compared_s, reading_s = (run.generation_s, run.draft_prompt_s) if compared else (0.0, 0.0)
    plain_s = (run.plain_s or 0.0) if compared and run.proposed else compared_s
    counters = RunStats(mode=run.mode, **{name: getattr(run, name) for name in ADDED + BY_DEPTH + COUNTED})
    return Sums(num_answers, counters, plain_s, compared_s, reading_s, run.tokens if compared else 0)


def add_sums(first: Sums, second: Sums) -> Sums:
    return Sums(
        first.num_answers + second.num_answers,
        RunStats(mode=second.stats.mode, **_added(first.stats, second.stats)),
        first.plain_s + second.plain_s,
        first.compared_s + second.compared_s,
        first.reading_s + second.reading_s,
        first.compared_tokens + second.compared_tokens,
    )


def total(rows: Iterable[PairSums]) -> Sums:
    result = Sums()
    for row in rows:
        result = add_sums(result, row.sums)
    return result


def sorted_rows(rows: Iterable[PairSums]) -> tuple[PairSums, ...]:
    """Sort pairs by tokens, most first, and the modes of each pair likewise."""
    rows = tuple(rows)
    of_pair: Counter[tuple[str, str]] = Counter()
    for row in rows:
        of_pair[row.target, row.draft] += row.sums.stats.tokens

    def key(row: PairSums) -> tuple[int, str, str, int, str]:
        return -of_pair[row.target, row.draft], row.target, row.draft, -row.sums.stats.tokens, row.mode

    return tuple(sorted(rows, key=key))


def used_draft(mode: Mode, draft: str) -> str:
    """The draft's name if the mode can use it, else ""."""
    return draft if mode in MODES_WITH_DRAFT else ""


def _added(first: RunStats, second: RunStats) -> Mapping[str, Any]:
    result: dict[str, Any] = {name: getattr(first, name) + getattr(second, name) for name in ADDED}
    for name in BY_DEPTH:
        pairs = zip_longest(getattr(first, name), getattr(second, name), fillvalue=0)
        result[name] = tuple(one + other for one, other in pairs)
    for name in COUNTED:
        result[name] = dict(Counter(getattr(first, name)) + Counter(getattr(second, name)))
    return result
