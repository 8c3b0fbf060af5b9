"""The vocabulary of RWKV's tokenizer, which takes the longest token that a text begins with: whether one always is.

Where some tokens begin with a byte that is no token alone, llama.cpp finds none for a text that begins as they do and
goes on otherwise; it stays where it is then and collects tokens until the memory ends
(`llm_tokenizer_rwkv_session::tokenize`). Which texts those are, a trial of some cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.gguf.source import check

_ESCAPE = re.compile(rb"\\(?:x(..)|x.?\Z|(.)|\Z)", re.DOTALL)
_NAMED = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}
_EMPTY = b"[EMPTY_"  # how llama.cpp's name for a token without a text begins


def check_rwkv_tokens(texts: Iterable[bytes]) -> None:
    """Check that each byte with which a token begins is a token itself.

    Raises:
        ModelHeaderError: one is not.
    """
    tokens = set(map(token_bytes, texts))
    missing = min({token[:1] for token in tokens if token} - tokens, default=b"")
    check(not missing, "it has tokens that begin with the byte {byte}, but none of it alone", byte=missing.hex())


def token_bytes(text: bytes) -> bytes:
    """What a token stands for: its text, up to a zero, with escapes read as llama.cpp does."""
    return _ESCAPE.sub(_read_escape, text.partition(b"\0")[0] or _EMPTY)


def _read_escape(found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        high, low = map(_digit, found[1])
        return bytes([((high << 4) + low) & 0xFF])
    return _NAMED.get(found[2], found[2]) if found[2] is not None else b""


def _digit(code: int) -> int:
    """What llama.cpp takes a character for in place of a digit, whatever it is."""
    return code - (ord("a") - 10 if ord("a") <= code < 0x80 else ord("0"))
