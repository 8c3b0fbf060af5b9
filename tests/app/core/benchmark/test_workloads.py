"""The bundled workloads are complete, without duplicates, and the built-in pair follows them."""

from __future__ import annotations

import json
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from app.core.benchmark.prompts import read_prompts
from app.core.paths import assets_dir, builtin_target
from engine.records import ChatRequest, Finished, FinishReason, LoadRequest, Message, SamplingParams, TextChunk
from engine.session.session import Session

FILES = sorted((assets_dir() / "workloads").glob("*.jsonl"))
CATEGORIES = {"chat", "copying", "summarising", "code", "maths", "free"}


def test_each_category_has_its_file_with_at_least_ten_prompts() -> None:
    prompts = {file.stem: read_prompts(file) for file in FILES}
    assert prompts.keys() == CATEGORIES
    for name, own in prompts.items():
        assert len(own) >= 10
        assert {prompt.category for prompt in own} == {name}
        assert [prompt.id for prompt in own] == [f"{name}-{number:02d}" for number in range(1, len(own) + 1)]


def test_no_prompt_is_there_twice() -> None:
    prompts = [prompt for file in FILES for prompt in read_prompts(file)]
    assert [text for text, times in Counter(prompt.messages for prompt in prompts).items() if times > 1] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_built_in_pair_follows_them(file: Path) -> None:
    """The rule by which they were chosen: at least nine of ten words correct, and the answer ends by itself."""
    session = Session()
    session.load(LoadRequest(str(builtin_target())))
    try:
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            given = record.get("messages") or [{"role": "user", "content": record["prompt"]}]
            text, reason = answer(session, tuple(Message(**message) for message in given))
            assert reason is FinishReason.END, record["id"]
            if "expected" in record:
                assert words_in_place(record["expected"], text) >= 0.9, (record["id"], text)
            else:
                assert len(text.split()) >= 5, record["id"]
    finally:
        session.close()


def answer(session: Session, messages: tuple[Message, ...]) -> tuple[str, FinishReason]:
    texts = []
    for event in session.generate(
        ChatRequest(messages=messages, sampling=SamplingParams(temperature=0.0), max_tokens=300)
    ):
        if isinstance(event, TextChunk):
            texts.append(event.text)
        elif isinstance(event, Finished):
            return "".join(texts), event.reason
    raise AssertionError("an answer ended without its last event")


def words_in_place(expected: str, got: str) -> float:
    wanted, said = expected.split(), got.split()
    blocks = SequenceMatcher(None, wanted, said, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(len(wanted), len(said), 1)
