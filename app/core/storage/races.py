"""Kept races: a JSON file for each, and an index with a line for each, newest first.

A result is read only when somebody opens it. What cannot be read is left out of the list and logged.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.core.domain.errors import RaceStoreError
from app.core.domain.speed.races import (
    LaneChoice,
    LaneResult,
    LaneVerdict,
    Parting,
    RaceResult,
    RaceSetup,
    RaceSummary,
    summary_of,
)
from app.core.storage.atomic import write_atomically
from app.core.storage.chats.codec import spans_from_text, spans_to_text, stats_from_text, stats_to_text
from engine.records import Message, Mode, RunStats
from engine.sentences import said

log = logging.getLogger(__name__)

VERSION = 1
MOST_KEPT = 200  # of more the oldest go
MAX_FILE_BYTES = 16 << 20
INDEX = "index.json"
_BROKEN = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


class RaceStore:
    """All races of this user. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is made with the first race."""
        self._folder = folder
        self._lock = threading.Lock()
        self._known: list[RaceSummary] | None = None

    def __reduce__(self) -> tuple[type[RaceStore], tuple[Path]]:
        """Another process gets a store of its own on the same folder."""
        return RaceStore, (self._folder,)

    def refresh(self) -> None:
        """Look at the folder again: another process may have kept a race."""
        with self._lock:
            self._known = None

    def all(self) -> tuple[RaceSummary, ...]:
        """All of them, newest first."""
        with self._lock:
            return tuple(self._summaries())

    def keep(self, result: RaceResult) -> RaceResult:
        """Keep a race; gives it with the id that it has from now on.

        Raises:
            RaceStoreError: the disk does not take it.
        """
        with self._lock:
            kept = replace(result, id=self._free_id(result.created))
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                content = json.dumps({"version": VERSION, "race": _to_json(kept)}, ensure_ascii=False)
                write_atomically(self._file(kept.id), content.encode())
                self._write([summary_of(kept), *self._summaries()])
            except OSError as error:
                raise RaceStoreError(
                    said("The race could not be kept: {reason}.", reason=error.strerror or error),
                    "Export it, then check the disk.",
                ) from error
            return kept

    def read(self, race_id: str) -> RaceResult:
        """The whole of a race.

        Raises:
            RaceStoreError: it is gone, or cannot be read.
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
        """Remove a race; one that is gone already is no failure.

        Raises:
            RaceStoreError: its file cannot be removed.
        """
        with self._lock:
            kept = [summary for summary in self._summaries() if summary.id != race_id]
            if len(kept) == len(self._summaries()):
                return
            try:
                self._file(race_id).unlink(missing_ok=True)
                self._write(kept)
            except OSError as error:
                raise RaceStoreError(
                    said("The race could not be deleted: {reason}.", reason=error.strerror or error),
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

    def _summaries(self) -> list[RaceSummary]:
        if self._known is None:
            self._known = self._read_index()
        return self._known

    def _read_index(self) -> list[RaceSummary]:
        try:
            return [_summary_from(each) for each in json.loads(_bounded(self._folder / INDEX))["races"]]
        except FileNotFoundError:
            pass
        except (OSError, *_BROKEN) as error:
            log.warning("The index of races cannot be read, so it is made anew: %s", type(error).__name__)
        found = []
        for file in sorted(self._folder.glob("*.json"), reverse=True)[: MOST_KEPT + 1]:
            if file.name != INDEX:
                try:
                    found.append(summary_of(self._read_file(file.stem)))
                except (OSError, *_BROKEN) as error:
                    log.warning("The race in %s cannot be read: %s", file.name, type(error).__name__)
        return sorted(found, key=lambda summary: summary.created, reverse=True)

    def _read_file(self, race_id: str) -> RaceResult:
        return replace(_result_from(json.loads(_bounded(self._file(race_id)))["race"]), id=race_id)

    def _write(self, summaries: list[RaceSummary]) -> None:
        for old in summaries[MOST_KEPT:]:
            self._file(old.id).unlink(missing_ok=True)
        self._known = summaries[:MOST_KEPT]
        content = {"version": VERSION, "races": [asdict(summary) for summary in self._known]}
        write_atomically(self._folder / INDEX, json.dumps(content, ensure_ascii=False).encode())


def _bounded(path: Path) -> bytes:
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
    whole = {name: getattr(result, name) for name in _PLAIN_FIELDS}
    setup = asdict(replace(result.setup, before=(), pictures=(), lost_pictures=result.setup.num_pictures))
    setup["before"] = [{"role": message.role, "content": message.content} for message in result.setup.before]
    return {**whole, "setup": setup, "lanes": lanes, "verdicts": [asdict(verdict) for verdict in result.verdicts]}


_PLAIN_FIELDS = {
    "target": str,
    "draft": str,
    "target_path": str,
    "draft_path": str,
    "processor": str,
    "threads": int,
    "gpu_layers": int,
    "created": str,
    "num_rounds": int,
    "is_complete": bool,
    "temperature": float,
    "report": str,
    "markdown": str,
}


def _result_from(data: Mapping[str, Any]) -> RaceResult:
    plain: dict[str, Any] = {name: kind(data[name]) for name, kind in _PLAIN_FIELDS.items()}
    lanes = tuple(
        LaneResult(
            _choice_from(lane["choice"]),
            stats_from_text(lane["stats"]) or RunStats(),
            str(lane["text"]),
            spans_from_text(lane["spans"]),
        )
        for lane in data["lanes"]
    )
    setup = data["setup"]
    before = tuple(Message(str(each["role"]), str(each["content"])) for each in setup["before"])
    verdicts = tuple(_verdict_from(each, len(lanes)) for each in data["verdicts"])
    return RaceResult(
        setup=RaceSetup(
            str(setup["question"]),
            tuple(_choice_from(each) for each in setup["lanes"]),
            None if setup["rounds"] is None else int(setup["rounds"]),
            int(setup["max_tokens"]),
            bool(setup["greedy"]),
            before,
            lost_pictures=int(setup["lost_pictures"]),
        ),
        lanes=lanes,
        verdicts=verdicts,
        **plain,
    )


def _summary_from(data: Mapping[str, Any]) -> RaceSummary:
    texts = {name: str(data[name]) for name in ("id", "created", "question", "target", "draft", "target_path")}
    if not all(char.isdecimal() or char in "-race" for char in texts["id"]) or not texts["id"]:
        raise ValueError("no id of a race")
    lanes = tuple(_choice_from(each) for each in data["lanes"])
    verdict = data["verdict"]
    return RaceSummary(
        **texts,
        draft_path=str(data["draft_path"]),
        lanes=lanes,
        verdict=None if verdict is None else _verdict_from(verdict, len(lanes)),
    )


def _choice_from(data: Mapping[str, Any]) -> LaneChoice:
    depth = None if data["depth"] is None else int(data["depth"])
    names = ("draft", "target", "draft_name", "target_name")
    return LaneChoice(Mode(data["mode"]), depth, **{name: str(data[name]) for name in names})


def _verdict_from(data: Mapping[str, Any], num_lanes: int) -> LaneVerdict:
    parting, lane, base = data["parting"], int(data["lane"]), int(data["base"])
    if not (0 <= lane < num_lanes and 0 <= base < num_lanes):
        raise ValueError("a verdict on a lane that there is not")
    numbers = {name: _number(data[name]) for name in ("ratio", "low", "high")}
    return LaneVerdict(
        lane=lane,
        base=base,
        num_rounds=int(data["num_rounds"]),
        parting=None
        if parting is None
        else Parting(int(parting["token"]), int(parting["num_rounds"]), _number(parting["margin"])),
        temperature=float(data["temperature"]),
        is_complete=bool(data["is_complete"]),
        are_alike=bool(data["are_alike"]),
        **numbers,
    )


def _number(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float):
        raise TypeError("no number")
    return float(value)
