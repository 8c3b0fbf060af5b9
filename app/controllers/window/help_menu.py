"""The help menu: opens the log folder, copies diagnostics, checks for updates, shows the about box."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit

import app
from app.controllers.parts import Parts, PartsController
from engine.records import Problem
from ui.text.language import Translator, mark, translate
from ui.widgets.dialogs import ConfirmDialog

tr = Translator("Updates")

if TYPE_CHECKING:  # imported after the first paint
    from app.core.hub.updates import Release

NOTES_PX = 180

ABOUT = mark(
    "HelpMenu",
    "Paceline {version}: chat with local language models, made faster by speculative decoding without "
    "changing their answers. MIT licence; third-party licences are in assets/THIRD_PARTY.md.",
)
COPIED = mark("HelpMenu", "Diagnostics copied. They contain nothing from your chats.")


class HelpMenuController(PartsController):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        button = parts.window.sidebar.help_button
        button.shortcuts.triggered.connect(parts.window.dialogs.open_shortcuts)
        button.log_folder.triggered.connect(self._open_logs)
        button.diagnostics.triggered.connect(self._gather_diagnostics)
        button.updates.triggered.connect(self._ask_for_updates)
        button.about.triggered.connect(
            lambda: parts.window.show_notice(translate("HelpMenu", ABOUT).format(version=app.__version__))
        )

    def _open_logs(self) -> None:
        folder = self._parts.paths.logs
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._parts.window.show_notice(translate("HelpMenu", "The logs are in {folder}.").format(folder=folder))

    def _gather_diagnostics(self) -> None:
        """Collect on a thread: a helper process has to load llama.cpp."""
        models, settings, paths = self._state.engine, self._state.settings, self._parts.paths

        def gather(_stop: object) -> str:
            from app.controllers.window.diagnostics import diagnostics  # noqa: PLC0415  (the start does not wait for it)

            return diagnostics(settings, (models.target, models.draft), paths)

        self._jobs.run("diagnostics", gather, self._copy_diagnostics)

    def _copy_diagnostics(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._parts.window.show_notice(translate("HelpMenu", COPIED))

    def _ask_for_updates(self) -> None:
        """Query the releases; another press during a query starts a new one."""
        self._window.show_notice(tr("Checking for updates…"))

        def work(_stop: object) -> Release:
            from app.core.hub.updates import newest_release  # noqa: PLC0415  (the start does not wait for it)

            return newest_release()

        self._jobs.run("updates", work, self._show_release, self._on_update_problem)

    def _on_update_problem(self, problem: Problem) -> None:
        self._window.notice_banner.hide()
        self._window.show_problem(problem)

    def _show_release(self, release: Release) -> None:
        self._window.notice_banner.hide()
        if not release.is_newer:
            words = tr("You have the newest version, {version}.").format(version=app.__version__)
            self._window.show_notice(words)
            return
        question = ConfirmDialog(
            self._window,
            tr("Paceline {version} is out").format(version=release.version),
            tr("You have {version}. The page of the new version explains how to update.").format(
                version=app.__version__
            ),
            tr("Open its page"),
        )
        if release.notes:
            notes = QPlainTextEdit(release.notes)
            notes.setProperty("kind", "field")
            notes.setReadOnly(True)
            notes.setTabChangesFocus(True)
            notes.setFixedHeight(NOTES_PX)
            notes.setAccessibleName(tr("What is new"))
            question.column.addWidget(notes)
        question.accept_button.setEnabled(bool(release.page))
        question.accepted.connect(lambda: QDesktopServices.openUrl(QUrl(release.page)))
        question.open()
