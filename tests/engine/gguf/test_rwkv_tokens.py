"""RWKV vocabularies with a text that llama.cpp would tokenize forever are rejected in advance."""

from pathlib import Path

import pytest

from engine.errors import ModelHeaderError
from engine.gguf.hyperparameters import check_rwkv_tokens, read_checked_header, token_bytes
from tests.engine.vocabularies import RWKV_BYTES, with_vocabulary


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (b"ab", b"ab"),
        (rb"\x00\xff\xaB", b"\x00\xff\xb2"),  # a capital letter counts from "0"
        (rb"\t\n\r\\\q", b"\t\n\r\\q"),
        (rb"a\x", b"a"),
        (rb"a\x4", b"a"),
        (b"a\\", b"a"),
        (b"a\0b", b"a"),
        (b"", b"[EMPTY_"),
    ],
)
def test_escapes_are_read_as_llama_cpp_reads_them(text: bytes, read: bytes) -> None:
    assert token_bytes(text) == read


def test_each_first_byte_has_to_be_a_token() -> None:
    check_rwkv_tokens([b"a", b"ab", b"b", b"bcd"])
    check_rwkv_tokens([rb"\xe4", rb"\xe4\xb8\x96"])
    check_rwkv_tokens([])
    with pytest.raises(ModelHeaderError, match="begin with the byte 62, but no token for that byte alone"):
        check_rwkv_tokens([b"a", b"ab", b"bcd"])
    with pytest.raises(ModelHeaderError, match="begin with the byte e4"):
        check_rwkv_tokens([rb"\xe4\xb8\x96", rb"\xe4\x80\x80"])


def test_a_whole_file_is_held_to_it(tmp_path: Path) -> None:
    read_checked_header(with_vocabulary("rwkv", ["<s>", *RWKV_BYTES]).write(tmp_path / "good.gguf"))
    without = [*RWKV_BYTES[:0xE4], *RWKV_BYTES[0xE5:], r"\xe4\x80\x80", r"\xe4\xb8\x96"]
    bad = with_vocabulary("rwkv", ["<s>", *without]).write(tmp_path / "bad.gguf")
    with pytest.raises(ModelHeaderError, match="begin with the byte e4"):
        read_checked_header(bad)
