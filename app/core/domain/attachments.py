"""The attachments of messages."""

from dataclasses import dataclass, field
from enum import StrEnum


class AttachmentKind(StrEnum):
    TEXT = "text"
    CODE = "code"
    MARKDOWN = "markdown"
    CSV = "csv"
    PDF = "pdf"
    DOCUMENT = "document"  # an office document, e-book or e-mail
    PASSAGES = "passages"  # found in the files of a project
    PICTURE = "picture"


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A stored picture. ``data``: a PNG or JPEG without metadata; empty if only the thumbnail is needed.

    ``digest`` identifies ``data``. ``width`` and ``height`` are in pixels; ``thumbnail`` is a small PNG or JPEG.
    """

    digest: str
    width: int
    height: int
    thumbnail: bytes = field(repr=False)
    data: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment of a message: a file's text, or a picture.

    ``text`` is empty for a picture, and in lists that show names only. ``num_tokens``: its estimated tokens in the
    context; None if not shown.
    """

    id: int
    name: str
    kind: AttachmentKind
    num_bytes: int
    text: str = ""
    num_tokens: int | None = None
    picture: StoredPicture | None = None
