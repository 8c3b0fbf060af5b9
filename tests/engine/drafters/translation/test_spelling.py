"""Any bytes become text tokens with the same bytes, in scripted and real vocabularies."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.translation import spelling
from engine.drafters.translation.spelling import ByteTokenizer, is_certain_split, whole_characters
from engine.errors import PromptError
from engine.llama.model import LlamaModel
from tests.engine.drafters.translation.vocabularies import PieceTokenizer
from tests.shared_files import shared_file

VOCABULARIES = ("gpt-2", "llama-bpe", "llama-spm", "phi-3", "qwen2", "qwen35")
CONTROLS = ("<|im_start|>", "<|im_end|>", "</s>", "<s>", "<|endoftext|>", "<|eot_id|>", "<unk>", "<think>")
# Control texts in between, so that they are not only found by chance.
SOME_BYTES = st.lists(
    st.one_of(st.binary(max_size=12), st.text(max_size=12).map(str.encode), st.sampled_from(CONTROLS).map(str.encode))
).map(b"".join)


@pytest.fixture(name="vocabularies", scope="module")
def fixture_vocabularies() -> Iterator[dict[str, tuple[LlamaModel, ByteTokenizer]]]:
    models = {name: LlamaModel(shared_file(f"vocabs/ggml-vocab-{name}.gguf"), vocab_only=True) for name in VOCABULARIES}
    yield {name: (model, ByteTokenizer(model.vocab)) for name, model in models.items()}
    for model in models.values():
        model.close()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_real_vocabularies_spell_any_bytes_without_control_tokens(
    vocabularies: dict[str, tuple[LlamaModel, ByteTokenizer]], name: str
) -> None:
    model, speller = vocabularies[name]
    vocab = model.vocab
    controls = {i for text in vocab.control_texts for i in vocab.tokenize(text, special=True)[:1]} | vocab.eog_ids

    @given(SOME_BYTES)
    def spells(data: bytes) -> None:
        ids = speller.spell(data)
        assert b"".join(vocab.piece(i) for i in ids) == data
        assert not controls & set(ids)

    spells()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_text_is_spelled_as_the_tokenizer_does(
    vocabularies: dict[str, tuple[LlamaModel, ByteTokenizer]], name: str
) -> None:
    model, speller = vocabularies[name]
    for text in (" The quick brown fox, 12345 times.", " naïve café", "\n\n    return x\n", " 世界 and Ωmega"):
        ids = model.vocab.tokenize("a" + text, special=False)
        assert model.vocab.piece(ids[0]) in (b"a", b" a")
        assert list(speller.spell(text.encode())) == ids[1:]


@given(st.binary(max_size=40))
def test_what_a_vocabulary_cannot_spell_ends_it(data: bytes) -> None:
    speller = ByteTokenizer(PieceTokenizer([b"a", b"b", b"ab", b" ", b"\xc3", b"\xa9", "é".encode()]))
    ids = speller.spell(data)
    spelled = b"".join(speller.pieces[i] for i in ids)
    assert data.startswith(spelled)
    if len(spelled) < len(data):
        assert data[len(spelled)] not in b"ab \xc3\xa9"


def test_the_space_that_a_tokenizer_puts_before_a_text_is_no_part_of_it() -> None:
    speller = ByteTokenizer(PieceTokenizer([b"a", b"b", b" ", b"\n", b" a", b"ab", b" b"], adds_space=True))
    assert speller.spell(b"ab") == (5,)
    assert speller.spell(b" ab") == (4, 1)
    assert speller.spell(b"\nab") == (3, 5)
    assert speller.spell(b" ") == (2,)
    assert speller.spell(b"  b") == (2, 6)


def test_reasoning_markers_and_ends_have_no_bytes() -> None:
    class Marked(PieceTokenizer):
        """Returns a control token's text as its bytes, like vocabularies with reasoning tags."""

        def piece(self, token_id: int) -> bytes:
            return b"<think>" if token_id == self.control_id("<think>") else super().piece(token_id)

    tokenizer = Marked([b"a", b"<", b"think>"], controls=["<think>", "</s>"], ends=["</s>"])
    speller = ByteTokenizer(tokenizer)
    assert speller.pieces[tokenizer.control_id("<think>")] == b""
    assert speller.spell(b"a<think>") == (0, 1, 2)
    assert speller.id_of(b"<think>") is None


def test_text_that_cannot_be_tokenized_is_spelled_by_longest_tokens() -> None:
    class Failing(PieceTokenizer):
        def tokenize(self, text: str, *, special: bool, add_bos: bool = False) -> list[int]:
            if "b" in text:
                raise PromptError("The text could not be split into tokens.")
            return super().tokenize(text, special=special, add_bos=add_bos)

    speller = ByteTokenizer(Failing([b"a", b"b", b"ab", b"aa"]))
    assert speller.spell(b"aaaa") == (3, 3)
    assert speller.spell(b"aabab") == (3, 1, 2)


def test_what_is_remembered_of_spellings_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "_MAX_CACHED", 3)
    speller = ByteTokenizer(PieceTokenizer([b"a", b"b", b"ab"]))
    for data, ids in [(b"a", (0,)), (b"b", (1,)), (b"ab", (2,)), (b"ba", (1, 0)), (b"a", (0,)), (b"bab", (1, 2))] * 3:
        assert speller.spell(data) == ids
        assert len(speller._kept) <= 3


@given(st.binary(max_size=12))
def test_only_a_character_that_is_not_complete_is_cut_off(data: bytes) -> None:
    kept = whole_characters(data)
    assert data.startswith(kept)
    assert len(data) - len(kept) <= 3
    if len(kept) < len(data):
        assert data[len(kept)] >= 0xC0


@given(st.text(max_size=20))
def test_whole_text_is_kept(text: str) -> None:
    data = text.encode()
    assert whole_characters(data) == data
    if data and data[-1] >= 0x80:
        assert whole_characters(data[:-1]) == text[:-1].encode()


@pytest.mark.parametrize(
    ("data", "place", "begins"),
    [
        (b"a b", 1, True),
        (b"a  b", 1, False),
        (b"a  b", 2, True),
        (b"a 1", 1, False),
        (b"a\nbc", 2, True),
        (b"a\n bc", 2, True),
        (b"a\n  b", 2, False),
        (b"a\n\nbc", 3, False),
        (b"ab ", 2, False),
    ],
)
def test_where_words_begin(data: bytes, place: int, begins: bool) -> None:
    assert is_certain_split(data, place) is begins
