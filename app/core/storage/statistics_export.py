"""Exports statistics as JSON: the totals of all time, and all answers of all chats."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial

from app.core.domain.speed.verdict import answer_verdict, sums_verdict
from app.core.domain.sums import PairSums
from app.core.storage.chats.answer_records import AnswerRecord, answers_of_chat
from app.core.storage.chats.codec import stats_to_text
from app.core.storage.chats.store import ChatStore
from app.core.storage.chats.totals import read_totals
from engine.intervals import upper_bound_ms
from engine.records import RunStats

FORMAT, VERSION = "paceline-statistics", 2


def answer_row(answer: AnswerRecord) -> dict[str, object]:
    """One answer, with the counters as they are stored; times in UTC, None if not measured."""
    return {
        "chat_id": answer.conversation_id,
        "chat_title": answer.title,
        "answer_id": answer.message_id,
        "created_at_utc": answer.created_at.isoformat(timespec="seconds"),
        "state": answer.state,
        "target": answer.target,
        "draft": answer.draft,
        **_stats(answer.stats, answer_verdict(answer.stats).speedup),
    }


def totals_row(row: PairSums) -> dict[str, object]:
    """A pair's sums in one mode. Rates are quotients of sums, percentiles are of all tokens, within 2%."""
    return {
        "target": row.target,
        "draft": row.draft,
        "num_answers": row.sums.num_answers,
        "compared_with_plain_s": row.sums.compared_s,
        "plain_would_take_s": row.sums.plain_s,
        **_stats(row.sums.stats, sums_verdict(row.sums).speedup),
        **{f"inter_token_ms_p{percent}": row.sums.stats.interval_ms(percent) for percent in (50, 95, 99)},
        "mode": row.mode,
    }


def _stats(stats: RunStats, speedup: float | None) -> dict[str, object]:
    """The counters, the rates that follow from them, and the time of each number of tokens."""
    counters = json.loads(stats_to_text(stats) or "{}")
    times = sorted(stats.interval_counts)
    return {
        **counters,
        "tokens_per_second": stats.tokens_per_second,
        "tokens_per_pass": stats.tokens_per_pass,
        "acceptance_rate": stats.acceptance_rate,
        "speedup": speedup,
        "interval_counts": [[upper_bound_ms(bucket), stats.interval_counts[bucket]] for bucket in times],
    }


def json_chunks(
    exported_at: str, totals: Iterable[PairSums] = (), answers: Iterable[AnswerRecord] = ()
) -> Iterator[str]:
    """One object, a row on each line: {"format", "version", "exported_at_utc", "totals": [...], "answers": [...]}."""
    head = {"format": FORMAT, "version": VERSION, "exported_at_utc": exported_at}
    yield json.dumps(head)[:-1] + ',\n"totals": ['
    yield from _joined(map(totals_row, totals))
    yield '],\n"answers": ['
    yield from _joined(map(answer_row, answers))
    yield "]}\n"


def _joined(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield (",\n" if number else "\n") + json.dumps(row, ensure_ascii=False)


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
