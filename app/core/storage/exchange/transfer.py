"""Exports chats to a file and imports them; callable on any thread."""

import itertools
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.errors import ChatsExportError, ChatsImportError
from app.core.domain.framing import as_prompt, code_block
from app.core.domain.messages import MessageView
from app.core.domain.thinking import split_thinking
from app.core.domain.tree import MessageTree
from app.core.storage.atomic import exported_file
from app.core.storage.chats.portable import PortableChat, import_chat, read_chat
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.file_names import JSON, MARKDOWN, file_name
from app.core.storage.exchange.own_format import to_json
from app.core.storage.exchange.reading import read_chats
from engine.sentences import Sentence, i18n, joined

# Maximum chats and messages in one transaction, for which the window may wait.
CHATS_PER_TRANSACTION, MESSAGES_PER_TRANSACTION = 20, 2000


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import. Known conversations, and files without conversations, are skipped."""

    num_new: int
    num_known: int
    bad: tuple[tuple[str, ChatsImportError], ...] = ()  # unusable files and chats with their errors

    @property
    def sentence(self) -> str:
        if self.num_new == 1:
            taken = i18n("1 chat imported.")
        else:
            taken = i18n("{number:,} chats imported.", number=self.num_new)
        sentences = [taken]
        if self.num_known == 1:
            sentences.append(i18n("1 already existed."))
        elif self.num_known:
            sentences.append(i18n("{number:,} already existed.", number=self.num_known))
        if self.bad:
            (name, error), number = self.bad[0], len(self.bad)
            if number > 1:
                sentences.append(i18n("{number:,} could not be imported. The first:", number=number))
            reason = error.message if isinstance(error.message, Sentence) else i18n(error.message)
            named = i18n("{name} could not be imported: {reason}", name=name, reason=reason)
            sentences.append(reason if name in reason else named)
        return joined(sentences)


def export_chats(store: ChatStore, file: Path, form: str, conversation_id: int | None = None) -> int:
    """Export one conversation, or all (None); returns their number. Several Markdown files become one zip.

    Raises:
        ChatsExportError: there is nothing to export, or the file cannot be written; an old file stays.
        StorageError: the chats cannot be read.
    """
    wanted = [row.id for row in store.conversations()] if conversation_id is None else [conversation_id]
    stored = stored_chats(store, wanted)
    if (first := next(stored, None)) is None:
        raise ChatsExportError("There is no chat to export.", "Nothing was written.")
    whole, num_read = itertools.chain((first,), stored), 0

    def chats() -> Iterator[PortableChat]:
        nonlocal num_read
        for chat in whole:
            num_read += 1
            yield chat

    with exported_file(file, ChatsExportError) as handle:
        if form == MARKDOWN and conversation_id is None:
            with zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED) as archive:
                for number, chat in enumerate(chats(), start=1):
                    archive.writestr(f"{number:04} {file_name(chat.title, 'md')}", to_markdown(chat))
        else:
            for text in to_json(chats()) if form == JSON else map(to_markdown, chats()):
                handle.write(text.encode("utf-8", "replace"))  # bytes: line ends stay unchanged on every system
    return num_read


def stored_chats(store: ChatStore, conversation_ids: Sequence[int]) -> Iterator[PortableChat]:
    for conversation_id in conversation_ids:
        chat = store.read(partial(read_chat, conversation_id=conversation_id, unwritten=store.unwritten))
        if chat is not None:
            yield chat


def import_chats(store: ChatStore, file: Path, into: str = "") -> ImportResult:
    """Import the chats of a file one by one. ``into``: the name of a folder for all of them.

    Raises:
        ChatsImportError: nothing in the file can be used.
        StorageError: a chat cannot be written; earlier ones stay and are recognized by the next import.
    """
    bad: list[tuple[str, ChatsImportError]] = []
    chats = read_chats(file, lambda name, error: bad.append((name, error)))
    num_new = num_read = 0
    for batch in _batches(replace(chat, folder=into or chat.folder) for chat in chats):
        num_new += store.write(partial(_insert_all, batch))
        num_read += len(batch)
    return ImportResult(num_new, num_read - num_new, tuple(bad))


def import_files(store: ChatStore, files: Sequence[Path]) -> ImportResult:
    """Import several files; unusable files are skipped.

    Raises:
        ChatsImportError: no file can be used.
        StorageError: see `import_chats`.
    """
    done: list[ImportResult] = []
    bad: list[tuple[str, ChatsImportError]] = []
    for file in files:
        try:
            done.append(import_chats(store, file))
        except ChatsImportError as error:
            bad.append((file.name, error))
    if bad and not done:
        raise bad[0][1]
    num_new, num_known = sum(each.num_new for each in done), sum(each.num_known for each in done)
    return ImportResult(num_new, num_known, (*bad, *(part for each in done for part in each.bad)))


def _batches(chats: Iterator[PortableChat]) -> Iterator[list[PortableChat]]:
    batch: list[PortableChat] = []
    for chat in chats:
        batch.append(chat)
        if len(batch) == CHATS_PER_TRANSACTION or sum(len(each.messages) for each in batch) > MESSAGES_PER_TRANSACTION:
            yield batch
            batch = []
    if batch:
        yield batch


def _insert_all(chats: Sequence[PortableChat], db: sqlite3.Connection) -> int:
    return sum(import_chat(db, chat, datetime.now(UTC)) is not None for chat in chats)


AUTHORS = {"user": "You", "assistant": "Paceline", "tool": "Tool"}
_HEADING_CHARS = 200
_OTHER_VERSIONS = (
    "*This chat has other versions of some messages. Here are the ones that were shown; an export as JSON has them "
    "all.*"
)


def to_markdown(chat: PortableChat) -> str:
    """Write the shown path: a heading for each message, statistics below answers, and a note about other branches."""
    return "\n\n".join(_parts(chat)) + "\n"


def _parts(chat: PortableChat) -> Iterator[str]:
    yield f"# {' '.join(chat.title.split())}"
    parents = {message.id: message.parent for message in chat.messages}
    chosen: dict[int | None, int | None] = {parents[number]: number for number in chat.shown if number in parents}
    path = MessageTree(parents, chosen).path()
    by_id = {message.id: message for message in chat.messages}
    shown = [by_id[number] for number in path]
    if len(shown) < len(chat.messages):
        yield _OTHER_VERSIONS
    for message in shown:
        call = message.call
        heading = f": {call.name} {' '.join(call.arguments[:_HEADING_CHARS].split())}" if call else ""
        yield f"## {AUTHORS.get(message.role, message.role)}{heading}"
        yield from map(_file, message.attachments)
        yield _text(message)
        stats = message.stats
        if stats is not None and stats.tokens_per_second is not None and stats.tokens_per_pass is not None:
            speed, per_pass = f"{stats.tokens_per_second:.1f} tok/s", f"{stats.tokens_per_pass:.1f} tokens per pass"
            yield f"*{speed} · {per_pass} · {stats.mode.value}*"


def _text(message: MessageView) -> str:
    """The text of a message, with its reasoning as a quotation."""
    text = message.text
    split = split_thinking(text)
    if message.role != "assistant" or not split.opened:
        return text
    span = "" if message.thinking_ms is None else f" for {message.thinking_ms / 1000:.1f} s"
    lines = (f"**Thought{span}**", "", *split.shown_reasoning(text).strip("\n").split("\n"))
    quoted = "\n".join(f"> {line}" if line else ">" for line in lines)
    return f"{quoted}\n\n{split.answer(text)}"


def _file(attachment: Attachment) -> str:
    if attachment.kind is AttachmentKind.PICTURE:
        return f"*Picture: {attachment.name}*"
    if attachment.kind is AttachmentKind.PASSAGES:  # without the instructions to the model
        return f"*Passages of the files:*\n\n{code_block(attachment)}"
    return as_prompt(attachment)
