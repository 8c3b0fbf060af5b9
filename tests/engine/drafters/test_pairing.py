"""Tests which draft suits which target, and the reported difference, on real vocabularies."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from engine.drafters.pairing import check_pair
from engine.errors import DraftRefusedError
from engine.llama.model import LlamaModel
from tests.shared_files import shared_file, shared_model

VOCABULARIES = ("gpt-2", "llama-bpe", "llama-spm", "phi-3", "qwen2", "qwen35")


@dataclass
class FakeVocab:
    """The part of a vocabulary that pairing uses."""

    texts: list[str] = field(default_factory=lambda: [f"token{i}" for i in range(20)])
    type_name: str = "BPE"
    add_bos: bool = True
    add_eos: bool = False
    bos_id: int | None = 1
    eos_id: int | None = 2

    @property
    def n_vocab(self) -> int:
        return len(self.texts)

    def token_text(self, token_id: int) -> str:
        return self.texts[token_id]


def reason(target: FakeVocab, draft: FakeVocab) -> str:
    try:
        check_pair(target, draft)  # type: ignore[arg-type]
    except DraftRefusedError as error:
        return error.message
    return ""


def changed(token_id: int) -> FakeVocab:
    vocab = FakeVocab()
    vocab.texts[token_id] = "other"
    return vocab


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (FakeVocab(), ""),
        (changed(4), ""),
        (changed(5), "Token 5 is 'token5' in the target, 'other' in the draft."),
        (FakeVocab(type_name="SPM"), "The target's tokenizer is BPE, the draft's is SPM."),
        (FakeVocab(add_bos=False), "The target's tokenizer adds the BOS token, the draft's does not."),
        (FakeVocab(bos_id=None), "The BOS token is 1 in the target, absent in the draft."),
        (FakeVocab(eos_id=3), "The EOS token is 2 in the target, 3 in the draft."),
        (FakeVocab([f"token{i}" for i in range(148)]), ""),
        (FakeVocab([f"token{i}" for i in range(149)]), "has 20 tokens, the draft's 149"),
    ],
)
def test_the_first_difference_is_named(draft: FakeVocab, words: str) -> None:
    assert words in reason(FakeVocab(), draft)
    assert bool(reason(FakeVocab(), draft)) == bool(words)


@pytest.fixture(scope="module")
def vocabularies() -> Iterator[dict[str, LlamaModel]]:
    models = {name: LlamaModel(shared_file(f"vocabs/ggml-vocab-{name}.gguf"), vocab_only=True) for name in VOCABULARIES}
    yield models
    for model in models.values():
        model.close()


def test_real_vocabularies_fit_themselves_and_no_other(vocabularies: dict[str, LlamaModel]) -> None:
    for one, other in itertools.product(VOCABULARIES, repeat=2):
        target, draft = vocabularies[one].vocab, vocabularies[other].vocab
        if one == other or {one, other} == {"qwen2", "qwen35"}:
            continue
        with pytest.raises(DraftRefusedError):
            check_pair(target, draft)
    for name in VOCABULARIES:
        check_pair(vocabularies[name].vocab, vocabularies[name].vocab)


def test_the_shared_pairs() -> None:
    with (
        LlamaModel(shared_model("babyllama-tok105-f16.gguf")) as target,
        LlamaModel(shared_model("babyllamaB-tok105-f16.gguf")) as draft,
    ):
        check_pair(target.vocab, draft.vocab)
