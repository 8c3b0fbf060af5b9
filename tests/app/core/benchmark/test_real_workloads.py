"""The prompts for real models are complete, of their category, without duplicates, and not too long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.benchmark.prompts import BenchmarkPrompt, read_prompts
from app.core.paths import assets_dir
from engine.llama.model import LlamaModel
from engine.llama.vocab import Vocab
from tests.shared_files import shared_file

CATEGORIES = ("chat", "completion", "editing", "reasoning", "rewriting", "structured")
FILES = sorted((assets_dir() / "workloads" / "real").glob("*.jsonl"))
VOCABULARIES = ("gpt-2", "llama-bpe", "llama-spm", "phi-3", "qwen2", "qwen35")
MOST_TOKENS = 1500


def of(category: str) -> list[BenchmarkPrompt]:
    return read_prompts(assets_dir() / "workloads" / "real" / f"{category}.jsonl")


def test_each_category_has_its_file() -> None:
    assert tuple(file.stem for file in FILES) == CATEGORIES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_holds_at_least_twenty_prompts_of_its_kind(file: Path) -> None:
    prompts = read_prompts(file)
    assert len(prompts) >= 20
    assert {prompt.category for prompt in prompts} == {file.stem}
    assert [prompt.id for prompt in prompts] == [f"{file.stem}-{number:02d}" for number in range(1, len(prompts) + 1)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_line_holds_one_prompt_and_nothing_that_is_not_read(file: Path) -> None:
    for line in file.read_text(encoding="utf-8").splitlines():
        assert set(json.loads(line)) in ({"id", "category", "prompt"}, {"id", "category", "messages"})


def test_no_prompt_is_there_twice() -> None:
    texts = [prompt.messages for category in CATEGORIES for prompt in of(category)]
    assert len(set(texts)) == len(texts)


def test_the_turns_of_a_conversation_alternate_and_end_with_the_user() -> None:
    for prompt in (prompt for category in CATEGORIES for prompt in of(category)):
        roles = [message.role for message in prompt.messages if message.role != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"], prompt.id


def test_some_chats_have_earlier_turns() -> None:
    assert sum(len(prompt.messages) > 1 for prompt in of("chat")) >= 3


def test_completion_is_mostly_python_and_of_other_languages_too() -> None:
    texts = [prompt.messages[-1].content for prompt in of("completion")]
    counts = {
        name: sum(f"```{name}\n" in text for text in texts) for name in ("python", "go", "rust", "c", "sql", "bash")
    }
    assert counts.pop("python") >= 12
    assert all(counts.values()), counts
    assert any("```typescript\n" in text or "```javascript\n" in text for text in texts)


def test_a_text_to_rewrite_is_neither_a_line_nor_a_page() -> None:
    words = {prompt.id: len(prompt.messages[-1].content.split()) for prompt in of("rewriting")}
    assert {name: count for name, count in words.items() if not 100 <= count <= 350} == {}


@pytest.fixture(scope="module", params=VOCABULARIES)
def vocab(request: pytest.FixtureRequest) -> Iterator[Vocab]:
    with LlamaModel(shared_file(f"vocabs/ggml-vocab-{request.param}.gguf"), vocab_only=True) as model:
        yield model.vocab


def test_no_prompt_is_too_long(vocab: Vocab) -> None:
    """A context of a few thousand tokens must also hold the answer."""
    lengths = {
        prompt.id: sum(len(vocab.tokenize(message.content, special=False)) for message in prompt.messages)
        for category in CATEGORIES
        for prompt in of(category)
    }
    assert {name: length for name, length in lengths.items() if length > MOST_TOKENS} == {}
