"""A grammar in llama.cpp's GBNF over a vocabulary: which tokens may follow in each state.

llama.cpp ends the process if a token is accepted that the grammar refuses, so nothing is accepted unchecked here. It
also takes any byte for the rest of a character that began in the token before, so invalid UTF-8 is refused here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import GrammarError
from engine.grammar import matcher
from engine.grammar.constraint import State
from engine.grammar.lark import is_lark
from engine.llama import library
from engine.llama.vocab import Vocab, rest_of_character
from engine.sentences import said

ROOT = b"root"  # the start rule
TokenArray = NDArray[np.int64]
_ENTRY = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # llama.h's llama_token_data
_MIN_FOR_TABLE = 5000  # number of tokens for which a table that excludes unsuitable tokens is faster
_CONTINUATION = (0x80, 0xBF)  # continuation bytes of UTF-8


def start_of(vocab: Vocab, text: str) -> State:
    """The state before the first token of an answer: llama.cpp reads grammars in GBNF, llguidance all others.

    Raises:
        GrammarError: it cannot be read, or it generates no text.
    """
    return matcher.start_of(vocab, text) if is_lark(text) else LlamaGrammar(vocab, text).start


class LlamaGrammar:
    """A parsed grammar; ``start`` is its first state.

    Raises:
        GrammarError: llama.cpp cannot parse it, or it has no rule ``root``.
    """

    def __init__(self, vocab: Vocab, text: str) -> None:
        self.lib = library.start()
        self.vocab = vocab
        self._tokens = (self.lib.llama_token_data * vocab.n_vocab)()
        self._entries = np.frombuffer(self._tokens, dtype=_ENTRY)
        handle = None
        with library.errors():
            if text.strip() and "\0" not in text:  # an empty one would allow everything
                handle = self.lib.llama_sampler_init_grammar(vocab.handle, text.encode("utf-8", "replace"), ROOT)
            reason = library.last_error()
        if not handle:
            raise GrammarError(said("The grammar cannot be read: {reason}.", reason=reason or said("it has no rules")))
        self.start = GrammarState(self, handle)
        self._fits_alone: dict[int, bool] = {}

    def fits(self, begun: bytes, token_id: int) -> bool:
        """Whether a token with text may follow the first bytes ``begun`` of a character, if there are any.

        Control tokens never may: the grammar would read their names as text, which the answer does not show.
        """
        if begun:
            return rest_of_character(begun, self.vocab.piece(token_id)) is not None
        known = self._fits_alone.get(token_id)
        if known is None:
            piece = self.vocab.piece(token_id)
            known = self._fits_alone[token_id] = bool(piece) and rest_of_character(b"", piece) is not None
        return known

    def apply(self, handle: Any, ids: TokenArray) -> NDArray[np.bool_]:  # noqa: ANN401  (the binding ships no types)
        """Check which of ``ids`` [n] may follow in the sampler's state."""
        count = len(ids)
        entries = self._entries[:count]
        entries["id"] = ids
        entries["logit"] = 0.0
        array = self.lib.llama_token_data_array(data=self._tokens, size=count, selected=-1, sorted=False)
        self.lib.llama_sampler_apply(handle, ctypes.byref(array))
        allowed: NDArray[np.bool_] = entries["logit"] == 0.0
        return allowed


class GrammarState:
    """Implements `engine.grammar.constraint.State`. Immutable: `advanced` returns another state."""

    def __init__(self, grammar: LlamaGrammar, handle: Any, begun: bytes = b"") -> None:  # noqa: ANN401  (the binding)
        """``begun``: the first bytes of an incomplete character."""
        self._grammar = grammar
        self._handle = handle
        self._begun = begun

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._grammar.lib.llama_sampler_free(self._handle)
            self._handle = None

    def allows(self, ids: Sequence[int] | TokenArray) -> NDArray[np.bool_]:
        """Whether each of ``ids`` [n] may follow; end-of-generation tokens may if the grammar is complete."""
        asked = np.asarray(ids, dtype=np.int64)
        grammar, begun = self._grammar, self._begun
        allowed = grammar.apply(self._handle, asked)
        token_prefixes = grammar.vocab.token_prefixes if len(asked) >= _MIN_FOR_TABLE else None
        if token_prefixes is not None and not begun:
            allowed &= token_prefixes.fits_alone[asked]
            return allowed
        if token_prefixes is not None:
            first = token_prefixes.first[asked]
            allowed &= (first >= _CONTINUATION[0]) & (first <= _CONTINUATION[1])
        for index in allowed.nonzero()[0].tolist():
            token_id = int(asked[index])
            if not grammar.fits(begun, token_id) and (begun or not grammar.vocab.is_eog(token_id)):
                allowed[index] = False
        return allowed

    def all_allowed(self) -> TokenArray:
        """The ids of all tokens that may follow, ascending.

        Single characters are checked first, to exclude tokens that begin with others. Of 152k tokens it takes a
        millisecond if few characters may follow, and 50 if most may.
        """
        token_prefixes = self._grammar.vocab.token_prefixes
        single = np.fromiter(token_prefixes.single, dtype=np.int64, count=len(token_prefixes.single))
        refused = [token_prefixes.single[int(i)] for i in single[~self._grammar.apply(self._handle, single)]]
        may_begin = ~np.isin(token_prefixes.first, refused)
        may_begin[list(self._grammar.vocab.eog_ids)] = True  # they write nothing
        ids = may_begin.nonzero()[0]
        return ids[self.allows(ids)]

    def advanced(self, token_id: int) -> GrammarState | None:
        """The state after a token with text; None if it must not follow, or ends the answer."""
        grammar = self._grammar
        if grammar.vocab.is_eog(token_id) or not self.allows([token_id])[0]:
            return None
        copy = grammar.lib.llama_sampler_clone(self._handle)
        grammar.lib.llama_sampler_accept(copy, token_id)
        begun = rest_of_character(self._begun, grammar.vocab.piece(token_id))
        return GrammarState(grammar, copy, begun or b"")
