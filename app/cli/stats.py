"""`paceline stats`: the totals of all answers as a table, or the export of all statistics as JSON."""

import argparse
import sys
from collections.abc import Sequence

from app.cli.chats import with_chats
from app.cli.output import table as columns
from app.core.domain.sums import PairSums, total
from app.core.storage.chats.store import ChatStore
from app.core.storage.chats.totals import read_totals
from app.core.storage.statistics_export import export_chunks, totals_row

_PERCENT = -1
COLUMNS = (  # title, key of the export, and digits after the point
    ("target", "target", 0),
    ("draft", "draft", 0),
    ("mode", "mode", 0),
    ("answers", "num_answers", 0),
    ("tokens", "tokens", 0),
    ("tok/s", "tokens_per_second", 1),
    ("per pass", "tokens_per_pass", 2),
    ("accepted", "acceptance_rate", _PERCENT),
    ("x plain", "speedup", 2),
    *((f"p{percent} ms", f"inter_token_ms_p{percent}", 1) for percent in (50, 95, 99)),  # between tokens
)
_NUMBERS_FROM = 3  # columns from here on are right-aligned
UNKNOWN = "-"
NO_ANSWERS = "Nothing was counted yet: ask something in the window first."


def command(options: argparse.Namespace) -> int:
    """Returns 0, or 1 after printing why it failed."""
    return with_chats(lambda store: _show(store, options), only_reads=True)


def _show(store: ChatStore, options: argparse.Namespace) -> int:
    if options.json:
        for piece in export_chunks(store):
            sys.stdout.write(piece)
    else:
        sys.stdout.write(table(store.read(read_totals)) + "\n")
    return 0


def table(rows: Sequence[PairSums]) -> str:
    """The totals of each pair and mode, and of all."""
    if not rows:
        return NO_ANSWERS
    every = [*rows, PairSums("all", "", "", total(rows))] if len(rows) > 1 else rows
    lines = [tuple(_cell(values[key], digits) for _, key, digits in COLUMNS) for values in map(totals_row, every)]
    return columns([tuple(title for title, _, _ in COLUMNS), *lines], _NUMBERS_FROM)


def _cell(value: object, digits: int) -> str:
    if not isinstance(value, int | float):  # a file name, without control characters
        return "".join(char if char.isprintable() else "?" for char in str(value or UNKNOWN))
    return f"{value * 100:.0f}%" if digits == _PERCENT else f"{value:,.{digits}f}"
