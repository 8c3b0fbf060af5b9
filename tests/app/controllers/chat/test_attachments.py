"""Tests attachments in the whole app: dropped, chosen, pasted, counted, removed, sent, edited, kept after a restart."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import PySide6
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.attachments import reading
from app.core.storage.exchange.file_names import JSON
from app.core.storage.exchange.transfer import export_chats
from engine.records import EngineReady
from tests.app.core.attachments import pdfs
from tests.app.fakes import AppHarness, open_app
from tests.waiting import wait_for
from ui.composer.attachments.chips import AttachmentChip
from ui.composer.attachments.reader import AttachmentDialog
from ui.transcript.cards.user_card import UserCard

WAIT_MS = 30_000
PASTE = (Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)


def drop(harness: AppHarness, *paths: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    # PySide 6.12 deprecated the constructor with integers and added the other one.
    place = QPointF(9, 9) if PySide6.__version_info__ >= (6, 12) else QPoint(9, 9)
    enter = QDragEnterEvent(place, Qt.DropAction.CopyAction, mime, buttons, keys)
    QApplication.sendEvent(harness.window, enter)
    QApplication.sendEvent(harness.window, QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, mime, buttons, keys))


def chips(harness: AppHarness) -> list[AttachmentChip]:
    return harness.window.composer.tray.rows.chips


def captions(harness: AppHarness) -> list[str]:
    return [chip.facts.text() for chip in chips(harness)]


@pytest.fixture
def attach(harness: AppHarness, qtbot: QtBot, tmp_path: Path) -> Callable[..., Path]:
    """A function that drops a file with given contents, and waits until it is attached."""

    def do(name: str = "notes.md", content: str = "one two three\n") -> Path:
        path = tmp_path / name
        path.write_text(content, "utf-8")
        before = len(chips(harness))
        drop(harness, path)
        qtbot.waitUntil(lambda: len(chips(harness)) == before + 1 and "reading" not in captions(harness)[-1])
        return path

    return do


def card(harness: AppHarness) -> UserCard:
    found = harness.window.transcript.findChildren(UserCard)
    return found[-1]


def test_a_dropped_file_is_shown_counted_and_sent(
    harness: AppHarness, qtbot: QtBot, attach: Callable[..., Path]
) -> None:
    attach()
    window = harness.window
    # "Attached file: notes.md (Markdown)", the two fences and the text: 67 bytes
    assert captions(harness) == ["Markdown · 14 B · about 17 tokens"]
    assert window.composer.context_label.text() == "about 25 of 512 tokens"
    qtbot.keyClicks(window.composer.edit, "What is it?")
    assert window.composer.context_label.text() == "about 28 of 512 tokens"
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
    assert chips(harness) == []
    assert window.composer.text == ""
    (message,) = harness.engine.requests[-1].messages
    assert "```markdown\none two three\n```" in message.content
    assert message.content.endswith("What is it?")
    rows = card(harness).attachments
    assert rows is not None
    assert [chip.attachment.name for chip in rows.chips] == ["notes.md"]
    assert card(harness).text == "What is it?"
    qtbot.mouseClick(rows.chips[0], Qt.MouseButton.LeftButton)
    reader = window.findChild(AttachmentDialog)
    assert reader is not None
    assert reader.content.toPlainText() == "one two three\n"
    qtbot.keyClick(reader, Qt.Key.Key_Escape)
    assert not reader.isVisible()


def test_files_alone_can_be_sent(harness: AppHarness, qtbot: QtBot, attach: Callable[..., Path]) -> None:
    attach("table.csv", "a,b\n1,2\n")
    qtbot.mouseClick(harness.window.composer.send_button, Qt.MouseButton.LeftButton)
    assert "```csv\na,b" in harness.engine.requests[-1].messages[0].content
    assert harness.rows() == ["table.csv"]


def test_pasted_files_are_attached(harness: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "paper.pdf").write_bytes(pdfs.with_text(["Words of the paper"]))
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "paper.pdf"))])
    QApplication.clipboard().setMimeData(mime)
    qtbot.keyClicks(harness.window.composer.edit, "typed")
    qtbot.keyClick(harness.window.composer.edit, *PASTE)
    assert captions(harness) == ["PDF · reading"]
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    assert harness.engine.requests == []  # nothing is sent while a file is being read
    qtbot.waitUntil(lambda: "tokens" in captions(harness)[0])
    assert harness.window.composer.text == "typed"
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    assert "Words of the paper" in harness.engine.requests[-1].messages[0].content


def test_a_pasted_picture_is_seen_by_a_model_that_sees_and_can_be_saved(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    image = QImage(40, 20, QImage.Format.Format_RGB32)
    image.fill(QColor(200, 60, 60))
    QApplication.clipboard().setImage(image)
    qtbot.keyClick(harness.window.composer.edit, *PASTE)
    qtbot.waitUntil(lambda: len(captions(harness)) == 1 and "40 × 20" in captions(harness)[0])
    assert captions(harness)[0].endswith("this model cannot see it")
    target = harness.window.engine_view.target
    assert target is not None
    harness.engine.tell(EngineReady(replace(target, has_vision=True)))
    qtbot.waitUntil(lambda: "cannot see" not in captions(harness)[0])
    qtbot.keyClicks(harness.window.composer.edit, "What is it?")
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    message = harness.engine.requests[-1].messages[-1]
    assert message.content == "What is it?"
    ((_, picture),) = message.pictures
    assert (picture.width, picture.height, picture.rgb[:3]) == (40, 20, bytes((200, 60, 60)))
    attachments = card(harness).attachments
    assert attachments is not None
    qtbot.mouseClick(attachments.chips[0], Qt.MouseButton.LeftButton)
    viewer = QApplication.activeModalWidget()
    assert isinstance(viewer, AttachmentDialog)
    viewer.save(str(tmp_path / "out.png"))
    assert QImage(str(tmp_path / "out.png")).pixelColor(3, 3) == QColor(200, 60, 60)
    viewer.save(str(tmp_path / "no" / "such" / "folder.png"))
    assert viewer.save_button.text() == "Not saved"
    qtbot.keyClick(viewer, Qt.Key.Key_Escape)


def test_a_model_without_vision_gets_the_name_of_a_picture(harness: AppHarness, qtbot: QtBot) -> None:
    tray = harness.window.composer.tray
    QApplication.clipboard().setImage(QImage(40, 20, QImage.Format.Format_RGB32))
    qtbot.keyClick(harness.window.composer.edit, *PASTE)
    qtbot.waitUntil(lambda: any(captions(harness)) and "40 × 20" in captions(harness)[0])
    assert "cannot see pictures" in tray.vision_text.text()
    target = harness.window.engine_view.target
    assert target is not None
    harness.engine.tell(EngineReady(replace(target, has_vision=True)))
    qtbot.waitUntil(lambda: not tray.vision_text.isVisible())
    qtbot.waitUntil(lambda: "tokens" in captions(harness)[0])
    assert "about 2 tokens" in captions(harness)[0]
    qtbot.waitUntil(lambda: "of 512 tokens" in harness.window.composer.context_label.text())
    qtbot.keyClick(tray.rows.chips[0], Qt.Key.Key_Delete)
    assert not tray.vision_text.isVisible()


def test_a_huge_pasted_text_is_attached_at_once(harness: AppHarness, qtbot: QtBot) -> None:
    QApplication.clipboard().setText("y" * 300_000)
    qtbot.keyClick(harness.window.composer.edit, *PASTE)
    assert harness.window.composer.text == ""
    qtbot.waitUntil(lambda: captions(harness) != [] and "300 kB" in captions(harness)[0])


def test_a_pasted_text_of_fifty_megabytes_is_refused_and_not_laid_out(harness: AppHarness, qtbot: QtBot) -> None:
    qtbot.keyClicks(harness.window.composer.edit, "typed")
    QApplication.clipboard().setText("words and words\n" * 3_200_000)
    qtbot.keyClick(harness.window.composer.edit, *PASTE)
    qtbot.waitUntil(lambda: harness.window.problems != [])
    QApplication.clipboard().clear()
    assert "characters" in harness.window.problems[-1].message
    assert harness.window.composer.text == "typed"
    assert captions(harness) == []


def test_removed_by_mouse_and_by_key(harness: AppHarness, qtbot: QtBot, attach: Callable[..., Path]) -> None:
    attach("a.txt")
    attach("b.txt")
    attach("c.txt")
    cross = chips(harness)[0].remove_button
    assert cross is not None
    qtbot.mouseClick(cross, Qt.MouseButton.LeftButton)
    assert [chip.attachment.name for chip in chips(harness)] == ["b.txt", "c.txt"]
    chips(harness)[1].setFocus()
    qtbot.keyClick(chips(harness)[1], Qt.Key.Key_Delete)
    assert [chip.attachment.name for chip in chips(harness)] == ["b.txt"]
    qtbot.keyClick(chips(harness)[0], Qt.Key.Key_Return)
    assert harness.window.findChild(AttachmentDialog) is not None
    qtbot.waitUntil(lambda: len(harness.store.attachments.unsent(None)) == 1)


def test_what_cannot_be_attached_says_why_and_loses_nothing(harness: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG" + b"\0" * 20)
    (tmp_path / "ok.txt").write_text("fine")
    qtbot.keyClicks(harness.window.composer.edit, "typed")
    drop(harness, tmp_path / "photo.png", tmp_path / "ok.txt")
    qtbot.waitUntil(lambda: harness.window.problems != [] and len(chips(harness)) == 1)
    assert "“photo.png” is a picture" in harness.window.problems[-1].message
    assert harness.window.composer.text == "typed"
    drop(harness, tmp_path / "photo.png", tmp_path / "gone.txt")
    qtbot.waitUntil(lambda: len(harness.window.problems) == 2)
    assert harness.window.problems[-1].title == "2 files could not be attached"
    assert "gone.txt" in harness.window.problems[-1].message


def test_there_are_not_too_many(harness: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(14)]
    for path in paths:
        path.write_text("x")
    drop(harness, *paths)
    qtbot.waitUntil(lambda: len(chips(harness)) == 12 and harness.window.problems != [])
    assert "2 more were chosen" in harness.window.problems[-1].message


def test_unsent_attachments_belong_to_their_chat_and_survive_a_restart(
    harness: AppHarness, qtbot: QtBot, attach: Callable[..., Path]
) -> None:
    attach("first.txt")
    qtbot.keyClicks(harness.window.composer.edit, "hello")
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    harness.engine.say("Hi.")
    harness.engine.finish()
    qtbot.waitUntil(lambda: not harness.window.composer.is_busy)
    attach("second.txt")
    harness.window.sidebar.new_chat.emit()
    assert chips(harness) == []
    attach("third.txt")
    harness.window.close()
    again = open_app()
    conversation = again.store.conversations()[0].id
    assert [chip.attachment.name for chip in chips(again)] == ["third.txt"]  # the new chat was open
    again.window.sidebar.list.chosen.emit(conversation)
    assert [chip.attachment.name for chip in chips(again)] == ["second.txt"]
    assert captions(again)[0].endswith("about 14 tokens")
    again.engine.ready()
    again.close()


def test_editing_keeps_attachments_and_lets_one_go(
    harness: AppHarness, qtbot: QtBot, attach: Callable[..., Path]
) -> None:
    attach("a.txt", "alpha")
    attach("b.txt", "beta")
    qtbot.keyClicks(harness.window.composer.edit, "compare")
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    harness.engine.say("Done.")
    harness.engine.finish()
    qtbot.waitUntil(lambda: not harness.window.composer.is_busy)
    card(harness).begin_edit()
    editor = card(harness).editor
    assert editor is not None
    assert [chip.attachment.name for chip in editor.rows.chips] == ["a.txt", "b.txt"]
    qtbot.keyClick(editor.rows.chips[0], Qt.Key.Key_Delete)
    qtbot.keyClicks(editor.edit, " again")
    qtbot.keyClick(editor.edit, Qt.Key.Key_Return)
    content = harness.engine.requests[-1].messages[-1].content
    assert "beta" in content
    assert "alpha" not in content
    assert content.endswith("compare again")
    assert [each.name for each in harness.messages()[0].attachments] == ["b.txt"]


def test_a_dropped_export_is_imported_and_other_json_is_attached(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    harness.store.add_message(harness.store.create_conversation("Old chat"), "user", "hello")
    export_chats(harness.store, tmp_path / "chats.json", JSON)
    harness.store.deletions.delete_permanently([harness.store.conversations()[0].id])
    (tmp_path / "data.json").write_text(json.dumps({"format": "other", "messages": [1, 2]}))
    drop(harness, tmp_path / "chats.json", tmp_path / "data.json")
    qtbot.waitUntil(lambda: harness.rows() == ["Old chat"] and len(chips(harness)) == 1)
    assert chips(harness)[0].attachment.name == "data.json"


def test_a_sum_that_does_not_fit_says_what_will_happen(
    harness: AppHarness, qtbot: QtBot, attach: Callable[..., Path]
) -> None:
    composer = harness.window.composer
    harness.window.set_settings({"overflow": "stop"})
    attach("long.txt", "word " * 600)
    qtbot.waitUntil(composer.fit_label.isVisible)
    assert "does not fit in the context" in composer.fit_label.text()
    assert composer.context_label.property("kind") == "warning"
    harness.window.set_settings({"overflow": "drop"})
    assert "This message alone" in composer.fit_label.text()
    chips(harness)[0].removed.emit(chips(harness)[0].attachment.id)
    assert not composer.fit_label.isVisible()
    composer.set_context(400, 512)
    attach("half.txt", "word " * 200)
    qtbot.waitUntil(composer.fit_label.isVisible)
    assert "oldest messages will be left out" in composer.fit_label.text()


def test_no_word_of_a_file_reaches_the_log(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\ncanarycanary\n" * 50)
    (tmp_path / "b.txt").write_bytes(b"canarycanary\0")
    (tmp_path / "c.txt").write_text("canarycanary")
    drop(harness, tmp_path / "a.pdf", tmp_path / "b.txt", tmp_path / "c.txt")
    qtbot.waitUntil(lambda: harness.window.problems != [] and len(chips(harness)) == 1)
    assert "canarycanary" not in caplog.text
    assert "canarycanary" not in harness.window.problems[-1].message


def test_a_file_that_is_kept_just_before_its_chat_is_opened_is_there_once(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("words")
    drop(harness, tmp_path / "a.txt")
    wait_for(lambda: harness.store.attachments.unsent(None))  # the window is notified later
    harness.window.sidebar.new_chat.emit()
    qtbot.waitUntil(lambda: "reading" not in "".join(captions(harness)))
    assert [chip.attachment.name for chip in chips(harness)] == ["a.txt"]


def test_a_file_that_is_still_being_read_can_be_let_go(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    read, begun, may_end = reading.read_attachment, threading.Event(), threading.Event()

    def slow(path: Path, should_stop: Callable[[], bool]) -> object:
        begun.set()
        assert may_end.wait(WAIT_MS / 1000)
        return read(path, should_stop)

    monkeypatch.setattr(reading, "read_attachment", slow)
    for name in ("first.txt", "second.txt", "third.txt"):
        (tmp_path / name).write_text(f"words of {name}")
    drop(harness, *(tmp_path / name for name in ("first.txt", "second.txt", "third.txt")))
    assert begun.wait(WAIT_MS / 1000)
    for chip in chips(harness)[:2]:  # one is being read, the other waits
        chip.removed.emit(chip.attachment.id)
    assert [chip.attachment.name for chip in chips(harness)] == ["third.txt"]
    may_end.set()
    qtbot.waitUntil(lambda: "Text" in captions(harness)[0] and "reading" not in captions(harness)[0])
    assert [each.name for each in harness.store.attachments.unsent(None)] == ["third.txt"]
    assert harness.window.problems == []


def test_a_file_that_brings_the_reader_down_is_told_and_the_next_is_read(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    read = reading.read_attachment

    def fragile(path: Path, should_stop: Callable[[], bool]) -> object:
        if path.name == "strange.txt":
            raise ZeroDivisionError
        return read(path, should_stop)

    monkeypatch.setattr(reading, "read_attachment", fragile)
    for name in ("strange.txt", "good.txt"):
        (tmp_path / name).write_text("words")
    drop(harness, tmp_path / "strange.txt", tmp_path / "good.txt")
    qtbot.waitUntil(lambda: bool(harness.window.problems))
    assert harness.window.problems[-1].message == "“strange.txt” could not be read (ZeroDivisionError)."
    qtbot.waitUntil(lambda: [chip.attachment.name for chip in chips(harness)] == ["good.txt"])
