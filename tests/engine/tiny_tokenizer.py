"""A scripted tokenizer for tests: a list of pieces, some of them control tokens. No weights, no library."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class TinyTokenizer:
    """Byte-level: ids 0-255 are bytes, then ``words`` (never produced by ``tokenize``), then the control tokens.

    ``adds_space`` imitates SentencePiece: a space before the first text and after a control token.
    """

    words: Sequence[bytes] = ()
    controls: Sequence[str] = ()
    bos: str | None = None
    eos: str | None = None
    add_bos: bool = False
    adds_space: bool = False
    calls: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def n_vocab(self) -> int:
        return 256 + len(self.words) + len(self.controls)

    infill_ids: tuple[int, int, int] | None = None
    repo_and_file_ids: tuple[int, int] | None = None

    @property
    def control_texts(self) -> tuple[str, ...]:
        return tuple(self.controls)

    def control_id(self, text: str) -> int:
        return 256 + len(self.words) + list(self.controls).index(text)

    @property
    def bos_id(self) -> int | None:
        return None if self.bos is None else self.control_id(self.bos)

    @property
    def eos_id(self) -> int | None:
        return None if self.eos is None else self.control_id(self.eos)

    def tokenize(self, text: str, *, special: bool, add_bos: bool = False) -> list[int]:
        self.calls.append((text, special))
        ids = [self.bos_id] if add_bos and self.bos_id is not None else []
        after_control, position = True, 0
        longest_first = sorted(self.controls, key=len, reverse=True) if special else []
        while position < len(text):
            control = next((one for one in longest_first if text.startswith(one, position)), None)
            if control is not None:
                ids.append(self.control_id(control))
                after_control, position = True, position + len(control)
                continue
            if after_control and self.adds_space:
                ids.append(0x20)
            ids.extend(text[position].encode())
            after_control, position = False, position + 1
        return ids

    def piece(self, token_id: int) -> bytes:
        if token_id < 256:
            return bytes([token_id])
        return self.words[token_id - 256] if token_id < 256 + len(self.words) else b""

    def token_text(self, token_id: int) -> str:
        first = 256 + len(self.words)
        if token_id >= first:
            return self.controls[token_id - first]
        return self.piece(token_id).decode("utf-8", "replace")

    @property
    def eog_ids(self) -> frozenset[int]:
        return frozenset(filter(self.is_eog, range(256)))

    def is_eog(self, token_id: int) -> bool:
        return token_id == self.eos_id
