"""Converts arbitrary bytes to text tokens of one vocabulary, and back."""

from collections.abc import Iterator

from engine.errors import PromptError
from engine.interfaces import Tokenizer
from engine.prompt.typed_text import adds_space

_LONGEST_PIECE = 64  # longest token, in bytes, that is searched for without the tokenizer
_MAX_CACHED, _MAX_CACHED_BYTES = 20_000, 48  # number of cached spellings, and their longest text in bytes
_UTF8_LENGTHS = ((0xF0, 4), (0xE0, 3), (0xC0, 2))  # bytes of a character by its first byte


class ByteTokenizer:
    """Spells bytes in the text tokens of one vocabulary. UTF-8 text is spelled as its tokenizer does.

    Control tokens (including reasoning tags) and end-of-generation tokens have no bytes here, so they are never a
    result.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.n_vocab = tokenizer.n_vocab
        self._tokenizer = tokenizer
        controls = {text.encode("utf-8") for text in tokenizer.control_texts}
        self.eog_ids, piece = tokenizer.eog_ids, tokenizer.piece
        self.pieces = [b"" if i in self.eog_ids else piece(i) for i in range(self.n_vocab)]  # the bytes of each token
        self._ids: dict[bytes, int] = {}
        for token_id, data in enumerate(self.pieces):
            if data in controls:
                self.pieces[token_id] = b""
            elif data and (data not in self._ids or tokenizer.token_text(self._ids[data]).startswith("<0x")):
                self._ids[data] = token_id  # a character may have a byte token and a text token
        self._longest = min(max(map(len, self._ids), default=0), _LONGEST_PIECE)
        self._kept: dict[bytes, tuple[int, ...]] = {}
        self._adds_space = adds_space(tokenizer)
        # Stands for bytes that the vocabulary cannot spell.
        self.placeholder_id = self._ids.get(b" ", next(iter(self._ids.values()), 0))

    def id_of(self, data: bytes) -> int | None:
        """The token with exactly these bytes; None if there is none."""
        return self._ids.get(data)

    def spell(self, data: bytes) -> tuple[int, ...]:
        """The tokens of ``data``, or of its longest prefix that tokens can spell."""
        kept = self._kept.get(data)
        if kept is not None:
            return kept
        found = tuple(self._spelled(data))
        if len(data) <= _MAX_CACHED_BYTES:
            if len(self._kept) >= _MAX_CACHED:
                self._kept.clear()
            self._kept[data] = found
        return found

    def _spelled(self, data: bytes) -> list[int]:
        ids: list[int] = []
        for part, text in _utf8_parts(data):
            found = self._tokens_of(text, part) if text else None
            if found is None:
                found, num_bytes = self._longest_tokens(part)
                if num_bytes < len(part):
                    return ids + found
            ids += found
        return ids

    def _tokens_of(self, text: str, data: bytes) -> list[int] | None:
        """Tokenize ``text``; None if the tokens' bytes differ from ``data``."""
        tokenize, pieces = self._tokenizer.tokenize, self.pieces
        begun = self._adds_space and not text.startswith(" ")
        try:
            ids = tokenize("\n" + text if begun else text[self._adds_space :], special=False)
            if begun:  # without the space that the tokenizer adds before a text
                before = tokenize("\n", special=False)
                ids = ids[len(before) :] if ids[: len(before)] == before else []
        except PromptError:
            return None
        found = [pieces[i] for i in ids]
        return ids if all(found) and b"".join(found) == data else None

    def _longest_tokens(self, data: bytes) -> tuple[list[int], int]:
        """Take the longest token at each index; return the tokens and the number of spelled bytes."""
        ids, index, known = list[int](), 0, self._ids
        while index < len(data):
            for length in range(min(self._longest, len(data) - index), 0, -1):
                token_id = known.get(data[index : index + length])
                if token_id is not None:
                    ids.append(token_id)
                    index += length
                    break
            else:
                break
        return ids, index


def _utf8_parts(data: bytes) -> Iterator[tuple[bytes, str]]:
    """Split ``data`` into UTF-8 parts, each with its text, and invalid parts with an empty text."""
    while data:
        begin, end = _invalid_range(data)
        if begin:
            yield data[:begin], data[:begin].decode("utf-8")
        if end > begin:
            yield data[begin:end], ""
        data = data[end:]


def _invalid_range(data: bytes) -> tuple[int, int]:
    """Begin and end of the first bytes that are not UTF-8; the end of ``data`` if all are."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start, error.end
    return len(data), len(data)


def whole_characters(data: bytes) -> bytes:
    """Remove an incomplete character at the end of ``data``."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = next(length for first, length in _UTF8_LENGTHS if byte >= first)
            return data[:-back] if length > back else data
        if byte < 0x80:
            return data
    return data


def is_certain_split(data: bytes | bytearray, index: int) -> bool:
    """Whether every tokenizer splits at ``index``: at a space before a letter, or at the beginning of a line.

    Some join the last of several white spaces with the next word, so a line after an empty line does not count.
    """
    if index + 1 >= len(data):
        return False
    first = data[index]
    if first == _SPACE:
        return (data[index + 1] | 0x20) in _LETTERS
    is_first = index > 0 and data[index - 1] == _LINE_END and (index == 1 or data[index - 2] not in _WHITE)
    return is_first and first not in _WHITE


_SPACE, _LINE_END, _WHITE = 0x20, 0x0A, frozenset(b" \t\r\n\v\f")
_LETTERS = frozenset(range(ord("a"), ord("z") + 1))
