"""Files that go along with a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class AttachmentKind(StrEnum):
    """What an attached file is."""

    TEXT = "text"
    CODE = "code"
    MARKDOWN = "markdown"
    CSV = "csv"
    PDF = "pdf"
    DOCUMENT = "document"  # of an office program, a book, an e-mail
    PASSAGES = "passages"  # found in the files of a project
    PICTURE = "picture"


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A stored picture: ``data`` is a PNG or JPEG with its pixels only; empty if only the thumbnail is needed.

    ``digest`` names the data. ``width`` and ``height`` in pixels; ``thumbnail`` is a small PNG or JPEG of it.
    """

    digest: str
    width: int
    height: int
    thumbnail: bytes = field(repr=False)
    data: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file's text, or a picture, that goes along with a message.

    ``text`` is empty for a picture, and in lists that show names only. ``num_tokens``: its part of
    the context, None if not counted.
    """

    id: int
    name: str
    kind: AttachmentKind
    num_bytes: int
    text: str = ""
    num_tokens: int | None = None
    picture: StoredPicture | None = None
