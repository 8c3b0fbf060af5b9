"""Computes with llguidance which tokens of a vocabulary may follow in each state of a grammar.

One matcher serves all states of an answer: it rolls back to the last common token of two histories. A token takes a
microsecond in either direction. Computing the allowed tokens takes 20 microseconds for a vocabulary of 49k and 45 for
262k on average over an answer in JSON (SmolLM2 and Gemma 3 on one core of a server), and some milliseconds at worst.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from llguidance import LLMatcher, LLParserLimits, LLTokenizer
from numpy.typing import NDArray

from engine.errors import GrammarError
from engine.grammar.gbnf import lark_rules
from engine.grammar.lark import HEADER, is_lark
from engine.interfaces import Tokenizer
from engine.sentences import i18n

TokenArray = NDArray[np.int64]
Mask = NDArray[np.uint8]  # one bit per token, lowest first
MAX_CHARS = 4_000_000
_SPECIAL = b"\xff"  # llguidance's mark of control tokens
_NOTHING = "Nothing can be written that the grammar or the schema allows."
_ENDED = ("NoExtension", "NoExtensionBias")
_MAX_MASKS = 64  # cached masks, each of about 20 KB
# An optional property takes several items of a row, so this allows about 2,000 properties. Other limits are defaults.
LIMITS = LLParserLimits(max_items_in_row=10_000, verbose_errors=False)
# A terminal of a grammar in GBNF is one character, so a mask takes many items: 20 ms for 152k tokens of any text.
_GBNF_LIMITS = LLParserLimits(max_items_in_row=10_000, step_max_items=2_000_000, verbose_errors=False)
_MAX_SINGLE = 400  # with such a grammar this number of tokens is tested one by one, in a microsecond each
_known: WeakKeyDictionary[Tokenizer, LLTokenizer] = WeakKeyDictionary()


class _Pieces:
    """A vocabulary for llguidance: the bytes of each token, with a mark before control tokens."""

    is_tokenizer_wrapper = True
    bos_token_id = None
    special_token_ids: tuple[int, ...] = ()

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.eos_token_id = min(tokenizer.eog_ids)
        self.tokens = [self._bytes_of(tokenizer, token_id) for token_id in range(tokenizer.n_vocab)]

    @staticmethod
    def _bytes_of(tokenizer: Tokenizer, token_id: int) -> bytes:
        piece = b"" if tokenizer.is_eog(token_id) else tokenizer.piece(token_id)
        return piece or _SPECIAL + (tokenizer.token_text(token_id) or str(token_id)).encode("utf-8", "replace")

    def __call__(self, _text: str | bytes) -> list[int]:
        """Never called, since no tokenization of a text is preferred."""
        return []


def _tokenizer_of(tokenizer: Tokenizer) -> LLTokenizer:
    """Convert the vocabulary for llguidance; cached for the life of the tokenizer.

    This takes 0.3 s and 23 MB for 49k tokens, 3 s and 128 MB for 262k (SmolLM2 and Gemma 3 on one core of a server), so
    it is deferred to the first answer with a grammar.
    """
    found = _known.get(tokenizer)
    if found is None:
        pieces = _Pieces(tokenizer)
        # The annotation requires llguidance's own class, but any object with these attributes works.
        found = LLTokenizer(pieces, n_vocab=tokenizer.n_vocab, eos_token=sorted(tokenizer.eog_ids))  # type: ignore[arg-type]
        pieces.tokens = []  # free them: llguidance has copied them, but keeps a reference to this object
        _known[tokenizer] = found
    return found


def check_rules(rules: Iterable[str]) -> tuple[str, list[str]]:
    """Join rules, the first named ``start``, to a grammar; return it with llguidance's warnings.

    Raises:
        GrammarError: too long, or refused by llguidance, with its message.
    """
    text = HEADER + "\n".join(rules) + "\n"
    if len(text) > MAX_CHARS:
        raise GrammarError(i18n("The schema needs a grammar of more than {most:,} characters.", most=MAX_CHARS))
    is_error, messages = LLMatcher.validate_grammar_with_warnings(text)
    if is_error:
        raise GrammarError(messages[0])
    return text, messages


def check_grammar(text: str) -> str:
    """Return ``text`` if it is a usable grammar in GBNF; raises `GrammarError` otherwise."""
    try:
        check_rules(lark_rules(text))
    except GrammarError as error:
        reason = error.message.partition("\n")[0].rstrip(".")[:200]
        raise GrammarError(i18n("The grammar cannot be read: {reason}.", reason=reason)) from error
    return text


def initial_state(tokenizer: Tokenizer, text: str) -> MatcherState:
    """The state before the first token of an answer that follows a grammar of `engine.grammar.lark`, or in GBNF.

    Raises:
        GrammarError: llguidance refuses it, the vocabulary has no end-of-generation token, or no token can follow.
    """
    if not tokenizer.eog_ids:
        raise GrammarError(
            "The vocabulary of this model has no token that ends an answer, so no grammar can be followed."
        )
    is_gbnf = not is_lark(text)
    rules = check_rules(lark_rules(text))[0] if is_gbnf else text
    matcher = LLMatcher(_tokenizer_of(tokenizer), rules, log_level=0, limits=_GBNF_LIMITS if is_gbnf else LIMITS)
    run = _MatcherRun(matcher, tokenizer, _MAX_SINGLE if is_gbnf else 0)
    run.check()
    start = run.here = MatcherState(run)
    if not start.all_allowed().size:
        raise GrammarError(_NOTHING)
    return start


@dataclass(eq=False)
class _MatcherRun:
    """The matcher of an answer, with its current state."""

    matcher: LLMatcher
    tokenizer: Tokenizer
    max_single: int = 0  # this number of tokens is tested one by one, if no mask is known
    here: MatcherState | None = None
    with_mask: deque[MatcherState] = field(default_factory=deque)

    def check(self) -> None:
        """Raise the matcher's error, if any.

        Raises:
            GrammarError: the matcher has failed, which is permanent.
        """
        if not self.matcher.is_error():
            return
        reason = self.matcher.get_error().partition("\n")[0].removesuffix("<non-verbose/>").strip(" .|")
        if reason in _ENDED:
            raise GrammarError(_NOTHING)
        raise GrammarError(i18n("The grammar cannot be followed: {reason}.", reason=reason[:300]))

    def go_to(self, state: MatcherState) -> None:
        """Roll the matcher back to the common history, then advance to ``state``."""
        here, num_back, ahead = self.here, 0, list[int]()
        there: MatcherState | None = state
        while here is not there:
            assert here is not None and there is not None  # noqa: S101, PT018  (all have a common first state)
            if here.depth >= there.depth:
                here, num_back = here.before, num_back + 1
            else:
                ahead.append(there.token_id)
                there = there.before
        if num_back:
            self.matcher.rollback(num_back)
        if ahead:
            self.matcher.consume_tokens(ahead[::-1])
        self.here = state
        self.check()


class MatcherState:
    """Implements `engine.grammar.constraint.ConstraintState` as a linked list of tokens."""

    __slots__ = ("_run", "before", "depth", "mask", "token_id")

    def __init__(self, run: _MatcherRun, before: MatcherState | None = None, token_id: int = -1) -> None:
        """The state after ``before`` and ``token_id``, which ``before`` must allow."""
        self._run = run
        self.before = before
        self.token_id = token_id
        self.depth: int = 0 if before is None else before.depth + 1
        self.mask: Mask | None = None

    def allows(self, ids: Sequence[int] | TokenArray) -> NDArray[np.bool_]:
        """See `ConstraintState.allows`.

        Raises:
            GrammarError: finding out is too much work.
        """
        asked = np.asarray(ids, dtype=np.int64)
        if self.mask is None and len(asked) <= self._run.max_single:
            return np.array([self._may_follow(token_id) for token_id in asked.tolist()], dtype=np.bool_)
        mask = self._allowed()
        inside = asked < self._run.tokenizer.n_vocab
        found = np.where(inside, asked, 0)
        allowed: NDArray[np.bool_] = (mask[found >> 3] >> (found & 7) & 1).astype(np.bool_) & inside
        return allowed

    def all_allowed(self) -> TokenArray:
        """See `ConstraintState.all_allowed`.

        Raises:
            GrammarError: finding out is too much work.
        """
        bits = np.unpackbits(self._allowed(), count=self._run.tokenizer.n_vocab, bitorder="little")
        return bits.nonzero()[0]

    def advanced(self, token_id: int) -> MatcherState | None:
        """See `ConstraintState.advanced`.

        Raises:
            GrammarError: finding out is too much work.
        """
        ends = self._run.tokenizer.is_eog(token_id)
        return MatcherState(self._run, self, token_id) if not ends and self._may_follow(token_id) else None

    def forced_text(self) -> bytes:
        """See `ConstraintState.forced_text`."""
        self._run.go_to(self)
        text: bytes = self._run.matcher.compute_ff_bytes()
        return text

    def _may_follow(self, token_id: int) -> bool:
        if not 0 <= token_id < self._run.tokenizer.n_vocab:
            return False
        if self.mask is not None:
            return bool(self.mask[token_id >> 3] >> (token_id & 7) & 1)
        self._run.go_to(self)
        if self._run.tokenizer.is_eog(token_id):
            return bool(self._run.matcher.is_accepting())
        return self._run.matcher.validate_tokens([token_id]) == 1

    def _allowed(self) -> Mask:
        mask = self.mask
        if mask is None:
            run = self._run
            run.go_to(self)
            mask = np.frombuffer(run.matcher.compute_bitmask(), dtype=np.uint8)
            run.check()
            if len(run.with_mask) >= _MAX_MASKS:
                run.with_mask.popleft().mask = None
            run.with_mask.append(self)
            self.mask = mask
        return mask
