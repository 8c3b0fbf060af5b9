"""The vocabulary of a GGUF through llama.cpp: text to ids and back, and what each token is."""

from __future__ import annotations

import codecs
import ctypes
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import PromptError
from engine.llama import library
from engine.reasoning_tags import markers_among
from engine.tools.formats import tool_markers_among

PIECE_CHARS = 4096  # at least, of each piece but the last
MAX_RUN = 2_000  # characters; no word of any language comes near
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # as llama.cpp's Unicode tables have it
_RUN = re.compile(f"(?<![^{_SPACE}])[^{_SPACE}]{{{MAX_RUN + 1},}}|(?<![{_SPACE}])[{_SPACE}]{{{MAX_RUN + 1},}}")
_Utf8 = codecs.getincrementaldecoder("utf-8")
_SPM, _BPE = 1, 2
_SPM_SPACE = "\u2581"
_BYTE_NAMES = {f"<0x{byte:02X}>": byte for byte in range(256)}  # the only spelling that llama.cpp looks for
_TYPE_NAMES = {0: "none", 1: "SPM", 2: "BPE", 3: "WPM", 4: "UGM", 5: "RWKV", 6: "PLaMo-2"}


# Cuts a long text before control tokens, so that splitting it into tokens takes time by its length alone.
#
# llama.cpp looks for each control text from each place where one was found up to the end of the whole text
# (`llama_vocab::impl::tokenizer_st_partition`): the time grows with the square of a chat's messages. Each piece here
# is split as it would be within the whole.


class SpecialCuts:
    """The places in a text where it may be cut."""

    def __init__(self, cutting: Iterable[str], parsed: Iterable[str]) -> None:
        """``cutting`` are texts that may begin a piece: those that take nothing of what stands before them.

        ``parsed`` are all texts that are parsed as tokens before the rest is split, these among them.
        """
        self._cutting = frozenset(filter(None, cutting))
        self._parsed = tuple(dict.fromkeys(filter(None, parsed)))
        self._lengths: dict[str, list[int]] = {}  # of those with this first character, the longest first
        for text in sorted(self._cutting, key=len, reverse=True):
            lengths = self._lengths.setdefault(text[0], [])
            if len(text) not in lengths:
                lengths.append(len(text))
        self._firsts = re.compile("[" + re.escape("".join(self._lengths)) + "]") if self._cutting else None

    def pieces(self, text: str) -> Iterator[str]:
        """Give the pieces of ``text``, together the same."""
        begin = 0
        while (place := self._next(text, begin + PIECE_CHARS)) is not None:
            yield text[begin:place]
            begin = place
        yield text[begin:]

    def _next(self, text: str, start: int) -> int | None:
        """The first place from ``start`` on where the text may be cut."""
        if self._firsts is None:
            return None
        for match in self._firsts.finditer(text, start):
            place = match.start()
            for length in self._lengths[match.group()]:
                if text[place : place + length] in self._cutting:
                    if self._is_apart(text, place, place + length):
                        return place
                    break
        return None

    def _is_apart(self, text: str, begin: int, end: int) -> bool:
        """Whether no other text that is parsed reaches into this one from outside, and might be taken in its place."""
        for other in self._parsed:
            size = len(other)
            place = text.find(other, max(0, begin - size + 1), end + size - 1)
            while place >= 0:
                if place < begin or place + size > end:
                    return False
                place = text.find(other, place + 1, end + size - 1)
        return True


# Cuts a text where it is one run of thousands of letters, signs or spaces.
#
# llama.cpp splits text for many BPE vocabularies with `std::regex`, which calls itself once for each character of a
# match: some 25,000 letters without a space end the process on a stack of 8 MB, an eighth of it on one of 1 MB.


def without_long_runs(text: str, whole: Collection[str] = ()) -> Iterator[str]:
    """Give the pieces of ``text``, together the same; none of the texts in ``whole`` is cut."""
    begin = 0
    for run in _RUN.finditer(text) if len(text) > MAX_RUN else ():
        for end in range(run.start() + MAX_RUN, run.end(), MAX_RUN):
            place = _before(text, end, whole)
            if place > begin:
                yield text[begin:place]
                begin = place
    yield text[begin:]


def _before(text: str, place: int, whole: Collection[str]) -> int:
    """The nearest place up to ``place`` that lies in none of ``whole``."""
    moved = True
    while moved:
        moved = False
        for each in whole:
            begin = text.find(each, max(0, place - len(each) + 1), place + len(each) - 1)
            if 0 <= begin < place:
                place, moved = begin, True
    return place


@dataclass(frozen=True, slots=True)
class _Spelling:
    """What a vocabulary can spell: these characters, and whatever has these bytes only."""

    characters: frozenset[str]
    byte_values: frozenset[int]

    def replaced(self, text: str) -> str:
        """Put a stand-in for every character that cannot be spelled; nothing where there is none."""
        if len(self.byte_values) == len(_BYTE_NAMES):
            return text
        missing = {character for character in set(text) if not self._has(character)}
        stand_in = next((character for character in "?. " if self._has(character)), "") if missing else ""
        return "".join(stand_in if character in missing else character for character in text) if missing else text

    def _has(self, character: str) -> bool:
        read = _SPM_SPACE if character == " " else character
        return read in self.characters or self.byte_values.issuperset(read.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class TokenPrefixes:
    """How tokens begin, control tokens by their names: the ``first`` byte [n_vocab] of each; `NO_BYTE`: it has none.

    ``single`` are the tokens of one byte, and that byte. ``fits_alone`` [n_vocab] says which write text that is UTF-8
    from their first byte on, or end an answer.
    """

    first: NDArray[np.int16]
    single: dict[int, int]
    fits_alone: NDArray[np.bool_]


NO_BYTE = -1


def rest_of_character(begun: bytes, piece: bytes) -> bytes | None:
    """The first bytes of the character that is not whole after ``begun`` and ``piece``; None: they are no UTF-8."""
    decoder = _Utf8("strict")
    try:
        decoder.decode(begun + piece)
    except UnicodeDecodeError:
        return None
    return decoder.getstate()[0]


class Vocab:
    """Implements `engine.interfaces.Tokenizer`. Keeps the model alive that owns the native vocabulary."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401  (the owning LlamaModel; typed there, kept opaque here)
        self._lib = library.start()
        self._owner = model
        self._handle = self._lib.llama_model_get_vocab(model.handle)
        self._n_vocab = int(self._lib.llama_vocab_n_tokens(self._handle))
        self._pieces: dict[int, bytes] = {}
        self._buffer = ctypes.create_string_buffer(512)
        self._control_texts: tuple[str, ...] | None = None
        self._eog_ids: frozenset[int] | None = None
        self._spelled: _Spelling | None = None

    @property
    def n_vocab(self) -> int:
        """Number of tokens."""
        return self._n_vocab

    @property
    def type_name(self) -> str:
        """The kind of tokenizer: SPM, BPE, WPM, UGM, RWKV."""
        number = int(self._lib.llama_vocab_type(self._handle))
        return _TYPE_NAMES.get(number, f"type {number}")

    @property
    def add_bos(self) -> bool:
        """Whether a prompt begins with the BOS token."""
        return bool(self._lib.llama_vocab_get_add_bos(self._handle))

    @property
    def add_eos(self) -> bool:
        """Whether the tokenizer would append the EOS token."""
        return bool(self._lib.llama_vocab_get_add_eos(self._handle))

    @property
    def bos_id(self) -> int | None:
        """The BOS token, if there is one."""
        return self._id_or_none(self._lib.llama_vocab_bos(self._handle))

    @property
    def eos_id(self) -> int | None:
        """The EOS token, if there is one."""
        return self._id_or_none(self._lib.llama_vocab_eos(self._handle))

    @property
    def control_texts(self) -> tuple[str, ...]:
        """The texts of all control tokens, and of the unknown token, which llama.cpp parses like one."""
        if self._control_texts is None:
            flags = self._lib.LLAMA_TOKEN_ATTR_CONTROL | self._lib.LLAMA_TOKEN_ATTR_UNKNOWN
            ids = (i for i in range(self._n_vocab) if self._lib.llama_vocab_get_attr(self._handle, i) & flags)
            self._control_texts = tuple(text for i in ids if (text := self.token_text(i)))
        return self._control_texts

    @cached_property
    def _markers(self) -> frozenset[str]:
        """Those of calls of tools, too; without those that end an answer."""
        markers = markers_among(self.control_texts) | tool_markers_among(self.control_texts)
        return markers - {self.token_text(i) for i in self.eog_ids}

    @property
    def handle(self) -> Any:  # noqa: ANN401  (the binding ships no types)
        """llama.cpp's own vocabulary."""
        return self._handle

    @cached_property
    def textless_ids(self) -> frozenset[int]:
        """Control tokens that stand for no text and end no answer."""
        flags = self._lib.LLAMA_TOKEN_ATTR_CONTROL | self._lib.LLAMA_TOKEN_ATTR_UNKNOWN
        ids = (i for i in range(self._n_vocab) if self._lib.llama_vocab_get_attr(self._handle, i) & flags)
        return frozenset(i for i in ids if i not in self.eog_ids and not self.piece(i))

    @cached_property
    def token_prefixes(self) -> TokenPrefixes:
        """How all tokens begin; to find out takes about 3 microseconds for each."""
        to_piece, handle, buffer = self._lib.llama_token_to_piece, self._handle, self._buffer
        first, single = np.full(self._n_vocab, NO_BYTE, dtype=np.int16), dict[int, int]()
        fits_alone = np.ones(self._n_vocab, dtype=np.bool_)
        for token_id in range(self._n_vocab):
            length = to_piece(handle, token_id, buffer, len(buffer), 0, True)
            # One that is longer than the buffer was not written into it.
            piece = buffer.raw[:length] if length >= 0 else self._read_piece(token_id, special=True)
            fits_alone[token_id] = bool(piece) and rest_of_character(b"", piece) is not None
            if piece:
                first[token_id] = piece[0]
            if length == 1:
                single[token_id] = piece[0]
        fits_alone[list(self.textless_ids)] = False
        fits_alone[list(self.eog_ids)] = True
        return TokenPrefixes(first, single, fits_alone)

    @property
    def fill_ids(self) -> tuple[int, int, int] | None:
        """The tokens before the text that goes on, before what follows the gap, and where the gap is to be filled.

        None where the file names not all three.
        """
        lib, handle = self._lib, self._handle
        ids = [
            self._id_or_none(f(handle))
            for f in (lib.llama_vocab_fim_pre, lib.llama_vocab_fim_suf, lib.llama_vocab_fim_mid)
        ]
        before, after, gap = ids
        return None if before is None or after is None or gap is None else (before, after, gap)

    @property
    def file_ids(self) -> tuple[int, int] | None:
        """The tokens before the name of a project and before that of a file in it; None where there are not both."""
        project = self._id_or_none(self._lib.llama_vocab_fim_rep(self._handle))
        file = self._id_or_none(self._lib.llama_vocab_fim_sep(self._handle))
        return None if project is None or file is None else (project, file)

    @property
    def eog_ids(self) -> frozenset[int]:
        """All tokens that end an answer."""
        if self._eog_ids is None:
            ids = range(self._n_vocab)
            self._eog_ids = frozenset(i for i in ids if self._lib.llama_vocab_is_eog(self._handle, i))
        return self._eog_ids

    def tokenize(self, text: str, *, special: bool, add_bos: bool = False) -> list[int]:
        """Ids of ``text``; ``special`` lets control tokens' texts become control tokens.

        ``add_bos`` puts the BOS token first where the vocabulary wants one.
        """
        pieces = self._cuts.pieces(text) if special and len(text) > PIECE_CHARS else (text,)
        ids = [each for piece in pieces for each in self._ids_of_piece(piece, special)]
        return [self.bos_id, *ids] if add_bos and self.add_bos and self.bos_id is not None else ids

    @cached_property
    def _cuts(self) -> SpecialCuts:
        """Where long texts may be cut: before tokens that are parsed first and take no blanks before them."""
        lib = self._lib
        parsed = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_UNKNOWN | lib.LLAMA_TOKEN_ATTR_USER_DEFINED
        attributes = {i: lib.llama_vocab_get_attr(self._handle, i) for i in range(self._n_vocab)}
        texts = {i: self.token_text(i) for i, found in attributes.items() if found & parsed}
        bare = (
            text
            for i, text in texts.items()
            if not attributes[i] & (lib.LLAMA_TOKEN_ATTR_LSTRIP | lib.LLAMA_TOKEN_ATTR_UNKNOWN)
        )
        return SpecialCuts(bare, texts.values())

    def _ids_of_piece(self, text: str, special: bool) -> list[int]:
        if len(text) > MAX_RUN and self.type_name == _TYPE_NAMES[_BPE]:
            return [each for piece in without_long_runs(text, self.control_texts) for each in self._ids(piece, special)]
        return self._ids(text, special)

    def piece(self, token_id: int) -> bytes:
        """The bytes that a token stands for; control tokens give none, but for those that mark reasoning or calls."""
        cached = self._pieces.get(token_id)
        if cached is None:
            cached = self._read_piece(token_id, special=False)
            if not cached and self.token_text(token_id) in self._markers:
                cached = self.token_text(token_id).encode("utf-8")
            self._pieces[token_id] = cached
        return cached

    def token_text(self, token_id: int) -> str:
        """The token's own text in the vocabulary, control tokens included."""
        if not 0 <= token_id < self._n_vocab:  # llama.cpp ends the process over it
            return ""
        text = self._lib.llama_vocab_get_text(self._handle, token_id)
        return text.decode("utf-8", "replace") if text else ""

    def is_eog(self, token_id: int) -> bool:
        """Whether this token ends the answer."""
        return token_id in self.eog_ids

    def _ids(self, text: str, special: bool) -> list[int]:
        ids = self._native_ids(self._representable(text).encode("utf-8", "replace"), special)
        if ids and min(ids) < 0:  # llama.cpp found no token, and there is no unknown token
            return [each for i in ids for each in ([i] if i >= 0 else self._stand_in)]
        return ids

    @cached_property
    def _stand_in(self) -> list[int]:
        """What stands for text without a token: a question mark, or nothing where that has none itself."""
        return [i for i in self._native_ids(b"?", special=False) if i >= 0]

    def input_ids(self, text: str) -> list[int]:
        """Ids of a text that is to be embedded: control tokens parsed, with what the tokenizer puts around a text."""
        return self._native_ids(self._representable(text).encode("utf-8", "replace"), special=True, adds_special=True)

    def _native_ids(self, data: bytes, special: bool, *, adds_special: bool = False) -> list[int]:
        size = len(data) + 8
        for _ in range(2):
            buffer = (ctypes.c_int32 * size)()
            count = self._lib.llama_tokenize(self._handle, data, len(data), buffer, size, adds_special, special)
            if count >= 0:
                return list(buffer[:count])
            size = -count
        raise PromptError("The text could not be split into tokens: the tokenizer of this model failed.")

    def _representable(self, text: str) -> str:
        """Replace characters that the vocabulary cannot spell.

        llama.cpp ends the process where a SentencePiece vocabulary has neither a token for a character nor for its
        bytes (`llama_vocab::byte_to_token` throws through the C interface).
        """
        if self._spelled is None:
            self._spelled = self._find_spelled()
        return self._spelled.replaced(text)

    def _find_spelled(self) -> _Spelling:
        """Find the characters and the bytes that a SentencePiece vocabulary has tokens of; others spell every text."""
        if self.type_name != _TYPE_NAMES[_SPM]:
            return _Spelling(frozenset(), frozenset(_BYTE_NAMES.values()))
        flag = self._lib.LLAMA_TOKEN_ATTR_BYTE
        ids = (i for i in range(self._n_vocab) if self._lib.llama_vocab_get_attr(self._handle, i) & flag)
        known = frozenset(_BYTE_NAMES[name] for i in ids if (name := self.token_text(i)) in _BYTE_NAMES)
        if len(known) == len(_BYTE_NAMES):
            return _Spelling(frozenset(), known)
        return _Spelling(
            frozenset(text for text in map(self._spelled_text, range(self._n_vocab)) if len(text) == 1), known
        )

    def _spelled_text(self, token_id: int) -> str:
        """A token's text; empty for bytes that are no text: what stands in for them has no token."""
        data: bytes = self._lib.llama_vocab_get_text(self._handle, token_id) or b""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return ""

    def _read_piece(self, token_id: int, *, special: bool) -> bytes:
        if not 0 <= token_id < self._n_vocab:
            return b""
        buffer = self._buffer
        length = self._lib.llama_token_to_piece(self._handle, token_id, buffer, len(buffer), 0, special)
        if length < 0:
            buffer = ctypes.create_string_buffer(-length)
            length = self._lib.llama_token_to_piece(self._handle, token_id, buffer, len(buffer), 0, special)
        return bytes(buffer.raw[: max(0, length)])

    def _id_or_none(self, token_id: int) -> int | None:
        return int(token_id) if 0 <= token_id < self._n_vocab else None
