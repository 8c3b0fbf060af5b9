"""After any operation the draft's cache holds the target's text in the draft's tokens."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafters.translation.comparison import Roles, Translation, find_translation
from engine.drafters.translation.sequence import TranslatedSequence
from engine.errors import DecodeError
from engine.interfaces import Rows, TokenIds
from engine.llama.model import LlamaModel
from engine.sequence import CachedSequence
from tests.engine.drafters.translation.vocabularies import PieceTokenizer, translation_of
from tests.fake_model import MarkovModel, RecurrentModel
from tests.shared_files import shared_file

WORDS = [b"a", b"b", b" ", b"ab", b" a", b"\xc3", b"\xa9", "é".encode(), b"ba", b" ab", b"\n", b"?", b"aab"]
TARGET = PieceTokenizer(WORDS, controls=["<turn>", "<end>", "<lost>"], ends=["<end>"])
DRAFT = PieceTokenizer(
    [b"b", b"a", b"aa", b" ", b" b", b"\xa9", b"\xc3", b"bab", b" a", b"\n", b"\n\n", b"aaa"],
    controls=["<s>", "<go>", "<stop>"],
    ends=["<stop>"],
    bos="<s>",
    add_bos=True,
)
TURN, END, LOST = (TARGET.control_id(text) for text in TARGET.controls)
GO, STOP = DRAFT.control_id("<go>"), DRAFT.control_id("<stop>")
ROLES = Roles({END: (STOP,)}, {TURN: (((TURN, 10), (GO, GO, 9)), ((TURN,), (GO,)))})
TRANSLATION = translation_of(TARGET, DRAFT, ROLES)
TEXT_IDS = st.integers(0, TARGET.n_vocab - 1)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.lists(TEXT_IDS, min_size=1, max_size=5)),
        st.tuples(st.just("anew"), st.lists(TEXT_IDS, min_size=1, max_size=8)),
        st.tuples(st.just("write"), st.lists(st.integers(0, len(DRAFT.words) - 1), max_size=4)),
        st.tuples(st.just("back"), st.lists(st.integers(0, 20), min_size=1, max_size=1)),
    ),
    max_size=14,
)


def expected(ids: list[int]) -> bytes:
    """The text that the draft should have read, control tokens as text; bytes that it lacks as its replacement."""
    data, place = b"<s>", 0
    while place < len(ids):
        mark = ROLES.match_at(ids, place)
        if mark is not None:
            data += b"".join(text_of(i) for i in mark[1])
            place += mark[0]
            continue
        data += {END: b"<stop>", LOST: b""}.get(ids[place], TARGET.piece(ids[place]).replace(b"?", b" "))
        place += 1
    return data


def text_of(own_id: int) -> bytes:
    return DRAFT.piece(own_id) or DRAFT.token_text(own_id).encode()


def held(own: CachedSequence) -> list[int]:
    return own._ids[: own.num_past].tolist()


def model_of(*, recurrent: bool) -> MarkovModel:
    logits = np.zeros((DRAFT.n_vocab, DRAFT.n_vocab), dtype=np.float32)
    return RecurrentModel(logits, n_ctx=512) if recurrent else MarkovModel(logits, n_ctx=512)


@pytest.mark.parametrize("recurrent", [False, True])
def test_the_cache_holds_the_text_of_the_target(recurrent: bool) -> None:
    @given(OPERATIONS)
    @settings(max_examples=150)
    def holds(operations: list[tuple[str, list[int]]]) -> None:
        sequence = TranslatedSequence(CachedSequence(model_of(recurrent=recurrent)), TRANSLATION)
        ids: list[int] = []
        for name, values in operations:
            ids = changed(sequence, ids, name, values)
            if not ids:
                continue
            if sequence.num_past >= len(ids):
                sequence.rollback(len(ids) - 1)
            sequence.forward(ids[sequence.num_past :])
            assert b"".join(map(text_of, held(sequence.draft_sequence))) == expected(ids)
            assert sequence.num_past == len(ids)
            sequence.checkpoint()
            ids = drafted(sequence, ids, name, values)

    holds()


def changed(sequence: TranslatedSequence, ids: list[int], name: str, values: list[int]) -> list[int]:
    """The target's ids after an operation, which the sequence is notified of."""
    if name == "read":
        return [*ids, *values]
    if name == "anew":
        assert sequence.reuse(np.array(values, dtype=np.int32)) <= len(values)
        return values
    if name == "back":
        sequence.rollback(values[0])
        return ids[: values[0]]
    return ids


def drafted(sequence: TranslatedSequence, ids: list[int], name: str, values: list[int]) -> list[int]:
    """The target's ids if all drafted tokens were accepted."""
    if ids[-1] == TURN:  # an answer does not begin within a sequence that the roles translate as a whole
        return ids
    return written(sequence, ids, values) if name == "write" else ids


def written(sequence: TranslatedSequence, ids: list[int], values: list[int]) -> list[int]:
    """Let the draft write; the target takes the part that it can express."""
    data = b""
    for own_id in values:
        sequence.append_draft_token(own_id)
        sequence.forward(())
        data += DRAFT.piece(own_id)
    said = list(TRANSLATION.target.spell(data))[:3]
    sequence.assign_text(said)
    return [*ids, *said]


def test_what_the_target_kept_of_the_drafts_own_text_is_not_read_again() -> None:
    model = model_of(recurrent=False)
    sequence = TranslatedSequence(CachedSequence(model), TRANSLATION)
    sequence.forward([0, 4])
    for own_id in (7, 8):  # "bab", " a"
        sequence.append_draft_token(own_id)
        sequence.forward(())
    sequence.assign_text(TRANSLATION.target.spell(b"bab a"))
    num_read = model.num_past
    sequence.rollback(2 + len(TRANSLATION.target.spell(b"bab a")))
    assert model.num_past == num_read
    sequence.rollback(3)  # within "bab": the draft's token is dropped, so the target's first token of it is read again
    assert sequence.num_past == 2
    first = TRANSLATION.target.spell(b"bab a")[0]
    sequence.forward([first, 9])
    assert b"".join(map(text_of, held(sequence.draft_sequence))) == b"<s>a a" + TARGET.piece(first) + b" ab"


@pytest.mark.parametrize("recurrent", [False, True])
def test_what_is_left_of_a_stretch_is_read_as_it_stands_alone(recurrent: bool) -> None:
    sequence = TranslatedSequence(CachedSequence(model_of(recurrent=recurrent)), TRANSLATION)
    sequence.forward([0, TURN, 10, 0])  # the draft reads "<go><go>\n" for the two in the middle
    sequence.rollback(2)
    sequence.forward([0, TURN][sequence.num_past :])
    assert b"".join(map(text_of, held(sequence.draft_sequence))) == expected([0, TURN]) == b"<s>a<go>"


def test_long_texts_are_spelled_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.drafters.translation.sequence._BYTES_PER_SPELLING", 16)
    dice = np.random.default_rng(2)
    for weights in ([1, 1, 4, 1, 4], [9, 9, 0, 9, 0]):  # the second has no words to cut between
        ids = dice.choice([0, 1, 2, 3, 4], 200, p=np.array(weights) / sum(weights)).tolist()
        sequence = TranslatedSequence(CachedSequence(model_of(recurrent=False)), TRANSLATION)
        sequence.forward(ids)
        assert b"".join(map(text_of, held(sequence.draft_sequence))) == expected(ids)


def test_what_was_lost_is_read_again_whole() -> None:
    model = model_of(recurrent=False)
    sequence = TranslatedSequence(CachedSequence(model), TRANSLATION)
    sequence.forward([0, 4, 1])
    sequence.clear()
    assert (model.num_past, sequence.num_past) == (0, 0)
    sequence.forward([0, 4, 1, 3])
    assert b"".join(map(text_of, held(sequence.draft_sequence))) == expected([0, 4, 1, 3])


def test_a_context_that_is_too_small_for_the_drafts_tokens_is_said() -> None:
    logits = np.zeros((DRAFT.n_vocab, DRAFT.n_vocab), dtype=np.float32)
    sequence = TranslatedSequence(CachedSequence(MarkovModel(logits, n_ctx=8)), TRANSLATION)
    with pytest.raises(DecodeError, match="more than the 8 tokens"):
        sequence.forward([4] * 12)


# ---- real vocabularies ------------------------------------------------------------------------------------------

TEXT = """Here is a function that adds two numbers:

```python
def add(first: int, second: int) -> int:
    \"\"\"Return the sum.\"\"\"
    return first + second  # 1,234.5 naïve café 世界
```

It wasn't hard, was it?  Try `add(2, 40)`: the answer is 42.
"""
NAMES = ("gpt-2", "llama-bpe", "llama-spm", "phi-3", "qwen2")


class Silent:
    """Implements the used part of `LanguageModel` for a vocabulary of any size; predicts nothing."""

    num_snapshots, num_candidates, n_ubatch = None, 0, 64

    def __init__(self, n_vocab: int) -> None:
        self.n_vocab, self.n_ctx, self.num_past, self.num_read = n_vocab, 4096, 0, 0
        self._row = np.zeros((1, n_vocab), dtype=np.float32)

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        self.num_past += len(ids)
        self.num_read += len(ids)
        return self._row[:n_rows]

    def rollback(self, num_past: int) -> bool:
        self.num_past = min(self.num_past, num_past)
        return True

    def clear(self) -> None:
        self.num_past = 0


@pytest.fixture(name="vocabularies", scope="module")
def fixture_vocabularies() -> Iterator[dict[str, LlamaModel]]:
    models = {name: LlamaModel(shared_file(f"vocabs/ggml-vocab-{name}.gguf"), vocab_only=True) for name in NAMES}
    yield models
    for model in models.values():
        model.close()


@pytest.fixture(scope="module")
def translations(vocabularies: dict[str, LlamaModel]) -> list[tuple[LlamaModel, LlamaModel, Translation]]:
    """Target, draft, and the translation between them; each takes half a second."""
    made = list[tuple[LlamaModel, LlamaModel, Translation]]()
    for one, other in itertools.permutations(vocabularies.values(), 2):
        found = find_translation((one.vocab, one.chat_template), (other.vocab, other.chat_template))
        assert found is not None
        made.append((one, other, found))
    return made


def test_a_draft_reads_what_it_would_have_read_of_the_whole_text(
    translations: list[tuple[LlamaModel, LlamaModel, Translation]],
) -> None:
    for target, draft, translation in translations:
        model = Silent(draft.vocab.n_vocab)
        own = CachedSequence(model)  # type: ignore[arg-type]
        sequence = TranslatedSequence(own, translation)
        ids = [int(i) for i in translation.target.spell(TEXT.encode())]
        for token_id in ids:  # one at a time, as in plain decoding
            sequence.forward([token_id])
        assert held(own) == [*translation.prefix_ids, *translation.draft.spell(TEXT.encode())], draft.path.name
        assert model.num_read < 1.4 * own.num_past, (target.path.name, draft.path.name)


def test_real_vocabularies_have_most_tokens_in_common(
    translations: list[tuple[LlamaModel, LlamaModel, Translation]],
) -> None:
    assert all(translation.coverage > 0.8 for _, _, translation in translations)
