"""Follows the grammar of an answer with llguidance: which tokens may come next, and which text must.

A token takes a microsecond in either direction. Computing the allowed tokens takes 20 microseconds for a vocabulary of
49k and 45 for 262k on average over an answer in JSON (SmolLM2 and Gemma 3 on one core of a server), and some
milliseconds at worst.
"""

import re
from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from llguidance import LLMatcher, LLParserLimits, LLTokenizer
from numpy.typing import NDArray

from engine.errors import GrammarError
from engine.grammar.lark import HEADER, is_lark, literal
from engine.interfaces import Tokenizer
from engine.prompt.typed_text import tokens_within_text
from engine.sentences import i18n

History = NDArray[np.int32]
Mask = NDArray[np.uint8]  # one bit per token, lowest first
MAX_CHARS = 4_000_000
_MAX_FORCED_BYTES = 96  # more than any pass verifies
_MAX_KEPT = 64  # tokens that can be taken back; more than any rollback drops
_SPECIAL = b"\xff"  # llguidance's mark of control tokens
_NOTHING = "Nothing can be written that the grammar or the schema allows."
_ENDED = ("NoExtension", "NoExtensionBias")
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


class GrammarConstraint:
    """The grammar of one answer, written by `engine.grammar.lark` or in GBNF; see `engine.interfaces.Constraint`.

    The masks of the last tokens are kept, so rejected tokens cost nothing and need not be reported.

    Raises:
        GrammarError: llguidance refuses the grammar, the vocabulary has no end-of-generation token, no token can
            follow, or (all methods) finding out is too much work.
    """

    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        if not tokenizer.eog_ids:
            raise GrammarError(
                "The vocabulary of this model has no token that ends an answer, so no grammar can be followed."
            )
        is_gbnf = not is_lark(text)
        rules = check_rules(lark_rules(text))[0] if is_gbnf else text
        limits = _GBNF_LIMITS if is_gbnf else LIMITS
        # Convert the vocabulary for llguidance; cached for the life of the tokenizer. This takes 0.3 s and 23 MB for
        # 49k tokens, 3 s and 128 MB for 262k (SmolLM2 and Gemma 3 on one core of a server), so it is deferred to the
        # first answer with a grammar.
        found = _known.get(tokenizer)
        if found is None:
            pieces = _Pieces(tokenizer)
            # The annotation requires llguidance's own class, but any object with these attributes works.
            found = LLTokenizer(pieces, n_vocab=tokenizer.n_vocab, eos_token=sorted(tokenizer.eog_ids))  # type: ignore[arg-type]
            pieces.tokens = []  # free them: llguidance has copied them, but keeps a reference to this object
            _known[tokenizer] = found
        self._matcher = LLMatcher(found, rules, log_level=0, limits=limits)
        self._tokenizer = tokenizer
        self._max_single = _MAX_SINGLE if is_gbnf else 0  # this number of tokens is tested one by one
        self._first = 0  # index in a history of the token `_path[0]`
        self._path: list[int] = []  # the answer's last tokens, and proposed ones, that the grammar allows
        self._masks: list[Mask | None] = [None]  # of the tokens that may follow the first 0, 1, ... tokens of the path
        self._at = 0  # the number of tokens of the path that the matcher has consumed
        self._check()
        if not self._mask(0).any():
            raise GrammarError(_NOTHING)

    def begin(self, num_prompt: int) -> None:
        """Set the number of tokens of the prompt."""
        self._first = num_prompt

    def is_known(self, history: History, pending: Sequence[int] = ()) -> bool:
        """False if the grammar forbids one of the tokens, or one ended the answer: then any token may follow."""
        return self._place(history, pending) is not None

    def allows(
        self, history: History, pending: Sequence[int], ids: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Whether each of ``ids`` [n] may follow; None if any token may."""
        place = self._place(history, pending)
        if place is None:
            return None
        asked = np.asarray(ids, dtype=np.int64)
        if self._masks[place] is None and len(asked) <= self._max_single:
            self._move_to(place)
            return np.array([self._may_follow(token_id) for token_id in asked.tolist()], dtype=np.bool_)
        mask = self._mask(place)
        inside = asked < self._tokenizer.n_vocab
        found = np.where(inside, asked, 0)
        allowed: NDArray[np.bool_] = (mask[found >> 3] >> (found & 7) & 1).astype(np.bool_) & inside
        return allowed

    def all_allowed(self, history: History, pending: Sequence[int]) -> NDArray[np.int64] | None:
        """The ids of all tokens that may follow, ascending; None if any token may."""
        place = self._place(history, pending)
        if place is None:
            return None
        bits = np.unpackbits(self._mask(place), count=self._tokenizer.n_vocab, bitorder="little")
        return bits.nonzero()[0]

    def forced_ids(self, history: History) -> list[int]:
        """The tokens of the text that the grammar forces; empty if it leaves a choice.

        Other tokenizations are valid too, so the tokens are only proposed.
        """
        place = self._place(history, ())
        if place is None:
            return []
        self._move_to(place)
        text: bytes = self._matcher.compute_ff_bytes()[:_MAX_FORCED_BYTES]
        if not text or text[0] & 0xC0 == 0x80:  # the rest of a character
            return []
        return tokens_within_text(self._tokenizer, text.decode("utf-8", "ignore"))

    def _place(self, history: History, pending: Sequence[int]) -> int | None:
        """Make the answer's tokens part of the path, and return their number in it; None as for `is_known`."""
        tail: list[int] = history[self._first :].tolist()
        tail += pending
        path, shared = self._path, 0
        for one, other in zip(tail, path, strict=False):
            if one != other:
                break
            shared += 1
        if shared < len(tail):
            self._move_to(shared)
            del path[shared:], self._masks[shared + 1 :]
            is_eog, n_vocab = self._tokenizer.is_eog, self._tokenizer.n_vocab
            ends = (i for i in range(shared, len(tail)) if not 0 <= tail[i] < n_vocab or is_eog(tail[i]))
            new = tail[shared : next(ends, len(tail))]
            new = new[: self._matcher.try_consume_tokens(new)]
            path += new
            self._masks += [None] * len(new)
            self._at = len(path)
            self._check()
            if len(path) < len(tail):
                return None
            if len(path) > 2 * _MAX_KEPT:
                self._first += _MAX_KEPT
                self._at -= _MAX_KEPT
                del path[:_MAX_KEPT], self._masks[:_MAX_KEPT]
                return len(path)
        return len(tail)

    def _move_to(self, place: int) -> None:
        """Let the matcher consume exactly the first tokens of the path."""
        if place < self._at:
            self._matcher.rollback(self._at - place)
        elif place > self._at:
            self._matcher.consume_tokens(self._path[self._at : place])
        self._at = place
        self._check()

    def _may_follow(self, token_id: int) -> bool:
        if self._tokenizer.is_eog(token_id):
            return bool(self._matcher.is_accepting())
        return 0 <= token_id < self._tokenizer.n_vocab and self._matcher.validate_tokens([token_id]) == 1

    def _mask(self, place: int) -> Mask:
        mask = self._masks[place]
        if mask is None:
            self._move_to(place)
            mask = self._masks[place] = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
            self._check()
        return mask

    def _check(self) -> None:
        """Raise the matcher's error, if any, which is permanent."""
        if not self._matcher.is_error():
            return
        reason = self._matcher.get_error().partition("\n")[0].removesuffix("<non-verbose/>").strip(" .|")
        if reason in _ENDED:
            raise GrammarError(_NOTHING)
        raise GrammarError(i18n("The grammar cannot be followed: {reason}.", reason=reason[:300]))


MAX_GRAMMAR_CHARS = 65_536  # of a grammar in GBNF
_MAX_DEPTH = 50  # nested groups
_CHARACTER = r'\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[tnr\\"\[\]-]|[^\\]'
_CHARACTERS = re.compile(_CHARACTER)
_RANGES = re.compile(rf"({_CHARACTER})(?:-({_CHARACTER}))?")
_TOKEN = re.compile(
    rf"""(?:\s+|\#[^\r\n]*)+
    |(?P<rule>[\w-]+)\s*::=
    |(?P<name>[\w-]+)
    |"(?P<text>(?:(?!")(?:{_CHARACTER}))*)"
    |\[(?P<set>\^?(?:(?!\])(?:{_CHARACTER}))*)\]
    |(?P<sign>\{{\s*\d+\s*(?:,\s*\d*\s*)?\}}|[*+?|()])
    |(?P<any>\.)""",
    re.VERBOSE | re.ASCII,
)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r"}


def lark_rules(text: str) -> list[str]:
    """Convert a grammar in llama.cpp's GBNF with a rule ``root`` to rules in Lark, the first named ``start``.

    GBNF matches character by character, while llguidance first splits a text into terminals, the longest first. So
    every terminal of a converted grammar is one character: then both allow the same texts.

    Raises:
        GrammarError: the text is not a grammar, or is too large.
    """
    if not text.strip() or len(text) > MAX_GRAMMAR_CHARS:
        raise GrammarError(i18n("A grammar must have rules, and {most:,} characters at most.", most=MAX_GRAMMAR_CHARS))
    names, rules = {"root": "start"}, dict[str, list[str]]()
    position, depth, parts = 0, 0, list[str]()
    while position < len(text):
        found = _TOKEN.match(text, position)
        kind = found.lastgroup if found is not None else ""
        if found is None or (kind not in ("rule", None) and not rules) or depth > _MAX_DEPTH:
            line = text.count("\n", 0, position) + 1
            raise GrammarError(i18n("The grammar cannot be read: line {line} is no GBNF.", line=line))
        position = found.end()
        if kind == "rule":
            names.setdefault(found["rule"], f"rule_{len(names)}")
            parts, depth = rules.setdefault(found["rule"], []), 0
            parts.clear()  # a later rule of the same name replaces an earlier one, as in llama.cpp
        elif kind is not None:
            depth += (found[kind] == "(") - (found[kind] == ")")
            parts.append(
                names.setdefault(found[kind], f"rule_{len(names)}") if kind == "name" else _lark(kind, found[kind])
            )
    if names.keys() - rules.keys():
        raise GrammarError("The grammar cannot be read: it has no rule called root, or names a rule that is missing.")
    return [f"{name}: {' '.join(rules[rule])}" for rule, name in names.items()]


def _lark(kind: str, token: str) -> str:
    """Convert a token of GBNF other than a name."""
    if kind == "text":
        return "(" + " ".join(literal(chr(_code(one))) for one in _CHARACTERS.findall(token)) + ")" if token else '""'
    if kind == "set":
        ranges = _RANGES.findall(token.removeprefix("^"))
        inner = "".join(f"\\x{{{_code(first):x}}}-\\x{{{_code(last or first):x}}}" for first, last in ranges)
        return f"/[{'^' if token.startswith('^') else ''}{inner}]/"
    return token if kind == "sign" else "/(?s:.)/"


def _code(character: str) -> int:
    """The code point of a character, or of an escape."""
    if character[0] != "\\" or character == "\\":
        return ord(character)
    if character[1] in "xuU":
        return int(character[2:], 16)
    return ord(_ESCAPES.get(character[1], character[1]))
