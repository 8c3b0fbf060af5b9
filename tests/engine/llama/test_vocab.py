"""Vocabularies of strangers: what they cannot spell is replaced, and nothing ends the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.gguf_factory import Kind
from tests.engine.hybrid_factory import TOKENS, tiny_lfm2

# llama.cpp ends the process over a character that it cannot spell, so a process of its own asks for it.
SPELL = """
import sys
from engine.llama.model import LlamaModel
with LlamaModel(sys.argv[1], vocab_only=True) as model:
    vocab = model.vocab
    for text in sys.argv[2:]:
        print(b"".join(vocab.piece(i) for i in vocab.tokenize(text, special=False)).decode().strip())
"""


@pytest.mark.parametrize("instead", ["<0xa9>", "other"])
def test_a_vocabulary_that_lacks_a_byte_replaces_what_it_cannot_spell(tmp_path: Path, instead: str) -> None:
    names = [instead if name == "<0xA9>" else name for name in TOKENS]  # the second byte of é
    file = tiny_lfm2().with_metadata(**{"tokenizer.ggml.tokens": (Kind.ARRAY, (Kind.STRING, names))})
    path = file.write(tmp_path / "model.gguf")
    texts = {"a é b": "a ? b", "aéÈ世b": "a?È世b", "a ▁ b": "a   b"}
    command = [sys.executable, "-c", SPELL, str(path), *texts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.splitlines() == list(texts.values())
