"""A grammar in llama.cpp's GBNF over a vocabulary: which tokens may follow, from every place in it.

llama.cpp ends the process where a token is accepted that the grammar refuses, so nothing is accepted unasked here. And
it takes any byte for the rest of a character that began in the token before, so what would be no UTF-8 is refused here.
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

ROOT = b"root"  # the rule that a grammar begins with
TokenArray = NDArray[np.int64]
_ENTRY = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # llama.h's llama_token_data
_LARGE = 5000  # of so many tokens what can stand nowhere is known beforehand
_CONTINUATION = (0x80, 0xBF)  # bytes of UTF-8 that only go on with a character


def start_of(vocab: Vocab, text: str) -> State:
    """The place before the first token of an answer: a grammar in GBNF is llama.cpp's to read, others llguidance's.

    Raises:
        GrammarError: it cannot be read, or nothing can be written by it.
    """
    return matcher.start_of(vocab, text) if is_lark(text) else LlamaGrammar(vocab, text).start


class LlamaGrammar:
    """A parsed grammar; ``start`` is where an answer begins.

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
        """Whether a token that writes something may follow a character that has ``begun``, if one has.

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
        """Ask which of ``ids`` [n] may follow where a sampler stands."""
        count = len(ids)
        entries = self._entries[:count]
        entries["id"] = ids
        entries["logit"] = 0.0
        array = self.lib.llama_token_data_array(data=self._tokens, size=count, selected=-1, sorted=False)
        self.lib.llama_sampler_apply(handle, ctypes.byref(array))
        allowed: NDArray[np.bool_] = entries["logit"] == 0.0
        return allowed


class GrammarState:
    """Implements `engine.grammar.constraint.State`: what was written so far. `advanced` gives another one."""

    def __init__(self, grammar: LlamaGrammar, handle: Any, begun: bytes = b"") -> None:  # noqa: ANN401  (the binding)
        """``begun`` are the first bytes of a character that is not whole yet."""
        self._grammar = grammar
        self._handle = handle
        self._begun = begun

    def __del__(self) -> None:
        """Free the native sampler."""
        if getattr(self, "_handle", None):
            self._grammar.lib.llama_sampler_free(self._handle)
            self._handle = None

    def allows(self, ids: Sequence[int] | TokenArray) -> NDArray[np.bool_]:
        """Say of each of ``ids`` [n] whether it may follow; what ends an answer may where the grammar is complete."""
        asked = np.asarray(ids, dtype=np.int64)
        grammar, begun = self._grammar, self._begun
        allowed = grammar.apply(self._handle, asked)
        token_prefixes = grammar.vocab.token_prefixes if len(asked) >= _LARGE else None
        if token_prefixes is not None and not begun:
            allowed &= token_prefixes.fits_alone[asked]
            return allowed
        if token_prefixes is not None:
            first = token_prefixes.first[asked]
            allowed &= (first >= _CONTINUATION[0]) & (first <= _CONTINUATION[1])
        for place in allowed.nonzero()[0].tolist():
            token_id = int(asked[place])
            if not grammar.fits(begun, token_id) and (begun or not grammar.vocab.is_eog(token_id)):
                allowed[place] = False
        return allowed

    def all_allowed(self) -> TokenArray:
        """The ids of all tokens that may follow, ascending.

        A character at a time is asked about first: what cannot begin here need not be read. Of 152k tokens that takes
        a millisecond where few characters may follow, and 50 where most may.
        """
        token_prefixes = self._grammar.vocab.token_prefixes
        single = np.fromiter(token_prefixes.single, dtype=np.int64, count=len(token_prefixes.single))
        refused = [token_prefixes.single[int(i)] for i in single[~self._grammar.apply(self._handle, single)]]
        may_begin = ~np.isin(token_prefixes.first, refused)
        may_begin[list(self._grammar.vocab.eog_ids)] = True  # they write nothing
        ids = may_begin.nonzero()[0]
        return ids[self.allows(ids)]

    def advanced(self, token_id: int) -> GrammarState | None:
        """The place after a token that writes something; None where it must not follow, or ends the answer."""
        grammar = self._grammar
        if grammar.vocab.is_eog(token_id) or not self.allows([token_id])[0]:
            return None
        copy = grammar.lib.llama_sampler_clone(self._handle)
        grammar.lib.llama_sampler_accept(copy, token_id)
        begun = rest_of_character(self._begun, grammar.vocab.piece(token_id))
        return GrammarState(grammar, copy, begun or b"")
