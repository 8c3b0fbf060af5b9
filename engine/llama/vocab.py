"""Wraps a model's vocabulary in llama.cpp: converts text to ids and back, and describes tokens."""

import ctypes
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.errors import PromptError
from engine.llama import library
from engine.reasoning_tags import reasoning_markers
from engine.tools.formats import tool_markers_among

PIECE_CHARS = 4096  # least characters of each piece except the last
MAX_RUN = 2_000  # most characters of a run; no word of any language is as long
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # white space as in llama.cpp's tables
_RUN = re.compile(f"(?<![^{_SPACE}])[^{_SPACE}]{{{MAX_RUN + 1},}}|(?<![{_SPACE}])[{_SPACE}]{{{MAX_RUN + 1},}}")
_SPM, _BPE = 1, 2
_SPM_SPACE = "\u2581"
_BYTE_NAMES = {f"<0x{byte:02X}>": byte for byte in range(256)}  # the spelling that llama.cpp searches for
_TYPE_NAMES = {0: "none", 1: "SPM", 2: "BPE", 3: "WPM", 4: "UGM", 5: "RWKV", 6: "PLaMo-2"}


# Splits a long text before control tokens, so that tokenizing takes linear time. llama.cpp searches each control text
# from each earlier match to the end of the text (`llama_vocab::impl::tokenizer_st_partition`), which is quadratic in
# the number of messages. The split does not change the tokens.


class SpecialTokenSplitter:
    """Finds the offsets at which a text may be split."""

    def __init__(self, cutting: Iterable[str], parsed: Iterable[str]) -> None:
        """``cutting`` are texts that may begin a piece, since they do not affect the text before them.

        ``parsed`` are all texts that llama.cpp parses as tokens first, including ``cutting``.
        """
        self._cutting = frozenset(filter(None, cutting))
        self._parsed = tuple(dict.fromkeys(filter(None, parsed)))
        self._lengths: dict[str, list[int]] = {}  # lengths by first character, longest first
        for text in sorted(self._cutting, key=len, reverse=True):
            lengths = self._lengths.setdefault(text[0], [])
            if len(text) not in lengths:
                lengths.append(len(text))
        self._firsts = re.compile("[" + re.escape("".join(self._lengths)) + "]") if self._cutting else None

    def pieces(self, text: str) -> Iterator[str]:
        begin = 0
        while (cut := self._next(text, begin + PIECE_CHARS)) is not None:
            yield text[begin:cut]
            begin = cut
        yield text[begin:]

    def _next(self, text: str, start: int) -> int | None:
        """The first offset from ``start`` on at which the text may be split."""
        if self._firsts is None:
            return None
        for match in self._firsts.finditer(text, start):
            begin = match.start()
            for length in self._lengths[match.group()]:
                if text[begin : begin + length] in self._cutting:
                    if self._is_apart(text, begin, begin + length):
                        return begin
                    break
        return None

    def _is_apart(self, text: str, begin: int, end: int) -> bool:
        """Whether no other parsed text overlaps an edge of this text and could be matched instead of it."""
        for other in self._parsed:
            size = len(other)
            found = text.find(other, max(0, begin - size + 1), end + size - 1)
            while found >= 0:
                if found < begin or found + size > end:
                    return False
                found = text.find(other, found + 1, end + size - 1)
        return True


# Splits runs of thousands of letters, signs or spaces. llama.cpp tokenizes many BPE vocabularies with `std::regex`,
# which recurses for each character of a match: about 25,000 letters without a space overflow a stack of 8 MB, and about
# 3,000 a stack of 1 MB.


def split_long_runs(text: str, whole: Collection[str] = ()) -> Iterator[str]:
    """Split ``text`` into pieces, but never within one of the texts in ``whole``."""
    begin = 0
    for run in _RUN.finditer(text) if len(text) > MAX_RUN else ():
        for end in range(run.start() + MAX_RUN, run.end(), MAX_RUN):
            cut = _cut_before(text, end, whole)
            if cut > begin:
                yield text[begin:cut]
                begin = cut
    yield text[begin:]


def _cut_before(text: str, offset: int, whole: Collection[str]) -> int:
    """The largest offset up to ``offset`` that is not within a text of ``whole``."""
    moved = True
    while moved:
        moved = False
        for each in whole:
            begin = text.find(each, max(0, offset - len(each) + 1), offset + len(each) - 1)
            if 0 <= begin < offset:
                offset, moved = begin, True
    return offset


@dataclass(frozen=True, slots=True)
class _SpmSpelling:
    """The characters that a vocabulary can spell, and the bytes with which it can spell other characters."""

    characters: frozenset[str]
    byte_values: frozenset[int]

    def replaced(self, text: str) -> str:
        """Replace characters that cannot be spelled by a stand-in, or remove them."""
        if len(self.byte_values) == len(_BYTE_NAMES):
            return text
        missing = {character for character in set(text) if not self._has(character)}
        stand_in = next((character for character in "?. " if self._has(character)), "") if missing else ""
        return "".join(stand_in if character in missing else character for character in text) if missing else text

    def _has(self, character: str) -> bool:
        read = _SPM_SPACE if character == " " else character
        return read in self.characters or self.byte_values.issuperset(read.encode("utf-8", "replace"))


class Vocab:
    """Implements `engine.interfaces.Tokenizer`. Holds a reference to the model that owns the native vocabulary."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401  (the owning LlamaModel; typed there, kept opaque here)
        self._lib = library.start()
        self._owner = model
        self.handle = self._lib.llama_model_get_vocab(model.handle)
        self.n_vocab = int(self._lib.llama_vocab_n_tokens(self.handle))
        self._pieces: dict[int, bytes] = {}
        self._buffer = ctypes.create_string_buffer(512)

    def _with_attributes(self, flags: int) -> list[int]:
        return [i for i in range(self.n_vocab) if self._lib.llama_vocab_get_attr(self.handle, i) & flags]

    @property
    def type_name(self) -> str:
        """The kind of tokenizer: SPM, BPE, WPM, UGM, RWKV."""
        number = int(self._lib.llama_vocab_type(self.handle))
        return _TYPE_NAMES.get(number, f"type {number}")

    @property
    def add_bos(self) -> bool:
        return bool(self._lib.llama_vocab_get_add_bos(self.handle))

    @property
    def add_eos(self) -> bool:
        return bool(self._lib.llama_vocab_get_add_eos(self.handle))

    @property
    def bos_id(self) -> int | None:
        return self._id_or_none(self._lib.llama_vocab_bos(self.handle))

    @property
    def eos_id(self) -> int | None:
        return self._id_or_none(self._lib.llama_vocab_eos(self.handle))

    @cached_property
    def _control_ids(self) -> list[int]:
        """Control tokens and the unknown token, which llama.cpp parses like a control token."""
        return self._with_attributes(self._lib.LLAMA_TOKEN_ATTR_CONTROL | self._lib.LLAMA_TOKEN_ATTR_UNKNOWN)

    @cached_property
    def control_texts(self) -> tuple[str, ...]:
        return tuple(text for i in self._control_ids if (text := self.token_text(i)))

    @cached_property
    def _markers(self) -> frozenset[str]:
        """Markers of reasoning and of tool calls, without end-of-generation tokens."""
        markers = reasoning_markers(self.control_texts) | tool_markers_among(self.control_texts)
        return markers - {self.token_text(i) for i in self.eog_ids}

    @property
    def infill_ids(self) -> tuple[int, int, int] | None:
        """The prefix, suffix and middle tokens for infill; None unless the file has all three."""
        lib = self._lib
        functions = (lib.llama_vocab_fim_pre, lib.llama_vocab_fim_suf, lib.llama_vocab_fim_mid)
        before, after, gap = (self._id_or_none(function(self.handle)) for function in functions)
        return None if before is None or after is None or gap is None else (before, after, gap)

    @property
    def repo_and_file_ids(self) -> tuple[int, int] | None:
        """The tokens that precede a project's name and a file's name; None unless both exist."""
        project = self._id_or_none(self._lib.llama_vocab_fim_rep(self.handle))
        file = self._id_or_none(self._lib.llama_vocab_fim_sep(self.handle))
        return None if project is None or file is None else (project, file)

    @cached_property
    def eog_ids(self) -> frozenset[int]:
        return frozenset(i for i in range(self.n_vocab) if self._lib.llama_vocab_is_eog(self.handle, i))

    def tokenize(self, text: str, *, special: bool, add_bos: bool = False) -> list[int]:
        """Ids of ``text``; ``special`` parses control tokens, ``add_bos`` adds the BOS token if the vocabulary does."""
        pieces = self._splitter.pieces(text) if special and len(text) > PIECE_CHARS else (text,)
        ids = [each for piece in pieces for each in self._ids_of_piece(piece, special)]
        return [self.bos_id, *ids] if add_bos and self.add_bos and self.bos_id is not None else ids

    @cached_property
    def _splitter(self) -> SpecialTokenSplitter:
        """Long texts may be split before tokens that are parsed first and do not strip white space before them."""
        lib = self._lib
        parsed = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_UNKNOWN | lib.LLAMA_TOKEN_ATTR_USER_DEFINED
        attributes = {i: lib.llama_vocab_get_attr(self.handle, i) for i in range(self.n_vocab)}
        texts = {i: self.token_text(i) for i, found in attributes.items() if found & parsed}
        bare = (
            text
            for i, text in texts.items()
            if not attributes[i] & (lib.LLAMA_TOKEN_ATTR_LSTRIP | lib.LLAMA_TOKEN_ATTR_UNKNOWN)
        )
        return SpecialTokenSplitter(bare, texts.values())

    def _ids_of_piece(self, text: str, special: bool) -> list[int]:
        if len(text) > MAX_RUN and self.type_name == _TYPE_NAMES[_BPE]:
            return [each for piece in split_long_runs(text, self.control_texts) for each in self._ids(piece, special)]
        return self._ids(text, special)

    def piece(self, token_id: int) -> bytes:
        """The bytes of a token; empty for control tokens, except markers of reasoning and of tool calls."""
        cached = self._pieces.get(token_id)
        if cached is None:
            cached = self._read_piece(token_id, special=False)
            if not cached and self.token_text(token_id) in self._markers:
                cached = self.token_text(token_id).encode("utf-8")
            self._pieces[token_id] = cached
        return cached

    def token_text(self, token_id: int) -> str:
        """The token's text in the vocabulary, control tokens included."""
        if not 0 <= token_id < self.n_vocab:  # llama.cpp would abort the process
            return ""
        text = self._lib.llama_vocab_get_text(self.handle, token_id)
        return text.decode("utf-8", "replace") if text else ""

    def is_eog(self, token_id: int) -> bool:
        return token_id in self.eog_ids

    def _ids(self, text: str, special: bool) -> list[int]:
        ids = self._native_ids(self._representable(text).encode("utf-8", "replace"), special)
        if ids and min(ids) < 0:  # llama.cpp found no token, and the vocabulary has no unknown token
            return [each for i in ids for each in ([i] if i >= 0 else self._stand_in)]
        return ids

    @cached_property
    def _stand_in(self) -> list[int]:
        """Tokens that replace text without a token: a question mark, or none."""
        return [i for i in self._native_ids(b"?", special=False) if i >= 0]

    def embedding_ids(self, text: str) -> list[int]:
        """Ids of a text to be embedded, with parsed control tokens and the tokens that the tokenizer adds."""
        return self._native_ids(self._representable(text).encode("utf-8", "replace"), special=True, adds_special=True)

    def _native_ids(self, data: bytes, special: bool, *, adds_special: bool = False) -> list[int]:
        size = len(data) + 8
        for _ in range(2):
            buffer = (ctypes.c_int32 * size)()
            count = self._lib.llama_tokenize(self.handle, data, len(data), buffer, size, adds_special, special)
            if count >= 0:
                return list(buffer[:count])
            size = -count
        raise PromptError("The text could not be split into tokens: the tokenizer of this model failed.")

    def _representable(self, text: str) -> str:
        """Replace characters that the vocabulary cannot spell.

        llama.cpp aborts the process if a SentencePiece vocabulary has tokens neither for a character nor for its bytes
        (`llama_vocab::byte_to_token` throws through the C interface).
        """
        return self._spelling.replaced(text)

    @cached_property
    def _spelling(self) -> _SpmSpelling:
        """Characters and bytes of a SentencePiece vocabulary; other kinds can spell every text."""
        if self.type_name != _TYPE_NAMES[_SPM]:
            return _SpmSpelling(frozenset(), frozenset(_BYTE_NAMES.values()))
        ids = self._with_attributes(self._lib.LLAMA_TOKEN_ATTR_BYTE)
        known = frozenset(_BYTE_NAMES[name] for i in ids if (name := self.token_text(i)) in _BYTE_NAMES)
        if len(known) == len(_BYTE_NAMES):
            return _SpmSpelling(frozenset(), known)
        return _SpmSpelling(
            frozenset(text for text in map(self._spelled_text, range(self.n_vocab)) if len(text) == 1), known
        )

    def _spelled_text(self, token_id: int) -> str:
        """A token's text; empty if its bytes are not UTF-8."""
        data: bytes = self._lib.llama_vocab_get_text(self.handle, token_id) or b""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return ""

    def _read_piece(self, token_id: int, *, special: bool) -> bytes:
        if not 0 <= token_id < self.n_vocab:
            return b""
        buffer = self._buffer
        length = self._lib.llama_token_to_piece(self.handle, token_id, buffer, len(buffer), 0, special)
        if length < 0:
            buffer = ctypes.create_string_buffer(-length)
            length = self._lib.llama_token_to_piece(self.handle, token_id, buffer, len(buffer), 0, special)
        return bytes(buffer.raw[: max(0, length)])

    def _id_or_none(self, token_id: int) -> int | None:
        return int(token_id) if 0 <= token_id < self.n_vocab else None
