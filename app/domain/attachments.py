"""Files that go along with a message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AttachmentKind(StrEnum):
    """What an attached file is."""

    TEXT = "text"
    CODE = "code"
    MARKDOWN = "markdown"
    CSV = "csv"
    PDF = "pdf"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file's text that goes along with a message.

    ``text`` is empty where only what is shown of it is needed. ``num_tokens``: what it takes of the context, None
    where nobody has counted.
    """

    id: int
    name: str
    kind: AttachmentKind
    num_bytes: int
    text: str = ""
    num_tokens: int | None = None
