"""Wraps heads as language models for `DraftModelDrafter`.

A head reads a token together with the hidden row of the token before it: the target's row if the target has read that
token, else the head's own. Tokens read ahead of the target are read again once its rows are available, in the same pass
as later tokens. llama.cpp does the same in common/speculative.cpp (`common_speculative_impl_draft_mtp` and
`..._eagle3`), except that its EAGLE-3 reads a token at the position of the row. Attention depends on distances only, so
the result is the same.

Pictures are skipped: the head's cache has no positions for them, and the next token is read without a row.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import DecodeError
from engine.heads.tap import HiddenRowRecorder
from engine.interfaces import Candidates, Rows, TokenIds, likely_candidates
from engine.llama.context import N_BATCH
from engine.llama.head_context import BlockContext, HeadContext, HiddenRows, RowContext

MAX_LOST_ROWS = 16  # most tokens that are read without rows; if more rows are lost, the head starts over


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Properties of a head.

    Attributes:
        num_layers: next-token layers, each trained for one drafting step and with a separate cache.
        has_encoder: whether the target's rows are projected first (EAGLE-3).
        reads_first_token: whether the head reads the first token, which has no row before it, with zeros (MTP).
    """

    num_layers: int = 1
    has_encoder: bool = False
    reads_first_token: bool = True


@dataclass(slots=True)
class _ReadAhead:
    """Tokens read ahead of the target, and the row that each was read with."""

    base: int = 0  # position of `ids[0]`, which is the last token read with the target's row
    ids: list[int] = field(default_factory=list)
    rows: list[HiddenRows] = field(default_factory=list)
    layer: int = 0  # layer that has read all of `ids`

    def clear(self) -> None:
        self.ids.clear()
        self.rows.clear()
        self.layer = 0


ContextT = TypeVar("ContextT", bound=RowContext)


class RowModel(ABC, Generic[ContextT]):
    """Base `engine.interfaces.LanguageModel` that reads the target's rows; subclasses implement reading ahead."""

    num_snapshots = None
    num_candidates = 0

    def __init__(self, context: ContextT, tap: HiddenRowRecorder, shape: HeadShape) -> None:
        self._context, self._tap, self._shape = context, tap, shape
        self.n_vocab, self.n_ctx, self.n_ubatch = context.n_vocab, context.n_ctx, context.n_ubatch
        self._num_read = 0  # number of tokens read with the target's rows
        self._unverified_ids: list[int] = []  # tokens read ahead of the target
        self._begin = 0  # number of first tokens that were skipped, since their rows were lost
        self._pictures: list[tuple[int, int]] = []  # begin and end of later pictures, ascending

    @property
    def num_past(self) -> int:
        return self._num_read + len(self._unverified_ids)

    def has_lost_beginning(self, floor: int = 0) -> bool:
        """Whether tokens after ``floor`` were skipped because their rows were lost, apart from the first token."""
        return self._begin > max(1, floor)

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """See `LanguageModel.forward`. Takes any number of ids, and gives up to `MAX_HEAD_ROWS` rows.

        Raises:
            DecodeError: a pass failed; tokens read ahead of the target may be dropped.
        """
        try:
            return self._forward([*self._unverified_ids, *(int(one) for one in ids)], len(ids), n_rows)
        except DecodeError:
            self._context.rollback(self._num_read)
            self._num_read = min(self._num_read, self._context.num_past)
            self._drop_read_ahead()
            raise

    def _forward(self, ids: list[int], num_new: int, n_rows: int) -> Rows:
        """Read ``ids``, whose first tokens were already read ahead."""
        settled = min(len(ids), max(0, self._tap.num_past + 1 - self._num_read))
        if settled and self._unverified_ids:
            self._context.rollback(self._num_read)
        if not settled:
            return self._read_ahead(ids[-num_new:], n_rows)
        self._drop_read_ahead()
        rest = ids[settled:]
        wanted = max(0, n_rows - len(rest))
        rows = self._read(ids[:settled], max(wanted, 1) if n_rows else 0)
        if not rest:
            return rows
        kept = rows[len(rows) - wanted :].copy()
        return np.concatenate([kept, self._read_ahead(rest, min(n_rows, len(rest)))])

    # ---- after the target -----------------------------------------------------------------------------------------

    def _read(self, ids: list[int], n_rows: int) -> Rows:
        """Read tokens that the target has read, and skip pictures."""
        if min(ids) >= 0:
            rows = self._read_text(ids, n_rows)
        else:
            stretches = [(is_run, list(stretch)) for is_run, stretch in groupby(ids, lambda one: one < 0)]
            for is_run, stretch in stretches[:-1]:
                _ = self._skip_picture(len(stretch)) if is_run else self._read_text(stretch, 0)
            is_run, stretch = stretches[-1]
            rows = self._skip_picture(len(stretch)) if is_run else self._read_text(stretch, n_rows)
        self._tap.release(self._num_read - 1)
        return rows

    def _skip_picture(self, num_tokens: int) -> Rows:
        """Skip tokens of pictures, which take no positions in the head's cache."""
        end = self._num_read + num_tokens
        if self._num_read == self._begin:  # no token was read before the picture
            self._context.move_to(end)
            self._begin = end
        else:
            self._context.append_run(num_tokens, 0, lambda _handle, _position: 0)
            self._pictures.append((self._num_read, end))
        self._num_read = end
        self._forget_ahead()
        return self._context.no_rows

    def _read_text(self, ids: list[int], n_rows: int) -> Rows:
        """Read text tokens in passes of at most `N_BATCH`."""
        skipped = self._num_lost(ids, n_rows)
        if skipped:
            self._context.move_to(self._num_read + skipped)
            self._num_read = self._begin = self._num_read + skipped
            self._pictures.clear()
            ids = ids[skipped:]
        rows = self._context.no_rows
        for first in range(0, len(ids), N_BATCH):
            chunk = ids[first : first + N_BATCH]
            is_last = first + N_BATCH >= len(ids)
            rows = self._read_chunk(chunk, n_rows if is_last else 0)
        return rows

    @abstractmethod
    def _read_chunk(self, ids: list[int], n_rows: int) -> Rows:
        """Read tokens with the target's rows in one pass; return logits after the last ``n_rows``."""

    @abstractmethod
    def _read_ahead(self, ids: Sequence[int], n_rows: int) -> Rows:
        """Read tokens ahead of the target, and add them to `_unverified_ids`."""

    def _forget_ahead(self) -> None:
        """Called if the tokens read ahead turn out wrong."""

    def _num_lost(self, ids: list[int], n_rows: int) -> int:
        """Number of first ``ids`` to skip because their rows are lost.

        All tokens without rows are skipped if the cache is empty, else only if more than `MAX_LOST_ROWS` rows are lost.
        """
        position, tap, most = self._num_read, self._tap, len(ids) - n_rows
        if not tap.is_on:  # the head's speed is being measured
            return 0
        known = tap.first + 1 if tap.end > tap.first else tap.num_past + 1  # first token that can be read with a row
        if position == 0 and known <= 1:  # the first token never has a row
            return 0 if self._shape.reads_first_token else min(1, most)
        lost = max(0, min(known - position, most))
        return lost if position == self._begin or lost > MAX_LOST_ROWS else 0

    def _hidden(self, position: int, count: int) -> HiddenRows:
        """The rows to read ``count`` tokens from ``position`` on with; zeros for lost rows."""
        tap, hidden = self._tap, np.zeros((count, self._context.width), dtype=np.float32)
        first, end = max(position - 1, tap.first), min(position - 1 + count, tap.end)
        if end > first:
            rows = tap.rows(first, end - first)
            begin = first - (position - 1)
            hidden[begin : begin + end - first] = self._encode_rows(rows)
        return hidden

    def _encode_rows(self, rows: HiddenRows) -> HiddenRows:
        """Convert rows of the target to inputs of the head's context."""
        return rows

    def _drop_read_ahead(self) -> None:
        self._unverified_ids = []
        self._forget_ahead()

    # ---- the rest of a language model -------------------------------------------------------------------------------

    def rollback(self, num_past: int) -> bool:
        if num_past >= self.num_past:
            return True
        run = next((one for one in self._pictures if one[0] < num_past < one[1]), None)
        if not self._context.rollback(num_past if run is None else run[0]):
            return False
        self._forget_ahead()
        if num_past > self._num_read:
            del self._unverified_ids[num_past - self._num_read :]
            return True
        self._unverified_ids, self._num_read = [], num_past
        self._pictures = [one for one in self._pictures if one[1] <= num_past]
        if run is not None:
            self._num_read = run[0]
            self._skip_picture(num_past - run[0])
        if num_past <= self._begin:
            self._context.move_to(num_past)
            self._begin = num_past
        return True

    def save(self) -> bool:
        """See `LanguageModel.save`; does nothing, since any tail can be dropped."""
        return False

    def restore(self) -> bool:
        self.clear()
        return False

    @property
    def state_bytes(self) -> int:
        return self._context.state_bytes

    def export_state(self) -> NDArray[np.uint8] | None:
        """See `LanguageModel.export_state`; None if all tokens were skipped."""
        return self._context.export_state() if self.num_past > self._begin else None

    def import_state(self, state: NDArray[np.uint8], num_past: int, gaps: Sequence[tuple[int, int]] = ()) -> bool:
        self.clear()
        if not self._context.import_state(state, num_past, gaps):
            return False
        self._num_read = num_past
        return True

    def clear(self) -> None:
        self._context.clear()
        self._drop_read_ahead()
        self._num_read = self._begin = 0
        self._pictures = []


class HeadModel(RowModel[HeadContext]):
    """MTP and EAGLE-3 heads, which read tokens ahead of the target with their own rows."""

    def __init__(self, context: HeadContext, tap: HiddenRowRecorder, shape: HeadShape) -> None:
        super().__init__(context, tap, shape)
        self._ahead = _ReadAhead()
        self._own_row: HiddenRows | None = None  # the head's row after the last token
        self._zeros = np.zeros(context.width, dtype=np.float32)

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        row = self.forward(ids, 1)[0]
        return Candidates(np.arange(self.n_vocab, dtype=np.int64), row.copy())

    def _read_chunk(self, ids: list[int], n_rows: int) -> Rows:
        context, position = self._context, self._num_read
        hidden = self._hidden(position, len(ids))
        for layer in range(self._shape.num_layers - 1, 0, -1):  # each layer fills its cache; layer 0 gives the logits
            context.use_layer(layer)
            context.read(ids, hidden, 0)
            context.rollback(position)
        if self._shape.num_layers > 1:
            context.use_layer(0)
        rows = context.read(ids, hidden, n_rows)
        self._num_read = position + len(ids)
        if n_rows:
            self._own_row = context.last_row()
            ahead = self._ahead
            ahead.base, ahead.ids[:], ahead.rows[:] = self._num_read - 1, ids[-1:], [hidden[-1].copy()]
        return rows

    def _encode_rows(self, rows: HiddenRows) -> HiddenRows:
        return self._context.encode(rows) if self._shape.has_encoder else rows

    def _forget_ahead(self) -> None:
        self._own_row = None
        self._ahead.clear()

    def _read_ahead(self, ids: Sequence[int], n_rows: int) -> Rows:
        """Read tokens ahead of the target, one by one if rows are needed, since each needs the previous row."""
        if not n_rows:  # the head's speed is being measured
            for first in range(0, len(ids), N_BATCH):
                chunk = ids[first : first + N_BATCH]
                self._context.read(chunk, np.zeros((len(chunk), self._context.width), dtype=np.float32), 0)
            self._unverified_ids += ids
            self._own_row = None
            self._ahead.clear()
            return self._context.no_rows
        given = [self._step(one) if i == len(ids) - 1 else self._step(one).copy() for i, one in enumerate(ids)]
        return given[-1] if n_rows == 1 else np.concatenate(given[-n_rows:])

    def _step(self, token_id: int) -> Rows:
        """Read one token with the head's own row, or all tokens again if another layer is trained for this step."""
        context, ahead = self._context, self._ahead
        row = self._own_row if self._own_row is not None else self._zeros
        layer = min(len(self._unverified_ids) + 1, self._shape.num_layers - 1)
        ahead.ids.append(token_id)
        ahead.rows.append(row)
        if layer != ahead.layer and len(ahead.ids) == self._num_read - ahead.base + len(self._unverified_ids) + 1:
            context.rollback(ahead.base)
            context.use_layer(layer)
            rows = context.read(ahead.ids, np.stack(ahead.rows), 1)
            ahead.layer = layer
        else:
            rows = context.read([token_id], row[np.newaxis], 1)
        self._unverified_ids.append(token_id)
        self._own_row = context.last_row()
        return rows


class BlockModel(RowModel[BlockContext]):
    """DFlash and DSpark heads, which draft a block of tokens in one pass; reading drafted tokens takes no pass.

    The input is the target's rows of all earlier tokens, the last token of the text (the anchor), and mask tokens
    (DFlash: https://arxiv.org/abs/2602.06036, DSpark: https://arxiv.org/abs/2607.05147; llama.cpp's
    common/speculative.cpp, `common_speculative_impl_draft_dflash`). Each row of the block is the distribution of one
    token. The distribution depends only on the text (for DFlash2 also on the previous sampled token), so it is verified
    like any draft. llama.cpp computes DSpark's Markov head together with the block, along the most likely tokens:
    sampling another token does not change the rows after it. Rows are one position later in the cache than in
    llama.cpp's server, since a token is read with the row of the token before it.
    """

    def __init__(self, context: BlockContext, tap: HiddenRowRecorder) -> None:
        super().__init__(context, tap, HeadShape(reads_first_token=False))
        self.num_candidates = context.shape.num_candidates or context.n_vocab
        self._block: Rows | None = None  # the block drafted after the last token that was read
        self._confidences: NDArray[np.float32] | None = None

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`; empty after the end of the block."""
        scores = self.forward(ids, 1)[0]
        number, known = len(self._unverified_ids), self._confidences
        return likely_candidates(scores, float(known[number]) if known is not None and number < len(known) else None)

    def _read_chunk(self, ids: list[int], n_rows: int) -> Rows:
        if n_rows > 1:  # each row needs its own block
            first = len(ids) - n_rows
            if first:
                self._read_chunk(ids[:first], 0)
            return np.concatenate([self._read_chunk([one], 1) for one in ids[first:]])
        self._block = self._confidences = None
        self._context.add_rows(self._hidden(self._num_read, len(ids)))
        self._num_read += len(ids)
        if not n_rows:
            return self._context.no_rows
        self._block, self._confidences = self._context.draft_block(ids[-1])
        return self._row([])

    def _read_ahead(self, ids: Sequence[int], n_rows: int) -> Rows:
        if not n_rows and not self._tap.is_on:  # the head's speed is being measured
            self._context.add_rows(np.zeros((len(ids), self._context.width), dtype=np.float32))
        self._context.check_room(self.num_past + len(ids))
        rows = list[Rows]()
        for number, token_id in enumerate(ids):
            self._unverified_ids.append(token_id)
            if number >= len(ids) - n_rows:
                rows.append(self._row(self._unverified_ids))
        return np.concatenate(rows) if rows else self._context.no_rows

    def _row(self, sampled: Sequence[int]) -> Rows:
        """Logits [1, n_vocab] after the anchor and the ``sampled`` tokens; -inf after the end of the block."""
        block, number, count = self._block, len(sampled), self._context.shape.num_candidates
        if block is not None and number < len(block) and not count:
            return block[number : number + 1].copy()
        row: Rows = np.full((1, self.n_vocab), -np.inf, dtype=np.float32)
        if block is not None and number < len(block):
            last = sampled[-1] if sampled else None
            before = np.zeros(1, dtype=np.int64) if last is None else np.flatnonzero(block[number - 1, :count] == last)
            if len(before):
                scores = block[number, count * (1 + int(before[0])) :][:count]
                row[0, block[number, :count].astype(np.int64)] = scores
        return row

    def clear(self) -> None:
        super().clear()
        self._block = self._confidences = None
