"""Lifetime counters for each target, draft and mode. They outlive their chats.

A row stores its counters as JSON; unknown counters of other versions are kept.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
from itertools import zip_longest
from typing import Any

from app.core.domain.sums import ADDED, BY_DEPTH, PairSums, Sums, add_sums, sorted_rows, sums_of
from engine.intervals import checked_counts
from engine.records import Mode, RunStats, Source

log = logging.getLogger(__name__)

_SUM_FIELDS = ("plain_s", "compared_s", "reading_s", "compared_tokens")
_KEY = "target = ? AND draft = ? AND mode = ?"


def add_run(db: sqlite3.Connection, target: str, draft: str, run: RunStats, *, is_continuation: bool = False) -> None:
    """Add a run that has tokens. A continuation does not count as another answer."""
    if not run.tokens:
        return
    key = (target, draft, run.mode.value)
    counted = sums_of(run, 0 if is_continuation else 1)
    row = db.execute(f"SELECT num_answers, stats FROM totals WHERE {_KEY}", key).fetchone()  # noqa: S608 (our words)
    if row is None:
        sql = "INSERT INTO totals (num_answers, stats, target, draft, mode) VALUES (?, ?, ?, ?, ?)"
        db.execute(sql, (counted.num_answers, _to_text(_to_data(counted)), *key))
        return
    try:
        text = _to_text(_merged(json.loads(row[1]), _to_data(counted)))
    except (ValueError, TypeError, ArithmeticError, RecursionError):
        _set_aside_damaged(db, key)
        add_run(db, target, draft, run, is_continuation=is_continuation)
        return
    sql = f"UPDATE totals SET num_answers = num_answers + ?, stats = ? WHERE {_KEY}"  # noqa: S608 (our words)
    db.execute(sql, (counted.num_answers, text, *key))


def read_totals(db: sqlite3.Connection) -> tuple[PairSums, ...]:
    """All rows, in the order of `sorted_rows`; unreadable rows are logged and omitted."""
    found: dict[tuple[str, str, str], Sums] = {}
    for target, draft, mode, num_answers, text in db.execute(
        "SELECT target, draft, mode, num_answers, stats FROM totals"
    ):
        known = Mode.from_value(mode)
        key = (target, draft, mode if known is None else known.value)
        try:
            sums = _from_data(num_answers, mode, json.loads(text))
            found[key] = add_sums(found[key], sums) if key in found else sums
        except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
            log.warning("The totals of %s in mode %s cannot be read and are left out.", target, mode)
    return sorted_rows(PairSums(*key, sums) for key, sums in found.items())


def reset_totals(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM totals")


def _set_aside_damaged(db: sqlite3.Connection, key: tuple[str, str, str]) -> None:
    """Rename the mode of an unreadable row, to keep it."""
    taken = {mode for (mode,) in db.execute("SELECT mode FROM totals WHERE target = ? AND draft = ?", key[:2])}
    number = next(n for n in range(1, len(taken) + 2) if f"{key[2]} (set aside {n})" not in taken)
    log.warning("The totals of %s in mode %s cannot be read; they are set aside and counted anew.", key[0], key[2])
    db.execute(
        f"UPDATE totals SET mode = ? WHERE {_KEY}",  # noqa: S608 (our words)
        (f"{key[2]} (set aside {number})", *key),
    )


# ---- counters as JSON ---------------------------------------------------------------------------------------------


def _to_data(sums: Sums) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(sums.stats, name) for name in ADDED}
    values |= {name: list(getattr(sums.stats, name)) for name in BY_DEPTH}
    values["provenance"] = {source.value: number for source, number in sums.stats.provenance.items()}
    values["interval_counts"] = {str(bucket): number for bucket, number in sums.stats.interval_counts.items()}
    return {**values, **{name: getattr(sums, name) for name in _SUM_FIELDS}}


def _from_data(num_answers: int, mode: str, data: dict[str, Any]) -> Sums:
    checked = _merged(data, {})
    numbers = {name: _added(checked.get(name, 0), 0) for name in (*ADDED, *_SUM_FIELDS)}
    lists: dict[str, Any] = {name: tuple(_added(checked.get(name, []), [])) for name in BY_DEPTH}
    if len(lists["proposed_by_depth"]) != len(lists["accepted_by_depth"]):
        raise ValueError("depths do not fit each other")
    counts = _added(checked.get("provenance", {}), {})
    known = {Source(name): number for name, number in counts.items() if name in tuple(Source)}
    stats = RunStats(
        mode=Mode.from_value(mode) or Mode.OFF,
        provenance=known,
        interval_counts=checked_counts(checked.get("interval_counts", {})),
        **{name: numbers[name] for name in ADDED},
        **lists,
    )
    return Sums(num_answers, stats, *(numbers[name] for name in _SUM_FIELDS))


def _merged(old: Any, new: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 (whatever a file holds)
    """Add ``new`` to the counters of a row.

    Raises:
        TypeError: the row's counters have other types.
    """
    if not isinstance(old, dict):
        raise TypeError("no counters")
    return {**old, **{name: _added(old[name], value) if name in old else value for name, value in new.items()}}


def _added(first: Any, second: Any) -> Any:  # noqa: ANN401 (numbers, lists or mappings of numbers)
    if isinstance(first, list) and isinstance(second, list):
        return [_added(one, other) for one, other in zip_longest(first, second, fillvalue=0)]
    if isinstance(first, dict) and isinstance(second, dict):
        return {name: _added(first.get(name, 0), second.get(name, 0)) for name in {**first, **second}}
    for number in (first, second):
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise TypeError("no counter")
    return first + second


def _to_text(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), sort_keys=True)
