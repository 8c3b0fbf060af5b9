"""Attachments are searched like messages, from sending until deletion."""

import sqlite3
from datetime import UTC, datetime

import pytest

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.conversations import SearchHit
from app.core.storage.chats.store import ChatStore
from tests.app.core.storage.chats.turns import ask

NOTES = Attachment(0, "notes.md", AttachmentKind.MARKDOWN, 40, "# Trip\n\nThe ferry leaves from Trondheim at nine.\n")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def send(store: ChatStore, *files: Attachment, words: str = "Look") -> tuple[int, int]:
    """Send a question with these files; returns the ids of conversation and question."""
    for file in files:
        store.attachments.add_unsent(None, file)
    turn = ask(store, None, words)
    return turn.conversation_id, turn.question.id


def find(store: ChatStore, typed: str) -> tuple[SearchHit, ...]:
    return store.library.search(typed).result(30) or ()


def is_whole(store: ChatStore) -> bool:
    def job(db: sqlite3.Connection) -> bool:
        db.execute("INSERT INTO found_attachments (found_attachments, rank) VALUES ('integrity-check', 1)")
        return True

    return store.write(job)


@pytest.mark.parametrize("typed", ["ferry", "FERRY trond", "notes.md", "trøndheim", "ferry notes"])
def test_words_and_names_lead_to_the_message(store: ChatStore, typed: str) -> None:
    conversation, question = send(store, NOTES)
    hits = find(store, typed.replace("ø", "o"))
    assert [(hit.conversation_id, hit.message_id, hit.role) for hit in hits] == [(conversation, question, "user")]
    assert "".join(piece for piece, _ in hits[0].parts).startswith("notes.md: ")


def test_the_words_around_the_first_match_are_shown(store: ChatStore) -> None:
    long = "filling words " * 500
    send(store, Attachment(0, "a.txt", AttachmentKind.TEXT, 9, f"{long}then a Zebra, and zebras again {long}"))
    (hit,) = find(store, "zebra")
    assert [piece for piece, is_match in hit.parts if is_match] == ["Zebra", "zebra"]
    shown = "".join(piece for piece, _ in hit.parts)
    assert shown.startswith("a.txt: …")
    assert len(shown) < 250


@pytest.mark.parametrize("typed", ['"zebra', "(zebra)", f"{'- ' * 20}zebra", "zebra*", "a-zebra"])
def test_the_match_is_shown_whatever_stands_around_what_was_typed(store: ChatStore, typed: str) -> None:
    send(store, Attachment(0, "a.txt", AttachmentKind.TEXT, 9, f"{'filling ' * 500}a zebra {'filling ' * 500}"))
    (hit,) = find(store, typed)
    assert "zebra" in [piece for piece, is_match in hit.parts if is_match]
    assert len(hit.parts) < 9


@pytest.mark.parametrize(
    ("before", "match"),
    [
        ("runzebra and bezebra ", "Zebra"),
        ("\u0130 " * 9, "ZEBRA"),
        ("\u732b " * 75_001, "zebra"),
        ("\xe9" * 99_000 + " ", "zebra"),
    ],
    ids=["not within a word", "letters that become two", "three bytes a letter, cut within one", "two bytes a letter"],
)
def test_the_first_match_is_found_whatever_stands_before_it(store: ChatStore, before: str, match: str) -> None:
    send(
        store, Attachment(0, "a.txt", AttachmentKind.TEXT, 9, f"{before}a {match} and more \u732b" + "\u732b" * 30_000)
    )
    (hit,) = find(store, "zebra")
    is_near = len(before) < 100_000
    assert [piece for piece, is_match in hit.parts if is_match] == ([match] if is_near else [])


def test_of_many_the_newest_come_first_with_their_words(store: ChatStore) -> None:
    for number in range(12):
        send(store, Attachment(0, f"{number}.txt", AttachmentKind.TEXT, 9, "a zebra"))
    told = ["".join(piece for piece, _ in hit.parts) for hit in find(store, "zebra")]
    assert told[:4] == ["11.txt: a zebra", "10.txt: a zebra", "9.txt: a zebra", "8.txt"]
    assert len(told) == 10


def test_what_is_not_sent_or_gone_is_not_found(store: ChatStore) -> None:
    store.attachments.add_unsent(None, NOTES)
    assert find(store, "ferry") == ()
    conversation, _ = send(store)
    assert len(find(store, "ferry")) == 1
    store.deletions.mark((conversation,), NOW)
    assert find(store, "ferry") == ()
    store.deletions.delete_permanently([conversation])
    assert find(store, "ferry") == ()
    assert is_whole(store)
    found = "SELECT count(*) FROM found_attachments WHERE found_attachments MATCH 'ferry'"
    assert store.read(lambda db: db.execute(found).fetchone()[0]) == 0


def test_a_damaged_index_is_made_anew(store: ChatStore) -> None:
    _, question = send(store, NOTES)
    store.write(lambda db: db.execute("DELETE FROM found_attachments_data"))
    assert [hit.message_id for hit in find(store, "ferry")] == [question]
    assert is_whole(store)
