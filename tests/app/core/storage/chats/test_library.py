"""Tests folders, pins, archive, order, copies and drafts of messages in the store, also after a restart."""

import contextlib
import re
import sqlite3
import threading
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.domain.conversations import ConversationRow, FolderRow, SearchHit
from app.core.domain.messages import MessageState
from app.core.domain.unspaced import spaced
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.library import BEGIN, END, match_words, without_markdown
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from tests.app.core.storage.chats.turns import answer_again, ask


def again(store: ChatStore, place: StoreLocation) -> ChatStore:
    assert store.close()
    reopened = ChatStore(place, [].append)
    assert reopened.open() is None
    return reopened


def row(store: ChatStore, conversation_id: int) -> ConversationRow:
    return next(row for row in store.conversations() if row.id == conversation_id)


def test_pins_and_the_archive_exclude_each_other(store: ChatStore) -> None:
    chat = store.create_conversation("one")
    store.library.set_pinned(chat, True)
    store.library.set_archived(chat, True)
    assert (row(store, chat).pinned, row(store, chat).archived) == (False, True)
    store.library.set_pinned(chat, True)
    assert (row(store, chat).pinned, row(store, chat).archived) == (True, False)


def test_folders_hold_chats_in_the_order_of_moving(store: ChatStore, place: StoreLocation) -> None:
    one, two, three = (store.create_conversation(title) for title in ("one", "two", "three"))
    work, play = store.library.create_folder("Work"), store.library.create_folder("Play")
    for chat in (two, three, one):
        store.library.move_to_folder(chat, work)
    store.library.set_folded(play, True)
    store.library.rename_folder(work, "Office")
    reopened = again(store, place)
    assert reopened.library.folders() == (FolderRow(work, "Office"), FolderRow(play, "Play", folded=True))
    inside = sorted((row for row in reopened.conversations() if row.folder_id == work), key=lambda row: row.place)
    assert [row.title for row in inside] == ["two", "three", "one"]
    reopened.library.delete_folder(work)
    assert {row.folder_id for row in reopened.conversations()} == {None}
    reopened.close()


def test_undoing_a_folders_deletion_restores_its_place_and_chats(store: ChatStore, place: StoreLocation) -> None:
    chats = [store.create_conversation(title) for title in ("one", "two", "three", "four")]
    first, work, last = (store.library.create_folder(name) for name in ("First", "Work", "Last"))
    for chat in (chats[1], chats[0], chats[2], chats[3]):
        store.library.move_to_folder(chat, work)
    store.library.set_folded(work, True)
    store.deletions.mark((chats[3],), datetime.now(UTC))
    before = store.library.folders()
    gone = store.library.delete_folder(work)
    assert gone is not None
    assert gone.num_listed == 3
    assert [row.folder_id for row in store.conversations()] == [None] * 3
    assert store.library.delete_folder(work) is None
    store.library.move_to_folder(chats[2], last)
    store.library.create_folder("New")
    store.library.undo_folder_deletion(gone)
    store.deletions.undo_deletion((chats[3],))
    reopened = again(store, place)
    assert reopened.library.folders()[:3] == before
    assert row(reopened, chats[2]).folder_id == last
    inside = sorted((row for row in reopened.conversations() if row.folder_id == work), key=lambda row: row.place)
    assert [row.title for row in inside] == ["two", "one", "four"]
    assert first
    reopened.close()


def test_unsent_texts_are_kept_for_each_chat_until_sent(store: ChatStore, place: StoreLocation) -> None:
    turn = store.begin_turn(None, "Hello")
    store.library.save_unsent(None, "for a new chat")
    store.library.save_unsent(turn.conversation_id, "for this one")
    store.library.save_unsent(99_999, "for none")
    reopened = again(store, place)
    assert reopened.library.unsent(None) == "for a new chat"
    assert reopened.library.unsent(turn.conversation_id) == "for this one"
    assert reopened.library.unsent(99_999) == ""
    reopened.begin_turn(turn.conversation_id, "for this one")
    assert reopened.library.unsent(turn.conversation_id) == ""
    reopened.library.save_unsent(None, "")
    assert reopened.library.unsent(None) == ""
    reopened.close()


def test_a_copy_has_the_shown_branch_and_lives_on_its_own(store: ChatStore) -> None:
    turn = ask(store, None, "Hello", "first")
    answer_again(store, turn, "second")
    store.show_message(turn.answer.id)
    copy = store.library.branch_off(turn.answer.id)
    copied = store.messages(copy)
    assert [view.text for view in copied] == ["Hello", "first"]
    assert copied[1].versions == ()
    assert not {view.id for view in store.messages(turn.conversation_id)} & {view.id for view in copied}
    assert store.title(copy) == "Hello (copy)"
    store.deletions.delete_permanently([turn.conversation_id])
    assert [view.text for view in store.messages(copy)] == ["Hello", "first"]
    found = store.library.search("first").result(30)
    assert found is not None
    assert [hit.conversation_id for hit in found] == [copy]


def test_a_very_long_chat_can_be_deleted(store: ChatStore) -> None:
    chat = store.create_conversation("long")
    store.write(
        lambda db: db.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
            "INSERT INTO messages (id, conversation_id, position, role, text, state, created_at, parent_id) "
            "SELECT i, ?, i, 'user', 'x', 'complete', 1, nullif(i - 1, 0) FROM n",
            (chat,),
        )
    )
    assert len(store.messages(chat)) == 3000
    branch = store.deletions.mark_branch(2, datetime.now(UTC))
    assert branch is not None
    assert len(branch.message_ids) == 2999
    assert len(store.messages(chat)) == 1


def say(store: ChatStore, question: str, answer: str, conversation: int | None = None) -> tuple[int, int]:
    turn = ask(store, conversation, question, answer)
    store.conversations()  # waits for pending writes
    return turn.conversation_id, turn.answer.id


def find(store: ChatStore, typed: str) -> tuple[SearchHit, ...]:
    hits = store.library.search(typed).result(30)
    assert hits is not None
    return hits


def where(hits: tuple[SearchHit, ...]) -> list[int | None]:
    return [hit.message_id for hit in hits]


def test_words_beginnings_accents_and_case(store: ChatStore) -> None:
    chat, answer = say(store, "Where is Málaga?", "On the southern coast of Spain.")
    for typed in ("spain", "SPA", "southern coast", "coast southern", "coa", "  spain  "):
        assert where(find(store, typed)) == [answer], typed
    title, message = find(store, "malaga")
    assert (title.message_id, title.conversation_id, message.role) == (None, chat, "user")
    assert find(store, "northern") == ()
    assert find(store, "outhern") == ()


def test_the_match_is_marked(store: ChatStore) -> None:
    _, answer = say(store, "q", "one two three\n\nfour " + "filler " * 100)
    hit = next(hit for hit in find(store, "thr") if hit.message_id == answer)
    assert [text for text, found in hit.parts if found] == ["three"]
    assert "\n" not in "".join(text for text, _ in hit.parts)
    assert len("".join(text for text, _ in hit.parts)) < 200


def test_all_branches_are_searched_and_what_is_deleted_is_not_found(store: ChatStore) -> None:
    chat, first = say(store, "q", "zebra")
    second = store.begin_answer(chat, first).answer.id
    store.append(second, "giraffe")
    store.finish_answer(second, AnswerEnding(MessageState.COMPLETE))
    store.conversations()
    assert where(find(store, "zebra")) == [first]
    assert store.show_message(first) == chat
    branch = store.deletions.mark_branch(first, datetime.now(UTC))
    assert branch is not None
    assert find(store, "zebra") == ()
    assert where(find(store, "giraffe")) == [second]
    store.deletions.delete_permanently([chat])
    assert find(store, "giraffe") == ()


def test_titles_are_found_under_their_new_name(store: ChatStore) -> None:
    chat, _ = say(store, "an old name", "text")
    store.rename_conversation(chat, "Shipping")
    assert [(hit.message_id, hit.title) for hit in find(store, "shipp")] == [(None, "Shipping")]


def test_an_answer_that_goes_on_is_found_with_its_new_words(store: ChatStore) -> None:
    chat, answer = say(store, "q", "half ")
    store.continue_answer(chat, answer)
    store.append(answer, " done")
    store.finish_answer(answer, AnswerEnding(MessageState.COMPLETE))
    store.conversations()
    assert where(find(store, "half done")) == [answer]


@pytest.mark.parametrize("typed", ["AND", "-zebra", "^zebra", '"zebra', 'zebra"', "MORE and", '"quotes'])
def test_signs_of_a_query_are_only_signs(store: ChatStore, typed: str) -> None:
    _, answer = say(store, "q", 'a line with zebra, "quotes" AND more')
    assert where(find(store, typed)) == [answer]


@pytest.mark.parametrize(
    "typed",
    ['"', "a OR b", "zebra NOT more", "NEAR(a line)", "text:zebra", "zeb*", "(", "'; DROP TABLE messages", "\x00"],
)
def test_no_query_can_be_typed(store: ChatStore, typed: str) -> None:
    _, answer = say(store, "q", 'a line with zebra, "quotes" AND more')
    assert find(store, typed) == ()
    assert where(find(store, "zebra")) == [answer]


# SQLite's tables lack letters of newer Unicode versions.
TYPED = st.text(st.characters(max_codepoint=0x24F) | st.sampled_from("_*^-+\"'(){}:\u4e00\u0416\u05d0"), max_size=40)


@given(TYPED)
@example("here _ there")
@example("__")
def test_whatever_is_typed_finds_the_text_that_holds_it(typed: str) -> None:
    query = match_words(typed)
    assert bool(query) == bool(re.search(r"[^\W_]", typed))
    if query:
        with contextlib.closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE VIRTUAL TABLE t USING fts5 (text)")
            db.execute("INSERT INTO t VALUES (?)", (spaced(f"before {typed.replace(chr(0), ' ')} after"),))
            assert len(db.execute("SELECT * FROM t WHERE t MATCH ?", (query,)).fetchall()) == 1


def test_a_search_that_was_overtaken_gives_way(store: ChatStore) -> None:
    _, answer = say(store, "q", "zebra")
    go_on = threading.Event()
    store.library.access.post(lambda _db: go_on.wait(30))  # a slow job before the search
    searches = [store.library.search(typed) for typed in ("z", "ze", "zeb")]
    go_on.set()
    *overtaken, last = [search.result(30) for search in searches]
    assert overtaken == [None, None]
    assert last is not None
    assert where(last) == [answer]


@pytest.mark.parametrize(
    ("text", "typed", "marked"),
    [
        ("帮我写一个部署方案", "部署", "部署"),
        ("看一下**日志**里的错误", "日志", "日志"),
        ("東京の天気を教えて", "天気", "天気"),
        ("กรุงเทพอากาศดี", "อากาศ", "อากาศ"),
        ("오늘날씨는 어때", "날씨", "날씨"),
        ("用API部署", "API部署", "API部署"),
        ("用 Docker 部署方案", "docker 方案", "Docker"),
        ("部", "部", "部"),
    ],
)
def test_words_are_found_within_writing_that_has_no_spaces(
    store: ChatStore, text: str, typed: str, marked: str
) -> None:
    question, answer = say(store, text, f"答：{text}。")
    hits = find(store, typed)
    assert {question, answer} <= set(where(hits))
    for hit in hits:
        assert marked.lower() in [piece.lower() for piece, found in hit.parts if found]
        assert "".join(piece for piece, _ in hit.parts).count(" ") <= text.count(" ") + 1
    assert find(store, f"{typed}無") == ()


def test_the_index_of_letters_follows_what_becomes_of_messages(store: ChatStore) -> None:
    _, answer = say(store, "q", "部署方案")
    assert where(find(store, "署方")) == [answer]
    assert find(store, "署案") == ()  # letters that are not adjacent
    store.write(lambda db: db.execute("DELETE FROM found_letters_messages_data"))
    assert where(find(store, "方案")) == [answer]
    chat = find(store, "方案")[0].conversation_id
    store.rename_conversation(chat, "東京の天気")
    assert None in where(find(store, "天気"))
    store.rename_conversation(chat, "else")
    assert find(store, "天気") == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A **quokka** is `{small}` and *nice*.", "A quokka is {small} and nice."),
        ("## The {head}\n\n- one **item**\n- [x] two\n> he", "The {head}\n\none item\ntwo\nhe"),
        ("| Name | Age |\n|---|--:|\n| {Ann} | 3 |", "| Name | Age |\n\n| {Ann} | 3 |"),
        ("see [the {text}](https://example.org/a) here", "see the {text} here"),
        ("[the text](https://{example}.org/a)", "[the text](https://{example}.org/a)"),
        ("```{python}\nx\n```", "{python}\nx\n"),
        ("2 * 3 * 4 is {snake}_case_name", "2 * 3 * 4 is {snake}_case_name"),
        ("<think>\nNo {quoll}.\n</think>\n\n10 - 3 > 5", "\nNo {quoll}.\n\n\n10 - 3 > 5"),
    ],
)
def test_markdown_leaves_an_excerpt_and_the_match_stays(text: str, shown: str) -> None:
    excerpt = text.replace("{", BEGIN).replace("}", END)
    assert without_markdown(excerpt).replace(BEGIN, "{").replace(END, "}") == shown
