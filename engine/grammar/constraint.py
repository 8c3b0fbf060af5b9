"""Where an answer stands in its grammar, and behind every token that is proposed for it; and what must follow there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from engine.interfaces import Tokenizer
from engine.prompt.typed_text import tokens_amid

History = NDArray[np.int32]
MAX_FORCED_CHARS = 96  # that are looked ahead: more than any pass verifies
_KEPT_STATES = 64  # a proposal is never that long, so an answer is never taken back further
_ASCII = [chr(code) for code in range(32, 127)] + ["\n", "\t"]


class State(Protocol):
    """A place in a grammar. It never changes."""

    def allows(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each of ``ids`` [n] whether it may follow; what ends an answer may where the grammar is complete."""

    def all_allowed(self) -> NDArray[np.int64]:
        """The ids of all tokens that may follow, ascending."""

    def advanced(self, token_id: int) -> Self | None:
        """The place after a token; None where it must not follow, or ends the answer."""


class GrammarConstraint:
    """The grammar of one answer. Implements `engine.interfaces.Constraint`.

    States are kept for the tokens since some way back, so that going back to a shorter history, as after a rejection,
    costs nothing, and nobody has to tell of it.
    """

    def __init__(self, start: State) -> None:
        """``start`` is the place before the first token of the answer."""
        self._num_prompt = 0
        self._first = 0  # of the answer's tokens, the one that `_states[0]` stands before
        self._ids: list[int] = []  # since then, proposed ones included
        self._states: list[State | None] = [start]

    def begin(self, num_prompt: int) -> None:
        """The answer begins after so many tokens."""
        self._num_prompt = num_prompt

    def state(self, history: History, pending: Sequence[int] = ()) -> State | None:
        """The place after ``history``, prompt included, and the ``pending`` tokens of a proposal.

        None where the grammar refused one of them, or one ended the answer: then nothing is known of what follows.
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
        if len(known) > 2 * _KEPT_STATES:
            self._first += _KEPT_STATES
            del known[:_KEPT_STATES], self._states[:_KEPT_STATES]
        return found

    def allows(
        self, history: History, pending: Sequence[int], ids: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Say of each of ``ids`` [n] whether it may follow; None where nothing is known."""
        state = self.state(history, pending)
        return None if state is None else state.allows(ids)

    def all_allowed(self, history: History, pending: Sequence[int]) -> NDArray[np.int64] | None:
        """The ids of all tokens that may follow; None where nothing is known."""
        state = self.state(history, pending)
        return None if state is None else state.all_allowed()


class ForcedText:
    """What a grammar forces, as the tokens that the vocabulary makes of that text.

    Another spelling in tokens is as right, so these are proposed, not put down. Only characters of ASCII are tried:
    where others may follow as well, the proposal is no worse than any other guess.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        found = ((character, tokens_amid(tokenizer, character)) for character in _ASCII)
        self._tokens = {
            ids[0]: character
            for character, ids in found
            if len(ids) == 1 and tokenizer.piece(ids[0]) == character.encode()
        }
        self._asked = np.array([*self._tokens, *sorted(tokenizer.eog_ids)], dtype=np.int64)
        self._rest = b""  # of what was found to be forced, and is not written yet

    def after(self, state: State, written: Sequence[int] = ()) -> list[int]:
        """The tokens of what must follow; none where there is a choice.

        ``written`` are the tokens of the answer since the last call: what was found then need not be found again.
        """
        data = b"".join(self._tokenizer.piece(token_id) for token_id in written)
        self._rest = self._rest[len(data) :] if self._rest.startswith(data) else b""
        self._rest = self._rest or self._find(state)
        return tokens_amid(self._tokenizer, self._rest.decode()) if self._rest else []

    def _find(self, state: State) -> bytes:
        """The characters that must follow."""
        text = ""
        here: State | None = state
        while here is not None and len(text) < MAX_FORCED_CHARS:
            allowed = self._asked[here.allows(self._asked)]
            if len(allowed) != 1 or (only := int(allowed[0])) not in self._tokens:
                break
            text += self._tokens[only]
            here = here.advanced(only)
        return text.encode()
