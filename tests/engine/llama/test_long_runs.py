"""Thousands of equal letters, signs or spaces are cut, never within a control text, and tokenized without a crash."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llama.vocab import MAX_RUN, split_long_runs
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama

TOKENIZE = """
import sys
from engine.llama.model import LlamaModel
with LlamaModel(sys.argv[1], vocab_only=True) as model:
    for unit in sys.argv[2:]:
        text = unit * 32_000  # uncut, 30,000 of one kind end the process
        ids = model.vocab.tokenize(f"<s>{text}<s>", special=True)
        assert (ids[0], ids[-1]) == (model.vocab.bos_id, model.vocab.bos_id)
        assert b"".join(map(model.vocab.piece, ids)).decode() == text
"""


def byte_names() -> list[str]:
    """The characters that represent bytes in BPE vocabularies, as in GPT-2."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return [*map(chr, plain), *(chr(256 + place) for place in range(len(others)))]


def byte_bpe(pre: str) -> GgufFile:
    tokens = ["<unk>", "<s>", "</s>", *byte_names()]
    count = len(tokens)
    return tiny_llama().with_metadata(
        llama__vocab_size=(Kind.UINT32, count),
        tokenizer__ggml__model=(Kind.STRING, "gpt2"),
        tokenizer__ggml__pre=(Kind.STRING, pre),
        tokenizer__ggml__tokens=(Kind.ARRAY, (Kind.STRING, tokens)),
        tokenizer__ggml__scores=(Kind.ARRAY, (Kind.FLOAT32, [0.0] * count)),
        tokenizer__ggml__token_type=(Kind.ARRAY, (Kind.INT32, [2, 3, 3, *[1] * (count - 3)])),
        tokenizer__ggml__merges=(Kind.ARRAY, (Kind.STRING, ["a a"])),
    )


@pytest.mark.parametrize("pre", ["tekken", "gpt-4o", "deepseek-v3", "falcon", "superbpe", "default"])
def test_no_text_of_one_run_ends_the_process(
    tmp_path: Path, pre: str, python_command: Callable[..., list[str]]
) -> None:
    path = byte_bpe(pre).write(tmp_path / "bpe.gguf")
    units = ("a", " ", "!", "1", "\u00e9", "a!1", "aB ", "\x1c!", "\u2003")
    command = python_command(TOKENIZE, str(path), *units)
    child = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert child.returncode == 0, child.stderr[-500:]


UNITS = st.sampled_from(["a", "!", " ", "\n", "\u2003", "\x1c", "<s>", "</s>", "<s", "word ", "🏳️‍🌈"])
RUNS = st.lists(st.tuples(UNITS, st.integers(1, 3 * MAX_RUN)), max_size=6)


@given(RUNS)
def test_the_pieces_are_the_text_and_no_run_is_long(runs: list[tuple[str, int]]) -> None:
    text = "".join(unit * count for unit, count in runs)
    pieces = list(split_long_runs(text))
    assert "".join(pieces) == text
    spaces = "".join(char for char in set(text) if char.isspace() and char != "\x1c")
    runs_left = re.findall(f"[{spaces}]+|[^{spaces}]+", "|".join(pieces)) if spaces else pieces
    assert max((len(part) for run in runs_left for part in run.split("|")), default=0) <= MAX_RUN


@given(RUNS)
def test_control_texts_stay_whole(runs: list[tuple[str, int]]) -> None:
    text = "".join(unit * count for unit, count in runs)
    whole = ("<s>", "</s>")
    pieces = list(split_long_runs(text, whole))
    assert "".join(pieces) == text
    assert all(sum(piece.count(each) for piece in pieces) == text.count(each) for each in whole)


def test_ordinary_text_is_one_piece() -> None:
    text = "An ordinary sentence, with a line end.\n" * 1000
    assert list(split_long_runs(text)) == [text]
