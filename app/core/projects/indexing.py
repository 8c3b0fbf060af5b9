"""Reads new and changed files of projects into the index.

Each file is stored when it has been read, so indexing can be stopped or killed at any time and resumed later. Documents
are parsed in a helper process; text is decoded here.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.attachments.reading import MAX_CHARS, MAX_DOCUMENT_BYTES, MAX_TEXT_BYTES, read_document
from app.core.domain.attachment_errors import AttachmentError, FileTooLargeError
from app.core.domain.attachments import AttachmentKind
from app.core.domain.file_kinds import file_extension, kind_of
from app.core.domain.projects import MAX_FILES
from app.core.domain.text_decoding import decode
from app.core.projects.index import DocumentIndex, SourceFile
from app.core.projects.passages import passages_of, text_sections
from engine.sandbox.document_child import Section
from engine.sentences import i18n, size_of

# In folders only files with known extensions are read; a file that the user added itself is always tried.
_TEXT_KINDS = frozenset({"txt", "text", "rst", "org", "adoc", "log", "srt", "vtt"})
_WEB_EXTENSIONS = frozenset({"html", "htm", "xhtml"})
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "build", "dist", "target"})


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress: ``done`` of ``total`` files, and the name of the next file."""

    done: int
    total: int
    name: str = ""


def update(
    index: DocumentIndex,
    sources: Sequence[str],
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
) -> None:
    """Update the index for these sources (files and folders).

    A missing source keeps its passages, since its disk may only be disconnected.

    Raises:
        StorageError: the index cannot be written.
    """
    waiting: list[SourceFile] = []
    for source in sources:
        if not Path(source).exists():
            continue
        known = index.file_of(source)
        found = {one.path: one for one in files_of(source)}
        for path in known.keys() - found.keys():
            index.forget_file(source, path)
        waiting += [one for path, one in found.items() if known.get(path) != one.facts]
    for place, one in enumerate(waiting):
        if should_stop():
            return
        on_progress(Progress(place, len(waiting), one.name))
        _read(index, one, should_stop)
    on_progress(Progress(len(waiting), len(waiting)))


def files_of(source: str) -> Iterator[SourceFile]:
    """The readable files of a source, sorted by path, without hidden files and without linked folders."""
    if not Path(source).is_dir():
        yield from _facts(source, Path(source))
        return
    count = 0
    for folder, names, files in os.walk(source):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            if count < MAX_FILES and _is_readable(name):
                for found in _facts(source, Path(folder, name)):
                    count += 1
                    yield found


def _is_readable(name: str) -> bool:
    if name.startswith((".", "~$")):  # "~$": lock files of office programs
        return False
    kind = kind_of(name)
    return kind is not AttachmentKind.PICTURE and (
        kind is not AttachmentKind.TEXT or file_extension(name) in _TEXT_KINDS
    )


def _facts(source: str, path: Path) -> Iterator[SourceFile]:
    try:
        facts = path.stat()
    except OSError:
        return  # the file was deleted meanwhile
    if stat.S_ISREG(facts.st_mode) and facts.st_size:
        yield SourceFile(source, str(path), facts.st_size, facts.st_mtime_ns)


def _read(index: DocumentIndex, found: SourceFile, should_stop: Callable[[], bool]) -> None:
    try:
        sections, num_pages = _sections(found, should_stop)
    except AttachmentError as error:
        if not should_stop():
            index.put_file(found, problem=error.message)
        return
    index.put_file(found, passages_of(sections), num_pages)


def _sections(found: SourceFile, should_stop: Callable[[], bool]) -> tuple[Sequence[Section], int]:
    """Read a file.

    Raises:
        AttachmentError: the file cannot be read; the message says why.
    """
    path, name, kind = Path(found.path), found.name, kind_of(found.path)
    is_document = kind in (AttachmentKind.PDF, AttachmentKind.DOCUMENT) or file_extension(found.path) in _WEB_EXTENSIONS
    limit = MAX_DOCUMENT_BYTES if is_document else MAX_TEXT_BYTES
    if found.num_bytes > limit:
        words = i18n(
            "“{name}” is {size}; the limit is {limit}.", name=name, size=size_of(found.num_bytes), limit=size_of(limit)
        )
        raise FileTooLargeError(words)
    if is_document:
        read = read_document(path, name, MAX_CHARS, should_stop)
        return read.sections, read.num_pages
    try:
        with path.open("rb") as file:
            text = decode(file.read(limit), name).text
    except OSError as error:
        raise AttachmentError(
            i18n("“{name}” cannot be read: {reason}.", name=name, reason=error.strerror or error)
        ) from error
    has_columns = kind is AttachmentKind.CSV
    return list(text_sections(text, has_headings=kind is AttachmentKind.MARKDOWN, has_columns=has_columns)), 0
