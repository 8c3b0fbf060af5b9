"""Pictures of other programs' exports are imported from beside the conversations, and from nowhere else."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.core.storage.chats.portable import PortableChat
from app.core.storage.exchange import pictures
from tests.app.core.storage.exchange.test_other_apps import chatgpt, node, text
from tests.app.core.storage.exchange.whole import read_chats
from tests.engine.sandbox.pictures import WIDTH, broken, encoded, sample

pytestmark = pytest.mark.usefixtures("warm_helpers")

PNG, JPEG = encoded(sample(), "PNG"), encoded(sample(), "JPEG")


def shown(*pointers: str, words: str = "What is it?") -> dict[str, Any]:
    """The content of a question with pictures before its text."""
    parts = [{"content_type": "image_asset_pointer", "asset_pointer": one, "width": 8, "height": 8} for one in pointers]
    return {"content_type": "multimodal_text", "parts": [*parts, words]}


def zipped(folder: Path, chats: object, files: dict[str, bytes], name: str = "conversations.json") -> Path:
    """An export as a zip file."""
    file = folder / "export.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, json.dumps(chats))
        for each, data in files.items():
            archive.writestr(each, data)
    return file


def only(file: Path) -> PortableChat:
    """The only chat of an export."""
    (chat,) = read_chats(file)
    return chat


def facts(chat: PortableChat) -> list[tuple[str, list[tuple[str, int]]]]:
    """The texts, and the names and widths of the pictures."""
    return [
        (one.text, [(each.name, each.picture.width if each.picture else 0) for each in one.attachments])
        for one in chat.messages
    ]


def test_pictures_of_chatgpt_come_with_their_names(tmp_path: Path) -> None:
    """By both kinds of ids, in folders of the zip, alone and with text."""
    named = {"id": "file-AbC123", "name": "a.jpg"}
    chats = chatgpt(
        node("q", None, "user", shown("file-service://file-AbC123"), attachments=[named]),
        node("a", "q", "assistant", text("A fox.")),
        node("q2", "a", "user", shown("sediment://file_00001234", "file-service://file-AbC123", words="")),
    )
    files = {
        "file-AbC123-photo.jpg": JPEG,
        "file-AbC1234-other.png": encoded(sample().resize((9, 9)), "PNG"),
        "user-xyz/file_00001234-sanitized.png": PNG,
    }
    assert facts(only(zipped(tmp_path, chats, files))) == [
        ("What is it?", [("a.jpg", WIDTH)]),
        ("A fox.", []),
        ("", [("sanitized.png", WIDTH), ("a.jpg", WIDTH)]),
    ]


def test_an_unpacked_export_has_its_pictures_beside_it(tmp_path: Path) -> None:
    """No other file of the folder, and no link to the outside."""
    (tmp_path / "secret.png").write_bytes(PNG)
    (tmp_path / "file-inside.png").write_bytes(PNG)
    (tmp_path / "file-link.png").symlink_to(tmp_path / "secret.png")
    pointers = ["file-inside", "file-link", "secret", "secret.png", "file-../secret", "file-..", "../secret.png"]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(chatgpt(node("q", None, "user", shown(*(f"file-service://{one}" for one in pointers))))))
    ((words, found),) = facts(only(file))
    assert found == [("file-inside.png", WIDTH)]
    assert words.count("[picture]") == len(pointers) - 1


def test_what_cannot_be_read_stays_a_word(tmp_path: Path) -> None:
    """Broken pictures, a bomb in the zip, an encrypted one, a missing one."""
    names = {f"file-{number:04}": data for number, data in enumerate(list(broken().values())[::4]) if data}
    files = {f"{name}-x.png": data for name, data in names.items()}
    pointers = [f"sediment://{one}" for one in (*names, "file-bomb", "file-gone", "file-good")]
    files["file-bomb.png"] = PNG[:16] + bytes(100 << 20)
    chats = chatgpt(node("q", None, "user", shown(*pointers)))
    file = zipped(tmp_path, chats, {**files, "file-good.png": PNG})
    ((words, found),) = facts(only(file))
    assert [width for _, width in found] == [WIDTH]
    assert words.count("[picture]") == len(names) + 2
    data = bytearray(file.read_bytes())
    place = data.rindex(b"file-good.png") - 46  # its entry in the central directory
    data[place + 8] |= 1  # encrypted
    file.write_bytes(data)
    assert facts(only(file))[0][1] == []


@pytest.mark.parametrize("bound", ["MAX_PICTURES", "MAX_READ_BYTES", "MAX_KEPT_BYTES"])
def test_the_pictures_of_an_import_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    """Each file is decoded once, however often it is referenced."""
    monkeypatch.setattr(pictures, bound, 2 if bound == "MAX_PICTURES" else 2 * len(PNG) - 1)
    decoded = list[str]()
    decode = pictures.picture_attachment
    monkeypatch.setattr(pictures, "picture_attachment", lambda name, data: decoded.append(name) or decode(name, data))
    pointers = [f"sediment://file-{one}" for one in ["aaaa", "bbbb", "aaaa", "cccc", "dddd", "aaaa"]]
    files = {f"file-{one * 4}-{one}.png": PNG for one in "abcd"}
    ((words, found),) = facts(only(zipped(tmp_path, chatgpt(node("q", None, "user", shown(*pointers))), files)))
    assert decoded == ["a.png", "b.png"]
    assert [name for name, _ in found] == ["a.png", "b.png", "a.png", "a.png"]
    assert words.count("[picture]") == 2


def lm_studio(*identifiers: str) -> dict[str, Any]:
    """A conversation with a question of pictures and a word."""
    parts: list[dict[str, Any]] = [
        {"type": "file", "fileIdentifier": one, "fileType": "image", "sizeBytes": 9} for one in identifiers
    ]
    version = {"type": "singleStep", "role": "user", "content": [*parts, {"type": "text", "text": "See?"}]}
    return {"name": "T", "messages": [{"versions": [version], "currentlySelected": 0}]}


def test_pictures_of_lm_studio_lie_in_its_folder_of_files(tmp_path: Path) -> None:
    """On disk, and in a zip of the whole folder."""
    home = tmp_path / "lmstudio"
    (home / "user-files").mkdir(parents=True)
    (home / "conversations" / "Work").mkdir(parents=True)
    (home / "user-files" / "1747-1.png").write_bytes(PNG)
    file = home / "conversations" / "Work" / "1.conversation.json"
    chat = lm_studio("1747-1.png", "1747-2.png", "../1747-1.png")
    file.write_text(json.dumps(chat))
    expected = [("[picture]\n\n[picture]\n\nSee?", [("1747-1.png", WIDTH)])]
    assert facts(only(file)) == expected
    zip_file = zipped(tmp_path, chat, {"user-files/1747-1.png": PNG}, "conversations/Work/1.conversation.json")
    assert facts(only(zip_file)) == expected
    assert only(zip_file).folder == "Work"
