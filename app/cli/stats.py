"""`paceline stats`: the totals of all answers, as a table, JSON or CSV, without a window."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from app.cli.output import message_stream
from app.cli.output import table as columns
from app.cli.stored_chats import with_chats
from app.core.domain.errors import StatisticsExportError
from app.core.domain.speed.verdict import sums_verdict
from app.core.domain.sums import PairSums, Sums, total
from app.core.storage.chats.store import ChatStore
from app.core.storage.statistics_export import ExportRequest, Scope, export_chunks, totals_in, write_file

TIMES = ("p50 ms", "p95 ms", "p99 ms")  # between tokens
HEAD = ("target", "draft", "mode", "answers", "tokens", "tok/s", "per pass", "accepted", "x plain", *TIMES)
_NUMBERS_FROM = 3  # columns from here on are right-aligned
UNKNOWN = "-"
NOTHING = "Nothing was counted yet: ask something in the window first."


def command(options: argparse.Namespace) -> int:
    """Returns 0, or 1 after printing why it failed."""
    return with_chats(lambda store: _show(store, options), only_reads=True)


def _show(store: ChatStore, options: argparse.Namespace) -> int:
    request = ExportRequest(Scope.TOTALS)
    if options.conversation is not None:
        request = ExportRequest(Scope.CHAT, options.conversation)
        if store.conversation(options.conversation) is None:
            raise StatisticsExportError(
                f"There is no chat {options.conversation}.", "`paceline stats --answers --json` lists all chats."
            )
    elif options.answers:
        request = ExportRequest(Scope.EVERYTHING)
    if options.json:
        for piece in export_chunks(store, request, "json"):
            sys.stdout.write(piece)
    elif options.csv:
        talk = message_stream(options.csv)
        write_file(Path(options.csv), export_chunks(store, request, "csv"), for_spreadsheets=True)
        talk.write(f"Statistics exported to {options.csv}.\n")
    else:
        sys.stdout.write(table(totals_in(store, request)) + "\n")
    return 0


def table(rows: Sequence[PairSums]) -> str:
    """The totals of each pair and mode, and of all."""
    if not rows:
        return NOTHING
    lines = [HEAD, *(_cells(row.target, row.draft, row.mode, row.sums) for row in rows)]
    if len(rows) > 1:
        lines.append(_cells("all", "", "", total(rows)))
    return columns(lines, _NUMBERS_FROM)


def _cells(target: str, draft: str, mode: str, sums: Sums) -> tuple[str, ...]:
    stats = sums.stats
    return (
        _printable(target) or UNKNOWN,
        _printable(draft) or UNKNOWN,
        _printable(mode) or UNKNOWN,
        f"{sums.num_answers:,}",
        f"{stats.tokens:,}",
        _number(stats.tokens_per_second, 1),
        _number(stats.tokens_per_pass, 2),
        UNKNOWN if stats.acceptance_rate is None else f"{stats.acceptance_rate * 100:.0f}%",
        _number(sums_verdict(sums).speedup, 2),
        *(_number(stats.interval_ms(percent), 1) for percent in (50, 95, 99)),
    )


def _number(value: float | None, digits: int) -> str:
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def _printable(name: str) -> str:
    """A file name without control characters."""
    return "".join(char if char.isprintable() else "?" for char in name)
