"""Statistics out of the store and into a file: of one answer, one chat, everything, or the lifetime totals."""

from __future__ import annotations

import codecs
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path

from app.core.domain.errors import StatisticsExportError
from app.core.domain.sums import PairSums, by_pair
from app.core.storage.atomic import exported_file
from app.core.storage.chats.answer_records import AnswerRecord, answer_of_message, answers_after, answers_of_chat
from app.core.storage.chats.store import ChatStore
from app.core.storage.chats.totals import read_totals
from app.core.storage.statistics_table import answer_row, csv_chunks, json_chunks, totals_row
from engine.sentences import said

BATCH = 200  # answers that are read at once: saving an answer waits for no more than that


class Scope(StrEnum):
    """What is exported."""

    ANSWER = "answer"
    CHAT = "chat"
    EVERYTHING = "everything"
    TOTALS = "totals"


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What is to be exported; ``number`` is the message's or the conversation's, where it is of one."""

    scope: Scope
    number: int | None = None


def export_chunks(store: ChatStore, request: ExportRequest, form: str) -> Iterator[str]:
    """The file's text piece by piece; ``form`` is "json" or "csv". As CSV, everything is a table of all answers.

    Raises:
        StorageError: the chats cannot be read.
        StatisticsExportError: there is nothing to export.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    answers = answers_in(store, request)
    if form == "csv":
        totals = request.scope is Scope.TOTALS
        yield from _not_empty(
            csv_chunks(map(totals_row, totals_in(store, request)) if totals else map(answer_row, answers))
        )
    else:
        yield from json_chunks(now, totals_in(store, request), answers)


def answers_in(store: ChatStore, request: ExportRequest) -> Iterator[AnswerRecord]:
    """The answers of a request; none of the totals."""
    if request.scope is Scope.EVERYTHING:
        after: int | None = 0
        while after is not None:
            found, after = store.read(partial(_some_after, after))
            yield from found
    elif request.number is not None and request.scope is Scope.CHAT:
        number = request.number
        yield from store.read(lambda db: answers_of_chat(db, number))
    elif request.number is not None and request.scope is Scope.ANSWER:
        number = request.number
        answer = store.read(lambda db: answer_of_message(db, number))
        yield from (answer,) if answer else ()


def totals_in(store: ChatStore, request: ExportRequest) -> tuple[PairSums, ...]:
    """The sums of a request for each pair and mode: over the lifetime, or of a chat."""
    if request.scope in (Scope.TOTALS, Scope.EVERYTHING):
        return store.read(read_totals)
    return by_pair((each.target, each.draft, each.stats) for each in answers_in(store, request))


def write_file(file: Path, text: Iterable[str], *, for_spreadsheets: bool) -> None:
    """Write all or nothing: what was there before stays until the new file is whole.

    Raises:
        StatisticsExportError: the file cannot be written.
    """
    try:
        with exported_file(file) as handle:
            if for_spreadsheets:  # Excel takes CSV for UTF-8 only where it begins with a mark
                handle.write(codecs.BOM_UTF8)
            for piece in text:
                handle.write(piece.encode())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StatisticsExportError(said("{file} cannot be written ({reason}).", file=file, reason=reason)) from error


def _some_after(after: int, db: sqlite3.Connection) -> tuple[tuple[AnswerRecord, ...], int | None]:
    return answers_after(db, after, BATCH)


def _not_empty(text: Iterator[str]) -> Iterator[str]:
    first = next(text, None)
    if first is None:
        raise StatisticsExportError("There are no answers with statistics yet.", "Ask something first.")
    yield first
    yield from text
