"""Hostile files for import or export: absurd numbers, broken links, bombs, surrogates, damaged zips."""

import contextlib
import json
import os
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.domain.errors import ChatsExportError, ChatsImportError
from app.core.storage.chats.portable import MAX_SAME_AGE, read_chat
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange import reading
from app.core.storage.exchange.reading import may_be_export
from app.core.storage.exchange.transfer import export_chats, import_chats
from tests.app.core.storage.exchange.whole import read_chats

HUGE = 10**400
ODD = st.sampled_from([HUGE, -HUGE, 2**63, -1, 1e999, -1e999, float("nan"), [], {}, "", "\ud800", None, True, [[]]])


def own(message: dict[str, Any], **chat: Any) -> dict[str, Any]:  # noqa: ANN401
    whole = {"key": 1, "parent": None, "role": "assistant", "text": "hello"} | message
    return {"format": "paceline-chats", "version": 1, "conversations": [{"title": "t", "messages": [whole]} | chat]}


def node(parent: str | None, text: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    words = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
    return {"parent": parent, "message": words} | changes


def written(folder: Path, data: object) -> Path:
    file = folder / "conversations.json"
    file.write_text(json.dumps(data))
    return file


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    field=st.sampled_from(["stats", "spans", "key", "parent", "created_at", "thinking_ms", "attachments", "notice"]),
    inner=st.sampled_from(["", "decode_s", "tokens", "proposed_by_depth", "interval_counts", "provenance", "mode"]),
    odd=ODD,
    of_chat=st.sampled_from(["mode", "depth", "options", "shown", "folder", "updated_at", "title"]),
)
def test_odd_values_are_left_out_or_refused_and_what_is_taken_can_be_shown(
    store: ChatStore, tmp_path: Path, field: str, inner: str, odd: object, of_chat: str
) -> None:
    value = {inner: odd} if inner else [odd, [odd, "x", [odd]]]
    data = own({field: value}, **{of_chat: {"system_prompt": odd} if of_chat == "options" else odd})
    try:
        import_chats(store, written(tmp_path, data))
    except ChatsImportError:
        return
    for row in store.conversations():
        store.messages(row.id)
        store.options(row.id)


@pytest.mark.parametrize(
    "message",
    [{"spans": ["recovered", [5, "\ud800"]]}, {"stats": {"tokens": 1, "decisions": ["\ud800"]}}],
    ids=["refused words", "decisions"],
)
def test_half_a_character_in_one_chat_keeps_no_chat_from_being_exported(
    store: ChatStore, tmp_path: Path, message: dict[str, Any]
) -> None:
    import_chats(store, written(tmp_path, own(message)))
    store.add_message(store.create_conversation("mine"), "user", "words of mine")
    file = tmp_path / "all.json"
    assert export_chats(store, file, "json") == 2
    assert "words of mine" in file.read_text("utf-8")
    assert len(read_chats(file)) == 2


@pytest.mark.parametrize("odd", [HUGE, -HUGE, 1e999, float("nan"), -5])
def test_a_time_that_no_clock_shows_is_no_time(tmp_path: Path, odd: float) -> None:
    chatgpt = {"mapping": {"a": node(None, "words")}, "create_time": odd, "update_time": odd}
    assert read_chats(written(tmp_path, [chatgpt]))[0].created_at.year == 1970
    version = {"role": "user", "content": [{"type": "text", "text": "words"}]}
    studio = {"messages": [{"versions": [version]}], "createdAt": odd}
    assert read_chats(written(tmp_path, studio))[0].created_at.year == 1970


NAMES = [str(number) for number in range(6)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parents=st.lists(st.sampled_from([*NAMES, "gone", None]), min_size=6, max_size=6),
    children=st.lists(st.none() | st.lists(st.sampled_from([*NAMES, "gone"]), max_size=4), min_size=6, max_size=6),
)
def test_no_message_is_lost_whatever_the_links_say(
    tmp_path: Path, parents: list[str | None], children: list[list[str] | None]
) -> None:
    mapping = {
        name: node(parent, f"words {name}", children=named)
        for name, parent, named in zip(NAMES, parents, children, strict=True)
    }
    (chat,) = read_chats(written(tmp_path, [{"mapping": mapping}]))
    assert sorted(message.text for message in chat.messages) == [f"words {name}" for name in NAMES]
    known: set[int | None] = {None}
    for message in chat.messages:
        assert message.parent in known
        known.add(message.id)


def test_more_values_than_any_export_are_not_even_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_SMALL_BYTES", 100)
    monkeypatch.setattr(reading, "MAX_VALUES", 1000)
    file = tmp_path / "conversations.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + "[]," * 1000 + "[]]")
    with pytest.raises(ChatsImportError, match="4000 MB"):
        read_chats(file)
    words = 'commas, colons: and [brackets], {braces} and \\ "quotes"' * 100
    assert read_chats(written(tmp_path, [{"mapping": {"a": node(None, words)}}]))[0].messages[0].text == words


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255), method=st.sampled_from([8, 12, 14]))
def test_a_damaged_zip_is_read_or_refused(tmp_path: Path, place: int, byte: int, method: int) -> None:
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("conversations.json", json.dumps([{"mapping": {"a": node(None, "words" * 50)}}]))
    content = bytearray(file.read_bytes())
    content[place % len(content)] = byte
    file.write_bytes(content)
    with contextlib.suppress(ChatsImportError):
        read_chats(file)


@pytest.mark.parametrize("name", ["a file/chats.json", "x" * 300 + ".json", "a\0b.json"], ids=["inside", "long", "nul"])
def test_a_place_that_no_file_can_have_is_one_sentence(store: ChatStore, tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("no folder")
    store.add_message(store.create_conversation("t"), "user", "words")
    with pytest.raises(ChatsExportError):
        export_chats(store, tmp_path / name, "json")
    with pytest.raises(ChatsImportError):
        import_chats(store, tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.timeout(60)
def test_what_is_no_ordinary_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "chats.json")
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    for name in ("chats.json", "endless.json", "."):
        with pytest.raises(ChatsImportError, match="not a regular file"):
            read_chats(tmp_path / name)
        assert not may_be_export(tmp_path / name)


def test_a_file_that_is_not_there_is_reported_in_words(tmp_path: Path) -> None:
    with pytest.raises(ChatsImportError, match=r"chats.json cannot be read \(No such file or directory\)"):
        read_chats(tmp_path / "chats.json")


def test_of_more_chats_than_another_program_may_have_the_first_come(
    store: ChatStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_CHATS", 20)
    data = [{"title": str(number), "mapping": {"a": node(None, f"words {number}")}} for number in range(30)]
    imported = import_chats(store, written(tmp_path, data))
    assert imported.num_new == 20
    assert "more than 20 conversations" in imported.sentence


def test_a_zip_that_unpacks_to_far_more_than_chats_do_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 1000)
    for words, is_refused in ((" ".join(map(str, range(100))), False), ("x" * 1_000_000, True)):
        file = tmp_path / "chats.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("conversations.json", json.dumps([{"mapping": {"a": node(None, words)}}]))
        if is_refused:
            with pytest.raises(ChatsImportError, match="unpacks to more than"):
                read_chats(file)
        else:
            assert read_chats(file)[0].messages[0].text == words


@pytest.mark.parametrize("comment", [b"", b"words", b"PK\5\6" * 2000])
@pytest.mark.parametrize("long_form", [True, False])
def test_a_zip_that_lists_too_much_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comment: bytes, long_form: bool
) -> None:
    file = tmp_path / "chats.zip"
    with monkeypatch.context() as patched:
        if long_form:  # zip64, which Python writes beyond 65,535 files
            patched.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 10)
        with zipfile.ZipFile(file, "w") as archive:
            archive.comment = comment
            for number in range(30):
                archive.writestr(f"chats{number}.json", json.dumps([{"mapping": {"a": node(None, "words")}}]))
    monkeypatch.setattr(reading, "MAX_DIRECTORY_BYTES", 3000)
    if not comment.startswith(b"PK"):
        assert len(read_chats(file)) == 30
    monkeypatch.setattr(reading, "MAX_DIRECTORY_BYTES", 1000)
    with pytest.raises(ChatsImportError, match=r"too many files|cannot be read|not a JSON"):
        read_chats(file)


def thought(parent: str, words: str) -> dict[str, Any]:
    content = {"content_type": "thoughts", "thoughts": [{"content": words}]}
    return {"parent": parent, "message": {"author": {"role": "assistant"}, "content": content}}


def answer(parent: str, text: str = "x", references: object = None) -> dict[str, Any]:
    return node(parent, text) | {
        "message": {
            "author": {"role": "assistant"},
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {"content_references": references},
        }
    }


def test_reasoning_that_many_answers_share_does_not_fill_the_memory(tmp_path: Path) -> None:
    """A megabyte of reasoning shared by hundreds of answers would become hundreds of megabytes."""
    nodes = {"q": node(None, "Q"), "t": thought("q", "hm " * 100_000)}
    nodes |= {f"a{number}": answer("t") for number in range(300)}
    (chat,) = read_chats(written(tmp_path, [{"title": "t", "mapping": nodes}]))
    assert len(chat.messages) == 301
    assert sum("hm " in message.text for message in chat.messages) == 1


def test_reasoning_in_thousands_of_parts_is_put_together_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 10_000_000)  # memory for the whole file is reserved before reading
    nodes = {"0": node(None, "Q")}
    nodes |= {str(number): thought(str(number - 1), "hm " * 300) for number in range(1, 1001)}
    file = written(tmp_path, [{"title": "t", "mapping": {**nodes, "a": answer("1000")}}])
    tracemalloc.start()
    try:
        (chat,) = read_chats(file)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert chat.messages[-1].text.count("hm") == 300_000
    assert peak_bytes < 50_000_000  # ten times as much if each part contained all earlier ones


def test_chats_of_the_same_moment_are_not_all_compared(
    store: ChatStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comparing all pairs in a file of thousands would block the window for hours."""
    looked_at: list[int] = []
    monkeypatch.setattr(
        "app.core.storage.chats.portable.read_chat",
        lambda db, number: (looked_at.append(number), read_chat(db, number))[1],
    )
    chats = [
        {"title": str(number), "create_time": 1.7e9, "mapping": {"q": node(None, str(number))}} for number in range(100)
    ]
    file = written(tmp_path, chats)
    assert import_chats(store, file).num_new == 100
    assert len(looked_at) <= 100 * MAX_SAME_AGE
    assert import_chats(store, file).num_known == 100
