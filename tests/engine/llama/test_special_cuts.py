"""Long texts are cut before control tokens: the same tokens as uncut, in linear time."""

import random
from pathlib import Path
from time import process_time

import pytest

from engine.llama.model import LlamaModel
from engine.llama.vocab import PIECE_CHARS, SpecialTokenSplitter
from tests.engine.llama.test_vocab import with_tokens
from tests.engine.vocabularies import CONTROL
from tests.long_form import rounds

USER_DEFINED = 4  # token type in GGUF files
SPECIAL = ("<|a|>", "<|b|>", "|>", ">x", "\n")
PARTS = (*SPECIAL, "<|", "a|>", "x", " ", "  ", "word", "é", "<s>", "</s>")


@pytest.mark.parametrize("seed", range(rounds(6, 12)))
def test_the_tokens_are_those_of_the_whole(tmp_path: Path, seed: int) -> None:
    kinds = (CONTROL, CONTROL, CONTROL, USER_DEFINED, USER_DEFINED)
    chance = random.Random(seed)  # noqa: S311  (a test's texts)
    weights = [chance.random() for _ in PARTS]
    text = "".join(chance.choices(PARTS, weights, k=3 * PIECE_CHARS))
    with with_tokens(tmp_path, *zip(SPECIAL, kinds, strict=True)) as model:
        assert model.vocab.tokenize(text, special=True) == model.vocab._native_ids(text.encode(), special=True)
        assert model.vocab.tokenize(text, special=False) == model.vocab._native_ids(text.encode(), special=False)


def test_pieces_begin_with_a_text_that_no_other_reaches_into() -> None:
    cuts = SpecialTokenSplitter(["<a>"], ["<a>", "><", "b<a"])
    plain, touched, held = "x" * PIECE_CHARS, "<a><", "b<a>"
    assert list(cuts.pieces(plain + touched + held + "<a>y")) == [plain + touched + held + "<a>y"]
    assert list(cuts.pieces(f"{plain} <a>y")) == [f"{plain} ", "<a>y"]
    assert list(SpecialTokenSplitter([], ["<a>"]).pieces(plain + "<a>")) == [plain + "<a>"]


def test_many_messages_take_time_by_their_number(tmp_path: Path) -> None:
    def seconds(vocab_of: LlamaModel, number: int) -> float:
        text = "<|a|>Some words of a message.<|b|> " * number
        begun = process_time()
        vocab_of.vocab.tokenize(text, special=True)
        return process_time() - begun

    with with_tokens(tmp_path, *((text, CONTROL) for text in ("<|a|>", "<|b|>"))) as model:
        seconds(model, 500)
        few, many = (min(seconds(model, number) for _ in range(3)) for number in (2_000, 16_000))
    assert many < 24 * few  # quadratic time would be 64 times as long
