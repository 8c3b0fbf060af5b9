"""Passes actions of the sidebar to the store: search, folders, pins, archive, copies."""

import logging
from collections.abc import Callable
from concurrent.futures import Future

from PySide6.QtCore import Signal

from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts, PartsController
from app.core.domain.conversations import SearchHit
from ui.text.language import translate

log = logging.getLogger(__name__)

Hits = tuple[SearchHit, ...]


class LibraryController(PartsController):
    found = Signal(str, object)  # the typed text and its hits, emitted on the store's thread

    def __init__(self, parts: Parts, conversations: ConversationController) -> None:
        super().__init__(parts)
        self._library = parts.store.library
        self._conversations = conversations
        self.found.connect(self._on_found)
        self._state.chats_listed.connect(self._search_again)
        sidebar, library = self._window.sidebar, self._library
        library_signals = sidebar.library_signals
        sidebar.search_requested.connect(self.search)
        library_signals.pinned.connect(self._then_refresh(library.set_pinned))
        library_signals.archived.connect(self._then_refresh(library.set_archived))
        library_signals.moved_to_folder.connect(self._then_refresh(library.move_to_folder))
        library_signals.duplicated.connect(self.duplicate)
        library_signals.folder_created.connect(self.make_folder)
        library_signals.folder_renamed.connect(self._then_refresh(library.rename_folder))
        library_signals.folder_folded.connect(self._then_refresh(library.set_folded))

    def search(self, typed: str) -> None:
        """Search on the storage thread; the hits arrive by a signal."""
        if not typed.strip():
            return
        future = self._attempt(lambda: self._library.search(typed))
        if future is not None:
            future.add_done_callback(lambda done: self._report_found(typed, done))

    def _search_again(self) -> None:
        """Refresh the hits, since a chat was deleted or renamed."""
        if self._window.sidebar.is_searching:
            self.search(self._window.sidebar.search.text())

    def duplicate(self, conversation_id: int) -> None:
        copy = self._attempt(lambda: self._library.duplicate(conversation_id))
        if copy is not None:
            self._conversations.select(copy)

    def make_folder(self, conversation_id: int | None) -> None:
        """Add a folder, move the given conversation into it, and let the user edit its name."""

        def make() -> int:
            folder_id = self._library.create_folder(translate("LibraryController", "New folder"))
            if conversation_id is not None:
                self._library.move_to_folder(conversation_id, folder_id)
            return folder_id

        made = self._attempt(make)
        if made is not None:
            self._conversations.refresh()
            self._window.sidebar.list.name_folder(made)

    def _report_found(self, typed: str, done: Future[Hits | None]) -> None:
        error = done.exception()
        if error is not None:
            log.warning("A search failed: %s", type(error).__name__)
            self.found.emit(typed, ())
        elif done.result() is not None:
            self.found.emit(typed, done.result())

    def _on_found(self, typed: str, hits: Hits) -> None:
        if typed == self._window.sidebar.search.text():
            self._window.sidebar.show_results(hits)

    def _then_refresh(self, change: Callable[..., object]) -> Callable[..., None]:
        def act(*arguments: object) -> None:
            self._attempt(lambda: change(*arguments))
            self._conversations.refresh()

        return act
