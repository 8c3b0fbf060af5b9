"""Stores the measured speeds of pairs in one JSON file, shared by window and commands.

Damaged files and lines are ignored.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from app.core.domain.speed.pair_speed import AnswerSpeed, PairSpeed, RaceSpeed, newest_answers, newest_races
from app.core.storage.json_records import JSON_ERRORS, read_record
from engine.storage.json_store import JsonStore

_FORMAT = 1
Record = TypeVar("Record", AnswerSpeed, RaceSpeed)


class PairSpeeds:
    """The measured speeds. Safe for several threads and processes.

    Reading checks if the file has changed. All methods wait for the disk.
    """

    def __init__(self, file: Path) -> None:
        self._path = file
        self._file = JsonStore[PairSpeed | None](
            file.parent, file.name, "pairs", _FORMAT, _pair, lambda pair: pair and _data(pair)
        )
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[PairSpeeds], tuple[Path]]:
        """Pickle the path only: another process opens the same file."""
        return PairSpeeds, (self._path,)

    def get(self, target: str, draft: str) -> PairSpeed:
        """The record of a pair, named as in `app.core.domain.model_name`; an empty record if unknown."""
        return self._read().get(_key(target, draft), PairSpeed(target, draft))

    def all(self) -> tuple[PairSpeed, ...]:
        """All pairs, the last used pair at the end."""
        return tuple(self._read().values())

    def add_answer(self, target: str, draft: str, answer: AnswerSpeed) -> None:
        if answer.tokens > 0:
            self._change(target, draft, lambda pair: replace(pair, answers=newest_answers((*pair.answers, answer))))

    def add_race(self, target: str, draft: str, race: RaceSpeed) -> None:
        self._change(target, draft, lambda pair: replace(pair, races=newest_races((*pair.races, race))))

    def forget_answers(self) -> None:
        """Delete the records of answers; records of races stay."""
        with self._lock, self._file.locked():
            kept = {key: replace(pair, answers=()) for key, pair in self._read().items() if pair.races}
            self._file.write(kept)

    def _read(self) -> dict[str, PairSpeed]:
        found = self._file.read()
        return {_key(pair.target, pair.draft): pair for pair in found.values() if pair is not None}

    def _change(self, target: str, draft: str, change: Callable[[PairSpeed], PairSpeed]) -> None:
        key = _key(target, draft)
        with self._lock, self._file.locked():
            there = self._read()
            pair = change(there.pop(key, PairSpeed(target, draft)))
            self._file.write({**there, key: pair})


def _key(target: str, draft: str) -> str:
    return json.dumps([target, draft], ensure_ascii=False)


def _data(pair: PairSpeed) -> dict[str, Any]:
    return {
        "target": pair.target,
        "draft": pair.draft,
        "answers": [_short(astuple(answer)) for answer in pair.answers],
        "races": [_short(astuple(race)) for race in pair.races],
    }


def _short(values: tuple[Any, ...]) -> list[Any]:
    """Shorten a line: dates to seconds, numbers to six digits."""
    return [int(values[0]), *(float(f"{each:.6g}") if isinstance(each, float) else each for each in values[1:])]


def _pair(entry: Any) -> PairSpeed | None:  # noqa: ANN401 (whatever a file holds)
    """Parse a pair with its valid lines; None if its names are invalid."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in ("target", "draft")):
        return None
    answers = (one for one in _records(AnswerSpeed, entry) if one.tokens > 0 and one.accepted <= one.proposed)
    races = (one for one in _records(RaceSpeed, entry) if one.speedup > 0)
    return PairSpeed(entry["target"], entry["draft"], newest_answers(answers), newest_races(races))


def _records(kind: type[Record], entry: dict[str, Any]) -> Iterator[Record]:
    lines, names = entry.get("answers" if kind is AnswerSpeed else "races"), [field.name for field in fields(kind)]
    for line in lines if isinstance(lines, list) else ():
        with suppress(*JSON_ERRORS):
            yield read_record(kind, dict(zip(names, line, strict=True)))
