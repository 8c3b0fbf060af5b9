"""Answers "Check for updates": asks once, and says what came of it. Nothing asks without a press."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPlainTextEdit

import app
from app.controllers.models.jobs import JobRunner
from app.controllers.parts import Parts, PartsController
from engine.records import Problem
from ui.text.language import translate
from ui.widgets.dialogs import ConfirmDialog

if TYPE_CHECKING:  # the first paint waits for no network library
    from app.core.hub.updates import Release

NOTES_PX = 180


class UpdatesController(PartsController):
    """Lives as long as the window; it asks on a thread of its own."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._jobs = JobRunner()
        self._window.sidebar.help_button.updates.connect(self.ask)

    def ask(self) -> None:
        """Ask the page of releases; a second press while it is asked asks anew."""
        self._window.show_notice(translate("Updates", "Asking whether there is a newer version…"))

        def work(_stop: object) -> Release:
            from app.core.hub.updates import newest_release  # noqa: PLC0415  (the start does not wait for it)

            return newest_release()

        self._jobs.run("updates", work, self.show_answer, self._failed)

    def close(self) -> None:
        """Whatever is asked ends with the process; its answer is not waited for."""
        self._jobs.close(0.0)

    def _failed(self, problem: Problem) -> None:
        self._window.notice_banner.hide()
        self._window.show_problem(problem)

    def show_answer(self, release: Release) -> None:
        """Say that this is the newest version, or what there is."""
        self._window.notice_banner.hide()
        if not release.is_newer:
            words = translate("Updates", "You have the newest version, {version}.").format(version=app.__version__)
            self._window.show_notice(words)
            return
        question = ConfirmDialog(
            self._window,
            translate("Updates", "Paceline {version} is out").format(version=release.version),
            translate("Updates", "This is {version}. Its page in your browser tells how to get the new one.").format(
                version=app.__version__
            ),
            translate("Updates", "Open its page"),
        )
        if release.notes:
            notes = QPlainTextEdit(release.notes)
            notes.setProperty("kind", "field")
            notes.setReadOnly(True)
            notes.setTabChangesFocus(True)
            notes.setFixedHeight(NOTES_PX)
            notes.setAccessibleName(translate("Updates", "What it brings"))
            question.column.addWidget(notes)
        question.accept_button.setEnabled(bool(release.page))
        question.accepted.connect(lambda: QDesktopServices.openUrl(QUrl(release.page)))
        question.open()
