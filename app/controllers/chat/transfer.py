"""Exports and imports chats: asks for the file, works on its own thread, reports the result."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Signal

from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts, PartsController
from app.core.domain.errors import AppError
from app.core.storage.exchange.file_names import JSON, file_name
from engine.sentences import i18n, joined
from ui.text.language import Translator
from ui.widgets.dialogs import ask_export_file, ask_import_files

tr = Translator("TransferController")

log = logging.getLogger(__name__)

Result = TypeVar("Result")
ALL_NAME = tr.mark("Paceline chats")
BUSY = tr.mark("Another import or export is still running.")


class TransferController(PartsController):
    """Runs one transfer at a time; imports wait for the previous ones."""

    ended = Signal()

    def __init__(self, parts: Parts, conversations: ConversationController) -> None:
        super().__init__(parts)
        self._conversations = conversations
        self._is_busy = False
        self._waiting: list[Path] = []
        library_signals = self._window.sidebar.library_signals
        library_signals.exported.connect(self.ask_export)
        library_signals.imported.connect(
            lambda: ask_import_files(self._window, lambda paths: self.import_files(list(map(Path, paths))))
        )

    def ask_export(self, conversation_id: int | None, form: str) -> None:
        """Ask for the file to export one conversation, or all (None)."""
        ending = "json" if form == JSON else "zip" if conversation_id is None else "md"
        name = file_name(self._title(conversation_id), ending)
        ask_export_file(self._window, name, lambda path: self.export(Path(path), form, conversation_id))

    def export(self, file: Path, form: str, conversation_id: int | None) -> None:
        def work() -> str:
            from app.core.storage.exchange.transfer import export_chats  # noqa: PLC0415  (the first paint waits for no format)

            number = export_chats(self._store, file, form, conversation_id)
            words = tr("%Ln chats exported to {name}.", None, number)
            return words.format(name=file.name)

        self._start(work)

    def import_files(self, files: Sequence[Path]) -> None:
        """Import files after imports that are running, and report the result in one sentence."""
        if not files:
            return
        if self._is_busy:
            self._waiting += files
            return
        self._start(lambda: self._import(files))

    def _import(self, files: Sequence[Path]) -> str:
        from app.core.projects.archive import import_project, is_project  # noqa: PLC0415
        from app.core.storage.exchange.transfer import import_files  # noqa: PLC0415

        sentences, folder = list[str](), self._parts.paths.project_files
        for file in filter(is_project, files):
            project = import_project(self._parts.projects, self._store, file, folder)
            sentences.append(i18n("The project {name} was imported.", name=project.name))
        chats = [file for file in files if not is_project(file)]
        if chats:
            sentences.append(import_files(self._store, chats).sentence)
        return joined(sentences)

    def close(self) -> None:
        """Start no more transfers; closing the jobs waits for the running one."""
        self._waiting.clear()

    def _title(self, conversation_id: int | None) -> str:
        try:
            title = self._store.title(conversation_id) if conversation_id is not None else None
        except AppError:
            log.warning("The title of a chat could not be read for its export.")
            return tr(ALL_NAME)
        return tr(ALL_NAME) if title is None else title

    def _start(self, work: Callable[[], str]) -> None:
        if self._is_busy:
            self._window.show_notice(tr(BUSY))
            return
        self._is_busy = True
        show = self._ended(self._window.show_notice)
        failed = self._ended(self._window.show_problem)
        self._jobs.run("transfer", lambda _stop: work(), show, failed, writes=True)

    def _ended(self, show: Callable[[Result], None]) -> Callable[[Result], None]:
        def end(result: Result) -> None:
            self._is_busy = False
            show(result)
            self._conversations.refresh()
            self.ended.emit()
            if self._waiting:
                waiting, self._waiting = self._waiting, []
                self.import_files(waiting)

        return end
