"""Tests untrusted vocabularies: texts that they cannot encode are replaced, and nothing ends the process."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.llama.model import LlamaModel
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.hybrid_factory import TOKENS, tiny_lfm2
from tests.engine.vocabularies import CONTROL, NORMAL, RWKV_BYTES, UNKNOWN, UNKNOWN_AND_ENDS, with_vocabulary

# llama.cpp ends the process over a character that it cannot encode, so this runs in a separate process.
SPELL = """
import sys
from engine.llama.model import LlamaModel
with LlamaModel(sys.argv[1], vocab_only=True) as model:
    vocab = model.vocab
    for text in sys.argv[2:]:
        print(b"".join(vocab.piece(i) for i in vocab.tokenize(text, special=False)).decode().strip())
"""


@pytest.mark.parametrize("instead", ["<0xa9>", "other"])
def test_a_vocabulary_that_lacks_a_byte_replaces_what_it_cannot_spell(
    tmp_path: Path, instead: str, python_command: Callable[..., list[str]]
) -> None:
    names = [instead if name == "<0xA9>" else name for name in TOKENS]  # the second byte of é
    file = tiny_lfm2().with_metadata(**{"tokenizer.ggml.tokens": (Kind.ARRAY, (Kind.STRING, names))})
    path = file.write(tmp_path / "model.gguf")
    texts = {"a é b": "a ? b", "aéÈ世b": "a?È世b", "a ▁ b": "a   b"}
    done = subprocess.run(python_command(SPELL, str(path), *texts), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.splitlines() == list(texts.values())


def with_tokens(folder: Path, *added: tuple[str, int]) -> LlamaModel:
    """The vocabulary of a small model with additional tokens; the first one has the id 263."""
    file = tiny_llama()
    tokens, scores, types = (
        list(file.metadata[f"tokenizer.ggml.{name}"][1][1]) for name in ("tokens", "scores", "token_type")
    )
    tokens += [text for text, _ in added]
    scores += [-100.0] * len(added)
    types += [kind for _, kind in added]
    changed = file.with_metadata(
        tokenizer__ggml__tokens=(Kind.ARRAY, (Kind.STRING, tokens)),
        tokenizer__ggml__scores=(Kind.ARRAY, (Kind.FLOAT32, scores)),
        tokenizer__ggml__token_type=(Kind.ARRAY, (Kind.INT32, types)),
        llama__vocab_size=(Kind.UINT32, len(tokens)),
    )
    return LlamaModel(changed.write(folder / "vocab.gguf"), vocab_only=True)


def test_marks_of_reasoning_and_calls_are_text_other_controls_are_not(tmp_path: Path) -> None:
    added = (("<think>", CONTROL), ("</think>", CONTROL), ("<tool_call>", CONTROL), ("<|other|>", CONTROL))
    with with_tokens(tmp_path, *added) as model:
        vocab = model.vocab
        assert [vocab.piece(i) for i in range(263, 267)] == [b"<think>", b"</think>", b"<tool_call>", b""]
        assert vocab.token_text(266) == "<|other|>"
        assert vocab.tokenize("<think>", special=True) == [263]
        assert 263 not in vocab.tokenize("<think>", special=False)


def test_a_token_of_any_length_is_read_whole(tmp_path: Path) -> None:
    long = "x" * 5000
    with with_tokens(tmp_path, (long, NORMAL), ("y" + long + "é", NORMAL)) as model:
        vocab = model.vocab
        assert vocab.piece(263) == long.encode()
        assert vocab.piece(264) == ("y" + long + "é").encode()


def test_there_are_no_tokens_beside_the_vocabulary(tmp_path: Path) -> None:
    with with_tokens(tmp_path, ("x", NORMAL)) as model:
        vocab = model.vocab
        assert (vocab.n_vocab, vocab.piece(263)) == (264, b"x")
        assert [vocab.piece(i) for i in (-1, 264, 2**31 - 1)] == [b"", b"", b""]
        assert [vocab.token_text(i) for i in (-1, 264, 2**31 - 1)] == ["", "", ""]
        assert not vocab.is_eog(264)


NO_UNKNOWN = {"tokenizer__ggml__unknown_token_id": None}


@pytest.mark.parametrize(
    ("file", "texts"),
    [
        # A token of invalid UTF-8 is not a token of its replacement character.
        (
            with_vocabulary("llama", [*UNKNOWN_AND_ENDS, "\u2581", "?", "a", b"\xff"], [UNKNOWN, CONTROL, CONTROL]),
            {"a\ufffda": "a?a", "\u4e16": "?", "aa": "aa"},
        ),
        # Without an unknown token, llama.cpp returns the id -1.
        (
            with_vocabulary("rwkv", [token for token in RWKV_BYTES if token not in (r"\xe4", r"\xd0")], **NO_UNKNOWN),
            {"a\u4e16b": "a?\ufffd\ufffdb", "\u0431": "?\ufffd", "ab": "ab"},
        ),
        (with_vocabulary("rwkv", [r"\x61"], **NO_UNKNOWN), {"aba": "aa", "b": ""}),
    ],
    ids=["sentencepiece", "rwkv", "rwkv of one letter"],
)
def test_an_unspellable_text_is_no_end_and_an_invalid_id_no_token(
    tmp_path: Path, file: GgufFile, texts: dict[str, str], python_command: Callable[..., list[str]]
) -> None:
    path = file.write(tmp_path / "model.gguf")
    spell = SPELL.replace(".decode()", ".decode('utf-8', 'replace')")
    done = subprocess.run(python_command(spell, str(path), *texts), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.split("\n")[:-1] == list(texts.values())
