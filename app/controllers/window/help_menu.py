"""The help menu: opens the log folder and the page of releases, copies diagnostics, shows the about box."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

import app
from app.controllers.parts import Parts, PartsController
from ui.text.language import mark, translate

RELEASES = "https://github.com/paceline/paceline/releases"
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
        button.updates.triggered.connect(lambda: QDesktopServices.openUrl(QUrl(RELEASES)))
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
