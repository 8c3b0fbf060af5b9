"""Tests the attachment chips, the reader dialogs and the token sums: rows, names, keys, texts."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QBuffer, QPoint, QRect, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.attachments import Attachment, AttachmentKind, StoredPicture
from app.core.domain.messages import MessageView
from ui.composer.attachments.chips import AttachmentChip, AttachmentRows, AttachmentScrollArea, attachment_facts
from ui.composer.attachments.reader import MAX_CHARS, AttachmentDialog
from ui.composer.context_meter import ContextSum, sum_words, warning
from ui.theme.theme import Theme
from ui.transcript.cards.user_card import UserCard
from ui.window.main_window import MainWindow

FILES = tuple(
    Attachment(number, f"a rather long name of a file, number {number}.md", AttachmentKind.MARKDOWN, 1234, "x", 310)
    for number in range(1, 8)
)


@pytest.fixture
def rows(theme: Theme, qtbot: QtBot) -> Iterator[AttachmentRows]:
    host = QWidget()
    qtbot.addWidget(host)
    result = AttachmentRows(theme, removable=True)
    QVBoxLayout(host).addWidget(result)
    host.resize(640, 400)
    host.show()
    result.show_attachments(FILES)
    yield result
    host.close()


def test_chips_stand_in_rows_and_never_overlap(rows: AttachmentRows) -> None:
    places = [chip.geometry() for chip in rows.chips]
    assert all(not one.intersects(other) for i, one in enumerate(places) for other in places[:i])
    assert len({place.y() for place in places}) > 1
    assert all(rows.rect().contains(place) for place in places)
    rows.window().resize(300, 700)
    assert all(chip.geometry().right() <= rows.width() for chip in rows.chips)


def test_a_chip_speaks_and_shows_the_ending_of_its_name(rows: AttachmentRows) -> None:
    chip = rows.chips[0]
    assert chip.accessibleName() == f"{FILES[0].name}, Markdown · 1.23 kB · about 310 tokens"
    assert "Delete to remove it" in chip.accessibleDescription()
    assert chip.name.text().endswith("1.md")
    assert "…" in chip.name.text()
    assert chip.remove_button is not None
    assert chip.remove_button.accessibleName() == f"Remove {FILES[0].name}"


def test_keys_and_mouse(rows: AttachmentRows, qtbot: QtBot) -> None:
    with qtbot.waitSignal(rows.opened) as caught:
        qtbot.mouseClick(rows.chips[1], Qt.MouseButton.LeftButton)
    assert caught.args == [2]
    with qtbot.waitSignal(rows.opened):
        qtbot.keyClick(rows.chips[1], Qt.Key.Key_Space)
    with qtbot.waitSignal(rows.removed) as caught:
        qtbot.keyClick(rows.chips[2], Qt.Key.Key_Backspace)
    assert caught.args == [3]


def test_facts_say_what_is_known() -> None:
    assert attachment_facts(Attachment(1, "a.pdf", AttachmentKind.PDF, 0)) == "PDF"
    assert attachment_facts(Attachment(1, "a.csv", AttachmentKind.CSV, 7, num_tokens=0)) == "CSV · 7 B · about 0 tokens"


def test_the_reader_shows_the_beginning_of_a_very_long_text(theme: Theme, qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(900, 700)
    text = "line\n" * (MAX_CHARS // 4)
    reader = AttachmentDialog(theme, Attachment(1, "a.py", AttachmentKind.CODE, len(text), text), host)
    reader.show()
    assert reader.content.toPlainText() == text[:MAX_CHARS]
    qtbot.keyClick(reader.copy_button, Qt.Key.Key_Space)
    qtbot.keyClick(reader.close_button, Qt.Key.Key_Space)
    assert not reader.isVisible()


def test_a_sent_message_shows_its_files_folded(window: MainWindow, qtbot: QtBot) -> None:
    view = MessageView(1, "user", "What is it?", attachments=FILES[:2])
    window.show_conversation("t", [view])
    card = window.transcript.findChild(UserCard)
    assert card is not None
    assert card.attachments is not None
    assert card.text == "What is it?"
    with qtbot.waitSignal(window.transcript.attachment_opened) as caught:
        qtbot.keyClick(card.attachments.chips[1], Qt.Key.Key_Return)
    assert caught.args == [2]
    card.begin_edit()
    assert not card.attachments.isVisible()
    assert card.editor is not None
    cross = card.editor.rows.chips[0].remove_button
    assert cross is not None
    qtbot.mouseClick(cross, Qt.MouseButton.LeftButton)
    with qtbot.waitSignals([window.transcript.attachments_removed, window.transcript.edited], order="strict"):
        qtbot.mouseClick(card.editor.send_button, Qt.MouseButton.LeftButton)
    card.end_edit()
    assert card.attachments.isVisible()


def test_sums_in_words() -> None:
    told = ContextSum(2000, 300, 10, 4096)
    assert sum_words(told) == "about 2,310 of 4,096 tokens"
    assert warning(told, "stop") == ""
    assert "does not fit in the context" in warning(ContextSum(4000, 300, 10, 4096), "stop")
    assert "left out" in warning(ContextSum(4000, 300, 10, 4096), "drop")
    assert "summarised" in warning(ContextSum(4000, 300, 10, 4096), "summarise")
    assert "This message alone" in warning(ContextSum(0, 5000, 10, 4096), "drop")


def files(number: int) -> list[Attachment]:
    return [Attachment(i, f"a long name {i}.md", AttachmentKind.MARKDOWN, 7, "x", 28) for i in range(number)]


def seen(room: AttachmentScrollArea, chip: AttachmentChip) -> bool:
    place = QRect(chip.mapTo(room.viewport(), QPoint(0, 0)), chip.size())
    return room.viewport().rect().contains(place)


def test_a_few_are_all_seen_and_many_scroll(window: MainWindow, qtbot: QtBot) -> None:
    tray = window.composer.tray
    tray.show_attachments(files(2), ())
    qtbot.waitUntil(lambda: all(seen(tray.room, chip) for chip in tray.rows.chips))
    low = window.composer.height()
    tray.show_attachments(files(40), ())
    chip = tray.rows.chips[0]
    qtbot.waitUntil(lambda: tray.room.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: window.composer.height() < low + 4 * chip.height())
    qtbot.waitUntil(lambda: seen(tray.room, tray.rows.chips[-1]))  # the newest chip must be visible
    tray.show_attachments([], ())
    assert not tray.room.isVisible()


def test_what_has_the_focus_is_in_sight(window: MainWindow, qtbot: QtBot) -> None:
    tray = window.composer.tray
    tray.show_attachments(files(40), ())
    qtbot.waitUntil(lambda: seen(tray.room, tray.rows.chips[-1]))
    window.composer.edit.setFocus()
    for _ in range(3):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab, Qt.KeyboardModifier.ShiftModifier)
    focused = window.focusWidget()
    assert tray.room.isAncestorOf(focused)
    chip = next(each for each in tray.rows.chips if each is focused or each.isAncestorOf(focused))
    qtbot.waitUntil(lambda: seen(tray.room, chip))
    tray.rows.chips[0].setFocus()
    tray.show_attachments(files(39), ())  # a chip was removed by key; its neighbour has the focus
    qtbot.waitUntil(lambda: seen(tray.room, tray.rows.chips[0]))


def test_tab_goes_through_the_chips_to_the_text(window: MainWindow, qtbot: QtBot) -> None:
    tray = window.composer.tray
    tray.show_attachments(files(2), ())
    tray.rows.chips[0].setFocus()
    stops = [tray.rows.chips[0].remove_button, tray.rows.chips[1], tray.rows.chips[1].remove_button]
    for stop in (*stops, window.composer.edit, window.composer.attach_button):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        assert window.focusWidget() is stop


def test_a_picture_beside_a_file_is_seen_whole(theme: Theme, qtbot: QtBot) -> None:
    pixmap, data = QPixmap(60, 300), QBuffer()
    pixmap.fill(Qt.GlobalColor.red)
    data.open(QBuffer.OpenModeFlag.WriteOnly)
    pixmap.save(data, "PNG")
    stored = StoredPicture("x", 60, 300, bytes(data.data().data()))
    shown = AttachmentRows(theme, removable=False)
    qtbot.addWidget(shown)
    shown.resize(600, 50)
    shown.show_attachments(
        [
            Attachment(1, "tall.png", AttachmentKind.PICTURE, 9, picture=stored),
            Attachment(2, "a.txt", AttachmentKind.TEXT, 9),
        ]
    )
    assert shown.chips[0].y() == shown.chips[1].y()
    assert shown.height() == shown.chips[0].height() > 140
