"""The data of the Models panel: results, files, pairs, downloads and the library.

Sizes are in bytes; None means unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum, StrEnum
from pathlib import Path

from app.core.domain.speed.speed_forecast import SpeedForecast, SpeedRange
from engine.records import Problem

NUM_SUGGESTED = 3  # pairs in the first steps
LARGEST_DRAFT_SHARE = 0.2  # of the target's size: a larger draft gains little


class FitLevel(StrEnum):
    FITS = "fits"
    TIGHT = "tight"
    TOO_LARGE = "too large"
    UNKNOWN = "unknown"


class Suitability(IntEnum):
    """How well a model would run on this machine, from bad to good, by its size and expected speed."""

    NOT = 0  # it does not fit, or barely
    SOMEHOW = 1  # it fits, but slower than reading speed, with little free memory left, or with unknown speed
    WELL = 2  # at least half of the free memory left, and never slower than reading speed
    FAST = 3  # as `WELL`, and twice as fast


class Drawback(StrEnum):
    """Why a model that fits does not run well."""

    THINKS = "thinks"  # fast enough to read along, but it reasons before it answers
    MEMORY = "memory"  # less than half of the free memory is left
    UNKNOWN = "unknown"  # the speed is unknown
    SLOW = "slow"


class FileKind(StrEnum):
    """The kind of a GGUF file, by its name."""

    MODEL = "model"
    DRAFT = "draft"  # a small model made to draft for a big one: it can chat, but is no chat model
    MMPROJ = "mmproj"  # the projector of a vision model
    MTP = "mtp"  # next-token heads that belong to one target
    EAGLE = "eagle"
    DFLASH = "dflash"  # DFlash or DSpark
    IMATRIX = "imatrix"  # statistics for quantizing
    VOCAB = "vocab"  # a vocabulary without weights
    ADAPTER = "adapter"  # a LoRA

    @property
    def runs_alone(self) -> bool:
        """True if the file can be loaded as a target."""
        return self in (FileKind.MODEL, FileKind.DRAFT)


class Drafting(StrEnum):
    """The source of drafts for a target."""

    DRAFT_MODEL = "draft model"
    HEADS_INSIDE = "heads inside"  # next-token layers (MTP) in the target's own file
    SIDE_FILE = "side file"  # a head in a file of its own: MTP, EAGLE-3, DFlash, DSpark, Medusa
    TEXT = "text"  # n-grams, without a second model

    @property
    def needs_file(self) -> bool:
        """True if drafting needs a second file."""
        return self in (Drafting.DRAFT_MODEL, Drafting.SIDE_FILE)


class Presence(StrEnum):
    ABSENT = "absent"
    DOWNLOADING = "downloading"
    HERE = "here"


class DownloadStatus(StrEnum):
    """QUEUED, RUNNING and VERIFYING continue by themselves."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"  # after a failure of the connection, until the next attempt
    VERIFYING = "verifying"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"

    @property
    def is_active(self) -> bool:
        """True if a thread works on it."""
        return self in (DownloadStatus.RUNNING, DownloadStatus.WAITING, DownloadStatus.VERIFYING)


class VocabularyMatch(StrEnum):
    """Whether a draft fits a target."""

    YES = "yes"
    TRANSLATED = "translated"  # with another vocabulary: its tokens are translated
    NO = "no"
    CHECKING = "checking"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """``sort`` is "downloads", "updated" or "name"."""

    text: str = ""
    sort: str = "downloads"
    only_fitting: bool = False


@dataclass(frozen=True, slots=True)
class ModelRef:
    """One model file: on the hub (``repo`` and ``file``), here (``path``), or behind a link (``url``)."""

    repo: str = ""
    file: str = ""
    path: str = ""
    url: str = ""

    @property
    def name(self) -> str:
        return (self.path or self.file or self.url.partition("?")[0]).replace("\\", "/").rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class RepoFile:
    """One file of a repository. ``sha256`` is 64 hex digits, or empty if the hub does not say."""

    path: str
    size_bytes: int | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class RepoModel:
    """One model of a repository: one GGUF file, or all shards of one, in order."""

    name: str  # the file's name without folder, shard number and ".gguf"
    kind: FileKind
    files: tuple[RepoFile, ...]
    quantization: str = ""
    missing_shards: int = 0

    @property
    def size_bytes(self) -> int | None:
        """The size of all files; None if one is unknown."""
        return _sum_known(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class RepoRow:
    repo: str
    author: str
    name: str
    downloads: int | None = None
    updated: date | None = None
    licence: str = ""
    gated: bool = False
    fit: FitLevel = FitLevel.UNKNOWN


@dataclass(frozen=True, slots=True)
class FileRow:
    """One model or side file of a repository; the shards of one model are one row."""

    ref: ModelRef
    kind: FileKind
    label: str  # the quantization, or what it is
    size_bytes: int | None = None
    num_parts: int = 1
    fit: FitLevel = FitLevel.UNKNOWN
    fit_words: str = ""
    presence: Presence = Presence.ABSENT


@dataclass(frozen=True, slots=True)
class RepoView:
    """A repository with its files. ``readme`` is untrusted Markdown. ``gated_words`` says what access needs."""

    row: RepoRow
    summary: str = ""
    readme: str = ""
    files: tuple[FileRow, ...] = ()
    gated_words: str = ""
    has_token: bool = False


@dataclass(frozen=True, slots=True)
class FitPart:
    label: str
    target_bytes: int | None
    draft_bytes: int | None

    @property
    def total_bytes(self) -> int | None:
        """The sum; None if both are unknown."""
        known = [size for size in (self.target_bytes, self.draft_bytes) if size is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class FitPlace:
    """Main memory, GPU memory or the disk."""

    label: str
    needed_bytes: int
    free_bytes: int | None
    level: FitLevel


@dataclass(frozen=True, slots=True)
class FitSummary:
    """The memory of a pair on this machine, the free memory, and what to change if it is not enough.

    ``parallel``: concurrent answers, each with ``n_ctx`` tokens, or with ``shared_context`` all together.
    """

    n_ctx: int
    parts: tuple[FitPart, ...]
    places: tuple[FitPlace, ...]
    level: FitLevel
    sentence: str = ""
    advice: tuple[str, ...] = ()
    parallel: int = 1
    shared_context: bool = False


@dataclass(frozen=True, slots=True)
class PairSide:
    ref: ModelRef
    name: str
    detail: str = ""  # quantization, repository
    size_bytes: int | None = None
    presence: Presence = Presence.ABSENT


@dataclass(frozen=True, slots=True)
class PairView:
    """A target, perhaps a draft, and the verdicts on both together."""

    target: PairSide
    draft: PairSide | None = None
    match: VocabularyMatch = VocabularyMatch.UNCHECKED
    match_words: str = ""  # the difference, or the translatable share of another vocabulary
    fit: FitSummary | None = None
    gain_words: str = ""  # the measured or expected gain
    note: str = ""  # the basis of the gain
    speed_forecast: SpeedForecast | None = None  # the source of both texts
    drafting: Drafting = Drafting.DRAFT_MODEL
    can_have: bool = True  # False if the hub no longer has it as listed

    @property
    def is_here(self) -> bool:
        sides = [self.target] + ([self.draft] if self.draft else [])
        return all(side.presence is Presence.HERE for side in sides)

    @property
    def missing_bytes(self) -> int | None:
        """The size of the missing files; None if one is unknown."""
        sides = [self.target] + ([self.draft] if self.draft else [])
        return _sum_known(side.size_bytes for side in sides if side.presence is not Presence.HERE)


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """A recommended target with its drafter.

    ``speedup`` is the range that its source gives; ``checked`` is the hub's answer.
    """

    key: str
    name: str
    good_for: str
    pair: PairView
    licence: str = ""
    speedup: str = ""
    source: str = ""
    checked: str = ""
    fit: FitLevel = FitLevel.UNKNOWN
    plain: SpeedRange | None = None  # of the target on this machine; None if unknown
    expected: str = ""  # of the pair, as text
    leaves_room: bool = False  # at least half of the free memory
    thinks: bool = False  # it reasons before it answers

    @property
    def suits(self) -> Suitability:
        if self.fit is not FitLevel.FITS:
            return Suitability.NOT
        if self.plain is None or not self.leaves_room:
            return Suitability.SOMEHOW
        plain = self.plain.halved() if self.thinks else self.plain
        return Suitability.FAST if plain.is_fast else Suitability.WELL if plain.is_surely_fast else Suitability.SOMEHOW

    @property
    def drawback(self) -> Drawback:
        """Why it does not run well here, though it fits."""
        if not self.leaves_room:
            return Drawback.MEMORY
        if self.plain is None:
            return Drawback.UNKNOWN
        return Drawback.THINKS if self.thinks and self.plain.is_surely_fast else Drawback.SLOW

    @property
    def preference(self) -> tuple[Suitability, bool, int]:
        """The order of recommendation: by suitability here, then by gain from drafting, then by size."""
        target, draft = self.pair.target.size_bytes or 0, self.pair.draft
        if draft is None:
            return self.suits, self.pair.drafting is Drafting.HEADS_INSIDE, target
        size = draft.size_bytes or 0
        return self.suits, size <= LARGEST_DRAFT_SHARE * target, target + size


@dataclass(frozen=True, slots=True)
class DraftRow:
    """One candidate for a target. ``place`` is "on this computer", "recommended" or "on the hub"."""

    side: PairSide
    place: str
    match: VocabularyMatch
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DraftList:
    """The candidates for one target. ``words`` says which sources were searched, and which could not be."""

    target: PairSide | None = None
    rows: tuple[DraftRow, ...] = ()
    busy: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class FileProgress:
    path: str
    size_bytes: int | None
    done_bytes: int = 0


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """A download. ``draft_of`` names the target in the library to pair this model with.

    ``url`` is the address of the first file of a link; ``repo_id`` then names a folder of the library.
    """

    repo_id: str
    model: RepoModel
    revision: str = "main"
    draft_of: str = ""
    licence: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Download:
    """The state of a download. ``message`` and ``advice`` say why it failed, waits, or started over."""

    key: str
    request: DownloadRequest
    status: DownloadStatus
    files: tuple[FileProgress, ...]
    bytes_per_s: float | None = None
    attempt: int = 0
    message: str = ""
    advice: str = ""
    path: str = ""  # the model's path, once it is complete

    @property
    def name(self) -> str:
        return self.request.model.name

    @property
    def done_bytes(self) -> int:
        return sum(file.done_bytes for file in self.files)

    @property
    def size_bytes(self) -> int | None:
        """The size of all files; None if one is unknown."""
        return _sum_known(file.size_bytes for file in self.files)

    @property
    def fraction(self) -> float | None:
        return min(self.done_bytes / self.size_bytes, 1.0) if self.size_bytes else None

    @property
    def seconds_left(self) -> float | None:
        """At the present speed; None if unknown."""
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
    in_use: str = ""  # "target", "draft" or nothing
    licence: str = ""
    source: str = ""  # its repository or package
    side_file: str = ""  # the vision side file beside it


@dataclass(frozen=True, slots=True)
class PickerView:
    """The models of the header's menu: those that can answer, last used first, and those that can draft."""

    targets: tuple[LibraryRow, ...] = ()
    drafts: tuple[LibraryRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of another program on this disk that could be added in place."""

    name: str
    files: tuple[Path, ...]
    kind: FileKind
    found_in: str  # "Hugging Face cache", "LM Studio", "Jan", "llama.cpp"
    quantization: str = ""
    size_bytes: int = 0

    @property
    def path(self) -> str:
        return str(self.files[0])


@dataclass(frozen=True, slots=True)
class ScanView:
    """The progress or the result of a folder scan. ``is_running``: it can be stopped."""

    folder: str
    is_running: bool
    num_files: int = 0
    num_found: int = 0
    num_unreadable: int = 0
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class LinkView:
    """The model behind a link; only the address while it is checked or if there is a ``problem``.

    ``hosts`` serve the bytes, in order.
    """

    url: str
    is_looking: bool = False
    problem: Problem | None = None
    name: str = ""
    facts: str = ""
    size_bytes: int = 0
    num_parts: int = 1
    hosts: tuple[str, ...] = ()
    fit: FitLevel = FitLevel.UNKNOWN


@dataclass(frozen=True, slots=True)
class Gpu:
    name: str
    total_bytes: int | None
    free_bytes: int | None


@dataclass(frozen=True, slots=True)
class Hardware:
    num_cores: int
    memory_bytes: int
    free_memory_bytes: int
    free_disk_bytes: int | None
    gpus: tuple[Gpu, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstModelView:
    """The small real model of the first run. ``words`` say why the download failed."""

    name: str
    maker: str
    licence: str
    package: str  # empty if only the hub has it
    size_bytes: int
    download_bytes: int
    status: DownloadStatus | None = None  # None: not here, and not requested
    from_hub: bool = False  # the hub is being asked
    done_bytes: int = 0
    total_bytes: int = 0
    words: str = ""
    path: str = ""

    @property
    def fraction(self) -> float | None:
        """The downloaded share; None before the first byte."""
        return self.done_bytes / self.total_bytes if self.done_bytes and self.total_bytes else None


class SelfDraftState(StrEnum):
    OFFERED = "offered"
    WORKING = "working"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SelfDraftView:
    """The draft made from a model itself. ``size_bytes`` is the model's size.

    ``words`` are sentences about the progress, the measurements or the failure; ``draft`` is the file of the copy that
    is faster, empty if none is.
    """

    name: str
    size_bytes: int
    state: SelfDraftState = SelfDraftState.OFFERED
    words: tuple[str, ...] = ()
    fraction: float = 0.0
    draft: str = ""


def _sum_known(sizes: Iterable[int | None]) -> int | None:
    """None if one size is unknown."""
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total
