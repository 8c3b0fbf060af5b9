"""The conversations for the rest of the app: every method that returns has its change safely in the file.

The exceptions are `append`, `finish_answer` and `discard_answer`, which do not wait: what they were given is kept in
memory until it is written, and the trouble, if any, is told once. Knows no widget and no engine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime

from app.chats import messages, rows
from app.chats.answers import RETRY_S, Ending, GrowingAnswers, Snapshot
from app.chats.backups import backup_is_due, make_backup, rotate
from app.chats.database import as_storage_error, transaction
from app.chats.index import rebuild
from app.chats.library import Library, write_unsent
from app.chats.opening import Opened, Place, open_chats
from app.chats.rows import Conversation
from app.chats.shorten import without_trailing_space
from app.chats.titles import title_from
from app.chats.writer import Job, Result, Writer
from app.errors import BackupError, StorageError
from engine.records import Mode, Problem, TokenSpan
from ui.records import ConversationRow, MessageState, MessageView

log = logging.getLogger(__name__)

INTERRUPTED_NOTICE = "Interrupted: Paceline or the computer went away in the middle of this answer."


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and the empty answer to it, both stored. ``history``: all up to the question, words only."""

    conversation_id: int
    title: str
    history: tuple[MessageView, ...]
    answer: MessageView

    @property
    def question(self) -> MessageView:
        """The question as it is stored."""
        return self.history[-1]


class ChatStore:
    """Owns the file of the chats. Usable from any thread; all work is done on one of its own.

    ``on_trouble`` is called on that thread: with a problem when saving an answer begins to fail, with None when
    everything is saved again.
    """

    def __init__(
        self,
        place: Place,
        on_trouble: Callable[[Problem | None], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._place = place
        self._on_trouble = on_trouble
        self._now = now
        self._in_trouble = False
        self._opened: Opened | None = None
        self._answers = GrowingAnswers(time.monotonic)
        self._writer = Writer(self._open, self._write_due)
        self.library = Library(self)

    # ---- life -------------------------------------------------------------------------------------------------------

    def open(self) -> Problem | None:
        """Open the file or what can be had in its stead; the problem says what a person should know."""
        self._writer.start()
        if self._opened is None:
            raise RuntimeError("the writer started without opening")
        return self._opened.problem

    def back_up_daily(self) -> None:
        """Make today's copy where there is none yet, and thin out the old ones; does not wait."""
        self._writer.post(self._back_up)

    def close(self, timeout_s: float = 5.0) -> bool:
        """Write what can be written and let go of the file; False where something could not be saved."""
        with contextlib.suppress(StorageError):
            self._writer.call(self._write_everything)
        return self._writer.stop(timeout_s) and self._answers.num_unwritten == 0

    @property
    def lasting(self) -> bool:
        """Whether what is written outlives the app: False while the chats are only in memory."""
        return self._opened is not None and self._opened.lasting

    # ---- conversations ----------------------------------------------------------------------------------------------

    def conversations(self) -> tuple[ConversationRow, ...]:
        """List all conversations, the last changed first."""
        return self.read(rows.list_conversations)

    def conversation(self, conversation_id: int) -> Conversation | None:
        """Read one conversation; None where it is gone."""
        return self.read(lambda db: rows.read_conversation(db, conversation_id))

    def create_conversation(self, title: str = "", mode: Mode = Mode.OFF, depth: int | None = None) -> int:
        """Add an empty conversation and return its id."""
        return self.write(lambda db: rows.insert_conversation(db, title, mode, depth, self._now()))

    def rename_conversation(self, conversation_id: int, title: str) -> None:
        """Give a conversation the title that the user wrote."""
        self.write(lambda db: rows.set_title(db, conversation_id, title))

    def set_conversation_mode(self, conversation_id: int, mode: Mode, depth: int | None) -> None:
        """Remember the mode and depth of a conversation."""
        self.write(lambda db: rows.set_mode(db, conversation_id, mode, depth))

    def delete_conversation(self, conversation_id: int) -> None:
        """Remove a conversation with all its messages."""
        self.write(lambda db: rows.delete_conversation(db, conversation_id))

    # ---- messages ---------------------------------------------------------------------------------------------------

    def messages(self, conversation_id: int) -> tuple[MessageView, ...]:
        """List the messages of the shown path; an answer in the making with all its text so far."""
        # Merged on the writer's thread: between reading and merging elsewhere an answer could be written and forgotten.
        return self.read(lambda db: tuple(self._current(view) for view in messages.list_messages(db, conversation_id)))

    def add_message(self, conversation_id: int, role: str, text: str) -> MessageView:
        """Store a message at the end; the first of the user names a conversation without a name."""

        def job(db: sqlite3.Connection) -> MessageView:
            path = messages.read_tree(db, conversation_id).path()
            return self._insert(db, conversation_id, MessageView(0, role, text), path[-1] if path else None)

        return self.write(job)

    def begin_turn(
        self, conversation_id: int | None, text: str, mode: Mode, depth: int | None, instead_of: int | None = None
    ) -> Turn:
        """Store a question and an empty answer, in a new conversation where none is given: all of it or nothing.

        The question stands at the end, or as another version beside ``instead_of``. An unsent text is forgotten.
        """

        def job(db: sqlite3.Connection) -> Turn:
            conversation = conversation_id
            if instead_of is None:
                write_unsent(db, conversation_id, "")
            if conversation is None:
                conversation = rows.insert_conversation(db, "", mode, depth, self._now())
            tree = messages.read_tree(db, conversation)
            path = tree.path() if instead_of is None else tree.ancestors(instead_of)[:0:-1]
            question = self._insert(db, conversation, MessageView(0, "user", text), path[-1] if path else None)
            history = tuple(self._current(view) for view in messages.list_texts(db, (*path, question.id)))
            stored = rows.read_conversation(db, conversation)
            title = stored.title if stored else ""
            return Turn(conversation, title, history, self._insert(db, conversation, _EMPTY_ANSWER, question.id))

        turn = self.write(job)
        self._answers.begin(turn.answer.id)
        return turn

    def begin_answer(self, conversation_id: int, instead_of: int) -> Turn:
        """Store an empty answer as another version beside ``instead_of``, which stays."""

        def job(db: sqlite3.Connection) -> Turn:
            above = messages.read_tree(db, conversation_id).ancestors(instead_of)[:0:-1]
            history = tuple(self._current(view) for view in messages.list_texts(db, above))
            parent = above[-1] if above else None
            stored = rows.read_conversation(db, conversation_id)
            answer = self._insert(db, conversation_id, _EMPTY_ANSWER, parent, instead_of)
            return Turn(conversation_id, stored.title if stored else "", history, answer)

        turn = self.write(job)
        self._answers.begin(turn.answer.id)
        return turn

    def continue_answer(self, conversation_id: int, answer_id: int) -> Turn:
        """Let an ended answer grow again. Spaces at its end go: the model writes them with its next word.

        Raises:
            StorageError: the answer is gone.
        """

        def job(db: sqlite3.Connection) -> Turn:
            stored, view = rows.read_conversation(db, conversation_id), messages.read_message(db, answer_id)
            if stored is None or view is None:
                raise StorageError("This answer is not there any more.", "Open the chat again.")
            view = without_trailing_space(view)
            above = messages.read_tree(db, conversation_id).ancestors(answer_id)[:0:-1]
            messages.reopen_answer(db, view)
            growing = dataclasses.replace(view, state=MessageState.STREAMING, notice="", cut=False)
            return Turn(conversation_id, stored.title, messages.list_texts(db, above), growing)

        turn = self.write(job)
        self._answers.begin(answer_id, turn.answer.text, turn.answer.spans)
        return turn

    def append(self, answer_id: int, text: str, spans: Sequence[TokenSpan] = ()) -> None:
        """Add text to an answer in the making; it is in the file a quarter of a second later at most."""
        if self._answers.append(answer_id, text, spans):
            self._writer.wake()

    def finish_answer(self, answer_id: int, ending: Ending) -> MessageView:
        """End an answer and return it whole; it is written as soon as the disk takes it."""
        self._answers.end(answer_id, ending)
        snapshot = self._answers.current(answer_id)
        self._writer.wake()
        text, spans = (snapshot.text, snapshot.spans) if snapshot else ("", ())
        return MessageView(
            answer_id, "assistant", text, ending.state, ending.stats, spans, ending.notice, cut=ending.cut
        )

    def discard_answer(self, answer_id: int) -> None:
        """Drop an answer in the making; the version before it is shown again."""
        self._answers.end(answer_id, Ending(MessageState.FAILED, keep=False))
        self._writer.wake()

    def show_message(self, message_id: int) -> int | None:
        """Make the shown path lead through a message; return its conversation, None where it is gone."""
        return self.write(lambda db: messages.show_message(db, message_id))

    def delete_message(self, message_id: int) -> int:
        """Remove a message and all that follows it, in all branches; return how many."""
        return self.write(lambda db: messages.delete_branch(db, message_id))

    def num_below(self, message_id: int) -> int:
        """How many messages would go with this one, itself among them."""

        def job(db: sqlite3.Connection) -> int:
            conversation_id = messages.conversation_of(db, message_id)
            return 0 if conversation_id is None else len(messages.read_tree(db, conversation_id).below(message_id))

        return self.read(job)

    # ---- on the writer's thread -------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        self._opened = open_chats(self._place, self._now())
        connection = self._opened.connection
        try:
            with transaction(connection):
                num_interrupted = messages.interrupt_streaming(connection, INTERRUPTED_NOTICE)
            if num_interrupted:
                log.info("%d answers were interrupted when Paceline last ended.", num_interrupted)
        except sqlite3.Error as error:
            # Shown as interrupted all the same (see _current); a full disk must not keep the chats shut.
            log.warning("The interrupted answers could not be marked: %s", error)
        return connection

    def _insert(
        self,
        db: sqlite3.Connection,
        conversation_id: int,
        view: MessageView,
        parent_id: int | None,
        replaces: int | None = None,
    ) -> MessageView:
        message_id = messages.insert_message(db, conversation_id, view, self._now(), parent_id, replaces)
        if view.role == "user":
            rows.title_if_unnamed(db, conversation_id, title_from(view.text))
        return dataclasses.replace(view, id=message_id)

    def _current(self, view: MessageView) -> MessageView:
        snapshot = self._answers.current(view.id)
        if snapshot is not None:
            ending = snapshot.ending or Ending(MessageState.STREAMING)
            return dataclasses.replace(
                view,
                text=snapshot.text,
                state=ending.state,
                stats=ending.stats,
                spans=snapshot.spans,
                notice=ending.notice,
                cut=ending.cut,
            )
        if view.state is MessageState.STREAMING:
            return dataclasses.replace(view, state=MessageState.INTERRUPTED, notice=INTERRUPTED_NOTICE)
        return view

    def _write_due(self, db: sqlite3.Connection) -> float | None:
        for snapshot in self._answers.due():
            self._write_snapshot(db, snapshot)
        return self._answers.wait_s()

    def _write_everything(self, db: sqlite3.Connection) -> None:
        for snapshot in self._answers.due(everything=True):
            self._write_snapshot(db, snapshot)

    def _write_snapshot(self, db: sqlite3.Connection, snapshot: Snapshot) -> None:
        try:
            with transaction(db):
                messages.write_answer(db, snapshot, self._now())
        except sqlite3.Error as error:
            self._answers.failed(snapshot)
            problem = as_storage_error(error, self._place.file).problem
            log.warning("An answer could not be saved and is tried again in %g s: %s", RETRY_S, error)
            if not self._in_trouble:
                self._in_trouble = True
                self._on_trouble(problem)
            return
        self._answers.written(snapshot)
        if self._in_trouble and self._answers.num_unwritten == 0:
            self._in_trouble = False
            self._on_trouble(None)

    def _back_up(self, db: sqlite3.Connection) -> None:
        try:
            if self.lasting and backup_is_due(self._place.backups, self._now()):
                make_backup(db, self._place.backups, self._now())
                rotate(self._place.backups)
        except (BackupError, OSError) as error:
            log.warning("The chats could not be backed up: %s", error)

    # ---- between the threads ----------------------------------------------------------------------------------------

    def read(self, job: Job[Result]) -> Result:
        """Run a job on the connection and wait for it; every ended answer is in the file before.

        Raises:
            StorageError: by what SQLite said.
        """

        def settled(db: sqlite3.Connection) -> Result:
            self._write_due(db)  # an answer that has ended is seen as it ended
            return job(db)

        try:
            return self._writer.call(settled)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise as_storage_error(error, self._place.file) from error

    def write(self, job: Job[Result]) -> Result:
        """Run a job in a transaction and wait for it: when this returns, its change is safe."""
        return self.read(_whole(job))

    def post(self, job: Job[Result]) -> Future[Result]:
        """Run a job in a transaction without waiting for it; its future may raise what SQLite raised."""
        return self._writer.post(_whole(job))


def _whole(job: Job[Result]) -> Job[Result]:
    """Make a transaction of a job; where the index of the search is damaged, it is made anew first."""

    def attempt(db: sqlite3.Connection) -> Result:
        with transaction(db):
            return job(db)

    def whole(db: sqlite3.Connection) -> Result:
        try:
            return attempt(db)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_CORRUPT_VTAB:
                raise
            log.warning("The index of the search was damaged and is made anew: %s", error)
            with transaction(db):
                rebuild(db)
            return attempt(db)

    return whole


_EMPTY_ANSWER = MessageView(0, "assistant", "", MessageState.STREAMING)
