"""Wraps a draft's cached sequence so that ids and rows are in the target's vocabulary.

The conversation is held three times: as the target's ids, as bytes with one byte for each control token, and as the
draft's ids, of which the cache holds a prefix. The byte offset of each id's end is stored to align both kinds of ids.
New text is spelled, that is tokenized for the draft, from the last beginning of a word on: tokenizers split there, so
the draft reads the same tokens as if the whole text were tokenized.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np

from engine.drafters.translation.spelling import begins_word
from engine.drafters.translation.tables import Translation
from engine.errors import DecodeError
from engine.interfaces import Candidates, Rows, TokenIds
from engine.sampling.sampler import History
from engine.sampling.top_k import Row
from engine.sentences import said
from engine.sequence import CachedSequence

_CONTROL = 0  # the byte of a control token
_PICTURE = b" image"  # text that the draft reads in place of a picture
_SEARCHED_BYTES = 48  # last bytes that are searched for the beginning of a word
_SPLIT_EVERY = 2048  # bytes of text that are spelled at once


class TranslatedSequence:
    """Implements `engine.drafters.draft_model.DraftSequence` in the target's tokens.

    If the draft's memory is recurrent, text in the cache is not spelled again: a rollback costs more than it gains.
    """

    def __init__(self, own: CachedSequence, translation: Translation) -> None:
        self.own, self.translation = own, translation
        self.n_vocab = translation.target.n_vocab
        self.num_last_read = 0  # draft tokens in the last pass
        self._row: Row = np.empty(self.n_vocab, dtype=np.float32)
        self._ids: list[int] = []  # target ids
        self._ends: list[int] = []  # the end of each target id in ``_data``
        self._data = bytearray((_CONTROL,))  # the first byte stands for the tokens before a conversation
        self._controls: dict[int, tuple[int, ...]] = {0: translation.start}  # draft tokens by index of the control byte
        self._own_ids: list[int] = list(translation.start)
        self._own_ends: list[int] = [1] * len(translation.start)
        self._num_held = 0  # number of draft ids that are known to be a prefix of the cache

    # ---- contents -----------------------------------------------------------------------------------------------

    @property
    def num_past(self) -> int:
        """Number of target tokens that are completely in the draft's cache."""
        held = min(self._num_held, self.own.num_past)
        end = self._own_ends[held - 1] if held else 0
        while end in self._controls and not self._controls[end]:  # a control token without an equivalent in the draft
            end += 1
        return bisect_right(self._ends, end)

    @property
    def n_ctx(self) -> int:
        """Number of target tokens that fit into the draft's cache, if new text has as many tokens in both."""
        return len(self._ids) + self.own.n_ctx - len(self._own_ids)

    @property
    def num_candidates(self) -> int:
        return self.own.num_candidates

    # ---- reading ------------------------------------------------------------------------------------------------

    def reuse(self, ids: History) -> int:
        """Keep the prefix that the cache shares with ``ids``; return its length."""
        self._replace_from(0, ids.tolist())
        self._num_held = self.own.reuse(np.asarray(self._own_ids, dtype=np.int32)) if self._own_ids else 0
        return self.num_past

    def prefill(self, ids: History) -> Iterator[int]:
        """Append ``ids`` without rows; yield the number of draft tokens read so far.

        Raises:
            DecodeError: a pass failed, or the draft's context is full.
        """
        self._replace_from(self.num_past, ids.tolist())
        yield from self.own.prefill(np.asarray(self._unread(), dtype=np.int32))
        self._num_held = self.own.num_past

    def forward(self, ids: TokenIds, n_rows: int = 1) -> Rows:  # noqa: ARG002  (the protocol's signature)
        """Append ``ids``; return the logits after the last in the target's vocabulary [1, n_vocab].

        Tokens that the draft lacks are at -inf. The caller may write into the row, which the next call overwrites.

        Raises:
            DecodeError: the pass failed, or the draft's context is full.
        """
        self.translation.overlap.spread(self.forward_own(ids), self._row)
        return self._row[None]

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """Like `forward`, but only for the draft's most likely tokens."""
        return self.translation.overlap.select(self.own_candidates(ids))

    def forward_own(self, ids: TokenIds = ()) -> Row:
        """Append ``ids``, and return logits in the draft's vocabulary [draft n_vocab]; raises like `forward`."""
        row: Row = self.own.forward(self._next(ids), 1)[0]
        self._num_held = self.own.num_past
        return row

    def own_candidates(self, ids: TokenIds = ()) -> Candidates:
        """Like `forward_own`, but only for the most likely tokens."""
        found = self.own.forward_candidates(self._next(ids))
        self._num_held = self.own.num_past
        return found

    def _next(self, ids: TokenIds) -> list[int]:
        """Append ``ids``; return the draft tokens, at least one, to read for the row after the last."""
        if len(ids):
            self._replace_from(self.num_past, [int(i) for i in ids])
        if self._num_held >= len(self._own_ids):  # none of ``ids`` has draft tokens
            self._num_held = max(len(self._own_ids) - 1, 0)
        if not self._own_ids:
            self._own_ids, self._own_ends = [self.translation.stand_in], [len(self._data)]
        unread = self._unread()
        self.num_last_read = len(unread)
        return unread

    def _unread(self) -> list[int]:
        if len(self._own_ids) > self.own.n_ctx:
            raise DecodeError(
                said(
                    "the draft needs more than the {n_ctx:,} tokens of its context for this conversation",
                    n_ctx=self.own.n_ctx,
                )
            )
        self._drop_mismatch()
        return self._own_ids[self.own.num_past :]

    def _drop_mismatch(self) -> None:
        """Drop the part of the cache that differs from the draft's ids."""
        if self.own.num_past > self._num_held and not self.own.rollback(self._num_held):
            self.own.clear()
        self._num_held = self.own.num_past

    # ---- drafting -----------------------------------------------------------------------------------------------

    def append(self, token_id: int) -> None:
        """Append a token of both vocabularies as a single draft token, without spelling the word again."""
        self._data += self.translation.target.pieces[token_id]
        self._ids.append(token_id)
        self._ends.append(len(self._data))
        self._own_ids.append(int(self.translation.overlap.of_target[token_id]))
        self._own_ends.append(len(self._data))

    def write(self, own_id: int) -> None:
        """Append a draft token that belongs to no target token until `claim`."""
        self._data += self.translation.draft.pieces[own_id]
        self._own_ids.append(own_id)
        self._own_ends.append(len(self._data))

    @property
    def num_own_free(self) -> int:
        """How many more draft tokens fit into the cache."""
        return self.own.n_ctx - len(self._own_ids)

    def claim(self, ids: Sequence[int]) -> None:
        """Assign the bytes that the draft wrote to these target tokens, and drop the rest."""
        pieces, end = self.translation.target.pieces, self._end
        for token_id in ids:
            end += len(pieces[token_id])
            self._ids.append(token_id)
            self._ends.append(end)
        self._cut(end)

    # ---- going back ---------------------------------------------------------------------------------------------

    def checkpoint(self, num_uncertain: int | None = None) -> None:
        self.own.checkpoint(num_uncertain)

    def rollback(self, num_past: int) -> bool:
        """Drop all but the first ``num_past`` target tokens; always possible.

        A draft token that extends beyond them is dropped as well.

        Raises:
            DecodeError: tokens could not be read again.
        """
        begin, ends = num_past, self._ends
        if 0 < num_past < len(ends) and ends[num_past] == ends[num_past - 1]:
            begin = bisect_left(ends, ends[num_past])  # start of the run, which is translated as a whole
        kept = self._ids[begin:num_past]
        self._drop_ids(begin)
        self._cut(self._end)
        if kept:
            self._append_ids(kept)
            self._spell()
        self._drop_mismatch()
        return True

    def clear(self) -> None:
        """Clear the cache, but keep the recorded ids and bytes."""
        self.own.clear()
        self._num_held = 0

    @property
    def _end(self) -> int:
        return self._ends[-1] if self._ends else 1

    def _drop_ids(self, count: int) -> None:
        """Keep the first ``count`` target ids, and all bytes."""
        del self._ids[count:], self._ends[count:]

    def _cut(self, end: int) -> None:
        del self._data[end:]
        while next(reversed(self._controls)) >= end:  # the first byte stays
            self._controls.popitem()
        while self._own_ends and self._own_ends[-1] > end:
            self._own_ends.pop()
            self._own_ids.pop()
        self._num_held = min(self._num_held, len(self._own_ids))

    # ---- spelling -----------------------------------------------------------------------------------------------

    def _replace_from(self, start: int, ids: list[int]) -> None:
        held = self._ids[start : start + len(ids)]
        same = len(held)
        if held != ids[:same]:
            same = next(i for i, (one, other) in enumerate(zip(held, ids, strict=False)) if one != other)
        first = start + same
        if same < len(ids) or first < len(self._ids):
            first = self._run_start(first)
        more = [*self._ids[first:start], *ids[max(0, first - start) :]]
        self._drop_ids(first)
        self._cut(self._end)
        self._append_ids(more)
        self._spell()

    def _run_start(self, index: int) -> int:
        """Index from which ids must be appended again so that a run at ``index`` is translated as a whole."""
        roles, ids, ends = self.translation.roles, self._ids, self._ends
        reach = range(max(0, index - roles.longest + 1), index)
        index = next((begin for begin in reach if ids[begin] in roles.delimiters), index)
        while 0 < index < len(ends) and ends[index] == ends[index - 1]:
            index -= 1  # part of a run that begins earlier
        return index

    def _append_ids(self, ids: Sequence[int]) -> None:
        """Append target ``ids`` as bytes, and translate control tokens by `Roles`."""
        translation, index = self.translation, 0
        pieces, roles = translation.target.pieces, translation.roles
        while index < len(ids):
            count, piece = (1, pieces[ids[index]]) if ids[index] >= 0 else (_picture_length(ids, index), _PICTURE)
            if not piece:
                run = roles.at(ids, index)
                count, own = run if run is not None else (1, roles.single.get(ids[index], ()))
                self._controls[len(self._data)] = own
                piece = bytes((_CONTROL,))
            self._data += piece
            self._ids += ids[index : index + count]
            self._ends += [len(self._data)] * count
            index += count

    def _spell(self) -> None:
        own_ids, own_ends = self._own_ids, self._own_ends
        done = own_ends[-1] if own_ends else 0
        if done == len(self._data):
            return
        first = self._respell_from(done)
        ids, ends = self._spelled(own_ends[first - 1] if first else 0)
        same = 0  # number of draft ids that stay in the cache
        for one, other, end, other_end in zip(own_ids[first:], ids, own_ends[first:], ends, strict=False):
            if one != other or end != other_end:
                break
            same += 1
        own_ids[first:], own_ends[first:] = ids, ends
        self._num_held = min(self._num_held, first + same)

    def _respell_from(self, done: int) -> int:
        """Number of draft ids to keep: up to the last position before ``done`` where every tokenizer splits."""
        ends, count, data, controls = self._own_ends, len(self._own_ends), self._data, self._controls
        if self.own.num_snapshots is not None:
            return count
        while count and ends[count - 1] > done - _SEARCHED_BYTES:
            end = ends[count - 1]
            if end in controls or end - 1 in controls or begins_word(data, end):
                return count
            count -= 1
        return count

    def _spelled(self, begin: int) -> tuple[list[int], list[int]]:
        """Spell the bytes from ``begin`` on: the draft ids and their ends."""
        ids, ends = list[int](), list[int]()
        controls = list(takewhile(lambda index: index >= begin, reversed(self._controls)))
        for index in [*reversed(controls), len(self._data)]:
            while begin < index:
                end = self._split(begin, index)
                self._spell_text(begin, end, ids, ends)
                begin = end
            if index < len(self._data):
                own = self._controls[index]
                ids += own
                ends += [index + 1] * len(own)
                begin = index + 1
        return ids, ends

    def _split(self, begin: int, end: int) -> int:
        """Where to split a long text, since a tokenizer may take more than linear time."""
        if end - begin <= _SPLIT_EVERY:
            return end
        cuts = range(begin + _SPLIT_EVERY, begin + _SPLIT_EVERY // 2, -1)
        return next((index for index in cuts if begins_word(self._data, index)), end)

    def _spell_text(self, begin: int, end: int, ids: list[int], ends: list[int]) -> None:
        spell, pieces = self.translation.draft.spell, self.translation.draft.pieces
        while begin < end:
            for own_id in spell(bytes(self._data[begin:end])):
                begin += len(pieces[own_id])
                ids.append(own_id)
                ends.append(begin)
            if begin < end:  # a byte that the draft cannot spell
                begin += 1
                ids.append(self.translation.stand_in)
                ends.append(begin)


def _picture_length(ids: Sequence[int], begin: int) -> int:
    """Length of the run of picture ids that begins at ``begin``."""
    return next((i for i, one in enumerate(ids[begin:]) if one >= 0), len(ids) - begin)
