"""What heads are trained with: token ids of texts and the target's rows of them, in shards on the disk."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import ToolError
from engine.sentences import said
from engine.storage.atomic import replacing

HELD_OUT = 10  # every so manieth text is not trained on, the first among them
Ids = NDArray[np.int32]
Rows = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Reading:
    """One text: its ``ids`` [n], and the target's normed last rows [n - first, width] from place ``first`` on."""

    ids: Ids
    rows: Rows
    first: int


def write_shard(path: Path, readings: Sequence[Reading]) -> None:
    """Keep some readings, whole or not at all.

    Raises:
        OSError: there is no room.
    """
    with replacing(path, path.with_suffix(".part")) as part, part.open("wb") as file:
        np.savez(
            file,
            ids=np.concatenate([one.ids for one in readings]),
            rows=np.concatenate([one.rows for one in readings]),
            lengths=np.array([len(one.ids) for one in readings]),
            firsts=np.array([one.first for one in readings]),
        )


def read_shard(path: Path) -> list[Reading]:
    """What `write_shard` kept.

    Raises:
        ToolError: the file is damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as kept:
            ids, rows, lengths, firsts = (kept[name] for name in ("ids", "rows", "lengths", "firsts"))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ToolError(
            said("{name} of the training is damaged.", name=path.name), "Delete its folder and begin anew."
        ) from error
    found, place, row = [], 0, 0
    for length, first in zip(lengths.tolist(), firsts.tolist(), strict=True):
        found.append(Reading(ids[place : place + length], rows[row : row + length - first], first))
        place, row = place + length, row + length - first
    return found


class Samples:
    """All texts behind one another: ``rows`` [n, width] and ``ids`` [n] of the same places.

    ``places`` are those behind which ``count`` more tokens of the same text follow, and ``usable`` says of each place
    whether it is one.
    """

    def __init__(self, readings: Iterable[Reading], count: int) -> None:
        rows, ids, usable = list[Rows](), list[Ids](), list[NDArray[np.bool_]]()
        for one in readings:
            num = len(one.rows)
            if num > count:
                rows.append(one.rows)
                ids.append(one.ids[one.first :])
                usable.append(np.arange(num) < num - count)
        self.count = count
        self.rows = np.concatenate(rows) if rows else np.empty((0, 1), dtype=np.float16)
        self.ids = np.concatenate(ids) if ids else np.empty(0, dtype=np.int32)
        self.usable = np.concatenate(usable) if usable else np.empty(0, dtype=np.bool_)
        self.places = self.usable.nonzero()[0]

    def behind(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ``count`` places behind each [n, count]."""
        return places[:, None] + np.arange(1, self.count + 1)


def split(readings: Sequence[Reading]) -> tuple[list[Reading], list[Reading]]:
    """Those to train on, and those that are held out."""
    kept = [one for i, one in enumerate(readings) if i % HELD_OUT]
    return kept, [one for i, one in enumerate(readings) if not i % HELD_OUT]


def most_used(samples: Samples, n_vocab: int, count: int) -> NDArray[np.int64]:
    """The ``count`` ids that texts use most, ascending; after these the lowest, the commonest of most vocabularies."""
    used = np.bincount(samples.ids, minlength=n_vocab).astype(np.float64) + np.linspace(0.5, 0.0, n_vocab)
    return np.sort(np.argsort(-used, kind="stable")[:count])
