"""A grammar in llama.cpp's GBNF over a vocabulary: which tokens may follow, from every place in it.

llama.cpp ends the process where a token is accepted that the grammar refuses, so nothing is accepted unasked here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import GrammarError
from engine.llama import library
from engine.llama.vocab import Vocab
from engine.sentences import said

ROOT = b"root"  # the rule that a grammar begins with
TokenArray = NDArray[np.int64]
_ENTRY = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # llama.h's llama_token_data
_LARGE = 4096  # of more tokens those that cannot begin here are left out first


class LlamaGrammar:
    """A parsed grammar. Implements `engine.grammar.constraint.Grammar`.

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
    """A place in a grammar: what was written so far. It never changes; `advanced` gives the next one."""

    def __init__(self, grammar: LlamaGrammar, handle: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        self._grammar = grammar
        self._handle = handle

    def __del__(self) -> None:
        """Free the native sampler."""
        if getattr(self, "_handle", None):
            self._grammar.lib.llama_sampler_free(self._handle)
            self._handle = None

    def allows(self, ids: Sequence[int] | TokenArray) -> NDArray[np.bool_]:
        """Say of each of ``ids`` [n] whether it may follow; what ends an answer may where the grammar is complete.

        Control tokens never do: the grammar would read their names as text, which the answer does not show.
        """
        asked = np.asarray(ids, dtype=np.int64)
        allowed = self._grammar.apply(self._handle, asked)
        textless = self._grammar.vocab.textless_ids
        for place in allowed.nonzero()[0].tolist() if len(asked) < _LARGE else ():
            if int(asked[place]) in textless:
                allowed[place] = False
        if len(asked) >= _LARGE:
            allowed &= ~np.isin(asked, np.fromiter(textless, dtype=np.int64, count=len(textless)))
        return allowed

    def all_allowed(self) -> TokenArray:
        """The ids of all tokens that may follow, ascending.

        A character at a time is asked about first: what cannot begin here need not be read. Of 152k tokens that takes
        a millisecond where few characters may follow, and 50 where most may.
        """
        beginnings = self._grammar.vocab.beginnings
        single = np.fromiter(beginnings.single, dtype=np.int64, count=len(beginnings.single))
        refused = [beginnings.single[int(i)] for i in single[~self._grammar.apply(self._handle, single)]]
        may_begin = ~np.isin(beginnings.first, refused)
        may_begin[list(self._grammar.vocab.eog_ids)] = True  # their names are no text
        ids = may_begin.nonzero()[0]
        return ids[self.allows(ids)]

    def advanced(self, token_id: int) -> GrammarState | None:
        """The place after a token that writes something; None where it must not follow, or ends the answer."""
        grammar = self._grammar
        if grammar.vocab.is_eog(token_id) or not self.allows([token_id])[0]:
            return None
        copy = grammar.lib.llama_sampler_clone(self._handle)
        grammar.lib.llama_sampler_accept(copy, token_id)
        return GrammarState(grammar, copy)
