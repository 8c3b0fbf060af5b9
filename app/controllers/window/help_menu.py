"""Answers the help menu: opens the log folder, copies diagnostics, says what this is. Thin Qt wiring."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

import app
from app.controllers.models.jobs import JobRunner
from app.controllers.parts import Parts, PartsController
from app.core.logs import LOG_NAME
from ui.text.language import mark, translate

ABOUT = mark(
    "HelpMenu",
    "Paceline {version}: chat with local language models, made faster by speculative decoding without "
    "changing their answers. MIT licence; third-party licences are in assets/THIRD_PARTY.md.",
)
COPIED = mark("HelpMenu", "Diagnostics copied. They contain nothing from your chats.")


class HelpMenuController(PartsController):
    """Lives as long as the window."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._jobs = JobRunner()
        self._connect()

    def _connect(self) -> None:
        parts, button = self._parts, self._parts.window.sidebar.help_button
        button.shortcuts.connect(parts.window.dialogs.open_shortcuts)
        button.log_folder.connect(self._open_logs)
        button.diagnostics.connect(self._gather_diagnostics)
        button.about.connect(
            lambda: parts.window.show_notice(translate("HelpMenu", ABOUT).format(version=app.__version__))
        )

    def close(self) -> None:
        """Gather nothing any more."""
        self._jobs.close(0.0)

    def _open_logs(self) -> None:
        folder = self._parts.paths.logs
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._parts.window.show_notice(translate("HelpMenu", "The logs are in {folder}.").format(folder=folder))

    def _gather_diagnostics(self) -> None:
        """Make the text on a thread of its own: a helper process has to load llama.cpp for it."""
        models, settings, paths = self._state.engine, self._state.settings, self._parts.paths

        def gather(_stop: object) -> str:
            from app.controllers.window.diagnostics import diagnostics  # noqa: PLC0415  (the start waits for neither)
            from engine.sandbox.library_child import ask_library  # noqa: PLC0415

            library = ask_library(paths.cache)
            return diagnostics(settings, (models.target, models.draft), paths.logs / LOG_NAME, library)

        self._jobs.run("diagnostics", gather, self._copy_diagnostics, self._window.show_problem)

    def _copy_diagnostics(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._parts.window.show_notice(translate("HelpMenu", COPIED))
