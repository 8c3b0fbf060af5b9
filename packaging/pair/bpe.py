"""The pair's byte-level BPE vocabulary: training, loading, and what a GGUF stores of it.

With the control tokens, the pre-tokenizer's pattern (llama.cpp's "qwen2") and the chat template.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import tokenizers
from tokenizers import Regex, models, pre_tokenizers, trainers

BOS = "<|endoftext|>"
IM_START = "<|im_start|>"
IM_END = "<|im_end|>"
CONTROL = (BOS, IM_START, IM_END)
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class Tokenizer:
    """Text to ids and back; control tokens in the text are recognised."""

    def __init__(self, inner: tokenizers.Tokenizer) -> None:
        self.inner = inner
        self.size: int = inner.get_vocab_size()
        self.bos: int = inner.token_to_id(BOS)
        self.im_start: int = inner.token_to_id(IM_START)
        self.im_end: int = inner.token_to_id(IM_END)
        self.assistant_opening = self.encode(f"{IM_START}assistant\n")

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """Read what `save` wrote."""
        return cls(tokenizers.Tokenizer.from_file(str(path)))

    def save(self, path: Path) -> None:
        """Write the tokenizer as JSON."""
        self.inner.save(str(path))

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, nothing added."""
        return self.inner.encode(text, add_special_tokens=False).ids  # type: ignore[no-any-return]

    def decode(self, ids: Iterable[int]) -> str:
        """Text of `ids`, control tokens included."""
        return self.inner.decode(list(ids), skip_special_tokens=False)  # type: ignore[no-any-return]

    def tokens(self) -> list[str]:
        """All entries by id, in the byte alphabet of GPT-2."""
        return [self.inner.id_to_token(at) for at in range(self.size)]

    def merges(self) -> list[str]:
        """Merge rules in order, two parts separated by a space."""
        rules = json.loads(self.inner.to_str())["model"]["merges"]
        return [" ".join(rule) if isinstance(rule, list) else rule for rule in rules]


def empty() -> tokenizers.Tokenizer:
    """Byte-level BPE without entries."""
    inner = tokenizers.Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    inner.decoder = tokenizers.decoders.ByteLevel()
    return inner


def train(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """A fresh vocabulary of `vocab_size` entries: control tokens, all bytes, merges by frequency."""
    inner = empty()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(CONTROL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    inner.train_from_iterator(texts, trainer=trainer)
    return Tokenizer(inner)
