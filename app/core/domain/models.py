"""What the Models panel shows: results, files, pairs, downloads and the library, as plain data filled by the app.

Sizes are in bytes; None means not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum, StrEnum
from pathlib import Path

from app.core.domain.speed.speed_forecast import SpeedForecast, SpeedRange
from engine.records import Problem

NUM_SUGGESTED = 3  # pairs, among the first steps
LARGEST_DRAFT_SHARE = 0.2  # of the target's size: with a larger draft little is to be gained


class FitLevel(StrEnum):
    """Whether something fits this machine."""

    FITS = "fits"
    TIGHT = "tight"
    TOO_LARGE = "too large"
    UNKNOWN = "unknown"


class Suitability(IntEnum):
    """How well a model would run on this machine, from bad to good, by its size and the speed to be expected."""

    NOT = 0  # it does not fit, or only just
    SOMEHOW = 1  # it fits, but slower than people read, with little memory left for others, or nobody knows how fast
    WELL = 2  # with half of the free memory left, and never slower than people read
    FAST = 3  # likewise, and twice as fast as that


class Drawback(StrEnum):
    """What keeps a model that fits from running well."""

    THINKS = "thinks"  # fast enough to read along, but it thinks before it answers
    MEMORY = "memory"  # less than half of the free memory is left
    UNKNOWN = "unknown"  # nobody knows how fast
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
        """Whether such a file can be loaded as a target."""
        return self in (FileKind.MODEL, FileKind.DRAFT)


class Drafting(StrEnum):
    """Where the proposals for a target come from."""

    DRAFT_MODEL = "draft model"
    HEADS_INSIDE = "heads inside"  # next-token layers (MTP) in the target's own file
    SIDE_FILE = "side file"  # a head in a file of its own: MTP, EAGLE-3, DFlash, DSpark, Medusa
    TEXT = "text"  # text that repeats, no second model

    @property
    def needs_file(self) -> bool:
        """Whether there is a second file beside the target's."""
        return self in (Drafting.DRAFT_MODEL, Drafting.SIDE_FILE)


class Presence(StrEnum):
    """Where a file of the hub is by now."""

    ABSENT = "absent"
    DOWNLOADING = "downloading"
    HERE = "here"


class DownloadStatus(StrEnum):
    """Where a download stands. QUEUED, RUNNING and VERIFYING go on by themselves."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"  # after a failure of the connection, until the next attempt
    VERIFYING = "verifying"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"

    @property
    def is_active(self) -> bool:
        """Whether a thread is at work on it."""
        return self in (DownloadStatus.RUNNING, DownloadStatus.WAITING, DownloadStatus.VERIFYING)


class VocabularyMatch(StrEnum):
    """Whether a draft may serve a target."""

    YES = "yes"
    TRANSLATED = "translated"  # with another vocabulary: what it says is translated
    NO = "no"
    CHECKING = "checking"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for. ``sort`` is "downloads", "updated" or "name"."""

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
        """The file's own name."""
        return (self.path or self.file or self.url.partition("?")[0]).replace("\\", "/").rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class RepoFile:
    """One file of a repository. ``sha256`` is 64 hex digits, or empty where the hub does not say."""

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
        """All files together; None where one size is not known."""
        return _sum_known(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class RepoRow:
    """One result of a search."""

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
    """All of one repository. ``readme`` is Markdown as it came: untrusted. ``gated_words`` says what access needs."""

    row: RepoRow
    summary: str = ""
    readme: str = ""
    files: tuple[FileRow, ...] = ()
    gated_words: str = ""
    has_token: bool = False


@dataclass(frozen=True, slots=True)
class FitPart:
    """A line of the fit table."""

    label: str
    target_bytes: int | None
    draft_bytes: int | None

    @property
    def total_bytes(self) -> int | None:
        """Both together; None where neither is known."""
        known = [size for size in (self.target_bytes, self.draft_bytes) if size is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class FitPlace:
    """A room that has to hold something: main memory, GPU memory or the disk."""

    label: str
    needed_bytes: int
    free_bytes: int | None
    level: FitLevel


@dataclass(frozen=True, slots=True)
class FitSummary:
    """What a pair takes on this machine, what is free, and what to change where that is not enough.

    ``parallel``: answers at once, each with ``n_ctx`` tokens, or with ``shared_context`` all of them together.
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
    """One half of a pair."""

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
    match_words: str = ""  # what differs, or how much of it a draft with another vocabulary can say
    fit: FitSummary | None = None
    gain_words: str = ""  # what it gave here, or may give
    note: str = ""  # what that rests on
    speed_forecast: SpeedForecast | None = None  # which both tell
    drafting: Drafting = Drafting.DRAFT_MODEL
    can_have: bool = True  # False where the hub no longer has it as listed

    @property
    def is_here(self) -> bool:
        """Whether every file is on this computer."""
        sides = [self.target] + ([self.draft] if self.draft else [])
        return all(side.presence is Presence.HERE for side in sides)

    @property
    def missing_bytes(self) -> int | None:
        """What would be downloaded; None where a size is not known."""
        sides = [self.target] + ([self.draft] if self.draft else [])
        return _sum_known(side.size_bytes for side in sides if side.presence is not Presence.HERE)


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """A recommended target with what drafts for it.

    ``speedup`` is the range that its source gives; ``checked`` is what the hub said.
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
    plain: SpeedRange | None = None  # of the target on this machine; None where nothing here could tell
    expected: str = ""  # of the pair, in words
    leaves_room: bool = False  # half of the free memory, or more
    thinks: bool = False  # before it answers

    @property
    def suits(self) -> Suitability:
        """How well it would run here."""
        if self.fit is not FitLevel.FITS:
            return Suitability.NOT
        if self.plain is None or not self.leaves_room:
            return Suitability.SOMEHOW
        plain = self.plain.halved() if self.thinks else self.plain
        return (
            Suitability.FAST
            if plain.is_fast
            else Suitability.WELL
            if plain.is_never_waited_for
            else Suitability.SOMEHOW
        )

    @property
    def drawback(self) -> Drawback:
        """Why it does not run well here, though it fits."""
        if not self.leaves_room:
            return Drawback.MEMORY
        if self.plain is None:
            return Drawback.UNKNOWN
        return Drawback.THINKS if self.thinks and self.plain.is_never_waited_for else Drawback.SLOW

    @property
    def preference(self) -> tuple[Suitability, bool, int]:
        """What to offer first: what runs best here, then what can gain much by drafting, then the largest."""
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
    """What the finder found for one target. ``words`` says what was looked at and where it could not look."""

    target: PairSide | None = None
    rows: tuple[DraftRow, ...] = ()
    busy: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class FileProgress:
    """One file of a download."""

    path: str
    size_bytes: int | None
    done_bytes: int = 0


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """What to fetch. ``draft_of`` names the target in the library to pair this model with when it is here.

    ``url``: the address of the first file where it is of no hub; ``repo_id`` then only names a folder of the library.
    """

    repo_id: str
    model: RepoModel
    revision: str = "main"
    draft_of: str = ""
    licence: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Download:
    """One download as it is now. ``message`` and ``advice`` say why it failed, waits, or started over."""

    key: str
    request: DownloadRequest
    status: DownloadStatus
    files: tuple[FileProgress, ...]
    bytes_per_s: float | None = None
    attempt: int = 0
    message: str = ""
    advice: str = ""
    path: str = ""  # where the model is, once it is complete

    @property
    def name(self) -> str:
        """The model's."""
        return self.request.model.name

    @property
    def done_bytes(self) -> int:
        """Bytes on the disk."""
        return sum(file.done_bytes for file in self.files)

    @property
    def size_bytes(self) -> int | None:
        """All files together; None where one size is not known."""
        return _sum_known(file.size_bytes for file in self.files)

    @property
    def fraction(self) -> float | None:
        """Share that has arrived."""
        return min(self.done_bytes / self.size_bytes, 1.0) if self.size_bytes else None

    @property
    def seconds_left(self) -> float | None:
        """At the present speed; None where that is not known."""
        if not self.bytes_per_s or self.size_bytes is None:
            return None
        return (self.size_bytes - self.done_bytes) / self.bytes_per_s


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """A model of the library."""

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
    source: str = ""  # the repository or package that it came from
    side_file: str = ""  # the name of the one beside it, with which it sees pictures


@dataclass(frozen=True, slots=True)
class PickerView:
    """What the header offers: the library's models that can answer, the last used first, and those that can draft."""

    targets: tuple[LibraryRow, ...] = ()
    drafts: tuple[LibraryRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """A model that another program keeps on this disk and that could be added in place."""

    name: str
    files: tuple[Path, ...]
    kind: FileKind
    found_in: str  # "Hugging Face cache", "LM Studio", "Jan", "llama.cpp"
    quantization: str = ""
    size_bytes: int = 0

    @property
    def path(self) -> str:
        """The file to load."""
        return str(self.files[0])


@dataclass(frozen=True, slots=True)
class ScanView:
    """How far the scan of a folder is, or what came of it. ``is_running``: it can be stopped."""

    folder: str
    is_running: bool
    num_files: int = 0
    num_found: int = 0
    num_unreadable: int = 0
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class LinkView:
    """What is behind a link. While it is looked at, and where ``problem`` says why it cannot be used, nothing else.

    ``hosts``: the servers that the bytes come from, in order.
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
    """One graphics processor."""

    name: str
    total_bytes: int | None
    free_bytes: int | None


@dataclass(frozen=True, slots=True)
class Hardware:
    """What this machine has."""

    num_cores: int
    memory_bytes: int
    free_memory_bytes: int
    free_disk_bytes: int | None
    gpus: tuple[Gpu, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstModelView:
    """The small real model that the first run offers. ``words`` say why it could not be had."""

    name: str
    maker: str
    licence: str
    package: str  # empty where only the hub can be asked
    size_bytes: int
    download_bytes: int
    status: DownloadStatus | None = None  # None: not here, and not asked for
    from_hub: bool = False  # it is the hub that is being asked
    done_bytes: int = 0
    total_bytes: int = 0
    words: str = ""
    path: str = ""

    @property
    def fraction(self) -> float | None:
        """How much has come; None where nothing has yet."""
        return self.done_bytes / self.total_bytes if self.done_bytes and self.total_bytes else None


class SelfDraftState(StrEnum):
    """How making a draft of a model itself stands."""

    OFFERED = "offered"
    WORKING = "working"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SelfDraftView:
    """A draft made of a model itself. ``size_bytes`` are the model's.

    ``words`` say what is done now, or what was measured, a sentence each, or why it failed; ``draft`` is the file of
    the copy that can pay, empty where none can.
    """

    name: str
    size_bytes: int
    state: SelfDraftState = SelfDraftState.OFFERED
    words: tuple[str, ...] = ()
    fraction: float = 0.0
    draft: str = ""


def _sum_known(sizes: Iterable[int | None]) -> int | None:
    """The sum of ``sizes``; None where one is not known."""
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total
