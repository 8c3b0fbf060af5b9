"""Passes actions of the sidebar to the store: search, folders, pins, archive, copies."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from PySide6.QtCore import Signal

from app.controllers.chat.answers import ONE_AT_A_TIME, AnswerController
from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts, PartsController
from app.core.domain.conversations import SearchHit
from engine.requests import ForgetPast, ForgetState
from engine.sentences import drop_double_stop
from ui.text.formatting import count
from ui.text.language import Translator, translate
from ui.widgets.building import Stretch, button, hbox
from ui.widgets.choice_list import Choice, ChoiceList
from ui.widgets.dialogs import ConfirmDialog

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


tr = Translator("DeletionController")

LIST_PX = 280


@dataclass(frozen=True, slots=True)
class _UndoableDeletion:
    """The last deletion. ``hidden_chat_id`` is wiped when the undo period ends, and ``cached_ids`` leave the caches."""

    hidden_chat_id: int | None
    cached_ids: tuple[int, ...]
    undo_deletion: Callable[[], None]
    words: Callable[[], str]


class DeletionController(PartsController):
    """Handles delete requests of the list and the messages, and the undo bar."""

    def __init__(self, parts: Parts, conversations: ConversationController, answers: AnswerController) -> None:
        super().__init__(parts)
        self._conversations = conversations
        self._answers = answers
        self._last_deletion: _UndoableDeletion | None = None
        bar = self._window.undo_bar
        listing, signals = self._window.sidebar.list, self._window.sidebar.library_signals
        listing.delete_requested.connect(lambda conversation_id: self.delete_chats((conversation_id,)))
        listing.several_deleted.connect(self.delete_chats)
        signals.deleted_chats_requested.connect(self.show_deleted)
        self._window.transcript.delete_requested.connect(self.delete_messages)
        self._window.transcript.delete_one_requested.connect(
            lambda message_id: self.delete_messages(message_id, alone=True)
        )
        signals.folder_deleted.connect(self.delete_folder)
        bar.undone.connect(self.undo_deletion)
        bar.dismissed.connect(self.wipe)

    def start(self) -> None:
        """Make the engine drop the cached states of chats that were deleted for good at this start."""
        self._forget(self._store.wiped)

    def delete_chats(self, conversation_ids: Sequence[int]) -> None:
        """Stop running answers, keeping their text, and hide the chats."""
        ids, deletions = tuple(conversation_ids), self._store.deletions
        for conversation_id in ids:
            self._answers.stop(conversation_id)
        titles = [row.title for row in self._attempt(self._store.conversations) or () if row.id in ids]
        open_id = self._state.chat_id if self._state.chat_id in ids else None
        if not titles or not self._succeeds(lambda: deletions.mark(ids, datetime.now(UTC))):
            return

        def undo_deletion() -> None:
            if self._succeeds(lambda: deletions.undo_deletion(ids)):
                self._show(open_id or ids[0], was_open=open_id is not None)

        def words() -> str:
            if len(titles) > 1:
                return tr("Deleted %n chats.", None, len(titles))
            sentence = tr("Deleted “{title}”.")
            return drop_double_stop(sentence, {"title": titles[0]}).format(title=titles[0])

        self._offer_undo(_UndoableDeletion(None, ids, undo_deletion, words))
        if open_id is not None:
            self._conversations.new_chat()
        else:
            self._conversations.refresh()

    def show_deleted(self) -> None:
        self._window.undo_bar.dismiss()
        dialog = ConfirmDialog(
            self._window,
            tr("Recently deleted"),
            tr("Deleted chats stay here for 30 days. Then they are gone for good."),
            tr("Restore"),
        )
        chats = ChoiceList(self._window.theme, tr("Deleted chats"))
        chats.setFixedHeight(LIST_PX)
        wipe = button(tr("Delete for good"), kind="danger")

        def fill() -> None:
            rows = self._attempt(self._store.deletions.deleted_chats) or ()
            days = [max((each.until - datetime.now(UTC)).days + 1, 0) for each in rows]
            left = [tr("{count} days left", None, number).format(count=count(number)) for number in days]
            chats.set_rows([Choice(str(each.id), each.title, side=side) for each, side in zip(rows, left, strict=True)])
            chats.choose_first()
            for each in (wipe, dialog.accept_button):
                each.setEnabled(bool(rows))

        def wipe_chosen() -> None:
            chosen = int(chats.current_key())
            self._answers.abandon(chosen)
            self._succeeds(lambda: self._store.deletions.delete_permanently((chosen,)))
            self._forget((chosen,))
            fill()

        wipe.clicked.connect(wipe_chosen)
        chats.opened.connect(lambda _key: dialog.accept())
        dialog.accepted.connect(lambda: self._restore(int(chats.current_key() or 0)))
        dialog.column.addWidget(chats)
        dialog.column.addLayout(hbox(Stretch(), wipe))
        fill()
        dialog.open()

    def _restore(self, conversation_id: int) -> None:
        if conversation_id and self._succeeds(lambda: self._store.deletions.undo_deletion((conversation_id,))):
            self._show(conversation_id, was_open=True)

    def delete_messages(self, message_id: int, *, alone: bool = False) -> None:
        """Hide a message, ``alone`` or with everything that follows it in all branches."""
        if self._state.answer is not None:
            self._window.show_notice(translate("AnswerController", ONE_AT_A_TIME))
            return
        deletions = self._store.deletions
        branch = self._attempt(lambda: deletions.mark_branch(message_id, datetime.now(UTC), alone=alone))
        if branch is None:
            return

        def undo_deletion() -> None:
            # A running answer stays shown, with its stop button; the restored branch becomes another version.
            answered = branch.conversation_id in self._state.answers
            back = replace(branch, shown=branch.shown and not answered)
            if self._succeeds(lambda: deletions.undo_branch_deletion(back)):
                self._show(branch.conversation_id, was_open=True)

        num_messages = len(branch.message_ids)

        def words() -> str:
            return tr("Deleted %n messages.", None, num_messages)

        self._offer_undo(_UndoableDeletion(branch.hidden_chat_id, (branch.conversation_id,), undo_deletion, words))
        self._conversations.show()

    def delete_folder(self, folder_id: int) -> None:
        library = self._store.library
        folder = self._attempt(lambda: library.delete_folder(folder_id))
        self._conversations.refresh()
        if folder is None:
            return
        name, num_chats = folder.row.name, folder.num_listed

        def undo_deletion() -> None:
            self._succeeds(lambda: library.undo_folder_deletion(folder))
            self._conversations.refresh()

        def words() -> str:
            if not num_chats:
                sentence = tr("Deleted the empty folder “{name}”.")
                return drop_double_stop(sentence, {"name": name}).format(name=name)
            sentence = tr("Deleted the folder “{name}”; its %n chats were kept.", None, num_chats)
            return sentence.format(name=name)

        self._offer_undo(_UndoableDeletion(None, (), undo_deletion, words))

    def undo_deletion(self) -> None:
        last, self._last_deletion = self._last_deletion, None
        if last is not None:
            last.undo_deletion()

    def wipe(self) -> None:
        """End the undo period: messages are gone for good."""
        last, self._last_deletion = self._last_deletion, None
        if last is None:
            return
        if last.hidden_chat_id is not None:
            hidden_chat_id = last.hidden_chat_id
            self._answers.abandon(hidden_chat_id)
            self._succeeds(lambda: self._store.deletions.delete_permanently([hidden_chat_id]))
        self._forget(last.cached_ids)

    def _offer_undo(self, deleted: _UndoableDeletion) -> None:
        self._window.undo_bar.show_deleted(deleted.words())  # ends the undo period of the previous deletion
        self._last_deletion = deleted

    def _show(self, conversation_id: int, *, was_open: bool) -> None:
        if was_open and conversation_id == self._state.chat_id:
            self._conversations.show()
        elif was_open:
            self._conversations.select(conversation_id)
        self._conversations.refresh()

    def _forget(self, conversation_ids: Sequence[int]) -> None:
        for conversation_id in conversation_ids:
            self._worker.submit(ForgetState(conversation_id))
        if conversation_ids:
            self._worker.submit(ForgetPast())  # clears the index of past answers: it does not separate chats
