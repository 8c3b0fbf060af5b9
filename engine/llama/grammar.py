"""Computes with llama.cpp which tokens of a vocabulary may follow in each state of a GBNF grammar.

llama.cpp aborts the process if it must accept a token that the grammar forbids, so every token is checked first. It
also accepts any byte as the rest of a character that began in the previous token, so invalid UTF-8 is refused here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import GrammarError
from engine.grammar import matcher
from engine.grammar.constraint import ConstraintState
from engine.grammar.lark import is_lark
from engine.llama import library
from engine.llama.vocab import Vocab, incomplete_character
from engine.sentences import i18n

ROOT = b"root"  # the start rule
TokenArray = NDArray[np.int64]
_ENTRY = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # llama.h's llama_token_data
_MIN_FOR_TABLE = 5000  # from this number of tokens on, a table excludes tokens that never fit
_CONTINUATION = (0x80, 0xBF)  # continuation bytes of UTF-8


def initial_state(vocab: Vocab, text: str) -> ConstraintState:
    """The state before the first token of an answer: llama.cpp parses GBNF, llguidance all other grammars.

    Raises:
        GrammarError: the grammar cannot be parsed, or it generates no text.
    """
    return matcher.initial_state(vocab, text) if is_lark(text) else LlamaGrammar(vocab, text).start


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
        with library.collected_errors():
            if text.strip() and "\0" not in text:  # an empty grammar would allow every text
                handle = self.lib.llama_sampler_init_grammar(vocab.handle, text.encode("utf-8", "replace"), ROOT)
            reason = library.last_error()
        if not handle:
            raise GrammarError(i18n("The grammar cannot be read: {reason}.", reason=reason or i18n("it has no rules")))
        self.start = GrammarState(self, handle)
        self._fits_alone: dict[int, bool] = {}

    def fits(self, begun: bytes, token_id: int) -> bool:
        """Whether a token has text that can follow ``begun``, the first bytes of an incomplete character.

        Control tokens never fit: the grammar would match their names as text, which the answer does not show.
        """
        if begun:
            return incomplete_character(begun, self.vocab.piece(token_id)) is not None
        known = self._fits_alone.get(token_id)
        if known is None:
            piece = self.vocab.piece(token_id)
            known = self._fits_alone[token_id] = bool(piece) and incomplete_character(b"", piece) is not None
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
    """Implements `engine.grammar.constraint.ConstraintState`; immutable."""

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
        """Whether each of ``ids`` [n] may follow; end-of-generation tokens may follow a complete text."""
        asked = np.asarray(ids, dtype=np.int64)
        grammar, begun = self._grammar, self._begun
        allowed = grammar.apply(self._handle, asked)
        token_prefixes = grammar.vocab.token_prefixes if len(asked) >= _MIN_FOR_TABLE else None
        if token_prefixes is not None and not begun:
            allowed &= token_prefixes.starts_character[asked]
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

        Single characters are checked first, to exclude tokens that begin with other characters. For 152k tokens this
        takes 1 ms if few characters may follow, and 50 ms if most may.
        """
        token_prefixes = self._grammar.vocab.token_prefixes
        single = np.fromiter(token_prefixes.one_byte_tokens, dtype=np.int64, count=len(token_prefixes.one_byte_tokens))
        refused = [token_prefixes.one_byte_tokens[int(i)] for i in single[~self._grammar.apply(self._handle, single)]]
        may_begin = ~np.isin(token_prefixes.first, refused)
        may_begin[list(self._grammar.vocab.eog_ids)] = True  # these tokens write no text
        ids = may_begin.nonzero()[0]
        return ids[self.allows(ids)]

    def advanced(self, token_id: int) -> GrammarState | None:
        """The state after a token; None if the token is forbidden or ends the answer."""
        grammar = self._grammar
        if grammar.vocab.is_eog(token_id) or not self.allows([token_id])[0]:
            return None
        copy = grammar.lib.llama_sampler_clone(self._handle)
        grammar.lib.llama_sampler_accept(copy, token_id)
        begun = incomplete_character(self._begun, grammar.vocab.piece(token_id))
        return GrammarState(grammar, copy, begun or b"")
