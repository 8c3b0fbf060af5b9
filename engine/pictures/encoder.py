"""The encoder of a vision model, which converts pictures to ids of a prompt and to embeddings in the target's cache.

Embeddings are cached by the digest of a picture's pixels, within a memory limit.
"""

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from engine.errors import PictureError
from engine.interfaces import PictureRun, PictureRuns
from engine.llama import library
from engine.llama.context import LlamaContext
from engine.llama.model import LlamaModel
from engine.llama.mtmd import MtmdContext, PictureChunk, PictureRows, TokenizedPicture
from engine.picture import Picture
from engine.pictures.side_file import row_end
from engine.storage.cost_store import file_facts, key_of

MAX_NAMED_RUNS = 8192  # runs, of a few hundred bytes each
_MIN_ID = -(2**31)
# -1 separates conversations in `engine.drafters.suffix.index`. Ids are never reused, so an id of an older encoder
# cannot mean another picture in a newer encoder.
_next_id = -2
_id_lock = threading.Lock()
_MAX_CACHED_PICTURES = 512  # pictures with cached ids; more than a prompt has
_MAX_CACHED_ROW_BYTES = 256 << 20


def _take_ids(count: int) -> int:
    """Reserve ``count`` ids, and return the first."""
    global _next_id  # noqa: PLW0603  (one numbering for all sessions of the process)
    with _id_lock:
        first = _next_id
        if first - count < _MIN_ID:
            raise PictureError("Too many pictures have been read since the start.", "Restart Paceline.")
        _next_id = first - count
    return first


class NamedRuns:
    """The runs of one encoder, by names, which are valid in any process, and by ids, which are valid in this process.

    A name identifies a picture, its part and the encoder, so that saved conversations stay valid.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, PictureRun] = {}
        self._names: dict[int, str] = {}  # by first id
        self._begins: list[int] = []  # absolute values of the first ids, ascending

    def __len__(self) -> int:
        return len(self._by_name)

    def run_named(self, name: str, num_tokens: int, num_positions: int) -> PictureRun:
        """See `PictureRuns.run_named`. A different size makes a new run."""
        run = self._by_name.get(name)
        if run is not None and (run.num_tokens, run.num_positions) == (num_tokens, num_positions):
            return run
        if run is not None:
            self._forget([run.first_id])
        run = self._by_name[name] = PictureRun(_take_ids(num_tokens), num_tokens, num_positions)
        self._names[run.first_id] = name
        self._begins.append(-run.first_id)
        return run

    def name_of(self, run: PictureRun) -> str | None:
        return self._names.get(run.first_id)

    def run_at(self, place_id: int) -> PictureRun | None:
        number = bisect_right(self._begins, -place_id) - 1
        if number < 0:
            return None
        run = self._by_name[self._names[-self._begins[number]]]
        return run if place_id in run.ids else None

    def forget_unused(self, used: Collection[int]) -> None:
        """Drop the oldest runs beyond the limit, except those whose first ids are in ``used``."""
        over = len(self) - MAX_NAMED_RUNS
        if over > 0:
            self._forget([-begin for begin in self._begins[:over] if -begin not in used])

    def _forget(self, first_ids: Collection[int]) -> None:
        for first in first_ids:
            del self._by_name[self._names.pop(first)]
        self._begins = [begin for begin in self._begins if -begin in self._names]


@dataclass(slots=True)
class _CachedPicture:
    """A tokenized picture: text ids, and runs with libmtmd's chunks."""

    parts: list[list[int] | PictureRun]
    chunks: dict[int, PictureChunk]  # by the run's first id, without pixels
    whole: TokenizedPicture | None  # has the pixels; None once all runs are encoded
    ids: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = list(chain.from_iterable(part.ids if isinstance(part, PictureRun) else part for part in self.parts))


class PictureEncoder:
    """The encoder of a loaded target, used on its thread. Each context of the target needs its own `runs_for`."""

    def __init__(self, path: Path, model: LlamaModel, threads: int) -> None:
        """Load the side file ``path`` for a model.

        Raises:
            ModelLoadError: llama.cpp refused it.
        """
        self._mtmd = MtmdContext(path, model, threads)
        self._mtmd.row_end = row_end(path)
        self.path = path
        # By digest of the picture, least recently used first.
        self._cached_pictures: OrderedDict[str, _CachedPicture] = OrderedDict()
        self._pixels: dict[str, Picture] = {}  # pictures of prompts since `release`
        self._rows: OrderedDict[int, PictureRows] = OrderedDict()  # by first id of the run, least recently used first
        self.runs = NamedRuns()
        self._key = key_of(*file_facts(str(path)), *library.build_facts())  # identifies file and build in names of runs
        self.num_encoded = 0
        self.num_readers = 0  # answers in progress, which may need embeddings

    def close(self) -> None:
        self.release()
        for known in self._cached_pictures.values():
            self._drop_rows(known)
        self._cached_pictures.clear()
        self._rows.clear()
        self._mtmd.close()

    def ids_of(self, picture: Picture) -> list[int]:
        """The ids of a picture in a prompt: text tokens around it, and negative ids for its embeddings.

        Raises:
            PictureError: the encoder cannot take it.
        """
        known = self._cached_pictures.get(picture.digest)
        if known is None:
            known = self._cached_pictures[picture.digest] = self._cached_picture(picture)
            while len(self._cached_pictures) > _MAX_CACHED_PICTURES:
                self._drop_rows(self._cached_pictures.popitem(last=False)[1])
            self.runs.forget_unused({first for each in self._cached_pictures.values() for first in each.chunks})
        self._cached_pictures.move_to_end(picture.digest)
        self._pixels[picture.digest] = picture
        return known.ids

    def release(self) -> None:
        """Free all pixels; called when no answer is in progress."""
        self._pixels.clear()
        for known in self._cached_pictures.values():
            if known.whole is not None:
                known.whole.close()
                known.whole = None

    def runs_for(self, context: LlamaContext) -> PictureRuns:
        return _ContextRuns(self, context)

    def append(self, run: PictureRun, context: LlamaContext) -> None:
        known = next((each for each in reversed(self._cached_pictures.values()) if run.first_id in each.chunks), None)
        if known is None:
            raise PictureError("A picture of this conversation is no longer available.", "Send the message again.")
        rows = self._rows.get(run.first_id)
        if rows is None:
            rows = self._encode(known, run)
        self._mtmd.decode(context, known.chunks[run.first_id], rows)

    def _cached_picture(self, picture: Picture) -> _CachedPicture:
        whole = self._mtmd.tokenize(picture)
        parts, chunks = list[list[int] | PictureRun](), dict[int, PictureChunk]()
        for part in whole.parts:
            if isinstance(part, list):
                parts.append(part)
                continue
            name = f"{self._key} {picture.digest} {len(chunks)}"
            run = self.runs.run_named(name, part.num_tokens, part.num_positions)
            parts.append(run)
            chunks[run.first_id] = self._mtmd.make_placeholder(part)
        return _CachedPicture(parts, chunks, whole)

    def _encode(self, known: _CachedPicture, run: PictureRun) -> PictureRows:
        """Encode a run, and cache its embeddings."""
        if known.whole is None:
            digest = next(digest for digest, one in self._cached_pictures.items() if one is known)
            if digest not in self._pixels:
                raise PictureError("A picture of this conversation is no longer available.", "Send the message again.")
            known.whole = self._mtmd.tokenize(self._pixels[digest])
        number = [part.first_id for part in known.parts if isinstance(part, PictureRun)].index(run.first_id)
        rows = self._mtmd.encode(known.whole.chunks[number])
        self.num_encoded += 1
        self._rows[run.first_id] = rows
        while len(self._rows) > 1 and sum(one.nbytes for one in self._rows.values()) > _MAX_CACHED_ROW_BYTES:
            self._rows.popitem(last=False)
        if all(first in self._rows for first in known.chunks):
            known.whole.close()
            known.whole = None
        return rows

    def _drop_rows(self, known: _CachedPicture) -> None:
        if known.whole is not None:
            known.whole.close()
        for first, chunk in known.chunks.items():
            self._mtmd.free(chunk)
            self._rows.pop(first, None)


class _ContextRuns:
    def __init__(self, encoder: PictureEncoder, context: LlamaContext) -> None:
        self._encoder, self._context = encoder, context
        self.run_of, self.run_named, self.name_of = encoder.runs.run_at, encoder.runs.run_named, encoder.runs.name_of

    def append(self, run: PictureRun) -> None:
        self._encoder.append(run, self._context)
