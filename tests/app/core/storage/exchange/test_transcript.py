"""Tests chats as Markdown by other programs, and Markdown that is not a chat."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.errors import ChatsImportError
from app.core.storage.exchange import reading, transcript
from app.core.storage.exchange.transcript import from_transcript
from tests.app.core.storage.exchange.whole import read_chats

TWO = [("user", "q"), ("assistant", "a")]


def said(text: str) -> list[tuple[str, str]] | None:
    chat = from_transcript(text)
    return None if chat is None else [(each.role, each.text) for each in chat.messages]


@pytest.mark.parametrize(
    "text",
    [
        "## User\n\nq\n\n## Assistant\n\na\n",
        "#### You:\nq\n\n#### ChatGPT:\na\n",
        "### 👤 You\n\nq\n\n### 🤖 Claude 3.5 Sonnet\n\na",
        "## You said:\n\nq\n\n## ChatGPT said:\n\na",
        "## User (2026-01-02 10:11)\nq\n## gpt-4o-mini (OpenAI)\na",
        "## Human - 10:11 AM\nq\n## Llama-3.1-8B-Instruct\na",
        "**You:**\n\nq\n\n**ChatGPT:**\n\na",
        "**User**: q\n**Assistant**: a",
        "__Human:__ q\n\n__AI:__ a\n",
        "**User**\n\nq\n\n**Qwen2.5 Coder**\n\na",
        "## Du\n\nq\n\n## Assistent\n\na",
        "## System\n\nBe kind.\n\n## User\n\nq\n\n## Assistant\n\na",
        "## User\n\nq\n\n---\n\n## Assistant\n\na\n",
        "---\ntitle: x\n---\n\n## user\nq\n## assistant\na",
        "# User\r\n\r\nq\r\n\r\n# Assistant\r\n\r\na\r\n",
    ],
)
def test_usual_ways_to_write_a_chat_down_are_read(text: str) -> None:
    assert said(text.replace("\r\n", "\n")) == TWO


@pytest.mark.parametrize(
    "text",
    [
        "", "words", "# A program\n\n## User\n\nThe user may\n\n## Usage\n", "**You** are right.\n\n**AI** is here.\n",
        "## Question\n\nq\n", "You: are\n\nhere: there\n", "```\n## User\nq\n## Assistant\na\n```\n",
        "## Claude vs Gemini\n\nx\n\n## User\n\n", "User: q\nAssistant: a\n", "## Phi and Llama\n## You and me\n",
    ],
)  # fmt: skip
def test_what_is_no_chat_is_none(text: str) -> None:
    assert said(text) is None


def test_words_that_look_like_names_stay_words() -> None:
    answer = "Try this:\n\n```md\n## User\nhi\n```\n\n**You:** no\n\n### User\n\n## Answer\n\nUser: x"
    assert said(f"## User\n\nq\n\n## Assistant\n\n{answer}\n\n## User\n\nthanks") == [
        ("user", "q"), ("assistant", answer), ("user", "thanks"),
    ]  # fmt: skip


def test_code_that_never_ends_hides_nobody() -> None:
    assert said("## User\n\n```\nq\n\n## Assistant\n\na") == [("user", "```\nq"), ("assistant", "a")]


def test_a_rule_between_messages_goes_only_where_all_have_one() -> None:
    assert said("## User\n\nq\n\n---\n\n## Assistant\n\na\n\n## User\n\nr") == [
        ("user", "q\n\n---"), ("assistant", "a"), ("user", "r"),
    ]  # fmt: skip


def test_the_title_is_the_first_heading_above() -> None:
    chat = from_transcript("# My\ttitle\n\nnotes\n\n## User\n\nq\n\n## Assistant\n\n# no title\n")
    assert chat is not None
    assert chat.title == "My title"


@pytest.mark.parametrize(("content", "words"), [(b"# Notes\n\nwords", "who is speaking"), (b"\x89PNG\0", "a picture"),
                                                (b"a\0b", "NUL"), (b"", "who is speaking")])  # fmt: skip
def test_no_chat_is_one_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "notes.md").write_bytes(content)
    with pytest.raises(ChatsImportError, match=words) as caught:
        read_chats(tmp_path / "notes.md")
    assert "“## You”" in caught.value.advice


HOSTILE = {
    "spaces": "#" + " " * 2_000_000,
    "fences": "```x\n" * 400_000,
    "longer and longer": "\n".join("`" * (3 + size) + "x" for size in range(1500)),
    "stars": "**" * 1_000_000,
    "figures": "# t\n\n## Paceline\n\n*" + "1" * 1_000_000 + " · ",
    "a long name": "## gpt" + "1" * 100 + "!\n" * 3 + ("## gpt" + "-1." * 30 + "!\n") * 20_000,
    "asides": ("## You " + "(" * 100 + "\n") * 10_000,
    "rules": "## User\n\n" + "-" * 1_000_000 + "x\n\n## Assistant\n\n" + "\n\n---" * 100_000 + "\n\n## User\n",
    "quotes": "# t\n\n## Paceline\n\n> **Thought**\n>" + "\n> x" * 500_000,
    "files": "# t\n\n## You\n\n" + "Attached file: x (text)\n\n```\n" * 100_000,
    "empty lines": "\n" * 5_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_makes_the_reader_slow(tmp_path: Path, name: str) -> None:
    file = tmp_path / "chat.md"
    file.write_text(HOSTILE[name], "utf-8")
    began = time.process_time()
    try:
        read_chats(file)
    except ChatsImportError as error:
        assert error.message  # noqa: PT017  (read or refused: both are well)
    assert time.process_time() - began < 10.0


LINES = ["## You\n", "## Paceline\n", "# t\n\n", "**AI:** ", "```\n", "words\n", "\n", "> ", "*1 · 2 · 3*",
         "> **Thought**\n>\n", "Attached file: x (text)\n\n"]  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_any_text_is_a_chat_or_none(pieces: list[str]) -> None:
    chat = from_transcript("".join(pieces))
    if chat is not None:
        assert [each.id for each in chat.messages] == list(range(1, len(chat.messages) + 1))


def test_messages_and_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "MAX_MESSAGES", 10)
    file = tmp_path / "chat.md"
    file.write_text("**User:** q\n**Assistant:** a\n" * 50, "utf-8")
    with pytest.raises(ChatsImportError, match="too many messages"):
        read_chats(file)
    monkeypatch.setattr(reading, "MAX_MARKDOWN_BYTES", 100)
    with pytest.raises(ChatsImportError, match="larger than"):
        read_chats(file)
