"""Stored races: a JSON file per race. Unreadable races are logged and left out."""

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.core.domain.errors import RaceStoreError
from app.core.domain.speed.races import LaneChoice, LaneResult, RaceResult, RaceSetup
from app.core.storage.atomic import write_atomically
from app.core.storage.chats.codec import spans_from_text, spans_to_text, stats_from_text, stats_to_text
from app.core.storage.json_records import JSON_ERRORS, read_record
from engine.records import Message, RunStats
from engine.sentences import i18n

log = logging.getLogger(__name__)

VERSION = 1
MAX_RACES = 200  # maximum number of races; the oldest are deleted
MAX_FILE_BYTES = 16 << 20


class RaceStore:
    """All races of this user, in a folder that is created with the first race."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> tuple[RaceResult, ...]:
        """All races, newest first, without the texts of their answers."""
        found = []
        for file in self._folder.glob("*.json"):
            try:
                found.append(_read_file(file, with_texts=False))
            except (OSError, *JSON_ERRORS) as error:
                log.warning("The race in %s cannot be read: %s", file.name, type(error).__name__)
        return tuple(sorted(found, key=lambda race: (race.created, len(race.id), race.id), reverse=True))

    def add(self, result: RaceResult) -> RaceResult:
        """Store a race; returns it with its new id.

        Raises:
            RaceStoreError: the race cannot be written.
        """
        stem = "".join(char for char in result.created[:19] if char.isdecimal()) or "race"
        number, name = 1, stem
        while self._file(name).exists():
            number += 1
            name = f"{stem}-{number}"
        stored = replace(result, id=name)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            content = json.dumps({"version": VERSION, "race": race_as_dict(stored)}, ensure_ascii=False)
            write_atomically(self._file(name), content.encode())
            for old in self.all()[MAX_RACES:]:
                self._file(old.id).unlink(missing_ok=True)
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
        try:
            return _read_file(self._file(race_id))
        except (OSError, *JSON_ERRORS) as error:
            log.warning("The race %s cannot be read: %s", race_id, type(error).__name__)
            raise RaceStoreError("This race cannot be read any more.", "Run it again.") from error

    def delete(self, race_id: str) -> None:
        """Delete a race; a missing one is ignored.

        Raises:
            RaceStoreError: its file cannot be deleted.
        """
        try:
            self._file(race_id).unlink(missing_ok=True)
        except OSError as error:
            raise RaceStoreError(
                i18n("The race could not be deleted: {reason}.", reason=error.strerror or error),
                "Check the disk, then try again.",
            ) from error

    def _file(self, race_id: str) -> Path:
        return self._folder / f"{race_id}.json"


def _read_file(file: Path, *, with_texts: bool = True) -> RaceResult:
    with file.open("rb") as handle:
        data = handle.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError("the file is too long")
    return replace(_result_from(json.loads(data)["race"], with_texts=with_texts), id=file.stem)


def race_as_dict(result: RaceResult) -> dict[str, object]:
    """A race as JSON; pictures are left out."""
    lanes = [
        {
            "choice": asdict(lane.choice),
            "stats": json.loads(stats_to_text(lane.stats) or "null"),
            "text": lane.text,
            "spans": spans_to_text(lane.spans),
        }
        for lane in result.lanes
    ]
    setup = asdict(replace(result.setup, before=(), pictures=(), lost_pictures=result.setup.num_pictures))
    setup["before"] = [{"role": message.role, "content": message.content} for message in result.setup.before]
    return {**asdict(replace(result, setup=RaceSetup(""), lanes=())), "setup": setup, "lanes": lanes}


def _result_from(data: Mapping[str, Any], *, with_texts: bool = True) -> RaceResult:
    if any(lane["choice"].get("target") for lane in data["lanes"]):
        raise ValueError("a lane with a target of its own, which earlier versions had")
    lanes = tuple(
        LaneResult(
            read_record(LaneChoice, lane["choice"]),
            # Earlier versions wrote a text.
            stats_from_text(lane["stats"] if isinstance(lane["stats"], str) else json.dumps(lane["stats"]))
            or RunStats(),
            str(lane["text"]) if with_texts else "",
            spans_from_text(lane["spans"]) if with_texts else (),
        )
        for lane in data["lanes"]
    )
    before = tuple(Message(str(each["role"]), str(each["content"])) for each in data["setup"]["before"])
    rounds = data["setup"]["rounds"] or data["num_rounds"]  # None in earlier versions: until the result was certain
    setup: RaceSetup = read_record(RaceSetup, {**data["setup"], "rounds": rounds, "before": (), "pictures": ()})
    plain: RaceResult = read_record(RaceResult, {**data, "setup": asdict(RaceSetup("")), "lanes": ()})
    if not all(0 <= lane < len(lanes) for one in plain.verdicts for lane in (one.lane, one.base)):
        raise ValueError("a verdict on a lane that does not exist")
    return replace(plain, setup=replace(setup, before=before), lanes=lanes)
