"""Wraps a draft's cached sequence so that it reads the target's ids.

The conversation is held three times: as the target's ids, as bytes with one byte for each control token, and as the
draft's ids, of which the cache holds a prefix. The byte offset of each id's end is stored to align both kinds of ids.
New text is spelled, that is tokenized for the draft, from the last beginning of a word on: tokenizers split there, so
the draft reads the same tokens as if the whole text were tokenized.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np

from engine.drafters.translation.comparison import Translation
from engine.drafters.translation.spelling import is_certain_split
from engine.errors import DecodeError
from engine.interfaces import Candidates, Rows, TokenIds
from engine.sampling.sampler import History
from engine.sentences import i18n
from engine.sequence import CachedSequence

_CONTROL_BYTE = 0  # the byte of a control token
_SEARCHED_BYTES = 48  # last bytes that are searched for the beginning of a word
_BYTES_PER_SPELLING = 2048  # bytes of text that are spelled at once


class TranslatedSequence:
    """A draft's sequence that reads the target's tokens, and gives the draft's rows.

    If the draft's memory is recurrent, text in the cache is not spelled again: a rollback costs more than it gains.
    """

    def __init__(self, own: CachedSequence, translation: Translation) -> None:
        self.draft_sequence, self.translation = own, translation
        self.n_vocab = translation.draft.n_vocab
        self._target_ids: list[int] = []  # target ids
        self._target_ends: list[int] = []  # the end of each target id in ``_text_bytes``
        self._text_bytes = bytearray((_CONTROL_BYTE,))  # the first byte stands for the tokens before a conversation
        self._controls: dict[int, tuple[int, ...]] = {
            0: translation.prefix_ids
        }  # draft tokens by index of the control byte
        self._draft_ids: list[int] = list(translation.prefix_ids)
        self._draft_ends: list[int] = [1] * len(translation.prefix_ids)
        self._num_cached = 0  # number of draft ids that are known to be a prefix of the cache

    # ---- contents -----------------------------------------------------------------------------------------------

    @property
    def num_past(self) -> int:
        """Number of target tokens that are completely in the draft's cache."""
        held = min(self._num_cached, self.draft_sequence.num_past)
        end = self._draft_ends[held - 1] if held else 0
        while end in self._controls and not self._controls[end]:  # a control token without an equivalent in the draft
            end += 1
        return bisect_right(self._target_ends, end)

    @property
    def n_ctx(self) -> int:
        """Number of target tokens that fit into the draft's cache, if new text has as many tokens in both."""
        return len(self._target_ids) + self.draft_sequence.n_ctx - len(self._draft_ids)

    @property
    def num_candidates(self) -> int:
        return self.draft_sequence.num_candidates

    # ---- reading ------------------------------------------------------------------------------------------------

    def reuse(self, ids: History) -> int:
        """Keep the prefix that the cache shares with ``ids``; return its length."""
        self._replace_from(0, ids.tolist())
        self._num_cached = (
            self.draft_sequence.reuse(np.asarray(self._draft_ids, dtype=np.int32)) if self._draft_ids else 0
        )
        return self.num_past

    def prefill(self, ids: History) -> Iterator[int]:
        """Append ``ids`` without rows; yield the number of draft tokens read so far.

        Raises:
            DecodeError: a pass failed, or the draft's context is full.
        """
        self._replace_from(self.num_past, ids.tolist())
        yield from self.draft_sequence.prefill(np.asarray(self._unread(), dtype=np.int32))
        self._num_cached = self.draft_sequence.num_past

    def forward(self, ids: TokenIds, n_rows: int = 1) -> Rows:
        """Append ``ids``, possibly none; return the draft's logits after the last [1, draft n_vocab].

        Raises:
            DecodeError: the pass failed, or the draft's context is full.
        """
        rows = self.draft_sequence.forward(self._next(ids), n_rows)
        self._num_cached = self.draft_sequence.num_past
        return rows

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """Like `forward`, but only for the draft's most likely tokens."""
        found = self.draft_sequence.forward_candidates(self._next(ids))
        self._num_cached = self.draft_sequence.num_past
        return found

    def _next(self, ids: TokenIds) -> list[int]:
        """Append ``ids``; return the draft tokens, at least one, to read for the row after the last."""
        if len(ids):
            self._replace_from(self.num_past, [int(i) for i in ids])
        if self._num_cached >= len(self._draft_ids):  # none of ``ids`` has draft tokens
            self._num_cached = max(len(self._draft_ids) - 1, 0)
        if not self._draft_ids:
            self._draft_ids, self._draft_ends = [self.translation.draft.placeholder_id], [len(self._text_bytes)]
        return self._unread()

    def _unread(self) -> list[int]:
        if len(self._draft_ids) > self.draft_sequence.n_ctx:
            raise DecodeError(
                i18n(
                    "the draft needs more than the {n_ctx:,} tokens of its context for this conversation",
                    n_ctx=self.draft_sequence.n_ctx,
                )
            )
        self._drop_mismatch()
        return self._draft_ids[self.draft_sequence.num_past :]

    def _drop_mismatch(self) -> None:
        """Drop the part of the cache that differs from the draft's ids."""
        if self.draft_sequence.num_past > self._num_cached and not self.draft_sequence.rollback(self._num_cached):
            self.draft_sequence.clear()
        self._num_cached = self.draft_sequence.num_past

    # ---- drafting -----------------------------------------------------------------------------------------------

    def append_draft_token(self, own_id: int) -> None:
        """Append a draft token that belongs to no target token until `assign_text`."""
        self._text_bytes += self.translation.draft.pieces[own_id]
        self._draft_ids.append(own_id)
        self._draft_ends.append(len(self._text_bytes))

    @property
    def num_free_draft_tokens(self) -> int:
        """How many more draft tokens fit into the cache."""
        return self.draft_sequence.n_ctx - len(self._draft_ids)

    def assign_text(self, ids: Sequence[int]) -> None:
        """Assign the bytes that the draft wrote to these target tokens, and drop the rest."""
        pieces, end = self.translation.target.pieces, self._num_bytes
        for token_id in ids:
            end += len(pieces[token_id])
            self._target_ids.append(token_id)
            self._target_ends.append(end)
        self._truncate_bytes(end)

    # ---- going back ---------------------------------------------------------------------------------------------

    def checkpoint(self, num_uncertain: int | None = None) -> None:
        self.draft_sequence.checkpoint(num_uncertain)

    def rollback(self, num_past: int) -> bool:
        """Drop all but the first ``num_past`` target tokens; always possible.

        A draft token that extends beyond them is dropped as well.

        Raises:
            DecodeError: tokens could not be read again.
        """
        begin, ends = num_past, self._target_ends
        if 0 < num_past < len(ends) and ends[num_past] == ends[num_past - 1]:
            begin = bisect_left(ends, ends[num_past])  # start of the run, which is translated as a whole
        kept = self._target_ids[begin:num_past]
        self._drop_ids(begin)
        self._truncate_bytes(self._num_bytes)
        if kept:
            self._append_ids(kept)
            self._spell()
        self._drop_mismatch()
        return True

    def clear(self) -> None:
        """Clear the cache, but keep the recorded ids and bytes."""
        self.draft_sequence.clear()
        self._num_cached = 0

    @property
    def _num_bytes(self) -> int:
        return self._target_ends[-1] if self._target_ends else 1

    def _drop_ids(self, count: int) -> None:
        """Keep the first ``count`` target ids, and all bytes."""
        del self._target_ids[count:], self._target_ends[count:]

    def _truncate_bytes(self, end: int) -> None:
        del self._text_bytes[end:]
        while next(reversed(self._controls)) >= end:  # the first byte stays
            self._controls.popitem()
        while self._draft_ends and self._draft_ends[-1] > end:
            self._draft_ends.pop()
            self._draft_ids.pop()
        self._num_cached = min(self._num_cached, len(self._draft_ids))

    # ---- spelling -----------------------------------------------------------------------------------------------

    def _replace_from(self, start: int, ids: list[int]) -> None:
        held = self._target_ids[start : start + len(ids)]
        same = len(held)
        if held != ids[:same]:
            same = next(i for i, (one, other) in enumerate(zip(held, ids, strict=False)) if one != other)
        first = start + same
        if same < len(ids) or first < len(self._target_ids):
            first = self._run_start(first)
        more = [*self._target_ids[first:start], *ids[max(0, first - start) :]]
        self._drop_ids(first)
        self._truncate_bytes(self._num_bytes)
        self._append_ids(more)
        self._spell()

    def _run_start(self, index: int) -> int:
        """Index from which ids must be appended again so that a run at ``index`` is translated as a whole."""
        roles, ids, ends = self.translation.roles, self._target_ids, self._target_ends
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
            count, piece = 1, pieces[ids[index]]
            if not piece:
                run = roles.match_at(ids, index)
                count, own = run if run is not None else (1, roles.control_ids.get(ids[index], ()))
                self._controls[len(self._text_bytes)] = own
                piece = bytes((_CONTROL_BYTE,))
            self._text_bytes += piece
            self._target_ids += ids[index : index + count]
            self._target_ends += [len(self._text_bytes)] * count
            index += count

    def _spell(self) -> None:
        own_ids, own_ends = self._draft_ids, self._draft_ends
        done = own_ends[-1] if own_ends else 0
        if done == len(self._text_bytes):
            return
        first = self._respell_from(done)
        ids, ends = self._spelled(own_ends[first - 1] if first else 0)
        same = 0  # number of draft ids that stay in the cache
        for one, other, end, other_end in zip(own_ids[first:], ids, own_ends[first:], ends, strict=False):
            if one != other or end != other_end:
                break
            same += 1
        own_ids[first:], own_ends[first:] = ids, ends
        self._num_cached = min(self._num_cached, first + same)

    def _respell_from(self, done: int) -> int:
        """Number of draft ids to keep: up to the last position before ``done`` where every tokenizer splits."""
        ends, count, data, controls = self._draft_ends, len(self._draft_ends), self._text_bytes, self._controls
        if self.draft_sequence.num_snapshots is not None:
            return count
        while count and ends[count - 1] > done - _SEARCHED_BYTES:
            end = ends[count - 1]
            if end in controls or end - 1 in controls or is_certain_split(data, end):
                return count
            count -= 1
        return count

    def _spelled(self, begin: int) -> tuple[list[int], list[int]]:
        """Spell the bytes from ``begin`` on: the draft ids and their ends."""
        ids, ends = list[int](), list[int]()
        controls = list(takewhile(lambda index: index >= begin, reversed(self._controls)))
        for index in [*reversed(controls), len(self._text_bytes)]:
            while begin < index:
                end = self._split_position(begin, index)
                self._spell_text(begin, end, ids, ends)
                begin = end
            if index < len(self._text_bytes):
                own = self._controls[index]
                ids += own
                ends += [index + 1] * len(own)
                begin = index + 1
        return ids, ends

    def _split_position(self, begin: int, end: int) -> int:
        """Where to split a long text, since a tokenizer may take more than linear time."""
        if end - begin <= _BYTES_PER_SPELLING:
            return end
        cuts = range(begin + _BYTES_PER_SPELLING, begin + _BYTES_PER_SPELLING // 2, -1)
        return next((index for index in cuts if is_certain_split(self._text_bytes, index)), end)

    def _spell_text(self, begin: int, end: int, ids: list[int], ends: list[int]) -> None:
        spell, pieces = self.translation.draft.spell, self.translation.draft.pieces
        while begin < end:
            for own_id in spell(bytes(self._text_bytes[begin:end])):
                begin += len(pieces[own_id])
                ids.append(own_id)
                ends.append(begin)
            if begin < end:  # a byte that the draft cannot spell
                begin += 1
                ids.append(self.translation.draft.placeholder_id)
                ends.append(begin)
