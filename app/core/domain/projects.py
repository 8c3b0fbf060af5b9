"""Projects (a folder of chats with its own instructions and files), and passages of their files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.framing import NO_PASSAGES
from app.core.domain.messages import MessageView
from app.core.domain.models import ModelRef
from app.core.domain.settings.fields import SettingValue

MAX_FILES = 10_000  # maximum number of files in one folder
CHARS_PER_TOKEN = 3.0  # a low estimate, so that passages fit
SEARCH_TOOL = "search_documents"
SOURCE_LINK = "source:"  # links to passages within the app: ``source:ANSWER_ID/NUMBER``
_PASSAGE_HEADER = re.compile(r"^\[(\d{1,3})\] (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Project:
    """Instructions and other settings in ``values``, and the paths of files and folders in ``sources``.

    ``folder_id``: its folder of chats; 0 until the window has made it. ``id`` stays the same if the name changes.
    ``model_path``: the target for its chats; empty: the loaded model.
    """

    id: str
    name: str
    folder_id: int = 0
    sources: tuple[str, ...] = ()
    values: Mapping[str, SettingValue] = field(default_factory=dict)
    model_path: str = ""


class FileState(StrEnum):
    """The result of reading a project's file."""

    READ = "read"
    FAILED = "failed"  # see `ProjectFile.problem`
    MISSING = "gone"  # its source is missing now; its passages stay in the index


@dataclass(frozen=True, slots=True)
class EmbedderOffer:
    """An embedding model on the hub."""

    name: str
    ref: ModelRef
    num_bytes: int
    only_english: bool = False


EMBEDDERS = (
    EmbedderOffer(
        "EmbeddingGemma 300M",
        ModelRef("ggml-org/embeddinggemma-300M-GGUF", "embeddinggemma-300M-Q8_0.gguf"),
        333_590_944,
    ),
    EmbedderOffer(
        "Nomic Embed Text 1.5",
        ModelRef("nomic-ai/nomic-embed-text-v1.5-GGUF", "nomic-embed-text-v1.5.Q8_0.gguf"),
        146_146_432,
        only_english=True,
    ),
)


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of a project, as last read. ``num_pages``: 0 for a file without pages."""

    path: str
    name: str
    num_bytes: int
    state: FileState
    num_pages: int = 0
    num_passages: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a file: its text, page, heading and first line; 0 or empty if unknown."""

    path: str
    name: str
    text: str
    page: int = 0
    heading: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        """The location as text for the model and the user: ``report.pdf, page 3, Results``."""
        page = f"page {self.page}" if self.page else f"line {self.line}" if self.line else ""
        return ", ".join(filter(None, (self.name, page, self.heading[:120])))


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that the model got under a number."""

    number: int
    place: str
    text: str


def passages_attachment(passages: Sequence[Passage]) -> Attachment:
    text = format_passages(passages)
    return Attachment(0, "passages.txt", AttachmentKind.PASSAGES, len(text.encode()), text)


def format_passages(passages: Sequence[Passage], first: int = 1) -> str:
    """Format passages with numbers and locations; `cited_passages` parses the result."""
    if not passages:
        return NO_PASSAGES
    # Lines that look like the number of a passage are changed.
    texts = (_PASSAGE_HEADER.sub(lambda found: f" {found[0]}", one.text) for one in passages)
    parts = (
        f"[{number}] {one.place}\n{text}" for number, (one, text) in enumerate(zip(passages, texts, strict=True), first)
    )
    return "\n\n".join(parts)


def cited_passages(text: str) -> tuple[CitedPassage, ...]:
    """Parse the output of `format_passages`."""
    found = list(_PASSAGE_HEADER.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    return tuple(
        CitedPassage(int(each[1]), each[2], text[each.end() : end].strip())
        for each, end in zip(found, ends, strict=True)
    )


def with_citations(views: Sequence[MessageView]) -> tuple[MessageView, ...]:
    """Mark answers that got passages, from the question or from a tool."""
    marked, cites = [], False
    for view in views:
        if view.role == "user":
            cites = any(one.kind is AttachmentKind.PASSAGES for one in view.attachments)
        cites = cites or (view.call is not None and view.call.name == SEARCH_TOOL)
        marked.append(replace(view, cites=True) if cites and view.role == "assistant" else view)
    return tuple(marked)


def fitting_passages(passages: Iterable[Passage], max_chars: int) -> tuple[Passage, ...]:
    """The first passages that together fit ``max_chars``; at least one."""
    kept: list[Passage] = []
    for passage in passages:
        max_chars -= len(passage.text) + len(passage.place)
        if kept and max_chars < 0:
            break
        kept.append(passage)
    return tuple(kept)
