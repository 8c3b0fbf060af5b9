"""Tests real formats of ChatGPT and LM Studio exports: reasoning, speech, citations, models, folders."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.core.domain.errors import ChatsImportError
from app.core.domain.thinking import split_thinking, without_thinking
from app.core.storage.chats.portable import PortableChat
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.reading import may_be_export
from app.core.storage.exchange.transfer import import_chats, import_files
from tests.app.core.storage.exchange.whole import read_chats


def node(key: str, parent: str | None, role: str, content: dict[str, Any], **metadata: object) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": content, "metadata": metadata, "recipient": "all"}
    return {"id": key, "parent": parent, "children": [], "message": message}


def text(words: str) -> dict[str, Any]:
    return {"content_type": "text", "parts": [words]}


def speech(words: str) -> dict[str, Any]:
    part = {"content_type": "audio_transcription", "text": words, "direction": "in", "decoding_id": None}
    sound = {"content_type": "real_time_user_audio_video_asset_pointer", "frames_asset_pointers": []}
    return {"content_type": "multimodal_text", "parts": [part, sound]}


def thoughts(*parts: tuple[str, str]) -> dict[str, Any]:
    told = [{"summary": summary, "content": content, "chunks": [], "finished": True} for summary, content in parts]
    return {"content_type": "thoughts", "thoughts": told, "source_analysis_msg_id": "x"}


def chatgpt(*nodes: dict[str, Any], **more: object) -> list[dict[str, Any]]:
    mapping = {each["id"]: each for each in nodes}
    return [{"title": "T", "create_time": 1.7e9, "mapping": mapping, "current_node": nodes[-1]["id"]} | more]


def read(folder: Path, data: object, name: str = "conversations.json") -> PortableChat:
    file = folder / name
    file.write_text(json.dumps(data))
    (chat,) = read_chats(file)
    return chat


def test_reasoning_comes_with_its_duration_and_the_model(tmp_path: Path) -> None:
    recap = {"content_type": "reasoning_recap", "content": "Thought for 8s"}
    chat = read(
        tmp_path,
        chatgpt(
            node("q", None, "user", text("Rivers?")),
            node("t1", "q", "assistant", thoughts(("Listing", "I think of the Nile.")), model_slug="gpt-5-2-thinking"),
            node("t2", "t1", "assistant", thoughts(("", "And of </think> the Amazon."))),
            node("r", "t2", "assistant", recap, finished_duration_sec=8, reasoning_status="reasoning_ended"),
            node("a", "r", "assistant", text("The Nile."), model_slug="gpt-5-2-thinking"),
            node("q2", "a", "user", text("Thanks.")),
            node("a2", "q2", "assistant", text("You are welcome.")),
        ),
    )
    question, answer, _, last = chat.messages
    split = split_thinking(answer.text)
    assert split.reasoning(answer.text) == "**Listing**\n\nI think of the Nile.\n\nAnd of  the Amazon."
    assert split.answer(answer.text).strip() == "The Nile."
    assert (answer.thinking_ms, answer.target, answer.parent) == (8000, "gpt-5-2-thinking", question.id)
    assert (last.text, last.thinking_ms, last.target) == ("You are welcome.", None, "")


def test_a_question_that_is_a_picture_is_there_as_one(tmp_path: Path) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 8, "height": 8}
    chat = read(
        tmp_path,
        chatgpt(
            node("q", None, "user", {"content_type": "multimodal_text", "parts": [picture]}),
            node("a", "q", "assistant", text("A fox.")),
            node("q2", "a", "user", {"content_type": "multimodal_text", "parts": [picture, "And this?"]}),
        ),
    )
    assert [message.text for message in chat.messages] == ["[picture]", "A fox.", "[picture]\n\nAnd this?"]
    part = {"type": "file", "fileIdentifier": "1.png", "fileType": "image", "sizeBytes": 9}
    version = {"type": "singleStep", "role": "user", "content": [part]}
    lm_studio = {"name": "T", "messages": [{"versions": [version], "currentlySelected": 0}]}
    (message,) = read(tmp_path, lm_studio, "x.conversation.json").messages
    assert message.text == "[picture]"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_an_export_saved_again_in_another_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(chatgpt(node("q", None, "user", text("Größe?"))), ensure_ascii=False), encoding)
    (chat,) = read_chats(file)
    assert chat.messages[0].text == "Größe?"


@pytest.mark.parametrize("seconds", [-1, float("1e300"), "8", True, None, [8]])
def test_a_duration_that_cannot_be_is_left_out(tmp_path: Path, seconds: object) -> None:
    chat = read(
        tmp_path,
        chatgpt(
            node("q", None, "user", text("Q")),
            node("t", "q", "assistant", thoughts(("", "hm"))),
            node("r", "t", "assistant", {"content_type": "reasoning_recap"}, finished_duration_sec=seconds),
            node("a", "r", "assistant", text("A")),
        ),
    )
    assert chat.messages[1].thinking_ms is None


def test_what_was_spoken_is_there(tmp_path: Path) -> None:
    spoken = chatgpt(
        node("q", None, "user", speech("How are you?")), node("a", "q", "assistant", speech("Well.")), is_starred=True
    )
    chat = read(tmp_path, spoken)
    assert [message.text for message in chat.messages] == ["How are you?", "Well."]
    assert chat.pinned


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Long. \ue200cite\ue202turn0search0\ue201 And wide.", "Long. And wide."),
        ('In \ue200entity\ue202["city","Rome","capital"]\ue201 today.', "In Rome today."),
        ("In \ue200entity\ue202[broken\ue201 today.", "In today."),
        ("See \ue200url\ue202The page\ue202turn0search1\ue201.", "See The page."),
        ("It flows【12†source】 on.", "It flows on."),
        ("【1】 stays, as \ue0b0 does.", "【1】 stays, as \ue0b0 does."),
    ],
)
def test_marks_of_places_become_words_or_go(tmp_path: Path, raw: str, shown: str) -> None:
    chat = read(tmp_path, chatgpt(node("q", None, "user", text("Q")), node("a", "q", "assistant", text(raw))))
    assert chat.messages[1].text == shown


def studio(name: str = "Lakes", title: object = "Thought for 3.20 seconds") -> dict[str, Any]:
    """A chat as written by LM Studio 0.4, without unused fields."""
    steps = [
        {
            "type": "contentBlock", "style": {"type": "thinking", "ended": True, "title": title},
            "prefix": "<think>", "suffix": "</think>", "content": [{"type": "text", "text": "A lake... Baikal."}],
        },
        {"type": "contentBlock", "content": [{"type": "text", "text": "Baikal.", "fromDraftModel": True}]},
        {"type": "debugInfoBlock", "debugInfo": "x"},
    ]  # fmt: skip
    question = {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": f"Name one: {name}."}]}
    answer = {"type": "multiStep", "role": "assistant", "senderInfo": {"senderName": "qwen3-4b"}, "steps": steps}
    return {
        "name": name, "createdAt": 1_736_789_912_980, "assistantLastMessagedAt": 1_767_225_600_000,
        "systemPrompt": "You are terse.",
        "messages": [
            {"versions": [question], "currentlySelected": 0}, {"versions": [answer], "currentlySelected": 0},
        ],
    }  # fmt: skip


def test_lm_studio_gives_reasoning_model_and_system_prompt(tmp_path: Path) -> None:
    chat = read(tmp_path, studio(), "1.conversation.json")
    answer = chat.messages[1]
    split = split_thinking(answer.text)
    assert split.reasoning(answer.text) == "A lake... Baikal."
    assert split.answer(answer.text).strip() == "Baikal."
    assert (answer.thinking_ms, answer.target) == (3200, "qwen3-4b")
    assert chat.options == {"system_prompt": "You are terse."}
    assert chat.updated_at.year == 2026


def test_lm_studio_with_its_versions(store: ChatStore, tmp_path: Path) -> None:
    data = studio() | {"pinned": True}
    other = json.loads(json.dumps(data["messages"][1]["versions"][0]).replace("Baikal.", "Como."))
    data["messages"][1] = {"versions": [*data["messages"][1]["versions"], other], "currentlySelected": 1}
    data["messages"].append(data["messages"][0])
    (tmp_path / "1.conversation.json").write_text(json.dumps(data))
    import_chats(store, tmp_path / "1.conversation.json")
    row = store.conversations()[0]
    assert (row.title, row.pinned) == ("Lakes", True)
    views = store.messages(row.id)
    assert [without_thinking(view.text).strip() for view in views][1:] == ["Como.", "Name one: Lakes."]
    store.show_message(views[1].versions[0])
    assert without_thinking(store.messages(row.id)[-1].text).strip() == "Baikal."


@pytest.mark.parametrize(
    ("title", "took"),
    [("Thought for 1 minute 3 seconds", 63_000), ("Thought for 2m 5s", 125_000), ("Thought", None), (7, None)],
)
def test_how_long_lm_studio_says_that_it_thought(tmp_path: Path, title: object, took: int | None) -> None:
    assert read(tmp_path, studio(title=title), "1.conversation.json").messages[1].thinking_ms == took


def test_folders_of_lm_studio_are_folders_here(store: ChatStore, tmp_path: Path) -> None:
    file = tmp_path / "conversations.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("conversations/1.conversation.json", json.dumps(studio("Top")))
        archive.writestr("conversations/Work/Trips/2.conversation.json", json.dumps(studio("Deep")))
    assert import_chats(store, file).num_new == 2
    folders = {folder.id: folder.name for folder in store.library.folders()}
    found = {row.title: folders.get(row.folder_id or 0) for row in store.conversations()}
    assert found == {"Top": None, "Deep": "Work / Trips"}


def test_several_files_are_one_sentence_and_a_bad_one_keeps_no_other_out(store: ChatStore, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.conversation.json" for number in range(3)]
    for file in files[:2]:
        file.write_text(json.dumps(studio(file.name)))
    files[2].write_text("{")
    assert import_files(store, files[::-1]).sentence == (
        "2 chats imported. 2.conversation.json is not a JSON file that Paceline can read."
    )
    assert import_files(store, files[:2]).sentence == "0 chats imported. 2 already existed."
    with pytest.raises(ChatsImportError):
        import_files(store, files[2:])


def test_an_answer_without_a_model_gets_the_conversations(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        chatgpt(
            node("q", None, "user", text("Tea?")),
            node("a", "q", "assistant", text("A drink.")),
            node("b", "a", "assistant", text("From leaves."), model_slug="gpt-y"),
            default_model_slug="gpt-x-model",
        ),
    )
    assert [message.target for message in chat.messages] == ["", "gpt-x-model", "gpt-y"]


@pytest.mark.parametrize("cut", ["json", "packed"])
def test_a_part_of_a_zip_that_is_cut_off_keeps_out_none_of_the_others(
    store: ChatStore, tmp_path: Path, cut: str
) -> None:
    good = json.dumps(chatgpt(node("q", None, "user", text("Tea?")), node("a", "q", "assistant", text("A drink."))))
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("conversations-000.json", good.replace("Tea", "Coffee"))
        archive.writestr("conversations-001.json", good[:-20] if cut == "json" else good)
        archive.writestr("conversations-002.json", good.replace("Tea", "Milk"))
    if cut == "packed":
        raw = file.read_bytes()
        file.write_bytes(raw.replace(b"Tea?", b"Teal"))  # its checksum does not match any more
    imported = import_chats(store, file)
    assert (imported.num_new, [name for name, _ in imported.bad]) == (2, ["conversations-001.json"])
    reason = {"json": "is not a JSON file that Paceline can read.", "packed": "cannot be read (Bad CRC-32"}[cut]
    assert imported.sentence.startswith(f"2 chats imported. conversations-001.json {reason}")


def test_lm_studio_s_own_prompt_of_a_chat_goes_before_the_one_above_it(tmp_path: Path) -> None:
    field = {"key": "llm.prediction.systemPrompt", "value": "Answer in verse."}
    config = {"fields": [{"key": "llm.prediction.temperature", "value": 0.5}, "odd", field]}
    chat = read(tmp_path, studio() | {"perChatPredictionConfig": config}, "1.conversation.json")
    assert chat.options == {"system_prompt": "Answer in verse."}


def test_more_messages_than_a_chat_can_have_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.storage.exchange.lm_studio.MAX_MESSAGES", 1)
    with pytest.raises(ChatsImportError, match="has too many messages"):
        read(tmp_path, studio(), "1.conversation.json")


def test_what_may_be_an_export_is_known_by_its_name_and_beginning(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "chats.zip", "w") as archive:
        archive.writestr("conversations.json", "[]")
    (tmp_path / "no.zip").write_text("words", "utf-8")
    (tmp_path / "folder.json").mkdir()
    assert may_be_export(tmp_path / "chats.zip")
    for name in ("no.zip", "folder.json", "missing.json", "a" * 300 + ".json", "nul\0.json"):
        assert not may_be_export(tmp_path / name)
