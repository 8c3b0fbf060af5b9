"""Stored races: a JSON file per race, and an index with a line per race, newest first.

A race's file is read when the user opens it. Unreadable races are logged and omitted from the list.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from app.core.domain.errors import RaceStoreError
from app.core.domain.speed.races import LaneChoice, LaneResult, RaceResult, RaceSetup
from app.core.storage.atomic import write_atomically
from app.core.storage.chats.codec import spans_from_text, spans_to_text, stats_from_text, stats_to_text
from engine.records import Message, RunStats
from engine.sentences import i18n

log = logging.getLogger(__name__)

VERSION = 1
MAX_RACES = 200  # maximum number of races; the oldest are deleted
MAX_FILE_BYTES = 16 << 20
INDEX = "index.json"
_BROKEN = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


class RaceStore:
    """All races of this user. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is created with the first race."""
        self._folder = folder
        self._lock = threading.Lock()
        self._known: list[RaceResult] | None = None

    def __reduce__(self) -> tuple[type[RaceStore], tuple[Path]]:
        """Pickle the path only: another process opens the same folder."""
        return RaceStore, (self._folder,)

    def refresh(self) -> None:
        """Read the folder again, since another process may have stored a race."""
        with self._lock:
            self._known = None

    def all(self) -> tuple[RaceResult, ...]:
        """All races, newest first, without their texts and reports."""
        with self._lock:
            return tuple(self._summaries())

    def add(self, result: RaceResult) -> RaceResult:
        """Store a race; returns it with its new id.

        Raises:
            RaceStoreError: the race cannot be written.
        """
        with self._lock:
            stored = replace(result, id=self._free_id(result.created))
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                content = json.dumps({"version": VERSION, "race": _to_json(stored)}, ensure_ascii=False)
                write_atomically(self._file(stored.id), content.encode())
                self._write([_listed(stored), *self._summaries()])
            except OSError as error:
                raise RaceStoreError(
                    i18n("The race could not be saved: {reason}.", reason=error.strerror or error),
                    "Export it, then check the disk.",
                ) from error
            return stored

    def read(self, race_id: str) -> RaceResult:
        """Read a race.

        Raises:
            RaceStoreError: the race is missing or unreadable.
        """
        with self._lock:
            try:
                if race_id not in {summary.id for summary in self._summaries()}:
                    raise FileNotFoundError
                return self._read_file(race_id)
            except (OSError, *_BROKEN) as error:
                log.warning("The race %s cannot be read: %s", race_id, type(error).__name__)
                raise RaceStoreError("This race cannot be read any more.", "Run it again.") from error

    def delete(self, race_id: str) -> None:
        """Delete a race; a missing one is ignored.

        Raises:
            RaceStoreError: its file cannot be deleted.
        """
        with self._lock:
            remaining = [summary for summary in self._summaries() if summary.id != race_id]
            if len(remaining) == len(self._summaries()):
                return
            try:
                self._file(race_id).unlink(missing_ok=True)
                self._write(remaining)
            except OSError as error:
                raise RaceStoreError(
                    i18n("The race could not be deleted: {reason}.", reason=error.strerror or error),
                    "Check the disk, then try again.",
                ) from error

    # ---- files ------------------------------------------------------------------------------------------------------

    def _file(self, race_id: str) -> Path:
        return self._folder / f"{race_id}.json"

    def _free_id(self, created: str) -> str:
        stem = "".join(char for char in created[:19] if char.isdecimal()) or "race"
        taken, number, name = {summary.id for summary in self._summaries()}, 1, stem
        while name in taken or self._file(name).exists():
            number += 1
            name = f"{stem}-{number}"
        return name

    def _summaries(self) -> list[RaceResult]:
        if self._known is None:
            self._known = self._read_index()
        return self._known

    def _read_index(self) -> list[RaceResult]:
        try:
            return [_result_from(each) for each in json.loads(_read_bytes(self._folder / INDEX))["races"]]
        except FileNotFoundError:
            pass
        except (OSError, *_BROKEN) as error:
            log.warning("The index of races cannot be read, so it is made anew: %s", type(error).__name__)
        found = []
        for file in sorted(self._folder.glob("*.json"), reverse=True)[: MAX_RACES + 1]:
            if file.name != INDEX:
                try:
                    found.append(_listed(self._read_file(file.stem)))
                except (OSError, *_BROKEN) as error:
                    log.warning("The race in %s cannot be read: %s", file.name, type(error).__name__)
        return sorted(found, key=lambda summary: summary.created, reverse=True)

    def _read_file(self, race_id: str) -> RaceResult:
        return replace(_result_from(json.loads(_read_bytes(self._file(race_id)))["race"]), id=race_id)

    def _write(self, summaries: list[RaceResult]) -> None:
        for old in summaries[MAX_RACES:]:
            self._file(old.id).unlink(missing_ok=True)
        self._known = summaries[:MAX_RACES]
        content = {"version": VERSION, "races": [_to_json(summary) for summary in self._known]}
        write_atomically(self._folder / INDEX, json.dumps(content, ensure_ascii=False).encode())


def _read_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError("the file is too long")
    return data


# ---- to JSON and back -----------------------------------------------------------------------------------------------


def _to_json(result: RaceResult) -> dict[str, object]:
    lanes = [
        {
            "choice": asdict(lane.choice),
            "stats": stats_to_text(lane.stats),
            "text": lane.text,
            "spans": spans_to_text(lane.spans),
        }
        for lane in result.lanes
    ]
    setup = asdict(replace(result.setup, before=(), pictures=(), lost_pictures=result.setup.num_pictures))
    setup["before"] = [{"role": message.role, "content": message.content} for message in result.setup.before]
    return {**asdict(replace(result, setup=RaceSetup(""), lanes=())), "setup": setup, "lanes": lanes}


def _result_from(data: Mapping[str, Any]) -> RaceResult:
    lanes = tuple(
        LaneResult(
            _read(LaneChoice, lane["choice"]),
            stats_from_text(lane["stats"]) or RunStats(),
            str(lane["text"]),
            spans_from_text(lane["spans"]),
        )
        for lane in data["lanes"]
    )
    before = tuple(Message(str(each["role"]), str(each["content"])) for each in data["setup"]["before"])
    setup: RaceSetup = _read(RaceSetup, {**data["setup"], "before": (), "pictures": ()})
    plain: RaceResult = _read(RaceResult, {**data, "setup": asdict(RaceSetup("")), "lanes": ()})
    if not all(0 <= lane < len(lanes) for one in plain.verdicts for lane in (one.lane, one.base)):
        raise ValueError("a verdict on a lane that does not exist")
    if not all(char.isdecimal() or char in "-race" for char in plain.id):
        raise ValueError("no id of a race")
    return replace(plain, setup=replace(setup, before=before), lanes=lanes)


def _listed(result: RaceResult) -> RaceResult:
    """What the index stores of a race."""
    lanes = tuple(replace(lane, text="", spans=()) for lane in result.lanes)
    return replace(result, setup=replace(result.setup, before=()), lanes=lanes, report="", markdown="")


def _read(kind: Any, data: Any) -> Any:  # noqa: ANN401  (JSON)
    """Convert JSON to ``kind``, a dataclass of plain values; raises one of `_BROKEN` for invalid JSON."""
    of = get_args(kind)
    if get_origin(kind) is tuple:
        return tuple(_read(of[0], each) for each in data)
    if of:  # for `X | None`
        return None if data is None else _read(of[0], data)
    if hasattr(kind, "__dataclass_fields__"):
        return kind(**{name: _read(one, data[name]) for name, one in _types_of(kind).items() if name in data})
    if kind in (int, float, bool) and not isinstance(data, int | float):
        raise TypeError("no number")
    return kind(data)


@cache
def _types_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401  (a dataclass)
    return get_type_hints(kind)
