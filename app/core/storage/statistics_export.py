"""Exports statistics: of one answer, one chat, everything, or the lifetime totals."""

import codecs
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path

from app.core.domain.errors import StatisticsExportError
from app.core.domain.speed.verdict import answer_verdict, sums_verdict
from app.core.domain.sums import PairSums, sums_by_pair
from app.core.storage.atomic import exported_file
from app.core.storage.chats.answer_records import AnswerRecord, answer_of_message, answers_of_chat
from app.core.storage.chats.store import ChatStore
from app.core.storage.chats.totals import read_totals
from engine.intervals import upper_bound_ms
from engine.records import RunStats, Source

Value = str | int | float | None
FORMAT, VERSION = "paceline-statistics", 1
# Spreadsheets read text that begins with =, +, - or @ as a formula. Some split lines at semicolons, tabs or bars even
# in quotes, so this also matches after them. Source: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA = re.compile(r"(^|[;\t|])([\s\"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_BREAKS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]+")


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


# ---- CSV ------------------------------------------------------------------------------------------------------------


def csv_chunks(rows: Iterable[Mapping[str, Value]]) -> Iterator[str]:
    """The rows line by line after a heading; nothing without rows."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    begun = False
    for row in rows:
        if not begun:
            writer.writerow(row)
            begun = True
        writer.writerow([escape_formulas(value) if isinstance(value, str) else value for value in row.values()])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def escape_formulas(text: str) -> str:
    """Join the lines, and put an apostrophe before text that a spreadsheet would read as a formula."""
    return _FORMULA.sub(r"\1\2'", _BREAKS.sub(" ", text))


# ---- JSON -----------------------------------------------------------------------------------------------------------


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


class Scope(StrEnum):
    ANSWER = "answer"
    CHAT = "chat"
    EVERYTHING = "everything"
    TOTALS = "totals"


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """``number`` is a message id for `Scope.ANSWER`, a conversation id for `Scope.CHAT`."""

    scope: Scope
    number: int | None = None


def export_chunks(store: ChatStore, request: ExportRequest, form: str) -> Iterator[str]:
    """Yield the file's text; ``form`` is "json" or "csv". As CSV, everything is a table of all answers.

    Raises:
        StorageError: the chats cannot be read.
        StatisticsExportError: there is nothing to export.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    answers = answers_in(store, request)
    if form == "csv":
        totals = request.scope is Scope.TOTALS
        text = csv_chunks(map(totals_row, totals_in(store, request)) if totals else map(answer_row, answers))
        first = next(text, None)
        if first is None:
            raise StatisticsExportError("There are no answers with statistics yet.", "Ask something first.")
        yield first
        yield from text
    else:
        yield from json_chunks(now, totals_in(store, request), answers)


def answers_in(store: ChatStore, request: ExportRequest) -> Iterator[AnswerRecord]:
    """The answers of a request; none for the totals."""
    if request.number is not None and request.scope is Scope.ANSWER:
        answer = store.read(partial(answer_of_message, message_id=request.number))
        yield from (answer,) if answer else ()
        return
    chats = sorted(row.id for row in store.conversations()) if request.scope is Scope.EVERYTHING else []
    if request.number is not None and request.scope is Scope.CHAT:
        chats = [request.number]
    for chat in chats:  # one by one: saving an answer waits for a read
        yield from store.read(partial(answers_of_chat, conversation_id=chat))


def totals_in(store: ChatStore, request: ExportRequest) -> tuple[PairSums, ...]:
    """The sums for each pair and mode: over the lifetime, or of a chat."""
    if request.scope in (Scope.TOTALS, Scope.EVERYTHING):
        return store.read(read_totals)
    return sums_by_pair((each.target, each.draft, each.stats) for each in answers_in(store, request))


def write_file(file: Path, text: Iterable[str], *, for_spreadsheets: bool) -> None:
    """Write the file atomically.

    Raises:
        StatisticsExportError: it cannot be written.
    """
    with exported_file(file, StatisticsExportError) as handle:
        if for_spreadsheets:  # Excel recognizes UTF-8 in CSV by a byte order mark
            handle.write(codecs.BOM_UTF8)
        for piece in text:
            handle.write(piece.encode())
