"""Converts token ids to text that is final, piece by piece, with the provenance of every token.

Text is held back for two reasons: an incomplete UTF-8 character, and a possible beginning of a stop string. The bytes
of a token are used unchanged, so the leading space of SentencePiece vocabularies is kept, also for the first token.
"""

import codecs
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.interfaces import Tokenizer
from engine.reasoning_tags import REASONING_TAGS
from engine.records import PassProbabilities, Source, TokenSpan

_Utf8 = codecs.getincrementaldecoder("utf-8")
_span = functools.lru_cache(maxsize=1024)(TokenSpan)  # a few different spans make up most of an answer


@dataclass(frozen=True, slots=True)
class Piece:
    """Released text and its tokens; the spans' characters add up to the text's.

    ``num_tokens``: how many tokens of this call belong to the answer. If ``stopped``, tokens after the one that
    completed a stop string do not.
    """

    text: str
    spans: tuple[TokenSpan, ...]
    stopped: bool
    num_tokens: int


class Detokenizer:
    """Decodes one answer. Text from a stop string on is never released.

    Each token gets one span, in order, when its text is released. ``flush`` converts an incomplete character to U+FFFD,
    in an additional span with the last token's source, or drops it if the answer was cut off.
    """

    def __init__(self, tokenizer: Tokenizer, stop: tuple[str, ...] = ()) -> None:
        self._tokenizer = tokenizer
        self._stops = tuple(text for text in stop if text)
        prefixes = {text[:end] for text in self._stops for end in range(1, len(text))}
        self._prefixes = tuple(sorted(prefixes, key=len, reverse=True))
        self._decoder = _Utf8("replace")
        self._mid_character = False
        self._cache: dict[int, tuple[bytes, str | None]] = {}
        self._text = ""
        self._tokens: list[TokenSpan] = []
        self._last_source = Source.TARGET
        self._stopped = False
        self.stop = ""  # the stop string that was completed
        self._tag_stops = {text for text in self._stops if any(closing in text for _, closing in REASONING_TAGS)}
        self._reasoning: _Reasoning | None = None
        self._first_stop = 0  # offset in the text at which a stop string may begin

    def watch_reasoning(self, reasoning_start_tag: str) -> None:
        """Ignore stop strings within reasoning at the beginning of an answer, unless they contain a closing tag.

        ``reasoning_start_tag`` is the reasoning tag at the end of the prompt; the answer may also begin with a tag.
        """
        if self._stops:
            self._reasoning = _Reasoning(reasoning_start_tag.strip())

    @property
    def has_stop_strings(self) -> bool:
        """If True, the text of every pass must be checked before the next pass."""
        return bool(self._stops)

    def feed(
        self,
        ids: Sequence[int],
        sources: Sequence[Source],
        rejected: Sequence[int] = (),
        probabilities: PassProbabilities | None = None,
    ) -> Piece:
        """Add the tokens of one pass, and release text that is final; nothing is released after a stop string.

        ``rejected`` are the proposed tokens that the last of ``ids`` replaced; its span gets their text and the
        ``probabilities`` of the pass.
        """
        if self._stopped:
            return Piece("", (), stopped=True, num_tokens=0)
        instead = ""
        if rejected:
            instead, probabilities = self._rejected_text(rejected, probabilities)
        last = len(ids) - 1
        for index, (token_id, source) in enumerate(zip(ids, sources, strict=True)):
            text = self._decode(token_id)
            self._last_source = source
            self._tokens.append(
                TokenSpan(len(text), source, instead, probabilities) if index == last else _span(len(text), source)
            )
            self._text += text
            if self._reasoning is not None and (num_thought := self._reasoning.feed(text)):
                self._first_stop = len(self._text) - len(text) + num_thought
            if self._stops and text and self._cut_at_stop(len(text)):
                return self._release(len(self._text), index + 1)
        return self._release(len(self._text) - self._num_held_chars(), len(ids))

    def flush(self, *, is_cut: bool = False) -> Piece:
        """Release held text at the end of the answer, unless it completes a stop string.

        ``is_cut``: the model did not end the answer itself, so an incomplete character is dropped.
        """
        if self._stopped:
            return Piece("", (), stopped=True, num_tokens=0)
        rest = "" if is_cut else self._decoder.decode(b"", final=True)
        self._mid_character = False
        if rest:
            self._tokens.append(TokenSpan(len(rest), self._last_source))
            self._text += rest
            self._cut_at_stop(len(rest))
        return self._release(len(self._text), 0)

    def _decode(self, token_id: int) -> str:
        entry = self._cache.get(token_id)
        if entry is None:
            piece = self._tokenizer.piece(token_id)
            try:
                entry = (piece, piece.decode("utf-8"))
            except UnicodeDecodeError:
                entry = (piece, None)
            self._cache[token_id] = entry
        piece, text = entry
        if text is not None and not self._mid_character:
            return text
        text = self._decoder.decode(piece)
        self._mid_character = bool(self._decoder.getstate()[0])
        return text

    def _rejected_text(
        self, ids: Sequence[int], probabilities: PassProbabilities | None
    ) -> tuple[str, PassProbabilities | None]:
        """Return the text of rejected tokens, and ``probabilities`` with the number of characters of each."""
        pieces = [self._tokenizer.piece(token_id) for token_id in ids]
        text = b"".join(pieces).decode("utf-8", "replace")
        if len(ids) == 1 or probabilities is None:
            return text, probabilities
        lengths = [len(piece) for piece in pieces]
        if not text.isascii():
            decoder = _Utf8("replace")
            lengths = [len(decoder.decode(piece)) for piece in pieces]
            lengths[-1] += len(text) - sum(lengths)
        return text, PassProbabilities(probabilities.probs, probabilities.last, probabilities.greedy, tuple(lengths))

    def _cut_at_stop(self, num_new: int) -> bool:
        """Truncate held text before the stop string that ends first (of several, the longest). False if there is none.

        The result must not depend on the split into tokens, so the earliest end decides.
        """
        found: tuple[int, int] | None = None
        for stop in self._stops:
            first = 0 if stop in self._tag_stops else self._first_stop
            begin = self._text.find(stop, max(first, len(self._text) - num_new - len(stop) + 1))
            if begin >= 0:
                match = (begin + len(stop), begin)
                found = match if found is None else min(found, match)
        if found is None:
            return False
        self._stopped = True
        self.stop = self._text[found[1] : found[0]]
        self._text = self._text[: found[1]]
        self._tokens = list(_shorten(self._tokens, found[1]))
        return True

    def _num_held_chars(self) -> int:
        """Length of the longest suffix of the text that may begin a stop string."""
        if not self._prefixes or not self._text.endswith(self._prefixes):
            return 0
        return len(next(prefix for prefix in self._prefixes if self._text.endswith(prefix)))

    def _release(self, num_chars: int, num_tokens: int) -> Piece:
        """Release the tokens that are entirely within the first ``num_chars`` characters."""
        if num_chars == len(self._text):
            text, spans = self._text, tuple(self._tokens)
            self._text, self._tokens, self._first_stop = "", [], 0
            return Piece(text, spans, self._stopped, num_tokens)
        end = count = 0
        while end + self._tokens[count].num_chars <= num_chars:
            end += self._tokens[count].num_chars
            count += 1
        text, spans = self._text[:end], tuple(self._tokens[:count])
        self._text, self._tokens = self._text[end:], self._tokens[count:]
        self._first_stop = max(0, self._first_stop - end)
        return Piece(text, spans, self._stopped, num_tokens)


class _Reasoning:
    """Counts the characters of an answer that belong to the reasoning at its beginning."""

    def __init__(self, reasoning_start_tag: str) -> None:
        self._closing = next((closing for opening, closing in REASONING_TAGS if opening == reasoning_start_tag), "")
        self._text = ""  # the last characters, which may contain a tag
        self._has_ended = False

    def feed(self, text: str) -> int:
        """Add text; return how many of its characters belong to reasoning."""
        if self._has_ended:
            return 0
        before = len(self._text)
        self._text += text
        if not self._closing:
            begun = self._text.lstrip()
            pair = next((pair for pair in REASONING_TAGS if begun.startswith(pair[0])), None)
            if pair is None:
                self._has_ended = not any(opening.startswith(begun) for opening, _ in REASONING_TAGS)
                return 0
            self._closing = pair[1]
        begin = self._text.find(self._closing)
        if begin < 0:
            self._text = self._text[-len(self._closing) :]
            return len(text)
        end = begin + len(self._closing)
        self._text, self._closing = self._text[end:], ""  # another reasoning block may follow
        return max(0, end - before)


def _shorten(spans: Iterable[TokenSpan], num_chars: int) -> Iterable[TokenSpan]:
    """Limit the spans to ``num_chars`` characters in all; later spans get 0."""
    left = num_chars
    for span in spans:
        kept = min(span.num_chars, left)
        left -= kept
        yield replace(span, num_chars=kept)
