"""A grammar of llguidance over a vocabulary: which tokens may follow in each state.

One matcher serves all states of an answer: it returns to the token where two histories part, a microsecond per token,
as is every token forward. The tokens that may follow take 20 microseconds for a vocabulary of 49k and 45 for 262k on
average over an answer in JSON (SmolLM2 and Gemma 3 on one core of a server), some milliseconds at worst.
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
from engine.grammar.lark import HEADER
from engine.interfaces import Tokenizer
from engine.sentences import said

TokenArray = NDArray[np.int64]
Mask = NDArray[np.uint8]  # a bit for each token, the lowest first
MAX_CHARS = 4_000_000
_SPECIAL = b"\xff"  # llguidance's mark of control tokens
_NOTHING = "Nothing can be written that the grammar or the schema allows."
_ENDED = ("NoExtension", "NoExtensionBias")
_KEPT_MASKS = 64  # of 20 KB each, say
# An optional property takes some items of a row, so a schema may have about 2,000 of them; other limits are defaults.
LIMITS = LLParserLimits(max_items_in_row=10_000, verbose_errors=False)
_known: WeakKeyDictionary[Tokenizer, LLTokenizer] = WeakKeyDictionary()


class _Pieces:
    """A vocabulary in llguidance's form: the bytes of each token, control tokens marked."""

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
        """Text as tokens: never called, since no tokens of a text are preferred."""
        return []


def _tokenizer_of(tokenizer: Tokenizer) -> LLTokenizer:
    """The vocabulary in llguidance's form, cached for the life of the tokenizer.

    It takes 0.3 s for 49k tokens and 3 s for 262k, and 23 and 128 MB (SmolLM2 and Gemma 3 on one core of a server), so
    it waits for the first answer with a grammar.
    """
    found = _known.get(tokenizer)
    if found is None:
        pieces = _Pieces(tokenizer)
        # The library's annotation asks for its own class, which does no more.
        found = LLTokenizer(pieces, n_vocab=tokenizer.n_vocab, eos_token=sorted(tokenizer.eog_ids))  # type: ignore[arg-type]
        pieces.tokens = []  # llguidance copied them into a trie, and keeps a reference to this object
        _known[tokenizer] = found
    return found


def checked(rules: Iterable[str]) -> tuple[str, list[str]]:
    """The grammar of rules, the first of them ``start``, and llguidance's warnings about it.

    Raises:
        GrammarError: too long, or llguidance refuses it, with its message.
    """
    text = HEADER + "\n".join(rules) + "\n"
    if len(text) > MAX_CHARS:
        raise GrammarError(said("The schema needs a grammar of more than {most:,} characters.", most=MAX_CHARS))
    is_error, messages = LLMatcher.validate_grammar_with_warnings(text)
    if is_error:
        raise GrammarError(messages[0])
    return text, messages


def start_of(tokenizer: Tokenizer, text: str) -> MatcherState:
    """The state before the first token of an answer that follows a grammar written by `engine.grammar.lark`.

    Raises:
        GrammarError: llguidance refuses it, the vocabulary has no token that ends an answer, or nothing can follow.
    """
    if not tokenizer.eog_ids:
        raise GrammarError(
            "The vocabulary of this model has no token that ends an answer, so no grammar can be followed."
        )
    matcher = LLMatcher(_tokenizer_of(tokenizer), text, log_level=0, limits=LIMITS)
    run = _Run(matcher, tokenizer)
    run.check()
    start = run.here = MatcherState(run)
    if not start.all_allowed().size:
        raise GrammarError(_NOTHING)
    return start


@dataclass(eq=False)
class _Run:
    """The matcher of an answer, and its current state."""

    matcher: LLMatcher
    tokenizer: Tokenizer
    here: MatcherState | None = None
    with_mask: deque[MatcherState] = field(default_factory=deque)

    def check(self) -> None:
        """Raise the matcher's error, if it has one.

        Raises:
            GrammarError: it has; it keeps the error from now on.
        """
        if not self.matcher.is_error():
            return
        reason = self.matcher.get_error().partition("\n")[0].removesuffix("<non-verbose/>").strip(" .|")
        if reason in _ENDED:
            raise GrammarError(_NOTHING)
        raise GrammarError(said("The grammar cannot be followed: {reason}.", reason=reason[:300]))

    def go_to(self, state: MatcherState) -> None:
        """Roll the matcher back to the common history, then forward to ``state``."""
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
    """Implements `engine.grammar.constraint.State`: the tokens so far, as a chain."""

    __slots__ = ("_run", "before", "depth", "mask", "token_id")

    def __init__(self, run: _Run, before: MatcherState | None = None, token_id: int = -1) -> None:
        """The state after ``before`` and ``token_id``, which may follow there."""
        self._run = run
        self.before = before
        self.token_id = token_id
        self.depth: int = 0 if before is None else before.depth + 1
        self.mask: Mask | None = None

    def allows(self, ids: Sequence[int] | TokenArray) -> NDArray[np.bool_]:
        """See `State.allows`.

        Raises:
            GrammarError: finding out is too much work.
        """
        asked = np.asarray(ids, dtype=np.int64)
        mask = self._allowed()
        inside = asked < self._run.tokenizer.n_vocab
        found = np.where(inside, asked, 0)
        allowed: NDArray[np.bool_] = (mask[found >> 3] >> (found & 7) & 1).astype(np.bool_) & inside
        return allowed

    def all_allowed(self) -> TokenArray:
        """See `State.all_allowed`.

        Raises:
            GrammarError: finding out is too much work.
        """
        bits = np.unpackbits(self._allowed(), count=self._run.tokenizer.n_vocab, bitorder="little")
        return bits.nonzero()[0]

    def advanced(self, token_id: int) -> MatcherState | None:
        """See `State.advanced`.

        Raises:
            GrammarError: finding out is too much work.
        """
        tokenizer = self._run.tokenizer
        if not 0 <= token_id < tokenizer.n_vocab or tokenizer.is_eog(token_id):
            return None
        if self.mask is not None:
            may_follow = bool(self.mask[token_id >> 3] >> (token_id & 7) & 1)
        else:
            self._run.go_to(self)
            may_follow = self._run.matcher.validate_tokens([token_id]) == 1
        return MatcherState(self._run, self, token_id) if may_follow else None

    def _allowed(self) -> Mask:
        mask = self.mask
        if mask is None:
            run = self._run
            run.go_to(self)
            mask = np.frombuffer(run.matcher.compute_bitmask(), dtype=np.uint8)
            run.check()
            if len(run.with_mask) >= _KEPT_MASKS:
                run.with_mask.popleft().mask = None
            run.with_mask.append(self)
            self.mask = mask
        return mask
