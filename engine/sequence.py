"""A model together with the ids that its cache holds, so that the next prompt decodes only what is new.

Knows neither text nor drafts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from engine.interfaces import LanguageModel, Rows, TokenIds
from engine.sampling import History

FIRST_CHUNK = 32  # tokens of the first prefill pass: small, because nothing is known yet of this machine's speed
LARGEST_CHUNK = 512
CHUNK_S = 0.25  # a stop is noticed after about this long


class CachedSequence:
    """Implements `LanguageModel` and remembers ids; ``forward`` and ``rollback`` of the model go through it."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._ids: History = np.zeros(model.n_ctx, dtype=np.int32)
        self._forward = model.forward
        self.n_vocab = model.n_vocab
        self.n_ctx = model.n_ctx
        self.num_past = model.num_past

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`."""
        rows = self._forward(ids, n_rows, num_padding)
        past = self.num_past
        self.num_past = past + len(ids)
        self._ids[past : self.num_past] = ids
        return rows

    def rollback(self, num_past: int) -> bool:
        """See `LanguageModel.rollback`."""
        if num_past >= self.num_past:
            return True
        if not self._model.rollback(num_past):
            return False
        self.num_past = num_past
        return True

    def clear(self) -> None:
        """Forget everything."""
        self._model.clear()
        self.num_past = 0

    def reuse(self, ids: History) -> int:
        """Keep what the cache shares with the beginning of ``ids``, forget the rest; return how many tokens stay.

        At least the last of ``ids`` is left to decode: its row is needed. A memory that cannot drop a tail is cleared.
        """
        limit = min(self.num_past, len(ids) - 1)
        differs = np.flatnonzero(self._ids[:limit] != ids[:limit])
        shared = int(differs[0]) if len(differs) else max(0, limit)
        if not self.rollback(shared):
            self.clear()
        return self.num_past

    def prefill(self, ids: History) -> Iterator[int]:
        """Decode ``ids`` without rows, in chunks of about `CHUNK_S` seconds; yield how many are done after each."""
        done, size = 0, FIRST_CHUNK
        while done < len(ids):
            started = time.perf_counter()
            chunk = ids[done : done + size]
            self.forward(chunk, 0)
            done += len(chunk)
            seconds = max(time.perf_counter() - started, 1e-6)
            size = max(FIRST_CHUNK, min(LARGEST_CHUNK, 2 * size, int(len(chunk) * CHUNK_S / seconds)))
            yield done
