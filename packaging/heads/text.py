"""The target's tokenizer and chat template, and the conversations that a head is trained with."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gguf import GGUFReader
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

Messages = list[dict[str, str]]
# How text is cut before the merges, by llama.cpp's names (src/llama-vocab.cpp).
CUTS: dict[str, Any] = {
    "smollm": [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)],
    "qwen2": [
        pre_tokenizers.Split(
            Regex(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
            ),
            behavior="isolated",
        ),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ],
}
# How many conversations of each file are asked, and of which the answers in the file are read.
ASKED = {
    "small_chat": 1100,
    "small_instructions": 1500,
    "gsm8k": 500,
    "chatterbot_en": 250,
    "self_dialogue": 150,
    "synthetic_persona_chat": 150,
    "taskmaster4_coffee": 30,
}
READ = {"small_chat": 1100, "small_instructions": 800, "gsm8k": 250}
_CONTROL = 3  # a token type of GGUF
_MARK = "\ufffc"


@dataclass(frozen=True)
class Language:
    """What a GGUF says of its text.

    Attributes:
        tokenizer: byte-level BPE.
        template: the chat template, compiled.
        end: the id that ends an answer.
        first: the id put before everything; None where the file asks for none.
    """

    tokenizer: Tokenizer
    template: Any
    end: int
    first: int | None

    def encode(self, text: str) -> list[int]:
        """Ids of a piece of text, nothing added."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids  # type: ignore[no-any-return]

    def asked(self, messages: Messages) -> list[int]:
        """A conversation up to where the assistant goes on."""
        before = [] if self.first is None else [self.first]
        return before + self.encode(self.template.render(messages=messages, add_generation_prompt=True))

    def answered(self, messages: Messages) -> tuple[list[int], list[int]]:
        """A conversation with its answers: up to where the first answer begins, and the rest."""
        first = next((i for i, turn in enumerate(messages) if turn["role"] == "assistant"), len(messages))
        asked = self.template.render(messages=messages[:first], add_generation_prompt=True)
        whole = self.template.render(messages=messages, add_generation_prompt=False)
        before = [] if self.first is None else [self.first]
        return before + self.encode(asked), self.encode(whole.removeprefix(asked))

    def around_a_question(self) -> tuple[list[int], list[int]]:
        """What stands before a first question, and from its end to where the assistant begins."""
        written = self.template.render(messages=[{"role": "user", "content": _MARK}], add_generation_prompt=True)
        before, after = written.split(_MARK)
        opening = [] if self.first is None else [self.first]
        return opening + self.encode(before), self.encode(after)


def load_language(path: Path) -> Language:
    """Tokenizer and template of a GGUF.

    Raises:
        ValueError: its text is cut by rules that are not in `CUTS`.
    """
    fields = GGUFReader(path).fields

    def value(key: str) -> Any:  # noqa: ANN401  (whatever the file holds)
        return fields[key].contents() if key in fields else None

    rules = value("tokenizer.ggml.pre")
    if rules not in CUTS:
        raise ValueError(f"{path} cuts text by the rules {rules!r}; known are {', '.join(CUTS)}")
    tokens, merges = value("tokenizer.ggml.tokens"), value("tokenizer.ggml.merges")
    tokenizer = Tokenizer(
        models.BPE({token: i for i, token in enumerate(tokens)}, [tuple(one.split(" ")) for one in merges])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(CUTS[rules])
    tokenizer.decoder = decoders.ByteLevel()
    kinds = value("tokenizer.ggml.token_type")
    control = [AddedToken(token, special=True) for token, kind in zip(tokens, kinds, strict=True) if kind == _CONTROL]
    tokenizer.add_special_tokens(control)
    template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(
        value("tokenizer.chat_template")
    )
    first = value("tokenizer.ggml.bos_token_id") if value("tokenizer.ggml.add_bos_token") else None
    return Language(tokenizer, template, value("tokenizer.ggml.eos_token_id"), first)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _some(folder: Path, counts: dict[str, int], dice: random.Random) -> Iterator[Messages]:
    """At most so many conversations of each packed file that is there; what is marked as a test is left out."""
    for name, count in counts.items():
        path = folder / f"{name}.jsonl.xz"
        every = [one for one in _lines(path) if one.get("split") != "test"] if path.is_file() else []
        for one in dice.sample(every, min(count, len(every))):
            if "messages" in one:
                yield [{"role": turn["role"], "content": turn["content"]} for turn in one["messages"]]
            else:
                text = f"{one['instruction']}\n\n{one['input']}" if one.get("input") else one["instruction"]
                yield [{"role": "user", "content": text}, {"role": "assistant", "content": one["output"]}]


def questions(folder: Path, seed: int) -> list[Messages]:
    """Beginnings of conversations, each ending with one of the first four questions."""
    dice = random.Random(seed)  # noqa: S311  (no secret)
    found = []
    for messages in _some(folder, ASKED, dice):
        ends = [i for i, turn in enumerate(messages) if turn["role"] == "user"]
        if ends:
            found.append(messages[: dice.choice(ends[:4]) + 1])
    dice.shuffle(found)
    return found


def answers(folder: Path, seed: int) -> list[Messages]:
    """Conversations with the answers that the files have."""
    dice = random.Random(seed)  # noqa: S311  (no secret)
    found = list(_some(folder, READ, dice))
    dice.shuffle(found)
    return found
