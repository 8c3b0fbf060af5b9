"""The text of past conversations as token ids of one vocabulary: bounded, indexed in idle time, saved in one file.

Everything stays on this machine. A file of another vocabulary or version, or with a wrong checksum, is not read. The
file does not record the conversation of a token, so one conversation cannot be deleted alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import math
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from engine.drafters.suffix.index import BOUNDARY, MAX_SUBSTRING, SuffixIndex
from engine.interfaces import Tokenizer
from engine.sampling.sampler import History
from engine.storage.atomic import write_atomically

log = logging.getLogger(__name__)

MAX_TOKENS = 600_000  # each takes about 85 bytes in memory, four on disk
_TRIMMED_SHARE = 0.75  # share of `MAX_TOKENS` that stays, the newest, once the limit is exceeded
_MAGIC = b"paceline past 1\n"
_DIGEST = 32
_PATTERN = "past-*.ids"
_STALE_PART_S = 3600.0
_TOKENS_PER_SLICE = 256  # tokens indexed between two reads of the clock
_MIN_COMMON_PREFIX = 64  # tokens; a common prefix of conversations is learnt once if it is at least this long
_NUM_RECENT = 8  # latest conversations whose common prefix is looked up, for chats that alternate


class VocabularyDigest:
    """SHA-256 of all tokens' texts, which identifies a vocabulary. Computed in slices."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._sum = hashlib.sha256()
        self._next = 0

    def work(self, ends: float) -> bool:
        """Continue until ``ends`` on the clock of `time.perf_counter`; return True once it is complete."""
        n_vocab, text = self._tokenizer.n_vocab, self._tokenizer.token_text
        while self._next < n_vocab and time.perf_counter() < ends:
            first, self._next = self._next, min(self._next + _TOKENS_PER_SLICE, n_vocab)
            texts = [text(token_id).encode("utf-8", "surrogatepass") for token_id in range(first, self._next)]
            self._sum.update(b"\0".join((*texts, b"")))
        return self._next == n_vocab

    def digest(self) -> bytes:
        """Complete the computation; return the 32 bytes."""
        self.work(math.inf)
        return self._sum.digest()


class PastTextIndex:
    """The index of past text, and the tokens that are not indexed yet."""

    def __init__(self, folder: Path | None, vocabulary: VocabularyDigest, max_tokens: int = MAX_TOKENS) -> None:
        """Without a ``folder`` nothing is saved. `work` reads the file, since the vocabulary's hash takes a while."""
        self._vocabulary = vocabulary
        self._folder = folder
        self._is_read = folder is None
        self._max_tokens = max_tokens
        self._pending = array("i")
        self._next = 0  # index of the first token to be indexed
        self._recent: list[History] = []  # latest last
        self._changed = False
        self.index = SuffixIndex()

    @property
    def has_work(self) -> bool:
        return not self._is_read or self._next < len(self._pending) or self._changed

    def learn(self, ids: Sequence[int]) -> None:
        """Add a conversation that ended or continued; `work` indexes it."""
        learnt = np.array(ids, dtype=np.int32)
        shared, number = max(
            ((_common_prefix_length(one, learnt), i) for i, one in enumerate(self._recent)), default=(0, 0)
        )
        start = max(0, shared - MAX_SUBSTRING) if shared >= _MIN_COMMON_PREFIX else 0
        if shared < len(ids):
            self._pending.extend((BOUNDARY, *ids[start:]))
            self._changed = True
        if self._recent and 2 * shared > len(self._recent[number]):  # the conversation continued, or was answered again
            del self._recent[number]
        self._recent = [*self._recent, learnt][-_NUM_RECENT:]

    def work(self, budget_s: float) -> None:
        """Read or index for about ``budget_s`` seconds, and save when done. Must not run during an answer."""
        ends = time.perf_counter() + budget_s
        if not self._is_read:
            if self._vocabulary.work(ends):
                self._load()
            return
        while self._next < len(self._pending) and time.perf_counter() < ends:
            part = self._pending[self._next : self._next + _TOKENS_PER_SLICE]
            self._next += len(part)
            self.index.extend(part)
        if self._next < len(self._pending):
            return
        self._pending, self._next = array("i"), 0
        if len(self.index) > self._max_tokens:
            self._pending = array("i", self.index.ids[-int(_TRIMMED_SHARE * self._max_tokens) :].tolist())
            self.index = SuffixIndex()
        elif self._changed:
            self.save()

    def save(self) -> None:
        """Write all tokens, indexed or not; a failure is only logged."""
        if not self._changed or self._folder is None:
            self._changed = False
            return
        if not self._is_read:
            self._load()
        file = self._file(self._folder)
        ids = np.concatenate((self.index.ids, np.array(self._pending[self._next :], dtype=np.int32)))
        data = ids[-self._max_tokens :].astype("<i4").tobytes()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, _MAGIC + self._vocabulary.digest() + hashlib.sha256(data).digest() + data)
        except OSError as error:
            log.warning("what past conversations said could not be kept: %s", error)
        self._changed = False

    def forget(self) -> None:
        """Delete the text of every vocabulary in memory and on disk.

        Raises:
            OSError: a file cannot be deleted.
        """
        self.index, self._pending, self._next = SuffixIndex(), array("i"), 0
        self._recent, self._changed = [], False
        if self._folder is not None:
            forget_files(self._folder)

    def _file(self, folder: Path) -> Path:
        return folder / _PATTERN.replace("*", self._vocabulary.digest().hex()[:16])

    def _load(self) -> None:
        """Insert the saved text before the text learnt since."""
        self._is_read = True
        if self._folder is not None:
            self._pending = self._read(self._file(self._folder)) + self._pending
            # Delete old partial files, whose writer was killed.
            for path in self._folder.glob(_PATTERN.replace(".ids", ".part")):
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > _STALE_PART_S:
                        path.unlink()

    def _read(self, file: Path) -> array[int]:
        if not file.is_file():
            return array("i")
        head = len(_MAGIC) + 2 * _DIGEST
        try:
            content = file.read_bytes()
        except OSError as error:
            log.warning("what past conversations said could not be read: %s", error)
            return array("i")
        data = content[head:]
        if content[:head] != _MAGIC + self._vocabulary.digest() + hashlib.sha256(data).digest() or len(data) % 4:
            log.warning("%s is damaged or of another vocabulary and is not read", file.name)
            return array("i")
        ids = np.frombuffer(data, dtype="<i4")[-self._max_tokens :]
        return array("i", ids.astype(np.intc).tobytes())


def forget_files(folder: Path) -> None:
    """Delete the files of all vocabularies in ``folder``; raises `OSError` if one cannot be deleted."""
    for pattern in (_PATTERN, _PATTERN.replace(".ids", ".part")):
        for path in folder.glob(pattern):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()


def _common_prefix_length(left: History, right: History) -> int:
    length = min(len(left), len(right))
    differs = np.flatnonzero(left[:length] != right[:length])
    return int(differs[0]) if len(differs) else length


class PastText:
    """The past text of a session and its slots, saved in ``folder``; None: not saved."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._current: PastTextIndex | None = None

    @property
    def index(self) -> SuffixIndex | None:
        """The part indexed so far; None if nothing is indexed."""
        return self._current.index if self._current is not None else None

    @property
    def has_work(self) -> bool:
        return self._current.has_work if self._current is not None else self._folder is not None

    def learn(self, ids: list[int], vocab: Tokenizer) -> None:
        self._index_of(vocab).learn(ids)

    def work(self, budget_s: float, vocab: Tokenizer) -> None:
        self._index_of(vocab).work(budget_s)

    def forget(self) -> None:
        """Delete the text of every vocabulary; raises `OSError` if a file cannot be deleted."""
        if self._current is not None:
            self._current.forget()
        elif self._folder is not None:
            forget_files(self._folder)

    def save_and_drop(self) -> None:
        """Save and drop the index, before the model of its vocabulary is unloaded."""
        if self._current is not None:
            self._current.save()
        self._current = None

    def _index_of(self, vocab: Tokenizer) -> PastTextIndex:
        if self._current is None:
            self._current = PastTextIndex(self._folder, VocabularyDigest(vocab))
        return self._current
