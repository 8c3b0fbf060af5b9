"""Answers the help menu: opens the log folder, copies diagnostics, says what this is. Thin Qt wiring."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

import app
from app.controllers.parts import Parts
from app.domain.engine_view import EngineView
from app.logs import LOG_NAME
from ui.text.language import mark, translate

ABOUT = mark(
    "HelpMenu",
    "Paceline {version}: chat with local language models, made faster by speculative decoding without "
    "changing their answers. MIT licence; third-party licences are in assets/THIRD_PARTY.md.",
)
COPIED = mark("HelpMenu", "Diagnostics copied. They contain nothing from your chats.")


class HelpMenuController(QObject):
    """Lives as long as the window."""

    def __init__(self, parts: Parts, engine: Callable[[], EngineView]) -> None:
        super().__init__(parts.window)
        self._parts = parts
        self._engine = engine
        self._connect()

    def _connect(self) -> None:
        parts, button = self._parts, self._parts.window.sidebar.help_button
        button.shortcuts.connect(parts.window.dialogs.open_shortcuts)
        button.log_folder.connect(self._open_logs)
        button.diagnostics.connect(self._copy_diagnostics)
        button.about.connect(
            lambda: parts.window.show_notice(translate("HelpMenu", ABOUT).format(version=app.__version__))
        )

    def _open_logs(self) -> None:
        folder = self._parts.paths.logs
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._parts.window.show_notice(translate("HelpMenu", "The logs are in {folder}.").format(folder=folder))

    def _copy_diagnostics(self) -> None:
        from app.controllers.window.diagnostics import diagnostics  # noqa: PLC0415  (the start does not wait for it)

        view = self._engine()
        text = diagnostics(self._parts.keeper.current, (view.target, view.draft), self._parts.paths.logs / LOG_NAME)
        QGuiApplication.clipboard().setText(text)
        self._parts.window.show_notice(translate("HelpMenu", COPIED))
