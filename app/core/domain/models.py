"""The data of the Models panel: search results, files, pairs, downloads and the library.

Sizes are in bytes; None means unknown.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from pathlib import Path

from app.core.domain.speed.pair_speed import PairSpeed
from engine.records import FitLevel

LARGEST_DRAFT_SHARE = 0.2  # draft size / target size: larger drafts gain little


class Suitability(IntEnum):
    """How well a model would run on this machine, by its size and expected speed; in ascending order."""

    NOT = 0  # the model does not fit, or barely
    POORLY = 1  # it fits, but is slow (below reading speed), leaves little free memory, or has unknown speed
    WELL = 2  # leaves half of the free memory, and is faster than reading speed
    FAST = 3  # like `WELL`, and at least twice reading speed


class FileKind(StrEnum):
    """The kind of a GGUF file, by its name."""

    MODEL = "model"
    DRAFT = "draft"  # a small model made for drafting; it can run as a target, too
    MMPROJ = "mmproj"  # the projector of a vision model
    MTP = "mtp"  # next-token heads for one target
    EAGLE = "eagle"
    DFLASH = "dflash"  # a DFlash or DSpark head
    IMATRIX = "imatrix"  # importance matrix for quantizing
    VOCAB = "vocab"  # a vocabulary without weights
    ADAPTER = "adapter"  # a LoRA adapter

    @property
    def runs_alone(self) -> bool:
        """True if the file can be loaded as a target."""
        return self in (FileKind.MODEL, FileKind.DRAFT)


class Drafting(StrEnum):
    """The source of drafts for a target."""

    DRAFT_MODEL = "draft model"
    HEADS_INSIDE = "heads inside"  # next-token layers (MTP) in the target's own file
    SIDE_FILE = "side file"  # a head in a file of its own: MTP, EAGLE-3, DFlash, DSpark
    TEXT = "text"  # n-grams, without a second model


class Presence(StrEnum):
    ABSENT = "absent"
    DOWNLOADING = "downloading"
    HERE = "here"


class DownloadStatus(StrEnum):
    """QUEUED, RUNNING, WAITING and VERIFYING proceed without the user."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"  # for the next attempt, after a connection failed
    VERIFYING = "verifying"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"

    @property
    def is_active(self) -> bool:
        """True if a thread is working on the download."""
        return self in (DownloadStatus.RUNNING, DownloadStatus.WAITING, DownloadStatus.VERIFYING)


class VocabularyMatch(StrEnum):
    """Whether a draft's vocabulary matches the target's."""

    YES = "yes"
    TRANSLATED = "translated"  # another vocabulary: tokens are translated
    NO = "no"
    CHECKING = "checking"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class ModelRef:
    """One model file: on the hub (``repo`` and ``file``), on this machine (``path``), or behind a link (``url``)."""

    repo: str = ""
    file: str = ""
    path: str = ""
    url: str = ""

    @property
    def name(self) -> str:
        return (self.path or self.file or self.url.partition("?")[0]).replace("\\", "/").rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class RepoFile:
    """One file of a repository. ``sha256``: 64 hex digits; empty if the hub has none."""

    path: str
    size_bytes: int | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class RepoModel:
    """One model of a repository: a GGUF file, or all its shards in order."""

    name: str  # the file's name without folder, shard number and ".gguf"
    kind: FileKind
    files: tuple[RepoFile, ...]
    quantization: str = ""
    missing_shards: int = 0

    @property
    def size_bytes(self) -> int | None:
        """The size of all files; None if a size is unknown."""
        return sum_if_all_known(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class RepoSummary:
    """One repository in a search result."""

    repo_id: str  # "owner/name"
    downloads: int | None = None
    updated: datetime | None = None
    gated: bool = False  # downloads need the publisher's consent
    licence: str = ""
    architecture: str = ""
    num_parameters: int | None = None
    context_length: int | None = None
    quantizations: tuple[str, ...] = ()

    @property
    def author(self) -> str:
        return self.repo_id.partition("/")[0]

    @property
    def name(self) -> str:
        return self.repo_id.partition("/")[2]


@dataclass(frozen=True, slots=True)
class FileRow:
    """One model or side file of a repository; shards of a model share a row."""

    ref: ModelRef
    kind: FileKind
    label: str  # the quantization, or the kind of file
    size_bytes: int | None = None
    num_parts: int = 1
    fit: FitLevel = FitLevel.UNKNOWN
    presence: Presence = Presence.ABSENT


@dataclass(frozen=True, slots=True)
class RepoView:
    """A repository with its files, and the start of the hub's addresses of pages."""

    repo: RepoSummary
    page_url: str = ""
    files: tuple[FileRow, ...] = ()
    has_token: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Needed and free space in main memory, GPU memory or on the disk."""

    label: str
    needed_bytes: int
    free_bytes: int | None
    level: FitLevel


@dataclass(frozen=True, slots=True)
class FitSummary:
    """The memory that a pair needs on this machine, the free memory, and advice if it is not enough.

    ``parallel``: number of concurrent answers; each has ``n_ctx`` tokens.
    """

    n_ctx: int
    places: tuple[MemoryPlace, ...]
    level: FitLevel
    advice: str = ""
    parallel: int = 1


@dataclass(frozen=True, slots=True)
class PairSide:
    ref: ModelRef
    name: str
    detail: str = ""  # quantization, repository
    size_bytes: int | None = None
    presence: Presence = Presence.ABSENT


@dataclass(frozen=True, slots=True)
class PairView:
    """A target, optionally a draft, and the verdicts on the pair."""

    target: PairSide
    draft: PairSide | None = None
    match: VocabularyMatch = VocabularyMatch.UNCHECKED
    match_words: str = ""  # how the vocabularies differ, or the translatable share
    fit: FitSummary | None = None
    measured: PairSpeed | None = None  # speed of its answers and races on this machine
    drafting: Drafting = Drafting.DRAFT_MODEL
    can_have: bool = True  # False if the hub no longer has the listed files

    @property
    def is_here(self) -> bool:
        sides = [self.target] + ([self.draft] if self.draft else [])
        return all(side.presence is Presence.HERE for side in sides)

    @property
    def missing_bytes(self) -> int | None:
        """The size of the missing files; None if a size is unknown."""
        sides = [self.target] + ([self.draft] if self.draft else [])
        return sum_if_all_known(side.size_bytes for side in sides if side.presence is not Presence.HERE)


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """A recommended target with its drafter. ``checked``: the result of a check with the hub."""

    key: str
    name: str
    good_for: str
    pair: PairView
    licence: str = ""
    checked: str = ""
    fit: FitLevel = FitLevel.UNKNOWN
    suits: Suitability = Suitability.NOT
    tokens_per_s: float | None = None  # about, for plain decoding on this machine; None if unknown
    thinks: bool = False  # the target reasons before it answers

    @property
    def preference(self) -> tuple[Suitability, bool, int]:
        """Sort key of recommendations: suitability on this machine, then gain from drafting, then size."""
        target, draft = self.pair.target.size_bytes or 0, self.pair.draft
        if draft is None:
            return self.suits, self.pair.drafting is Drafting.HEADS_INSIDE, target
        size = draft.size_bytes or 0
        return self.suits, size <= LARGEST_DRAFT_SHARE * target, target + size


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """A download. ``draft_of`` names the target in the library to pair this model with.

    ``url``: the address of a link's first file; ``repo_id`` is then its folder in the library.
    """

    repo_id: str
    model: RepoModel
    draft_of: str = ""
    licence: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Download:
    """The state of a download. ``message`` and ``advice`` say why it failed, waits, or started over."""

    key: str
    request: DownloadRequest
    status: DownloadStatus
    done_bytes: int = 0
    size_bytes: int | None = None  # of all files; None if a size is unknown
    bytes_per_s: float | None = None
    attempt: int = 0
    message: str = ""
    advice: str = ""
    path: str = ""  # the model's path after completion

    @property
    def name(self) -> str:
        return self.request.model.name

    @property
    def fraction(self) -> float | None:
        return min(self.done_bytes / self.size_bytes, 1.0) if self.size_bytes else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds left at the present speed; None if unknown."""
        if not self.bytes_per_s or self.size_bytes is None:
            return None
        return (self.size_bytes - self.done_bytes) / self.bytes_per_s


@dataclass(frozen=True, slots=True)
class LibraryRow:
    key: str
    path: str
    name: str
    size_bytes: int
    architecture: str = ""
    quantization: str = ""
    last_used: datetime | None = None
    paired_with: str = ""
    in_place: bool = False
    missing: bool = False
    in_use: str = ""  # "target", "draft" or ""
    licence: str = ""
    source: str = ""  # the repository or package that it came from
    side_file: str = ""  # its mmproj file (vision)


@dataclass(frozen=True, slots=True)
class PickerView:
    """The models in the header's menu: targets (last used first), and drafts for the current target."""

    targets: tuple[LibraryRow, ...] = ()
    drafts: tuple[LibraryRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of another program on this disk, which the library can use in its place."""

    name: str
    files: tuple[Path, ...]
    kind: FileKind
    found_in: str  # "Hugging Face cache", "LM Studio", "Ollama", or its folder
    quantization: str = ""
    size_bytes: int = 0

    @property
    def path(self) -> str:
        return str(self.files[0])


def sum_if_all_known(sizes: Iterable[int | None]) -> int | None:
    """The sum; None if a size is unknown."""
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total
