"""Reads a file into an attachment, or raises an error with one sentence for the user. Blocks."""

import contextlib
import logging
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app.core.domain.attachment_errors import (
    AttachmentError,
    DocumentDamagedError,
    DocumentLockedError,
    FileTooLargeError,
    FileUnreadableError,
    NoTextError,
    NotTextError,
)
from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.file_kinds import kind_of, shown_name
from app.core.domain.text_decoding import decode
from app.core.storage.pictures import is_picture, picture_attachment
from engine.sandbox.document_child import Section
from engine.sandbox.helper import HelperStoppedError, HelperTimeoutError, run_helper
from engine.sandbox.picture import MAX_BYTES as MAX_PICTURE_BYTES
from engine.sentences import i18n, size_of

log = logging.getLogger(__name__)
MAX_DOCUMENT_BYTES = 200_000_000
LIMIT_S = 60.0
_NO_TEXT_ADVICE = i18n("Recognise its text first (OCR), or paste the text that matters.")
MAX_TEXT_BYTES = 16_000_000
MAX_CHARS = 4_000_000  # about a million tokens; also the limit for a message of an imported chat
_PDF_MARK, _PDF_MARK_WITHIN = b"%PDF-", 1024


@dataclass(frozen=True, slots=True)
class Document:
    """The sections of a document in order, and a notice for the user about parts that were not read."""

    sections: tuple[Section, ...]
    num_pages: int = 0
    notice: str = ""


def read_document(
    path: Path, name: str, max_chars: int, should_stop: Callable[[], bool] = lambda: False, limit_s: float = LIMIT_S
) -> Document:
    """Read a PDF, an office document, a web page, an e-book or an e-mail.

    Raises:
        AttachmentError: the document cannot be used; the message says why.
    """
    words = [str(path.absolute()), str(max_chars), str(int(limit_s) + 1)]
    try:
        ended = run_helper("document", words, limit_s=limit_s, should_stop=should_stop)
    except HelperTimeoutError:
        message = i18n("“{name}” could not be read within {limit_s:.0f} seconds.", name=name, limit_s=limit_s)
        raise DocumentDamagedError(message, "Use a file with only the pages that matter.") from None
    except HelperStoppedError:
        message = i18n("Reading “{name}” was cancelled.", name=name)
        raise AttachmentError(message, "Attach it again if you need it.") from None
    answer = ended.answer
    if answer is None:
        log.info("the reader of a document ended with %s and without an answer", ended.exit_reason)
        raise DocumentDamagedError(
            i18n("“{name}” could not be read: it took too much memory, or reading stopped unexpectedly.", name=name)
        )
    kind = answer.get("error")
    if kind is not None:
        raise _refusal(str(kind), name, max_chars)
    sections = tuple(Section(*each) for each in answer["sections"])
    empty, pages = int(answer["empty_pages"]), int(answer["pages"])
    if not sections and pages:
        raise NoTextError(i18n("“{name}” has no text: its pages are scanned images.", name=name), _NO_TEXT_ADVICE)
    if not sections:
        raise NoTextError(i18n("“{name}” is empty.", name=name))
    counts, notice = {"name": name, "empty": empty, "pages": pages}, ""
    if empty == 1:
        notice = i18n("1 of the {pages} pages of “{name}” has no text that could be read.", **counts)
    elif empty:
        notice = i18n("{empty} of the {pages} pages of “{name}” have no text that could be read.", **counts)
    return Document(sections, pages, notice)


def _refusal(kind: str, name: str, max_chars: int) -> AttachmentError:
    refusals: dict[str, AttachmentError] = {
        "locked": DocumentLockedError(i18n("“{name}” is password-protected.", name=name)),
        "cipher": DocumentDamagedError(i18n("“{name}” uses a kind of encryption that is not supported.", name=name)),
        "long": FileTooLargeError(
            i18n("“{name}” has more than {limit:,} characters of text.", name=name, limit=max_chars)
        ),
        "unknown": NotTextError(i18n("“{name}” is an archive or a document of a kind that cannot be read.", name=name)),
        "gone": FileUnreadableError(i18n("“{name}” no longer exists or cannot be read.", name=name)),
        "memory": DocumentDamagedError(
            i18n("Reading “{name}” takes more memory than a document of its size should.", name=name)
        ),
        "damaged": DocumentDamagedError(
            i18n("“{name}” is damaged, or not the kind of file that its name says.", name=name)
        ),
    }
    return refusals.get(kind, refusals["damaged"])


def read_attachment(path: Path, should_stop: Callable[[], bool] = lambda: False) -> tuple[Attachment, str]:
    """Read a text file, the text of a document, or a picture; also a notice for the user about parts not read.

    Raises:
        AttachmentError: the file cannot be attached; the message names the file and never its contents.
    """
    name = shown_name(path.name)
    with _open_checked(path, name) as handle:
        num_bytes, head = os.fstat(handle.fileno()).st_size, handle.read(_PDF_MARK_WITHIN)
        if not head:
            raise NoTextError(i18n("“{name}” is empty.", name=name))
        kind = AttachmentKind.PDF if _PDF_MARK in head else kind_of(path.name)
        is_document = kind in (AttachmentKind.PDF, AttachmentKind.DOCUMENT)
        limit = MAX_DOCUMENT_BYTES if is_document else MAX_PICTURE_BYTES if is_picture(head) else MAX_TEXT_BYTES
        raw = head
        if not is_document and num_bytes <= limit:
            raw += handle.read(limit + 1 - len(head))
    if max(num_bytes, len(raw)) > limit:
        if limit == MAX_TEXT_BYTES:
            decode(head, name, whole=False)  # raises a more specific error if it is no text
        raise FileTooLargeError(
            i18n(
                "“{name}” is {num_bytes}; the limit for this kind of file is {limit}.",
                name=name,
                num_bytes=size_of(max(num_bytes, len(raw))),
                limit=size_of(limit),
            )
        )
    if is_document:
        read = read_document(path, name, MAX_CHARS, should_stop)
        return Attachment(0, name, kind, num_bytes, text_of(read.sections)), read.notice
    if is_picture(head):
        return picture_attachment(name, raw), ""
    decoded = decode(raw, name)
    return text_attachment(name, decoded.text, len(raw)), decoded.notice


def text_of(sections: Sequence[Section]) -> str:
    """Join sections to one text: a line break between rows of a sheet, a blank line between other sections."""
    text = ""
    for before, section in zip((None, *sections), sections, strict=False):
        is_row = before is not None and section.line == before.line + 1 > 1
        text += ("\n" if is_row else "\n\n" if text else "") + section.text
    return text


def text_attachment(name: str, text: str, num_bytes: int | None = None) -> Attachment:
    """Make an attachment of a text.

    Raises:
        NoTextError: the text is empty.
        FileTooLargeError: the text is longer than any context.
    """
    if not text.strip():
        raise NoTextError(i18n("“{name}” is empty.", name=name))
    if len(text) > MAX_CHARS:
        raise FileTooLargeError(
            i18n(
                "“{name}” has {num_text:,} characters; the limit for an attachment is {limit:,}.",
                name=name,
                num_text=len(text),
                limit=MAX_CHARS,
            )
        )
    num_bytes = len(text.encode("utf-8", "replace")) if num_bytes is None else num_bytes
    return Attachment(0, name, kind_of(name), num_bytes, text)


@contextlib.contextmanager
def _open_checked(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a regular file without blocking. Its type is checked again afterwards, since it may have been replaced."""
    try:
        _check_kind(path.stat().st_mode, name)
        flag = getattr(os, "O_NONBLOCK", 0)
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | flag)) as handle:
            _check_kind(os.fstat(handle.fileno()).st_mode, name)
            yield handle
    except FileNotFoundError as error:
        raise FileUnreadableError(
            i18n("“{name}” no longer exists.", name=name), "Choose it again in its new location."
        ) from error
    except OSError as error:
        raise FileUnreadableError(
            i18n("“{name}” cannot be read: {reason}.", name=name, reason=error.strerror or error)
        ) from error
    except ValueError as error:  # a path with a NUL character
        raise FileUnreadableError(i18n("“{name}” is not a valid file name.", name=name)) from error


def _check_kind(mode: int, name: str) -> None:
    if stat.S_ISDIR(mode):
        raise FileUnreadableError(i18n("“{name}” is a folder.", name=name), "Attach the files in it that matter.")
    if not stat.S_ISREG(mode):
        raise FileUnreadableError(i18n("“{name}” is not a regular file.", name=name), "Attach a file.")
