"""Tests Markdown exports: the shown path with reasoning, statistics and files."""

import sqlite3
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.messages import MessageState, MessageView
from app.core.storage.chats.messages import insert_message
from app.core.storage.chats.portable import PortableChat
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.transfer import export_chats, import_chats, to_markdown
from engine.records import Mode, RunStats

TREES = st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=9)


def chat_of(*texts: str, stats: RunStats | None = None) -> PortableChat:
    roles = ("user", "assistant")
    messages = tuple(
        MessageView(place + 1, roles[place % 2], text, parent=place or None, stats=stats if place % 2 else None)
        for place, text in enumerate(texts)
    )
    return PortableChat("A title", messages, shown=frozenset(range(1, len(messages) + 1)))


def test_an_export_has_reasoning_statistics_and_files() -> None:
    stats = RunStats(mode=Mode.OFF, tokens=4, passes=4, decode_s=0.5)
    file = Attachment(0, "b`c.md", AttachmentKind.MARKDOWN, 4, "```\nx")
    messages = (
        MessageView(1, "user", "one", parent=None, attachments=(file,)),
        MessageView(2, "assistant", "<think>\nhm\n</think>\n\nFour.", parent=1, thinking_ms=1234, stats=stats),
    )
    assert to_markdown(PortableChat("A  title", messages)) == (
        "# A title\n\n## You\n\nAttached file: b'c.md (Markdown)\n\n````markdown\n```\nx\n````\n\none\n\n"
        "## Paceline\n\n> **Thought for 1.2 s**\n>\n> hm\n\nFour.\n\n*8.0 tok/s · 1.0 tokens per pass · off*\n"
    )


def stored_tree(store: ChatStore, tree: list[tuple[int, bool]]) -> int:
    """A chat in which each message follows any earlier one or none, and some versions are selected."""
    conversation_id = store.create_conversation("A tree")
    made: list[tuple[int | None, str]] = [(None, "assistant")]
    for number, (above, shown) in enumerate(tree):
        parent_id, before = made[above % len(made)]
        role = "user" if before == "assistant" else "assistant"
        view = MessageView(0, role, f"text {number}", MessageState.COMPLETE)

        def job(db: sqlite3.Connection, view: MessageView, below: int | None = parent_id) -> int:
            return insert_message(db, conversation_id, view, datetime.now(UTC), below)

        made.append((store.write(partial(job, view=view)), role))
        if shown:
            store.show_message(made[above % len(made)][0] or made[-1][0] or 0)
    return conversation_id


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(tree=TREES)
def test_of_a_chat_with_branches_the_shown_one_is_exported(
    store: ChatStore, tmp_path: Path, tree: list[tuple[int, bool]]
) -> None:
    conversation_id = stored_tree(store, tree)
    export_chats(store, tmp_path / "chat.md", "markdown", conversation_id)
    shown = [view.text for view in store.messages(conversation_id)]
    head, *texts = (tmp_path / "chat.md").read_text("utf-8").split("\n\n## ")
    assert [text.split("\n\n", 1)[1].rstrip("\n") for text in texts] == shown
    assert ("has other versions" in head) is (len(shown) < len(tree))


def test_an_earlier_export_of_a_longer_or_renamed_chat_is_recognized(store: ChatStore, tmp_path: Path) -> None:
    conversation_id = stored_tree(store, [(0, False), (1, False), (1, False)])
    file = tmp_path / "chat.json"
    export_chats(store, file, "json", conversation_id)
    store.add_message(conversation_id, "user", "three")
    store.rename_conversation(conversation_id, "Another name")
    assert import_chats(store, file).num_new == 0
    file.write_text(file.read_text("utf-8").replace("text 1", "text 1 and more"), "utf-8")
    assert import_chats(store, file).num_new == 1, "that text is not stored"
