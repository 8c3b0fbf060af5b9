"""The store of conversations. When a method returns, its change is safely in the file.

`append`, `finish_answer` and `discard_answer` do not wait: their data is in memory until it is written, and a failure
is reported once.
"""

from __future__ import annotations

import dataclasses
import functools
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Concatenate

from app.core.domain.attachments import Attachment
from app.core.domain.conversations import ConversationRow, one_line, title_from
from app.core.domain.errors import StorageError
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.seeds import SamplingRecord
from app.core.domain.thinking import split_thinking
from app.core.domain.tree import MessageTree
from app.core.storage.chats import attachments, conversations, messages
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.calls import StoredCalls
from app.core.storage.chats.chats_file import ChatsFile
from app.core.storage.chats.codec import options_from_text, options_to_text, sampling_to_text
from app.core.storage.chats.deletion import Deletions
from app.core.storage.chats.library import ChatLibrary, write_unsent
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.writer import Arguments
from engine.records import Problem, TokenSpan


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A stored question and its stored empty answer. ``history``: the messages up to the question, text only."""

    conversation_id: int
    title: str
    history: tuple[MessageView, ...]
    answer: MessageView

    @property
    def question(self) -> MessageView:
        return self.history[-1]


@dataclass(frozen=True, slots=True)
class AttachmentChanges:
    """Changes for an edited question. ``without``: ids of attachments to omit. ``found``: passages to add."""

    without: Collection[int] = ()
    found: Iterable[Attachment] = ()


def _begins_answer(
    method: Callable[Concatenate[ChatStore, sqlite3.Connection, Arguments], StoredTurn],
) -> Callable[Concatenate[ChatStore, Arguments], StoredTurn]:
    """Run a method that stores a turn in a transaction, and track its answer. Callers leave out the connection."""

    @functools.wraps(method)
    def begin(self: ChatStore, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> StoredTurn:
        turn = self.write(lambda db: method(self, db, *arguments, **named))
        self._answers.begin(turn.answer.id, turn.answer.text, turn.answer.spans)
        return turn

    return begin


class ChatStore(ChatsFile):
    def __init__(
        self,
        place: StoreLocation,
        on_save_state: Callable[[Problem | None], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(place, on_save_state, now)
        self.attachments = attachments.Attachments(self)
        self.calls = StoredCalls(self, now)
        self.deletions = Deletions(self)
        self.edits = messages.UnsentEdits(self)
        self.library = ChatLibrary(self)

    # ---- conversations ----------------------------------------------------------------------------------------------

    def conversations(self) -> tuple[ConversationRow, ...]:
        """The conversations, last changed first."""
        return self.read(conversations.list_conversations)

    def latest_conversation(self, wanted: int | None = None) -> int | None:
        """The ``wanted`` conversation if it is neither deleted nor archived, else the one that changed last."""
        return self.read(lambda db: conversations.find_latest(db, wanted))

    def title(self, conversation_id: int) -> str | None:
        """The title of a conversation; None if it does not exist."""
        return self.read(lambda db: conversations.title_of(db, conversation_id))

    def create_conversation(self, title: str = "") -> int:
        return self.write(lambda db: conversations.insert_conversation(db, title, self._now()))

    def options(self, conversation_id: int) -> dict[str, Any]:
        """The conversation's own settings."""
        sql = "SELECT options FROM conversations WHERE id = ?"
        row = self.read(lambda db: db.execute(sql, (conversation_id,)).fetchone())
        return options_from_text(row[0]) if row else {}

    def set_options(self, conversation_id: int, values: Mapping[str, Any]) -> None:
        sql, text = "UPDATE conversations SET options = ? WHERE id = ?", options_to_text(values)
        self.write(lambda db: db.execute(sql, (text, conversation_id)))

    def rename_conversation(self, conversation_id: int, title: str) -> None:
        """Set the user's title, reduced to one line; an empty title is ignored."""
        if good := one_line(title):
            self.write(lambda db: conversations.set_title(db, conversation_id, good))

    # ---- messages ---------------------------------------------------------------------------------------------------

    def messages(self, conversation_id: int) -> tuple[MessageView, ...]:
        """The messages of the shown path. A streaming answer has all its text so far."""

        # Merge on the writer's thread: otherwise an answer could be written and forgotten between reading and merging.
        def job(db: sqlite3.Connection) -> tuple[MessageView, ...]:
            listed = messages.list_messages(db, conversation_id, self._answers.to_discard)
            return tuple(self._current(view) for view in listed)

        return self.read(job)

    def history(self, conversation_id: int) -> tuple[MessageView, ...]:
        """The messages of the shown path for a prompt: only text and attached texts."""

        def job(db: sqlite3.Connection) -> tuple[MessageView, ...]:
            return messages.list_texts(db, messages.read_tree(db, conversation_id, self._answers.to_discard).path())

        return self.read(job)

    def add_message(self, conversation_id: int, role: str, text: str) -> MessageView:
        """Append a message. The user's first message becomes the title if there is none."""

        def job(db: sqlite3.Connection) -> MessageView:
            path = messages.read_tree(db, conversation_id).path()
            return self._insert(db, conversation_id, MessageView(0, role, text), path[-1] if path else None)

        return self.write(job)

    @_begins_answer
    def begin_turn(
        self,
        db: sqlite3.Connection,
        conversation_id: int | None,
        text: str,
        instead_of: int | None = None,
        changes: AttachmentChanges | None = None,
    ) -> StoredTurn:
        """Store a question and an empty answer, both or nothing. ``conversation_id`` None: in a new conversation.

        The question is appended with the unsent message's attachments; the unsent text is deleted. With ``instead_of``
        it becomes another version of that message with its attachments; its editor's text is deleted.

        Raises:
            StorageError: ``instead_of`` does not exist, or nothing could be stored.
        """
        conversation = conversation_id
        if instead_of is None:
            write_unsent(db, conversation_id, "")
        if conversation is None:
            conversation = conversations.insert_conversation(db, "", self._now())
        tree = messages.read_tree(db, conversation)
        path = tree.path() if instead_of is None else _line(tree, instead_of)[:-1]
        if not text.strip() and (names := attachments.names(db, conversation_id)):
            conversations.title_if_unnamed(db, conversation, title_from(names[0]))
        if instead_of is not None and not path and text.strip():
            # Make a new title from the edited first question, if the old title came from the old question.
            was = messages.list_texts(db, (instead_of,))
            if was and conversations.title_of(db, conversation) == title_from(was[0].text):
                conversations.set_title(db, conversation, title_from(text))
        question = self._insert(db, conversation, MessageView(0, "user", text), path[-1] if path else None)
        if instead_of is None:
            attachments.take_unsent(db, conversation_id, question.id)
        else:
            attachments.copy(db, instead_of, question.id, changes.without if changes else ())
            messages.write_edit(db, instead_of, "")
        for one in changes.found if changes else ():
            attachments.insert(db, "message_id", question.id, one)
        return self._turn(db, conversation, (*path, question.id), _EMPTY_ANSWER)

    @_begins_answer
    def begin_next(self, db: sqlite3.Connection, conversation_id: int, after: int) -> StoredTurn:
        """Store an empty answer below a message, for example the result of a tool.

        Raises:
            StorageError: the message does not exist, or nothing could be stored.
        """
        path = _line(messages.read_tree(db, conversation_id), after)
        return self._turn(db, conversation_id, path, dataclasses.replace(_EMPTY_ANSWER, follows_calls=True))

    @_begins_answer
    def begin_answer(self, db: sqlite3.Connection, conversation_id: int, instead_of: int) -> StoredTurn:
        """Store an empty answer as another version of ``instead_of``.

        Raises:
            StorageError: the message does not exist, or nothing could be stored.
        """
        path = _line(messages.read_tree(db, conversation_id), instead_of)[:-1]
        return self._turn(db, conversation_id, path, _EMPTY_ANSWER, instead_of)

    def continue_answer(self, conversation_id: int, answer_id: int) -> StoredTurn:
        """Continue an ended answer. Spaces at its end are removed, since tokens begin with the space before a word.

        Raises:
            StorageError: the answer does not exist or is not completely written yet.
        """
        self.retry_write(answer_id)  # otherwise unwritten text would be lost
        return self._reopen(conversation_id, answer_id)

    @_begins_answer
    def _reopen(self, db: sqlite3.Connection, conversation_id: int, answer_id: int) -> StoredTurn:
        above = _line(messages.read_tree(db, conversation_id), answer_id)[:-1]
        title, view = conversations.title_of(db, conversation_id), next(messages.read_messages(db, (answer_id,)))
        view = messages.without_trailing_space(view)
        messages.reopen_answer(db, view)
        growing = dataclasses.replace(view, state=MessageState.STREAMING, notice="", cut=False)
        return StoredTurn(conversation_id, title or "", messages.list_texts(db, above), growing)

    def set_models(self, answer_id: int, target: str, draft: str) -> None:
        """Store the models of an answer without waiting; the end of the answer stores them again."""
        sql = "UPDATE messages SET target = ?, draft = ? WHERE id = ? AND state = 'streaming'"
        self.post(lambda db: db.execute(sql, (target, draft, answer_id)).rowcount)

    def set_sampling(self, answer_id: int, drawn: SamplingRecord | None) -> None:
        """Store how an answer is sampled without waiting; None if no seed reproduces it."""
        sql, text = "UPDATE messages SET drawn = ? WHERE id = ?", sampling_to_text(drawn)
        self.post(lambda db: db.execute(sql, (text, answer_id)).rowcount)

    def append(
        self, answer_id: int, text: str, spans: Sequence[TokenSpan] = (), thinking_ms: int | None = None
    ) -> None:
        """Append text to a streaming answer; it is written within a quarter of a second.

        ``thinking_ms``: time of reasoning so far; None without reasoning.
        """
        if self._answers.append(answer_id, text, spans, thinking_ms):
            self._writer.wake()

    def finish_answer(self, answer_id: int, ending: AnswerEnding) -> MessageView:
        """End an answer and return it; it is written soon."""
        self._answers.end(answer_id, ending)
        snapshot = self._answers.current(answer_id)
        self._writer.wake()
        text, spans = (snapshot.text, snapshot.spans) if snapshot else ("", ())
        return MessageView(
            answer_id,
            "assistant",
            text,
            ending.state,
            ending.stats,
            spans,
            ending.notice,
            cut=ending.cut,
            thinking_ms=ending.thinking_ms,
            target=ending.run.target if ending.run else "",
        )

    def discard_answer(self, answer_id: int) -> None:
        """Discard a streaming answer; the previous version is shown again."""
        self._answers.end(answer_id, AnswerEnding(MessageState.FAILED, keep=False))
        self._writer.wake()

    def show_message(self, message_id: int) -> int | None:
        """Make the shown path include a message; returns its conversation, or None if the message does not exist."""
        return self.write(lambda db: messages.show_message(db, message_id))

    def edit_answer(self, answer_id: int, words: str, notice: str) -> int | None:
        """Store an edited answer as another version, with the same reasoning, and show it.

        The text of its editor is deleted. Returns the new version's id; None if the answer does not exist.
        """

        def job(db: sqlite3.Connection) -> int | None:
            view = next(messages.read_messages(db, (answer_id,)), None)
            conversation_id = messages.conversation_of(db, answer_id)
            if view is None or conversation_id is None:
                return None
            parent = messages.read_tree(db, conversation_id).parents[answer_id]
            text = split_thinking(view.text).with_answer(view.text, words)
            edited = MessageView(0, view.role, text, notice=notice, thinking_ms=view.thinking_ms, target=view.target)
            stored = self._insert(db, conversation_id, edited, parent)
            messages.write_edit(db, answer_id, "")
            return stored.id

        return self.write(job)

    # ---- on the writer's thread -------------------------------------------------------------------------------------

    def _turn(
        self,
        db: sqlite3.Connection,
        conversation_id: int,
        path: tuple[int, ...],
        answer: MessageView,
        replaces: int | None = None,
    ) -> StoredTurn:
        """Store an answer below a path, which becomes its history."""
        history = tuple(self._current(view) for view in messages.list_texts(db, path))
        title = conversations.title_of(db, conversation_id) or ""
        answer = self._insert(db, conversation_id, answer, path[-1] if path else None, replaces)
        return StoredTurn(conversation_id, title, history, answer)

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
            conversations.title_if_unnamed(db, conversation_id, title_from(view.text))
        return dataclasses.replace(view, id=message_id)

    def _current(self, view: MessageView) -> MessageView:
        snapshot = self._answers.current(view.id)
        if snapshot is not None:
            return dataclasses.replace(view, **snapshot.as_fields())
        if view.state is MessageState.STREAMING:
            return dataclasses.replace(view, state=MessageState.INTERRUPTED, notice="")
        return view


def _line(tree: MessageTree, message_id: int) -> tuple[int, ...]:
    """The messages from the first one to this one.

    Raises:
        StorageError: the message does not exist. Without the error its new version would become a first message.
    """
    line = tree.ancestors(message_id)
    if not line:
        raise StorageError("This message no longer exists.", "Open the chat again.")
    return line[::-1]


_EMPTY_ANSWER = MessageView(0, "assistant", "", MessageState.STREAMING)
