"""Notifies the user that a long answer ended if the window is not active: taskbar, and optionally a tray message.

The chat's text never leaves the window.
"""

from __future__ import annotations

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.controllers.parts import Parts, PartsController
from engine.records import EngineFailed, Event, Finished, FinishReason, RunStats
from ui.text.formatting import speed as speed_text
from ui.text.language import Translator
from ui.text.problem_words import in_language

tr = Translator("NotificationController")

LONG_ANSWER_S = 10.0
SHOWN_MS = 8_000


class NotificationController(PartsController):
    """Lives as long as the window; the tray icon exists only while a message is shown."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.tray: QSystemTrayIcon | None = None

    def on_event(self, event: Event) -> None:
        if isinstance(event, EngineFailed) and event.request_id:
            self._notify(tr("The answer could not be finished"), in_language(event.problem.message))
        elif (
            isinstance(event, Finished)
            and event.reason is not FinishReason.CANCELLED
            and _seconds(event.stats) > LONG_ANSWER_S
        ):
            speed = event.stats.tokens_per_second
            tokens = event.stats.tokens
            words = tr("%Ln tokens", None, tokens)
            if speed:
                fast = tr("{tokens} at {speed}")
                words = fast.format(tokens=words, speed=speed_text(speed))
            self._notify(tr("Your answer is ready"), words)

    def _notify(self, title: str, words: str) -> None:
        window = self._parts.window
        if window.isActiveWindow():
            return
        QApplication.alert(window)
        if not self._state.settings.values["notify"]:
            return
        if QSystemTrayIcon.isSystemTrayAvailable():
            self._show_tray(title, words)
        elif sys.platform.startswith("linux"):
            send_to_portal(title, words)

    def _show_tray(self, title: str, words: str) -> None:
        window = self._parts.window
        if self.tray is None:
            self.tray = QSystemTrayIcon(window.windowIcon(), self)
            self.tray.setToolTip("Paceline")
            self.tray.messageClicked.connect(self._raise_window)
            self.tray.activated.connect(self._raise_window)
            application = QGuiApplication.instance()
            if isinstance(application, QGuiApplication):
                application.focusWindowChanged.connect(self._on_focus)
        self.tray.show()
        self.tray.showMessage(title, words, window.windowIcon(), SHOWN_MS)

    def _raise_window(self) -> None:
        window = self._parts.window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()
        self._hide_tray()

    def _hide_tray(self) -> None:
        if self.tray is not None:
            self.tray.hide()

    def _on_focus(self, focused: QWindow | None) -> None:
        if focused is not None:
            self._hide_tray()


def send_to_portal(title: str, words: str) -> None:
    """Show a desktop notification through the portal (GNOME has no tray); does nothing without a portal."""
    from PySide6.QtDBus import QDBusConnection, QDBusMessage  # noqa: PLC0415  (few notifications use it)

    message = QDBusMessage.createMethodCall(
        "org.freedesktop.portal.Desktop",
        "/org/freedesktop/portal/desktop",
        "org.freedesktop.portal.Notification",
        "AddNotification",
    )
    message.setArguments(["answer", {"title": title, "body": words}])
    QDBusConnection.sessionBus().send(message)


def _seconds(stats: RunStats) -> float:
    return stats.prompt_s + stats.decode_s
