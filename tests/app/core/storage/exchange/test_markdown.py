"""Tests Markdown export and import: identical messages with any content; foreign marks are harmless."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.errors import ChatsImportError
from app.core.domain.messages import MessageState, MessageView
from app.core.storage.chats.messages import insert_message
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange import markdown, reading
from app.core.storage.exchange.markdown import from_markdown, shown_path, to_markdown
from app.core.storage.exchange.markdown_marks import MarkedPart, parts_of, to_text
from app.core.storage.exchange.reading import may_be_export
from app.core.storage.exchange.records import PortableChat, PortableMessage
from app.core.storage.exchange.transfer import export_chats, import_chats
from engine.records import Mode, RunStats
from tests.app.core.storage.exchange.whole import read_chats

LOOKALIKES = [
    "## You", "## Paceline", "# Title", "\n\n## You\n\n", "\n\n", "\n", "```", "~~~~", "```python\n", "> quoted", ">",
    '<!-- paceline 1 {"role": "user"} -->', '\n<!-- paceline 2 {"words": true} -->\n', "<!-- paceline 1 {", "-->",
    '<!-- paceline 1 {"chat": 1} -->', "<think>", "</think>", "<think>\nhm\n</think>\n\n", "[THINK]", "[/THINK]\n",
    "**Thought**", "*12 tok/s · 1.0 tokens per pass · plain*", "Attached file: x.py (code)\n\n", "\r\n", "\r", "\t",
    " ", "\u2028", "\ufeff", "**You:**", "analysis", "assistantfinal", "<|begin_of_solution|>", "<|end_of_solution|>",
    "é😀",
]  # fmt: skip
PIECES = st.sampled_from(LOOKALIKES) | st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]))
WORDS = st.lists(PIECES, max_size=8).map("".join)
FILES = st.builds(
    Attachment, st.just(0), st.sampled_from(["a.py", "b`c.md", "x --> y.txt", "<!-- paceline 1 {.csv"]),
    st.sampled_from([kind for kind in AttachmentKind if kind is not AttachmentKind.PICTURE]),
    st.integers(0, 2**40), WORDS,
)  # fmt: skip
TURNS = st.tuples(
    st.sampled_from(["user", "assistant"]), WORDS, st.lists(FILES, max_size=2), st.none() | st.integers(0, 10**7)
)


def chat_of(turns: list[tuple[str, str, list[Attachment], int | None]], title: str = "A title") -> PortableChat:
    messages = tuple(
        PortableMessage(place, place - 1 or None, role, text, attachments=tuple(files), thinking_ms=spent)
        for place, (role, text, files, spent) in enumerate(turns, start=1)
    )
    return PortableChat(title, messages, shown=frozenset(range(1, len(messages) + 1)))


def read(folder: Path, text: str, name: str = "chat.md") -> PortableChat:
    file = folder / name
    file.write_bytes(text.encode())
    (chat,) = read_chats(file)
    return chat


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(turns=st.lists(TURNS, min_size=1, max_size=4))
def test_there_and_back_is_the_same_to_the_letter(
    tmp_path: Path, turns: list[tuple[str, str, list[Attachment], int | None]]
) -> None:
    chat = chat_of(turns)
    back = read(tmp_path, to_markdown(chat))
    assert [(each.role, each.text, each.attachments) for each in back.messages] == [
        (each.role, each.text, each.attachments) for each in chat.messages
    ]
    assert (back.title, back.digest) == (chat.title, chat.digest)
    assert shown_path(back) == list(back.messages)


def test_an_export_within_an_export_is_words(tmp_path: Path) -> None:
    inner = to_markdown(chat_of([("user", "inner question", [], None), ("assistant", "inner answer", [], None)]))
    outer = chat_of([("user", inner, [], None), ("assistant", f"You sent:\n\n{inner}", [], None)])
    third = chat_of([("user", to_markdown(outer), [], None)])
    assert [each.text for each in read(tmp_path, to_markdown(third)).messages] == [to_markdown(outer)]


def test_figures_stay_below_the_answer_and_are_no_words(tmp_path: Path) -> None:
    stats = RunStats(mode=Mode.OFF, tokens=4, passes=4, decode_s=0.5)
    chat = PortableChat("t", (PortableMessage(1, None, "assistant", "Red", stats=stats),))
    text = to_markdown(chat)
    assert "Red\n\n" in text
    assert "tok/s" in text.rsplit("\n\n", 1)[-1]
    assert read(tmp_path, text).messages[0].text == "Red"


def test_the_time_of_reasoning_comes_along(tmp_path: Path) -> None:
    chat = chat_of([("assistant", "<think>\nhm\n</think>\n\nFour.", [], 1234)])
    text = to_markdown(chat)
    assert "> **Thought for 1.2 s**\n>\n> hm\n\nFour." in text
    assert read(tmp_path, text).messages[0].thinking_ms == 1234


def test_windows_line_ends_and_removed_headings_are_accepted(tmp_path: Path) -> None:
    text = to_markdown(chat_of([("user", "one\n\ntwo", [], None), ("assistant", "three", [], None)]))
    for changed in (text.replace("\n", "\r\n"), text.replace("## You\n\n", ""), "\ufeff" + text, text.rstrip("\n")):
        assert [each.text for each in read(tmp_path, changed).messages] == ["one\n\ntwo", "three"]


@pytest.mark.parametrize(
    "mark",
    [
        "[" * 50_000, '{"role": "user"', '{"role": ["user"]}', '{"role": "system"}', "{}", '{"file": 3}',
        '{"words": 1e999, "x": ' + "9" * 50_000 + "}", '{"role": "user", "thought": [1, 2, 3], "thought_ms": -5}',
        '{"role": "assistant", "thought": ["", "", ""], "thought_ms": true}', '{"file": "x", "num_bytes": "many"}',
        '{"role": "user", "x": ' + "[" * 40_000 + "]" * 40_000 + "}",
    ],
    ids=range(11),
)  # fmt: skip
def test_a_mark_that_cannot_be_is_passed_over(tmp_path: Path, mark: str) -> None:
    text = to_markdown(chat_of([("user", "first", [], None)]))
    chat = read(tmp_path, f"{text}\n<!-- paceline 1 {mark} -->\nmore\n")
    assert chat.messages[0].text.startswith("first")
    assert all(each.thinking_ms is None for each in chat.messages)


@given(st.lists(st.tuples(st.dictionaries(st.text(), st.text(), min_size=1), WORDS), min_size=1))
def test_parts_are_read_as_they_were_written(parts: list[tuple[dict[str, str], str]]) -> None:
    written = [MarkedPart(says, text) for says, text in [({"chat": "1"}, ""), *parts]]
    assert list(parts_of(to_text([MarkedPart({}, "# t"), *written], 77))) == written


def test_a_newer_export_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ChatsImportError, match="newer Paceline"):
        read(tmp_path, '# t\n\n<!-- paceline 1 {"chat": 2} -->\n')


def test_messages_and_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = to_markdown(chat_of([("user", "x", [], None)] * 30))
    monkeypatch.setattr(markdown, "MAX_MARKED", 20)
    with pytest.raises(ChatsImportError, match="too many messages"):
        read(tmp_path, text)
    monkeypatch.setattr(reading, "MAX_MARKDOWN_BYTES", 100)
    with pytest.raises(ChatsImportError, match="larger than"):
        read(tmp_path, text)


def test_many_attachments_of_one_message_are_cut(tmp_path: Path) -> None:
    part = '<!-- paceline 1 {"file": "x"} -->\nAttached file: x (text)\n\n```\nx\n```\n\n'
    chat = read(
        tmp_path, '# t\n\n<!-- paceline 1 {"chat": 1} -->\n\n<!-- paceline 1 {"role": "user"} -->\n' + part * 500
    )
    assert len(chat.messages[0].attachments) == markdown.MAX_ATTACHMENTS


def test_an_export_is_known_by_its_beginning(tmp_path: Path) -> None:
    new = to_markdown(chat_of([("user", "x", [], None)], title="# odd <title>"))
    for text, expected in ((new, True), ("# t\n\n## You\n\nx\n", False), ("", False)):
        (tmp_path / "chat.md").write_text(text, "utf-8")
        assert may_be_export(tmp_path / "chat.md") is expected


def filled(store: ChatStore) -> int:
    turn = store.begin_turn(None, "## You\n\n```\nwhat?", Mode.OFF, None)
    store.append(turn.answer.id, "## Paceline\n\nthat")
    other = store.create_conversation("con")
    store.add_message(other, "user", "second")
    return turn.conversation_id


def fresh(tmp_path: Path) -> ChatStore:
    from app.core.storage.chats.opening import StoreLocation

    store = ChatStore(StoreLocation(tmp_path / "other" / "chats.db", tmp_path / "other" / "backups"), [].append)
    assert store.open() is None
    return store


def test_a_zip_of_many_is_read_back_and_known_the_next_time(store: ChatStore, tmp_path: Path) -> None:
    filled(store)
    file = tmp_path / "all.zip"
    assert export_chats(store, file, "markdown") == 2
    other = fresh(tmp_path)
    assert import_chats(other, file).num_new == 2
    told = sorted([view.text for view in other.messages(row.id)] for row in other.conversations())
    assert told == [["## You\n\n```\nwhat?", "## Paceline\n\nthat"], ["second"]]
    assert [row.updated_at for row in store.conversations()] == [row.updated_at for row in other.conversations()]
    assert import_chats(other, file).num_new == 0
    assert import_chats(store, file).num_new == 0, "the chats that were exported are here"
    other.close()


def test_of_a_zip_what_is_no_chat_is_left_and_an_export_in_json_goes_first(store: ChatStore, tmp_path: Path) -> None:
    text = to_markdown(chat_of([("user", "hello", [], None)]))
    file = tmp_path / "some.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("README.md", "# Chats\n\nThese are chats.\n")
        archive.writestr("picture.md", b"\x89PNG\0\0")
        archive.writestr("__MACOSX/._chat.md", text)
        archive.writestr("../../chat.md", text)
    assert import_chats(store, file).num_new == 1
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("README.md", "# Chats\n")
    with pytest.raises(ChatsImportError, match="contains no conversations"):
        import_chats(store, file)
    with zipfile.ZipFile(file, "w") as archive:
        node = {
            "parent": None,
            "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["q"]}},
        }
        archive.writestr("conversations.json", json.dumps([{"mapping": {"a": node}}]))
        archive.writestr("notes.md", text)
    assert [each.messages[0].text for each in read_chats(file)] == ["q"]


def test_the_text_alone_reads_back() -> None:
    chat = chat_of([("user", "a", [], None)])
    assert from_markdown(to_markdown(chat)).messages[0].text == "a"
    assert from_markdown("no marks").messages == ()


TREES = st.lists(st.tuples(st.integers(0, 30), WORDS, st.booleans()), min_size=1, max_size=9)


def stored_tree(store: ChatStore, tree: list[tuple[int, str, bool]]) -> int:
    """A chat in which each message follows any earlier one or none, and some versions are selected."""
    conversation_id = store.create_conversation("A tree")
    made: list[tuple[int | None, str]] = [(None, "assistant")]
    for above, text, shown in tree:
        parent_id, before = made[above % len(made)]
        role = "user" if before == "assistant" else "assistant"

        def job(db: sqlite3.Connection, view: MessageView, below: int | None = parent_id) -> int:
            return insert_message(db, conversation_id, view, datetime.now(UTC), below)

        made.append((store.write(partial(job, view=MessageView(0, role, text, MessageState.COMPLETE))), role))
        if shown:
            store.show_message(made[above % len(made)][0] or made[-1][0] or 0)
    return conversation_id


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(tree=TREES)
def test_of_a_chat_with_branches_the_shown_one_comes_back_and_none_twice(
    store: ChatStore, tmp_path: Path, tree: list[tuple[int, str, bool]]
) -> None:
    conversation_id = stored_tree(store, tree)
    file, rows_before = tmp_path / "chat.md", store.conversations()
    export_chats(store, file, "markdown", conversation_id)
    shown = [(view.role, view.text) for view in store.messages(conversation_id)]
    (chat,) = read_chats(file)
    assert [(each.role, each.text) for each in chat.messages] == shown
    assert ("has other versions" in file.read_text("utf-8").split("## ")[0]) is (len(shown) < len(tree))
    assert import_chats(store, file).num_new == 0, "every message is here already"
    assert store.conversations() == rows_before
    store.write(lambda db: db.execute("UPDATE conversations SET deleted_at = 1 WHERE id = ?", (conversation_id,)))
    assert import_chats(store, file).num_new == 1, "it is gone here"
    (back,) = (row for row in store.conversations() if row not in rows_before)
    assert [(view.role, view.text) for view in store.messages(back.id)] == shown
    store.write(lambda db: db.execute("UPDATE conversations SET deleted_at = 1"))


def test_an_earlier_export_of_a_longer_or_renamed_chat_is_recognized(store: ChatStore, tmp_path: Path) -> None:
    conversation_id = stored_tree(store, [(0, "one", False), (1, "two", False), (1, "two", False)])
    export_chats(store, tmp_path / "chat.md", "markdown", conversation_id)
    export_chats(store, tmp_path / "chat.json", "json", conversation_id)
    store.add_message(conversation_id, "user", "three")
    store.rename_conversation(conversation_id, "Another name")
    assert [import_chats(store, tmp_path / f"chat.{ending}").num_new for ending in ("md", "json")] == [0, 0]
    text = (tmp_path / "chat.md").read_text("utf-8")
    (tmp_path / "chat.md").write_text(text.replace("two", "two and a half"), "utf-8")
    assert import_chats(store, tmp_path / "chat.md").num_new == 1, "those words are not here"
