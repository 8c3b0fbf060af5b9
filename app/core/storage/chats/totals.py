"""Lifetime counters for each target, draft and mode. They outlive their chats."""

import json
import logging
import sqlite3
from dataclasses import replace

from app.core.domain.sums import PairSums, Sums, add_sums, sorted_rows, sums_of
from app.core.storage.chats.codec import stats_from_text, stats_to_text
from app.core.storage.json_records import JSON_ERRORS, read_record
from engine.records import RunStats

log = logging.getLogger(__name__)

_ADDED = ("plain_s", "compared_s", "reading_s", "compared_tokens")  # stored beside the fields of `RunStats`


def add_run(db: sqlite3.Connection, target: str, draft: str, run: RunStats, *, is_continuation: bool = False) -> None:
    """Add a run that has tokens. A continuation does not count as another answer."""
    if not run.tokens:
        return
    key = (target, draft, run.mode.value)
    sums = sums_of(run, 0 if is_continuation else 1)
    sql = "SELECT num_answers, stats FROM totals WHERE target = ? AND draft = ? AND mode = ?"
    row = db.execute(sql, key).fetchone()
    before = _read(*row) if row else None
    sums = add_sums(before, sums) if before else sums
    data = {**json.loads(stats_to_text(sums.stats) or "{}"), **{name: getattr(sums, name) for name in _ADDED}}
    sql = "INSERT OR REPLACE INTO totals (target, draft, mode, num_answers, stats) VALUES (?, ?, ?, ?, ?)"
    db.execute(sql, (*key, sums.num_answers, json.dumps(data, separators=(",", ":"))))


def read_totals(db: sqlite3.Connection) -> tuple[PairSums, ...]:
    """All rows, in the order of `sorted_rows`; unreadable rows are omitted."""
    rows = db.execute("SELECT target, draft, mode, num_answers, stats FROM totals")
    found = ((*key, _read(num_answers, text)) for *key, num_answers, text in rows)
    return sorted_rows(PairSums(target, draft, mode, sums) for target, draft, mode, sums in found if sums)


def reset_totals(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM totals")


def _read(num_answers: int, text: str) -> Sums | None:
    """The sums of a row; None if it is damaged: then it is counted anew."""
    try:
        data = json.loads(text)
        sums: Sums = read_record(Sums, {"num_answers": num_answers, **{name: data.get(name, 0) for name in _ADDED}})
    except JSON_ERRORS:
        log.warning("A row of the totals cannot be read.")
        return None
    stats = stats_from_text(text)
    return replace(sums, stats=stats) if stats else None
