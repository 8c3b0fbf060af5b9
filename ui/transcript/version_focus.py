"""Keeps the focus at a message while its versions are gone through.

With another version the page is shown anew and what had the focus is gone: the next key would be for the composer.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget

from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.version_switch import VersionSwitch
from ui.transcript.text_caret import texts_of
from ui.transcript.transcript import Transcript

INPUTS = (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress)  # who does something else meanwhile has the keyboard


class VersionFocus(QObject):
    """Made before whoever shows the requested version connects to the signal: it must note the focus first."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._wanted: int | None = None
        self._by = 0  # the arrow that was pressed; 0: none, the keyboard was elsewhere in a message
        transcript.version_requested.connect(self._note)
        transcript.arrived.connect(self._on_arrived)

    def _note(self, message_id: int) -> None:
        focus = QApplication.focusWidget()
        card = next((card for card in self._transcript.cards if focus is not None and card.isAncestorOf(focus)), None)
        switch = card.versions if card is not None else None
        on_switch = switch is not None and switch.isAncestorOf(focus)  # type: ignore[arg-type]
        by_pointer = on_switch and switch is not None and not switch.pressed_by_key
        self._wanted = message_id if card is not None and not by_pointer else None
        self._by = 0 if not on_switch or switch is None else -1 if focus is switch.back else 1
        if self._wanted is not None:
            QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the focus where it is put by a key or a click before the message is there."""
        if event.type() in INPUTS:
            self._forget()
        return super().eventFilter(watched, event)

    def _forget(self) -> None:
        self._wanted = None
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]

    def _on_arrived(self, message_id: int) -> None:
        wanted = self._wanted
        self._forget()
        if message_id != wanted:
            return
        card = next((card for card in self._transcript.cards if card.message_id == message_id), None)
        target = self._target(card) if card is not None else None
        if target is not None:
            target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _target(self, card: MessageCard) -> QWidget | None:
        texts = texts_of(card)
        if (self._by or not texts) and card.versions is not None:
            return _arrow(card.versions, self._by)
        return texts[0] if texts else None


def _arrow(switch: VersionSwitch, by: int) -> QWidget:
    """The arrow that goes on in the same direction, or back from the last version."""
    first, other = (switch.back, switch.forth) if by < 0 else (switch.forth, switch.back)
    return first if first.isEnabled() else other
