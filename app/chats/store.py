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
from dataclasses import dataclass
from datetime import UTC, datetime

from app.chats import rows
from app.chats.answers import RETRY_S, Ending, GrowingAnswers, Snapshot
from app.chats.backups import backup_is_due, make_backup, rotate
from app.chats.database import as_storage_error, transaction
from app.chats.opening import Opened, Place, open_chats
from app.chats.rows import Conversation
from app.chats.titles import title_from
from app.chats.writer import Job, Result, Writer
from app.errors import BackupError, StorageError
from engine.records import Mode, Problem, RunStats, TokenSpan
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
        return self._read(rows.list_conversations)

    def conversation(self, conversation_id: int) -> Conversation | None:
        """Read one conversation; None where it is gone."""
        return self._read(lambda db: rows.read_conversation(db, conversation_id))

    def create_conversation(self, title: str = "", mode: Mode = Mode.OFF, depth: int | None = None) -> int:
        """Add an empty conversation and return its id."""
        return self._write(lambda db: rows.insert_conversation(db, title, mode, depth, self._now()))

    def rename_conversation(self, conversation_id: int, title: str) -> None:
        """Give a conversation the title that the user wrote."""
        self._write(lambda db: rows.set_title(db, conversation_id, title))

    def set_conversation_mode(self, conversation_id: int, mode: Mode, depth: int | None) -> None:
        """Remember the mode and depth of a conversation."""
        self._write(lambda db: rows.set_mode(db, conversation_id, mode, depth))

    def delete_conversation(self, conversation_id: int) -> None:
        """Remove a conversation with all its messages."""
        self._write(lambda db: rows.delete_conversation(db, conversation_id))

    # ---- messages ---------------------------------------------------------------------------------------------------

    def messages(self, conversation_id: int) -> tuple[MessageView, ...]:
        """List the messages in order; an answer in the making with all its text so far."""
        # Merged on the writer's thread: between reading and merging elsewhere an answer could be written and forgotten.
        return self._read(lambda db: tuple(self._current(view) for view in rows.list_messages(db, conversation_id)))

    def add_message(self, conversation_id: int, role: str, text: str) -> MessageView:
        """Store a message; the first of the user names a conversation that has no name. Returning acknowledges it."""
        return self._write(lambda db: self._insert(db, conversation_id, MessageView(0, role, text)))

    def begin_turn(self, conversation_id: int | None, text: str, mode: Mode, depth: int | None) -> Turn:
        """Store a question and an empty answer, in a new conversation where none is given: all of it or nothing."""

        def job(db: sqlite3.Connection) -> Turn:
            conversation = conversation_id
            if conversation is None:
                conversation = rows.insert_conversation(db, "", mode, depth, self._now())
            self._insert(db, conversation, MessageView(0, "user", text))
            history = tuple(self._current(view) for view in rows.list_texts(db, conversation))
            stored = rows.read_conversation(db, conversation)
            title = stored.title if stored else ""
            return Turn(conversation, title, history, self._insert(db, conversation, _EMPTY_ANSWER))

        turn = self._write(job)
        self._answers.begin(turn.answer.id)
        return turn

    def begin_answer(self, conversation_id: int, replaces: int | None = None) -> MessageView:
        """Store an empty answer. The one it replaces is hidden until the new one ends, and deleted then."""
        answer = self._write(lambda db: self._insert(db, conversation_id, _EMPTY_ANSWER, replaces))
        self._answers.begin(answer.id)
        return answer

    def append(self, answer_id: int, text: str, spans: Sequence[TokenSpan] = ()) -> None:
        """Add text to an answer in the making; it is in the file a quarter of a second later at most."""
        if self._answers.append(answer_id, text, spans):
            self._writer.wake()

    def finish_answer(
        self, answer_id: int, state: MessageState, stats: RunStats | None = None, notice: str = ""
    ) -> MessageView:
        """End an answer and return it whole; it is written as soon as the disk takes it."""
        self._answers.end(answer_id, Ending(state, stats, notice))
        snapshot = self._answers.current(answer_id)
        self._writer.wake()
        text, spans = (snapshot.text, snapshot.spans) if snapshot else ("", ())
        return MessageView(answer_id, "assistant", text, state, stats, spans, notice)

    def discard_answer(self, answer_id: int) -> None:
        """Drop an answer in the making; what it was to replace is back."""
        self._answers.end(answer_id, Ending(MessageState.FAILED, keep=False))
        self._writer.wake()

    # ---- on the writer's thread -------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        self._opened = open_chats(self._place, self._now())
        connection = self._opened.connection
        try:
            with transaction(connection):
                num_interrupted = rows.interrupt_streaming(connection, INTERRUPTED_NOTICE)
            if num_interrupted:
                log.info("%d answers were interrupted when Paceline last ended.", num_interrupted)
        except sqlite3.Error as error:
            # Shown as interrupted all the same (see _current); a full disk must not keep the chats shut.
            log.warning("The interrupted answers could not be marked: %s", error)
        return connection

    def _insert(
        self, db: sqlite3.Connection, conversation_id: int, view: MessageView, replaces: int | None = None
    ) -> MessageView:
        message_id = rows.insert_message(db, conversation_id, view, self._now(), replaces)
        if view.role == "user":
            rows.title_if_unnamed(db, conversation_id, title_from(view.text))
        return dataclasses.replace(view, id=message_id)

    def _current(self, view: MessageView) -> MessageView:
        snapshot = self._answers.current(view.id)
        if snapshot is not None:
            ending = snapshot.ending or Ending(MessageState.STREAMING)
            return MessageView(
                view.id, view.role, snapshot.text, ending.state, ending.stats, snapshot.spans, ending.notice
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
                rows.write_answer(db, snapshot, self._now())
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

    def _read(self, job: Job[Result]) -> Result:
        def settled(db: sqlite3.Connection) -> Result:
            self._write_due(db)  # an answer that has ended is seen as it ended
            return job(db)

        try:
            return self._writer.call(settled)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise as_storage_error(error, self._place.file) from error

    def _write(self, job: Job[Result]) -> Result:
        def whole(db: sqlite3.Connection) -> Result:
            with transaction(db):
                return job(db)

        return self._read(whole)


_EMPTY_ANSWER = MessageView(0, "assistant", "", MessageState.STREAMING)
