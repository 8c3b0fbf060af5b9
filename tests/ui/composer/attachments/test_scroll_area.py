"""Many attachments leave the page its room."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from pytestqt.qtbot import QtBot

from app.core.domain.attachments import Attachment, AttachmentKind
from ui.composer.attachments.chips import AttachmentChip, AttachmentScrollArea
from ui.window.main_window import MainWindow


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
    qtbot.waitUntil(lambda: seen(tray.room, tray.rows.chips[-1]))  # what came last is what one looks for
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
    tray.show_attachments(files(39), ())  # one was removed by its key, and its neighbour has the focus
    qtbot.waitUntil(lambda: seen(tray.room, tray.rows.chips[0]))


def test_tab_goes_through_the_chips_to_the_text(window: MainWindow, qtbot: QtBot) -> None:
    tray = window.composer.tray
    tray.show_attachments(files(2), ())
    tray.rows.chips[0].setFocus()
    stops = [tray.rows.chips[0].remove_button, tray.rows.chips[1], tray.rows.chips[1].remove_button]
    for stop in (*stops, window.composer.edit, window.composer.attach_button):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        assert window.focusWidget() is stop
