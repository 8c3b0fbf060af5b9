"""Prompts are read from files, or rejected with the position of the error."""

import json
from pathlib import Path

import pytest

from app.core.benchmark.prompts import BenchmarkPrompt, distinct, read_prompts
from engine.records import Message


@pytest.mark.parametrize(
    "line",
    ["no json", '{"id": 1}', '{"id": 1, "category": "a", "prompt": ""}', '{"id": 1, "category": "a", "messages": []}',
     '{"id": 1, "category": "a", "messages": [{"role": "robot", "content": "x"}]}', "[]"],
)  # fmt: skip
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"id": 1, "category": "a", "prompt": "good"}\n' + line, encoding="utf-8")
    with pytest.raises(ValueError, match=r"prompts\.jsonl, line 2 is not a prompt"):
        read_prompts(file)


def test_a_prompt_is_one_message_or_a_conversation(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    turns = '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]'
    file.write_text(
        f'{{"id": "x", "category": "c", "prompt": "hi", "expected": "hello"}}\n\n'
        f'{{"id": "y", "category": "c", "messages": {turns}}}\n',
        encoding="utf-8",
    )
    first, second = read_prompts(file)
    assert first.messages == (Message("user", "hi"),)
    assert second.messages == (Message("user", "a"), Message("assistant", "b"))


def test_other_line_separators_and_a_byte_order_mark_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    text = "one\u2028two\u2029three\x85four"
    lines = [json.dumps({"id": i, "category": "c", "prompt": text}, ensure_ascii=False) for i in (1, 2)]
    file.write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    assert [prompt.messages for prompt in read_prompts(file)] == [(Message("user", text),)] * 2


def test_prompts_of_several_files_that_are_numbered_alike_stay_apart() -> None:
    prompts = [BenchmarkPrompt(name, category, ()) for category in "ab" for name in ("1", "2", "1 (2)")]
    apart = distinct(prompts)
    assert [prompt.category for prompt in apart] == [prompt.category for prompt in prompts]
    assert [prompt.id for prompt in apart[:3]] == ["1", "2", "1 (2)"]
    assert len({prompt.id for prompt in apart}) == 6
