"""Tests lossless export and import, exports of other programs, and hostile files."""

import json
import re
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.domain.errors import ChatsExportError, ChatsImportError
from app.core.domain.messages import MessageState, MessageView
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.portable import PortableChat, import_chat, read_chat
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange import reading, records
from app.core.storage.exchange.file_names import JSON
from app.core.storage.exchange.own_format import chats_of, from_data, to_json
from app.core.storage.exchange.transfer import ImportResult, export_chats, import_chats, to_markdown
from engine.records import Mode, RunStats, Source, TokenSpan
from tests.app.core.storage.chats.turns import answer_again, ask
from tests.app.core.storage.exchange.test_other_apps import chatgpt, node, text
from tests.app.core.storage.exchange.whole import read_chats, there_and_back

STATS = RunStats(
    mode=Mode.DRAFT, tokens=4, passes=2, proposed=3, accepted=2, decode_s=0.5, proposed_by_depth=(2, 1),
    accepted_by_depth=(1, 1), provenance={Source.DRAFT: 2}, decisions=("depth 3: pays",),
)  # fmt: skip


def filled(store: ChatStore) -> int:
    """A chat with a branch, an edited question, statistics, a folder and a pin."""
    turn = store.begin_turn(None, "Name *three* colours")
    store.append(turn.answer.id, "Red", (TokenSpan(2, Source.TARGET), TokenSpan(1, Source.DRAFT)))
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE, STATS, "A line.", cut=True))
    answer_again(store, turn, "Blue")
    ask(store, turn.conversation_id, "Name two", "Green", instead_of=turn.question.id)
    store.show_message(turn.answer.id)
    store.library.move_to_folder(turn.conversation_id, store.library.create_folder("Work"))
    return turn.conversation_id


def fresh(tmp_path: Path) -> ChatStore:
    store = ChatStore(StoreLocation(tmp_path / "other" / "chats.db", tmp_path / "other" / "backups"), [].append)
    assert store.open() is None
    return store


def words(chat: PortableChat | None) -> object:
    assert chat is not None
    places = {message.id: place for place, message in enumerate(chat.messages)}
    tree = [replace(message, id=0, parent=places.get(message.parent or 0)) for message in chat.messages]
    return replace(chat, messages=tuple(tree), shown=frozenset(places[key] for key in chat.shown))


def test_json_there_and_back_keeps_everything(store: ChatStore, tmp_path: Path) -> None:
    chat = filled(store)
    file = tmp_path / "out.json"
    assert export_chats(store, file, "json") == 1
    other = fresh(tmp_path)
    assert import_chats(other, file).sentence == "1 chat imported."
    copy = other.conversations()[0]
    before, after = (each.read(lambda db, n=n: read_chat(db, n)) for each, n in ((store, chat), (other, copy.id)))
    assert words(before) == words(after)
    views = other.messages(copy.id)
    assert [view.text for view in views] == ["Name *three* colours", "Red"]
    assert views[1].stats == STATS
    assert [len(view.versions) for view in views] == [2, 2]
    assert [folder.name for folder in other.library.folders()] == ["Work"]
    hits = other.library.search("green").result(30)
    assert hits
    other.close()


def test_what_is_there_already_is_not_taken_twice(store: ChatStore, tmp_path: Path) -> None:
    filled(store)
    file = tmp_path / "out.json"
    export_chats(store, file, "json")
    assert import_chats(store, file).sentence == "0 chats imported. 1 already existed."
    other = fresh(tmp_path)
    import_chats(other, file)
    other.rename_conversation(other.conversations()[0].id, "Another name")
    assert import_chats(other, file).num_new == 0
    other.close()


def test_markdown_has_the_shown_path_and_the_figures(store: ChatStore, tmp_path: Path) -> None:
    chat = filled(store)
    file = tmp_path / "out.md"
    export_chats(store, file, "markdown", chat)
    text = file.read_text("utf-8")
    seen = re.sub(r"\n+(<!-- .* -->\n+)+", "\n\n", text)
    told = "\n\n*This chat has other versions of some messages."
    assert seen.startswith(f"# Name two{told}")
    assert "\n\n## You\n\nName *three* colours\n\n## Paceline\n\nRed\n\n*" in seen
    assert "per pass" in text
    assert "Blue" not in text
    export_chats(store, tmp_path / "all.zip", "markdown")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.read("0001 Name two.md").decode() == text


def test_export_failures_are_sentences_and_leave_the_old_file(store: ChatStore, tmp_path: Path) -> None:
    with pytest.raises(ChatsExportError, match="no chat"):
        export_chats(store, tmp_path / "out.json", "json")
    filled(store)
    with pytest.raises(ChatsExportError, match="cannot be written"):
        export_chats(store, tmp_path / "missing" / "out.json", "json")
    assert list(tmp_path.glob("*.part")) == []


def branched() -> list[dict[str, Any]]:
    """A chat of ChatGPT with two answers to a question, a hidden message, and calls of tools."""
    nodes = [
        node("sys", None, "system", text("hidden")),
        node("q", "sys", "user", text("Question?")),
        node("a1", "q", "assistant", text("First answer")),
        node("a2", "q", "assistant", text("Second answer")),
        node("tool", "a2", "tool", text("tool output")),
        node("q2", "tool", "user", text("Next?")),
        node("code", "q2", "assistant", text("python()")),
        node("a3", "q2", "assistant", text("Third answer")),
    ]
    nodes[-2]["message"]["recipient"] = "python"
    return chatgpt(*nodes, title="From there", update_time=1.71e9)


@pytest.mark.parametrize("as_zip", [True, False])
def test_chatgpt_with_its_branches(store: ChatStore, tmp_path: Path, as_zip: bool) -> None:
    file = tmp_path / ("export.zip" if as_zip else "conversations.json")
    if as_zip:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("chat.html", "<html>")
            archive.writestr("user.json", "{}")
            archive.writestr("conversations.json", json.dumps(branched()))
    else:
        file.write_text(json.dumps(branched()))
    assert import_chats(store, file).num_new == 1
    row = store.conversations()[0]
    assert row.title == "From there"
    assert row.updated_at.year == 2024
    views = store.messages(row.id)
    assert [view.text for view in views] == ["Question?", "Second answer", "Next?", "Third answer"]
    store.show_message(views[1].versions[0])
    assert [view.text for view in store.messages(row.id)] == ["Question?", "First answer"]


BAD = {
    "not a JSON": b"{",
    "not UTF-8": b'{"a": "\xff"}',
    "deep": b"[" * 200_000,
    "another JSON": b'{"hello": 1}',
    "a number": b"7",
    "newer": b'{"format": "paceline-chats", "version": 99}',
    "no list": b'{"format": "paceline-chats", "version": 1, "conversations": 3}',
    "empty": b'{"format": "paceline-chats", "version": 1, "conversations": []}',
    "no message": b'{"format": "paceline-chats", "version": 1, "conversations": [{"messages": [3]}]}',
    "a lost parent": b'{"format": "paceline-chats", "version": 1, "conversations": [{"messages": '
    b'[{"key": 1, "parent": 9, "role": "user", "text": "x"}]}]}',
    "a broken zip": b"PK\x03\x04" + bytes(200),
    "nothing": b"",
}


@pytest.mark.parametrize(
    ("version", "words"), [("2", "newer"), ("null", "does not name"), ('"1"', "does not name"), ("0", "valid version")]
)
def test_the_version_of_an_export_is_reported_as_it_is(
    store: ChatStore, tmp_path: Path, version: str, words: str
) -> None:
    file = tmp_path / "file.json"
    file.write_text(f'{{"format": "paceline-chats", "version": {version}, "conversations": []}}')
    with pytest.raises(ChatsImportError, match=words):
        import_chats(store, file)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence_and_takes_nothing_in(store: ChatStore, tmp_path: Path, name: str) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(BAD[name])
    with pytest.raises(ChatsImportError) as caught:
        import_chats(store, file)
    assert len(caught.value.message) < 200
    assert store.conversations() == ()


def test_sizes_are_bounded_packed_or_not(store: ChatStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 10_000)
    plain, packed = tmp_path / "conversations.json", tmp_path / "bomb.zip"
    plain.write_text(json.dumps(branched()) + " " * 10_000)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(branched()) + " " * 1_000_000)
    for file in (plain, packed):
        with pytest.raises(ChatsImportError, match="MB"):
            import_chats(store, file)


@pytest.mark.parametrize(
    "stats",
    [{"tokens": "many"}, {"decode_s": -1e999}, {"proposed_by_depth": [1], "accepted_by_depth": []}, {"mode": "warp"},
     {"provenance": {"nowhere": 1}}, {"decisions": [1]}, {"tokens": True}, [], "x"],
)  # fmt: skip
def test_figures_that_cannot_be_are_left_out(stats: object) -> None:
    message = {"key": 1, "parent": None, "role": "assistant", "text": "ab", "stats": stats, "spans": ["target", 5]}
    data = {"format": "paceline-chats", "version": 1, "conversations": [{"title": "t", "messages": [message]}]}
    read = from_data(chats_of(json.loads(json.dumps(data)))[0]).messages[0]
    assert (read.stats, read.spans) == (None, ())


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["messages", "versions", "mapping", "message", "parent", "children", "content", "parts", "role",
                         "author", "key", "text", "conversations", "format", "version", "title", "stats", "spans"]),
        inner, max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=JSON_VALUES, kind=st.sampled_from(["own", "chatgpt", "studio", "bare"]))
def test_any_json_is_read_or_refused(tmp_path: Path, data: object, kind: str) -> None:
    whole: object = {
        "own": {"format": "paceline-chats", "version": 1, "conversations": [data, {"messages": data}]},
        "chatgpt": [{"mapping": {"a": data, "b": {"message": data, "children": data}}, "title": data}],
        "studio": {"messages": [{"versions": [data, {"type": "multiStep", "steps": data}]}], "name": data},
        "bare": data,
    }[kind]
    file = tmp_path / "any.json"
    file.write_text(json.dumps(whole))
    try:
        chats = read_chats(file)
    except ChatsImportError:
        return
    for chat in chats:
        to_markdown(chat)
        assert there_and_back(chat)[0].digest == chat.digest


def test_a_message_that_never_ended_is_reported_as_interrupted() -> None:
    chat = PortableChat("t", (MessageView(1, "assistant", "half", MessageState.STREAMING),))
    assert there_and_back(chat)[0].messages[0].state is MessageState.INTERRUPTED


def long_chat(title: str, num_messages: int, text: str = "words") -> PortableChat:
    roles = ("user", "assistant")
    return PortableChat(
        title, tuple(MessageView(i + 1, roles[i % 2], f"{text} {i}", parent=i or None) for i in range(num_messages))
    )


def test_an_export_of_any_size_can_be_imported(
    store: ChatStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("MAX_CHATS", "MAX_MESSAGES", "MAX_TEXT_CHARS"):  # for other programs' exports
        monkeypatch.setattr(records, limit, 2)
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 60_000)  # as if the whole file exceeded memory
    chats = [long_chat(f"chat {number}", 50, "x" * 200) for number in range(5)]
    store.write(lambda db: [import_chat(db, chat, datetime.now(UTC)) for chat in chats])
    file = tmp_path / "chats.json"
    assert export_chats(store, file, JSON) == 5
    assert file.stat().st_size > 60_000
    other = fresh(tmp_path)
    assert import_chats(other, file) == ImportResult(5, 0)
    assert import_chats(other, file) == ImportResult(0, 5)
    assert {row.title for row in other.conversations()} == {chat.title for chat in chats}
    assert export_chats(other, tmp_path / "again.json", JSON) == 5
    other.close()


@pytest.mark.parametrize("layout", ["now", "with indents", "other"])
def test_a_chat_that_cannot_be_read_keeps_none_out_and_its_reason_is_told(
    store: ChatStore, tmp_path: Path, layout: str
) -> None:
    data = json.loads("".join(to_json([long_chat(str(number), 4) for number in range(4)])))
    data["conversations"][1]["messages"][2]["role"], data["conversations"][1]["title"] = "king", "Tea"
    lines = ",\n".join(map(json.dumps, data["conversations"]))
    text = {
        "now": f'{{"format": "paceline-chats", "version": 1, "conversations": [\n{lines}\n]}}\n',
        "with indents": json.dumps(data, indent=1),
        "other": json.dumps(data, indent=3),
    }[layout]
    (tmp_path / "chats.json").write_text(text)
    imported = import_chats(store, tmp_path / "chats.json")
    assert imported.num_new == 3
    assert imported.sentence == (
        "3 chats imported. Tea could not be imported: A message in this file has no number or role."
    )


def test_of_an_export_that_is_cut_off_the_whole_chats_come(store: ChatStore, tmp_path: Path) -> None:
    text = "".join(to_json([long_chat(str(number), 4) for number in range(4)]))
    (tmp_path / "chats.json").write_text(text[: len(text) * 3 // 4 - 50])
    imported = import_chats(store, tmp_path / "chats.json")
    assert imported.num_new == 2
    assert "is cut off" in imported.sentence
