"""Walks through grammars over the built-in vocabulary byte by byte, along a given or a random text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from app.core.paths import builtin_target
from engine.grammar.constraint import GrammarConstraint
from engine.grammar.json_schema import Grammar
from engine.llama.model import LlamaModel

_CLOSING, _LETTERS = b'"]}', b"abc"
LONGEST = 4000


@cache
def model() -> LlamaModel:
    """The built-in model; only its vocabulary is loaded."""
    return LlamaModel(builtin_target(), vocab_only=True)


@cache
def byte_tokens() -> dict[int, int]:
    """The token of each byte."""
    pieces = ((token_id, model().vocab.piece(token_id)) for token_id in range(model().vocab.n_vocab))
    return {piece[0]: token_id for token_id, piece in pieces if len(piece) == 1}


@dataclass(frozen=True)
class Walk:
    """A place in a grammar, after some tokens. Places of one walk share its constraint."""

    constraint: GrammarConstraint
    ids: tuple[int, ...] = ()

    @property
    def _history(self) -> NDArray[np.int32]:
        return np.array(self.ids, dtype=np.int32)

    def allows(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
        found = self.constraint.allows(self._history, [], ids)
        assert found is not None
        return found

    def all_allowed(self) -> NDArray[np.int64]:
        found = self.constraint.all_allowed(self._history, [])
        assert found is not None
        return found

    def forced_ids(self) -> list[int]:
        return self.constraint.forced_ids(self._history)

    def advanced(self, token_id: int) -> Walk | None:
        """The place after a token; None if it is forbidden or ends the answer."""
        is_open = self.constraint.is_known(self._history, [token_id])
        return Walk(self.constraint, (*self.ids, token_id)) if is_open else None


def begin(grammar: str | Grammar) -> Walk:
    """The place before the first token."""
    return Walk(GrammarConstraint(model().vocab, grammar if isinstance(grammar, str) else grammar.text))


def accepts(grammar: str | Grammar, text: str) -> bool:
    """Whether a whole text is allowed."""
    state = begin(grammar)
    for byte in text.encode():
        following = state.advanced(byte_tokens()[byte])
        if following is None:
            return False
        state = following
    return bool(state.allows([min(model().vocab.eog_ids)])[0])


def random_text(grammar: str | Grammar, rng: np.random.Generator, patience: int = 60) -> str:
    """A random text that the grammar allows; after ``patience`` bytes, closing characters are preferred."""
    tokens = byte_tokens()
    bytes_of = {token_id: byte for byte, token_id in tokens.items()}
    ids = np.array([*bytes_of, min(model().vocab.eog_ids)])
    state, text = begin(grammar), b""
    while len(text) < LONGEST:
        allowed = ids[state.allows(ids)]
        assert len(allowed), f"a dead end after {text!r}"
        ends = [one for one in allowed if one not in bytes_of]
        if ends and (len(allowed) == 1 or len(text) > patience or rng.random() < 0.3):
            return text.decode()
        choices = [int(one) for one in allowed if one in bytes_of]
        liked = [one for one in choices if bytes_of[one] in (_CLOSING if rng.random() < 0.6 else _LETTERS)]
        chosen = int(rng.choice(liked if liked and len(text) > patience else choices))
        text += bytes([bytes_of[chosen]])
        following = state.advanced(chosen)
        assert following is not None
        state = following
    raise AssertionError(f"no end: {text[:200]!r}")
