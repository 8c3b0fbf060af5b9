"""Tracks an answer's grammar state after each proposed token, and finds the text that the grammar forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from engine.interfaces import Tokenizer
from engine.prompt.typed_text import tokens_within_text

History = NDArray[np.int32]
_MAX_FORCED_BYTES = 96  # more than any pass verifies
_MAX_STATES = 64  # more states than any rollback drops


class ConstraintState(Protocol):
    """An immutable state of a grammar."""

    def allows(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each of ``ids`` [n] may follow. End-of-generation tokens may follow once the grammar is complete."""

    def all_allowed(self) -> NDArray[np.int64]:
        """The ids of all tokens that may follow, ascending."""

    def advanced(self, token_id: int) -> Self | None:
        """The state after a token; None if the token is forbidden or ends the answer."""

    def forced_text(self) -> bytes:
        """The text that must follow; empty if there is a choice."""


class GrammarConstraint:
    """The grammar of one answer. Implements `engine.interfaces.Constraint`.

    The states of the last tokens are cached, so rejected tokens cost nothing and need not be reported.
    """

    def __init__(self, start: ConstraintState) -> None:
        """``start`` is the state before the first token of the answer."""
        self._num_prompt = 0
        self._first = 0  # index of the answer's token that follows `_states[0]`
        self._ids: list[int] = []  # tokens from that index on, including proposed tokens
        self._states: list[ConstraintState | None] = [start]

    def begin(self, num_prompt: int) -> None:
        """Set the number of tokens of the prompt."""
        self._num_prompt = num_prompt

    def state(self, history: History, pending: Sequence[int] = ()) -> ConstraintState | None:
        """The state after ``history`` (prompt included) and the ``pending`` tokens of a proposal.

        None if the grammar forbids one of the tokens, or one ended the answer: then any token may follow.
        """
        tail = history[self._num_prompt + self._first :].tolist()
        tail += pending
        known, length = self._ids, len(tail)
        shared = 0
        for one, other in zip(tail, known, strict=False):
            if one != other:
                break
            shared += 1
        if shared < length:
            del known[shared:], self._states[shared + 1 :]
            for token_id in tail[shared:]:
                before = self._states[-1]
                known.append(token_id)
                self._states.append(None if before is None else before.advanced(token_id))
        found = self._states[length]
        if len(known) > 2 * _MAX_STATES:
            self._first += _MAX_STATES
            del known[:_MAX_STATES], self._states[:_MAX_STATES]
        return found

    def allows(
        self, history: History, pending: Sequence[int], ids: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Whether each of ``ids`` [n] may follow; None if any token may."""
        state = self.state(history, pending)
        return None if state is None else state.allows(ids)

    def all_allowed(self, history: History, pending: Sequence[int]) -> NDArray[np.int64] | None:
        """The ids of all tokens that may follow; None if any token may."""
        state = self.state(history, pending)
        return None if state is None else state.all_allowed()


def forced_ids(state: ConstraintState, tokenizer: Tokenizer) -> list[int]:
    """The tokens of the text that a grammar forces; empty if it leaves a choice.

    Other tokenizations are valid too, so the tokens are only proposed.
    """
    text = state.forced_text()[:_MAX_FORCED_BYTES]
    if not text or text[0] & 0xC0 == 0x80:  # the rest of a character
        return []
    return tokens_within_text(tokenizer, text.decode("utf-8", "ignore"))
