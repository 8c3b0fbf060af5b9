"""Exports statistics as JSON: the totals of all time, and all answers of all chats."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from app.core.domain.errors import StatisticsExportError
from app.core.domain.speed.verdict import answer_verdict, sums_verdict
from app.core.domain.sums import PairSums
from app.core.storage.atomic import exported_file
from app.core.storage.chats.answer_records import AnswerRecord, answers_of_chat
from app.core.storage.chats.store import ChatStore
from app.core.storage.chats.totals import read_totals
from engine.intervals import upper_bound_ms
from engine.records import RunStats, Source

Value = str | int | float | None
FORMAT, VERSION = "paceline-statistics", 1


def answer_row(answer: AnswerRecord) -> dict[str, Value]:
    """One answer; times in UTC, shares from 0 to 1, None if not measured."""
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
    """A pair's sums in one mode. Rates are quotients of sums, percentiles are of all tokens, within 2%."""
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


def json_chunks(
    exported_at: str, totals: Iterable[PairSums] = (), answers: Iterable[AnswerRecord] = ()
) -> Iterator[str]:
    """One object, a row on each line: {"format", "version", "exported_at_utc", "totals": [...], "answers": [...]}."""
    head = {"format": FORMAT, "version": VERSION, "exported_at_utc": exported_at}
    yield json.dumps(head)[:-1] + ',\n"totals": ['
    yield from _joined({**totals_row(row), **_histograms(row.sums.stats)} for row in totals)
    yield '],\n"answers": ['
    yield from _joined(
        {**answer_row(each), **_histograms(each.stats), "decisions": list(each.stats.decisions)} for each in answers
    )
    yield "]}\n"


def _joined(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield (",\n" if number else "\n") + json.dumps(row, ensure_ascii=False)


def _histograms(stats: RunStats) -> dict[str, object]:
    times = sorted(stats.interval_counts)
    return {
        "drafted_passes_by_depth": list(stats.proposed_by_depth),
        "accepted_passes_by_depth": list(stats.accepted_by_depth),
        "passes_by_accepted_length": list(stats.accepted_lengths),
        "tokens_by_time_up_to_ms": [[upper_bound_ms(bucket), stats.interval_counts[bucket]] for bucket in times],
    }


def export_chunks(store: ChatStore) -> Iterator[str]:
    """Yield the text of the export.

    Raises:
        StorageError: the chats cannot be read.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    yield from json_chunks(now, store.read(read_totals), _answers(store))


def _answers(store: ChatStore) -> Iterator[AnswerRecord]:
    for chat in sorted(row.id for row in store.conversations()):  # one by one: saving an answer waits for a read
        yield from store.read(partial(answers_of_chat, conversation_id=chat))


def write_file(file: Path, text: Iterable[str]) -> None:
    """Write the file atomically.

    Raises:
        StatisticsExportError: it cannot be written.
    """
    with exported_file(file, StatisticsExportError) as handle:
        for piece in text:
            handle.write(piece.encode())
