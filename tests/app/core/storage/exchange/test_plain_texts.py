"""Conversations and texts of files and folders: exports, JSON of other forms, plain text, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.core.domain.errors import ChatsImportError
from app.core.storage.exchange.plain_texts import texts_in
from engine.records import Message

TALK = (Message("user", "What is 2 + 2?"), Message("assistant", "Four."))


def written(path: Path, data: object) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def own_export(path: Path) -> Path:
    messages = [
        {"id": 1, "parent": None, "role": "user", "text": "What is 2 + 2?"},
        {"id": 2, "parent": 1, "role": "assistant", "text": "Five?"},
        {"id": 3, "parent": 1, "role": "assistant", "text": "Four."},
    ]
    chat = {"title": "sums", "messages": messages}
    return written(path, {"format": "paceline-chats", "version": 1, "chats": [chat]})


def as_turns(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    return [{"role": one.role, "content": one.content} for one in messages]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", "\n".join(json.dumps({"messages": as_turns(TALK)}) for _ in range(1)) + "\n\n"),
        ("a.json", [{"messages": as_turns(TALK)}]),
        ("a.json", {"instruction": "What is 2 + 2?", "input": "", "output": "Four."}),
    ],
)
def test_json_of_other_programs_is_read(tmp_path: Path, name: str, data: object) -> None:
    assert texts_in([written(tmp_path / name, data)]) == [TALK]


def test_a_folder_gives_all_it_holds_and_passes_over_the_rest(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    written(tmp_path / "in" / "a.jsonl", json.dumps({"messages": as_turns(TALK)}))
    written(tmp_path / "b.txt", "First.\n\nSecond.")
    written(tmp_path / "c.json", "no JSON at all")
    (tmp_path / "d.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "e.bin").write_bytes(b"\0")
    assert texts_in([tmp_path]) == ["First.\n\nSecond.", TALK]


def test_a_long_text_is_cut_between_paragraphs(tmp_path: Path) -> None:
    found = texts_in([written(tmp_path / "a.txt", "\n\n".join(["word " * 500] * 3))])
    assert [len(str(one)) for one in found] == [2500, 2500, 2500]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.jsonl", "{", "a.jsonl is not a JSON file that Paceline can read."),
        ("a.json", [{"messages": "none"}], "a.json is not an export"),
        ("a.jsonl", "{}", "There are no chats or texts in"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(tmp_path: Path, name: str, data: object, words: str) -> None:
    with pytest.raises(ChatsImportError) as refused:
        texts_in([written(tmp_path / name, data)])
    assert words in refused.value.message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChatsImportError) as refused:
        texts_in([tmp_path / "none.txt"])
    assert "none.txt cannot be read" in refused.value.message
