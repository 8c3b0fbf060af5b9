"""Tests which vocabularies are the same."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from engine.drafters.pairing import is_same_vocabulary
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


def changed(token_id: int) -> FakeVocab:
    vocab = FakeVocab()
    vocab.texts[token_id] = "other"
    return vocab


@pytest.mark.parametrize(
    ("draft", "fits"),
    [
        (FakeVocab(), True),
        (changed(4), True),
        (changed(5), False),
        (FakeVocab(type_name="SPM"), False),
        (FakeVocab(add_bos=False), False),
        (FakeVocab(bos_id=None), False),
        (FakeVocab(eos_id=3), False),
        (FakeVocab([f"token{i}" for i in range(148)]), True),
        (FakeVocab([f"token{i}" for i in range(149)]), False),
    ],
)
def test_vocabularies_are_the_same_by_the_rules_of_llama_cpp(draft: FakeVocab, fits: bool) -> None:
    assert is_same_vocabulary(FakeVocab(), draft) is fits  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def vocabularies() -> Iterator[dict[str, LlamaModel]]:
    models = {name: LlamaModel(shared_file(f"vocabs/ggml-vocab-{name}.gguf"), vocab_only=True) for name in VOCABULARIES}
    yield models
    for model in models.values():
        model.close()


def test_real_vocabularies_are_the_same_as_themselves_and_no_other(vocabularies: dict[str, LlamaModel]) -> None:
    for one, other in itertools.product(VOCABULARIES, repeat=2):
        if {one, other} != {"qwen2", "qwen35"}:
            found = is_same_vocabulary(vocabularies[one].vocab, vocabularies[other].vocab)
            assert found is (one == other), (one, other)


def test_the_shared_pairs() -> None:
    with (
        LlamaModel(shared_model("babyllama-tok105-f16.gguf")) as target,
        LlamaModel(shared_model("babyllamaB-tok105-f16.gguf")) as draft,
    ):
        assert is_same_vocabulary(target.vocab, draft.vocab)
