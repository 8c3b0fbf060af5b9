"""Tests pasted control texts with the tokenizers of real vocabularies."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.llama.model import LlamaModel
from engine.llama.vocab import Vocab
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message

VOCABS = sorted((Path(__file__).resolve().parents[4] / "shared" / "vocabs").glob("*.gguf"))
pytestmark = pytest.mark.skipif(not VOCABS, reason="the collection of public vocabularies is not on this machine")


@pytest.fixture(name="vocab", scope="module", params=VOCABS, ids=lambda path: path.stem)
def fixture_vocab(request: pytest.FixtureRequest) -> Iterator[Vocab]:
    with LlamaModel(request.param, vocab_only=True) as model:
        yield model.vocab


def text_of(vocab: Vocab, ids: list[int]) -> str:
    return b"".join(vocab.piece(i) for i in ids).decode("utf-8", "replace")


def test_no_control_token_comes_out_of_what_was_typed(vocab: Vocab) -> None:
    controls = set(vocab.control_texts)
    dice = random.Random(7)  # noqa: S311
    pool = [*sorted(controls)[:30], "<s>", "<|im_end|>", "hello ", " world", "\n", "<", "|>", "> quote", "é😀"]
    builder = PromptBuilder(vocab, "Q: {{ messages[0].content }}\nA:")
    for _ in range(60):
        content = "".join(dice.choices(pool, k=dice.randint(1, 12)))
        ids = builder.build([Message("user", content)])
        body = ids[1:] if vocab.add_bos else ids
        assert not [i for i in body if vocab.token_text(i) in controls]
        assert text_of(vocab, body).lstrip(" ") == f"Q: {content}\nA:"


def test_harmless_text_is_tokenized_in_one_piece(vocab: Vocab) -> None:
    content = "def f(x):\n    return x > 1  # «quoted» <b>é</b> 😀"
    ids = PromptBuilder(vocab, "Q: {{ messages[0].content }}\nA:").build([Message("user", content)])
    assert ids == vocab.tokenize(f"Q: {content}\nA:", special=True, add_bos=True)
