"""Titles of chats and folders are one line without invisible characters, whatever their origin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.conversations import MAX_TITLE_CHARS, one_line, title_from
from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.records import clean_title

ODD = {
    "line\nbreak\ttab\u2028end": "line break tab end",
    "turned \u202egpj.exe\u202c around": "turned gpj.exe around",
    "\u2066isolated\u2069": "isolated",
    "zero\u200bwidth\ufeff\u2060": "zerowidth",
    "bell\x07 \x1b[31mred\x00": "bell [31mred",
    "tags \U000e0041\U000e007f": "tags",
    "👩\u200d👩\u200d👧 🇩🇪 👍🏽": "👩\u200d👩\u200d👧 🇩🇪 👍🏽",
    "שלום עולם — مرحبا": "שלום עולם — مرحبا",
    "می\u200cخواهم\u200f!": "می\u200cخواهم\u200f!",
    "e\u0301tude": "e\u0301tude",
    "../../etc/passwd": "../../etc/passwd",
    "<b>bold</b> & {name} %1": "<b>bold</b> & {name} %1",
}


@pytest.mark.parametrize("text", ODD)
def test_odd_names_become_one_line(store: ChatStore, text: str) -> None:
    assert one_line(text) == clean_title(text) == ODD[text]
    chat = store.create_conversation("before")
    store.rename_conversation(chat, text)
    folder = store.library.create_folder("before")
    store.library.rename_folder(folder, text)
    store.library.create_folder(text)
    assert [row.title for row in store.conversations()] == [ODD[text]]
    assert [each.name for each in store.library.folders()] == [ODD[text], ODD[text]]


@pytest.mark.parametrize("nothing", ["", " \n", "\u200b\u202e", "\x00\x07"])
def test_a_name_of_which_nothing_is_seen_is_not_taken(store: ChatStore, nothing: str) -> None:
    chat = store.create_conversation("before")
    store.rename_conversation(chat, nothing)
    folder = store.library.create_folder("folder")
    store.library.rename_folder(folder, nothing)
    assert [row.title for row in store.conversations()] == ["before"]
    assert [each.name for each in store.library.folders()] == ["folder"]
    assert title_from(nothing) == "New chat"


@given(st.text() | st.text("a\n\t\u202e\u200b\u2028\x00\x1b 😀\u200d"))
def test_every_name_is_one_short_line(text: str) -> None:
    line = one_line(text)
    assert len(line) <= MAX_TITLE_CHARS
    assert len(line.splitlines()) <= 1
    assert line == line.strip() == one_line(line)
    assert not set(line) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff\x00\x1b\x07")


def test_a_name_of_many_megabytes_is_cut_at_once(store: ChatStore) -> None:
    chat = store.create_conversation()
    store.rename_conversation(chat, "x" * 50_000_000)
    assert [len(row.title) for row in store.conversations()] == [MAX_TITLE_CHARS]


@pytest.mark.parametrize("named", ["", "My trip"])
def test_a_generated_title_follows_the_edited_first_question(store: ChatStore, named: str) -> None:
    first = store.begin_turn(None, "Where is Rome?")
    chat = first.conversation_id
    if named:
        store.rename_conversation(chat, named)
    store.finish_answer(first.answer.id, AnswerEnding(MessageState.COMPLETE))
    second = store.begin_turn(chat, "And Oslo?")
    store.finish_answer(second.answer.id, AnswerEnding(MessageState.COMPLETE))
    store.begin_turn(chat, "And Bergen?", second.question.id)
    assert [row.title for row in store.conversations()] == [named or "Where is Rome?"]
    edited = store.begin_turn(chat, "Where is Paris?", first.question.id)
    assert edited.title == (named or "Where is Paris?")
    assert [row.title for row in store.conversations()] == [edited.title]
