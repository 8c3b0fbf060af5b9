"""Scripted vocabularies: lists of pieces; the tokenizer takes the longest matching piece at each position."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.drafters.translation.comparison import Roles, Translation
from engine.drafters.translation.spelling import ByteTokenizer


@dataclass
class PieceTokenizer:
    """Implements `Tokenizer`. ``controls`` are the last ids; ``ends`` are the controls that end an answer."""

    words: Sequence[bytes]
    controls: Sequence[str] = ()
    ends: Sequence[str] = ()
    bos: str | None = None
    add_bos: bool = False
    add_eos: bool = False
    type_name: str = "BPE"
    adds_space: bool = False  # before a text, as SentencePiece does

    @property
    def n_vocab(self) -> int:
        return len(self.words) + len(self.controls)

    @property
    def control_texts(self) -> tuple[str, ...]:
        return tuple(self.controls)

    @property
    def eog_ids(self) -> frozenset[int]:
        return frozenset(self.control_id(text) for text in self.ends)

    @property
    def eos_id(self) -> int | None:
        return self.control_id(self.ends[0]) if self.ends else None

    @property
    def bos_id(self) -> int | None:
        return self.control_id(self.bos) if self.bos else None

    def control_id(self, text: str) -> int:
        return len(self.words) + list(self.controls).index(text)

    def tokenize(self, text: str, *, special: bool, add_bos: bool = False) -> list[int]:
        text = f" {text}" if self.adds_space else text
        ids = [self.bos_id] if add_bos and self.bos_id is not None else []
        while text:
            control = next((one for one in self.controls if special and text.startswith(one)), None)
            if control is not None:
                ids.append(self.control_id(control))
                text = text[len(control) :]
                continue
            data = text.encode("utf-8", "surrogateescape")
            found = max((word for word in self.words if data.startswith(word)), key=len, default=None)
            if found is None:
                text = text[1:]  # skip a character that the vocabulary lacks
                continue
            ids.append(list(self.words).index(found))
            text = data[len(found) :].decode("utf-8", "surrogateescape")
        return ids

    def piece(self, token_id: int) -> bytes:
        return self.words[token_id] if token_id < len(self.words) else b""

    def token_text(self, token_id: int) -> str:
        if token_id >= len(self.words):
            return self.controls[token_id - len(self.words)]
        return self.words[token_id].decode("utf-8", "replace")

    def is_eog(self, token_id: int) -> bool:
        return token_id in self.eog_ids


def translation_of(target: PieceTokenizer, draft: PieceTokenizer, roles: Roles | None = None) -> Translation:
    start = (draft.bos_id,) if draft.add_bos and draft.bos_id is not None else ()
    return Translation(ByteTokenizer(target), ByteTokenizer(draft), roles or Roles(), 1.0, start)
