"""Statistics as rows of named values with their units in the names, as JSON, and as CSV that is safe to open."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from app.core.domain.speed.verdict import answer_verdict, sums_verdict
from app.core.domain.sums import PairSums, Sums
from app.core.storage.chats.answer_records import AnswerRecord
from engine.intervals import upper_ms
from engine.records import RunStats, Source

Value = str | int | float | None
FORMAT, VERSION = "paceline-statistics", 1

# A spreadsheet takes a text that begins so for a formula (https://owasp.org/www-community/attacks/CSV_Injection). Some
# split lines at semicolons, tabs or bars as well, whatever the quotes say, so what follows those is a beginning, too.
_FORMULA = re.compile(r"(^|[;\t|])([\s\"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_BREAKS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]+")


def answer_row(answer: AnswerRecord) -> dict[str, Value]:
    """One answer; times in UTC, shares from 0 to 1, None for what was not measured."""
    stats = answer.stats
    return {
        "chat_id": answer.conversation_id,
        "chat_title": answer.title,
        "answer_id": answer.message_id,
        "created_at_utc": answer.created_at.isoformat(timespec="seconds"),
        "state": answer.state,
        "target": answer.target,
        "draft": answer.draft,
        "mode": stats.mode.value,
        **_rates(stats, answer_verdict(stats).speedup),
        "plain_ms_per_token": stats.plain_ms,
        "time_to_first_token_ms": None if stats.time_to_first_token_s is None else stats.time_to_first_token_s * 1000,
        "between_tokens_p50_ms": stats.inter_token_ms_p50,
        "between_tokens_p95_ms": stats.inter_token_ms_p95,
        "between_tokens_p99_ms": stats.inter_token_ms_p99,
        **_counters(stats),
        "context_used_tokens": stats.context_used if stats.context_size else None,
        "context_size_tokens": stats.context_size or None,
    }


def totals_row(row: PairSums) -> dict[str, Value]:
    """A pair's sums in one mode. Rates are quotients of sums, percentiles are of all tokens, to within 2%."""
    return {
        "target": row.target,
        "draft": row.draft,
        "mode": row.mode,
        "num_answers": row.sums.num_answers,
        **_rates(row.sums.stats, sums_verdict(row.sums).speedup),
        **{f"between_tokens_p{percent}_ms": row.sums.stats.interval_ms(percent) for percent in (50, 95, 99)},
        "compared_with_plain_s": row.sums.compared_s,
        "plain_would_take_s": row.sums.plain_s,
        **_counters(row.sums.stats),
    }


def _rates(stats: RunStats, speedup: float | None) -> dict[str, Value]:
    return {
        "tokens_per_second": stats.tokens_per_second,
        "speedup_over_plain_ratio": speedup,
        "tokens_per_pass": stats.tokens_per_pass,
        "acceptance_share": stats.acceptance_rate,
    }


def _counters(stats: RunStats) -> dict[str, Value]:
    return {
        "answer_tokens": stats.tokens,
        "num_passes": stats.passes,
        "drafted_tokens": stats.proposed,
        "accepted_tokens": stats.accepted,
        "rolled_back_tokens": stats.rolled_back,
        "prompt_tokens": stats.prompt_tokens,
        "prompt_cached_tokens": stats.prompt_cached_tokens,
        "prompt_s": stats.prompt_s,
        "decode_s": stats.decode_s,
        "draft_s": stats.draft_s,
        "draft_prompt_s": stats.draft_prompt_s,
        "verify_s": stats.verify_s,
        "sample_s": stats.sample_s,
        "rollback_s": stats.rollback_s,
        **{f"from_{source.value}_tokens": stats.provenance.get(source, 0) for source in Source},
    }


# ---- CSV ------------------------------------------------------------------------------------------------------------


def csv_chunks(rows: Iterable[Mapping[str, Value]]) -> Iterator[str]:
    """The rows line by line, a heading first; nothing at all where there is no row."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    begun = False
    for row in rows:
        if not begun:
            writer.writerow(row)
            begun = True
        writer.writerow([harmless(value) if isinstance(value, str) else value for value in row.values()])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def harmless(text: str) -> str:
    """A text on one line that no spreadsheet takes for a formula: an apostrophe stands where one would begin."""
    return _FORMULA.sub(r"\1\2'", _BREAKS.sub(" ", text))


# ---- JSON -----------------------------------------------------------------------------------------------------------


def json_chunks(
    exported_at: str, totals: Iterable[PairSums] = (), answers: Iterable[AnswerRecord] = ()
) -> Iterator[str]:
    """One object, a row on each line: {"format", "version", "exported_at_utc", "totals": [...], "answers": [...]}."""
    head = {"format": FORMAT, "version": VERSION, "exported_at_utc": exported_at}
    yield json.dumps(head)[:-1] + ',\n"totals": ['
    yield from _joined({**totals_row(row), **_lists(row.sums)} for row in totals)
    yield '],\n"answers": ['
    yield from _joined(
        {**answer_row(each), **_lists(each.stats), "decisions": list(each.stats.decisions)} for each in answers
    )
    yield "]}\n"


def _joined(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield (",\n" if number else "\n") + json.dumps(row, ensure_ascii=False)


def _lists(figures: RunStats | Sums) -> dict[str, object]:
    stats = figures.stats if isinstance(figures, Sums) else figures
    times = sorted(stats.interval_counts)
    return {
        "drafted_passes_by_depth": list(stats.proposed_by_depth),
        "accepted_passes_by_depth": list(stats.accepted_by_depth),
        "passes_by_accepted_length": list(stats.accepted_lengths),
        "tokens_by_time_up_to_ms": [[upper_ms(bucket), stats.interval_counts[bucket]] for bucket in times],
    }
