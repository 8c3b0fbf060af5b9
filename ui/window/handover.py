"""What a person did to the parts of the window, given to the parts that take their place in another language.

Knows what the app does not: unsent text, scroll places, open editors, choices of what to look at, focus. The old parts
live until the event loop turns again; what hiding them would change is noted before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from app.domain.settings.layers import Layer
from ui.settings.dialog import SettingsDialog
from ui.transcript.reading_place import PlaceKeeper, ReadingPlace

if TYPE_CHECKING:
    from ui.window.main_window import MainWindow

LAYOUT_ROUNDS = 6


def copy_text(old: QPlainTextEdit, new: QPlainTextEdit) -> None:
    """The text of one box into another, with caret and selection."""
    told = old.textCursor()
    new.setPlainText(old.toPlainText())
    cursor = new.textCursor()
    cursor.setPosition(told.anchor())
    cursor.setPosition(told.position(), cursor.MoveMode.KeepAnchor)
    new.setTextCursor(cursor)


def lay_out() -> None:
    """Carry out what the layouts have asked for."""
    for _ in range(LAYOUT_ROUNDS):
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)


def let_go(window: MainWindow) -> None:
    """Take leave of the parts; the next central widget has the old one deleted."""
    window.removeEventFilter(window.drop_zone)
    window.undo_bar.blockSignals(True)  # its time may run out before it is gone
    for action in window.actions():
        window.removeAction(action)
        action.deleteLater()
    dialog = window.chat_settings.dialog
    widgets = [window.drop_overlay, window.drop_zone.hint, *((dialog,) if dialog is not None else ())]
    widgets += [settings for settings in window.findChildren(SettingsDialog) if settings.isVisible()]
    for widget in widgets:
        widget.hide()
    for part in (*widgets, window.drop_zone, window.chat_settings, window.commands):
        part.deleteLater()


class Handover:
    """Made before the parts go; given to the new ones in two steps."""

    def __init__(self, window: MainWindow) -> None:
        window.chat_settings.flush()
        self._composer, self._sidebar, self._stats = window.composer, window.sidebar, window.stats
        self._banners, self._hub = (window.problem_banner, window.notice_banner), window.hub
        self._panes = window.layout_state.panes()
        self._shows_messages = window.pages.currentWidget() is window.transcript
        self._place = ReadingPlace.of(window.transcript)
        self._list_at = window.sidebar.list.verticalScrollBar().value()
        self._stats_at = {key: page.verticalScrollBar().value() for key, page in window.stats.pages.items()}
        self._dropped = window.drop_overlay.path if window.drop_overlay.isVisible() else ""
        self._chat_dialog = self._dialog_of(window)
        self._settings = next((each for each in window.findChildren(SettingsDialog) if each.isVisible()), None)
        focus = window.focusWidget()
        self._reads = focus is not None and window.transcript.isAncestorOf(focus)
        self._focus = None if focus is None or self._reads else WidgetPath.of(focus, window)

    @staticmethod
    def _dialog_of(window: MainWindow) -> tuple[QRect, Layer] | None:
        dialog = window.chat_settings.dialog
        return (dialog.geometry(), dialog.layer) if dialog is not None and dialog.isVisible() else None

    def give_first(self, window: MainWindow) -> None:
        """Before the app fills the parts: what it must not find empty, and the room they have."""
        copy_text(self._composer.edit, window.composer.edit)
        if self._shows_messages:
            window.pages.setCurrentWidget(window.transcript)
        lay_out()
        window.layout_state.fit_text(window.theme.type.base)
        window.layout_state.set_panes(self._panes)  # a splitter takes widths only once it has its own
        lay_out()

    def give(self, window: MainWindow) -> None:
        """After the app has filled them: where a person was, and what was open."""
        for old, new in zip(self._banners, (window.problem_banner, window.notice_banner), strict=True):
            new.take_over(old)
        self._give_sidebar(window)
        self._give_stats(window)
        window.hub.take_over(self._hub)
        if self._chat_dialog is not None:
            self._give_chat_dialog(window, *self._chat_dialog)
        if self._dropped:
            window.drop_overlay.ask(self._dropped)
        target = self._focus.find(window) if self._focus is not None else None
        (target or (window.transcript if self._reads else window.composer.edit)).setFocus(
            Qt.FocusReason.OtherFocusReason
        )
        PlaceKeeper(window.transcript, self._place)
        if self._settings is not None:
            self._give_settings(window, self._settings)

    def _give_sidebar(self, window: MainWindow) -> None:
        words = self._sidebar.search.text()
        window.sidebar.list.verticalScrollBar().setValue(self._list_at)
        if words:
            window.sidebar.search.setText(words)

    def _give_stats(self, window: MainWindow) -> None:
        stats = window.stats
        stats.now.take_over(self._stats.now)
        stats.show_page(self._stats.page)
        for key, value in self._stats_at.items():
            stats.page_of(key).verticalScrollBar().setValue(value)

    @staticmethod
    def _give_settings(window: MainWindow, old: SettingsDialog) -> None:
        focus = old.focusWidget()
        path = WidgetPath.of(focus, old) if focus is not None else None
        dialog = window.dialogs.make_settings()
        dialog.take_over(old)
        target = path.find(dialog) if path is not None else None
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    @staticmethod
    def _give_chat_dialog(window: MainWindow, place: QRect, layer: Layer) -> None:
        window.chat_settings.open()
        dialog = window.chat_settings.dialog
        if dialog is not None:
            dialog.setGeometry(place)
            dialog.layer_buttons[layer].click()


@dataclass(frozen=True, slots=True)
class WidgetPath:
    """At each step the class of the child, and which one of that class it is."""

    steps: tuple[tuple[type[QWidget], int], ...]

    @classmethod
    def of(cls, widget: QWidget, window: QWidget) -> WidgetPath:
        """The way to a widget below ``window``."""
        steps: list[tuple[type[QWidget], int]] = []
        child = widget
        while child is not window:
            parent = child.parentWidget()
            if parent is None:
                return cls(())
            steps.insert(0, (type(child), _alike(parent, type(child)).index(child)))
            child = parent
        return cls(tuple(steps))

    def find(self, window: QWidget) -> QWidget | None:
        """The widget at the end of the way; None where a step is missing or the keyboard cannot go there."""
        widget = window
        for kind, place in self.steps:
            found = _alike(widget, kind)
            if place >= len(found):
                return None
            widget = found[place]
        reachable = widget is not window and widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isVisible()
        return widget if reachable else None


def _alike(parent: QWidget, kind: type[QWidget]) -> list[QWidget]:
    return [child for child in parent.children() if isinstance(child, QWidget) and type(child) is kind]
