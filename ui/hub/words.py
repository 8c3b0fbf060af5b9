"""Facts of the Models place in words: verdicts, kinds of files, speeds and dates. Pure, no Qt."""

from __future__ import annotations

from datetime import date, datetime

from ui.formatting import UNKNOWN, figure, size
from ui.hub_records import DownloadState, FileKind, FitLevel, Match

FIT_WORDS = {
    FitLevel.FITS: "Fits",
    FitLevel.TIGHT: "Tight",
    FitLevel.TOO_LARGE: "Too large",
    FitLevel.UNKNOWN: "Fit unknown",
}
FIT_ICONS = {
    FitLevel.FITS: "circle-check",
    FitLevel.TIGHT: "triangle-alert",
    FitLevel.TOO_LARGE: "circle-x",
    FitLevel.UNKNOWN: "circle-question-mark",
}
KIND_WORDS = {
    FileKind.MODEL: "Model",
    FileKind.DRAFTER: "Draft model",
    FileKind.MMPROJ: "Image reader (mmproj)",
    FileKind.MTP: "Next-token heads (MTP)",
    FileKind.EAGLE: "EAGLE head",
    FileKind.DFLASH: "DFlash head",
    FileKind.IMATRIX: "Quantization data (imatrix)",
    FileKind.VOCAB: "Vocabulary only",
    FileKind.ADAPTER: "Adapter (LoRA)",
    FileKind.OTHER: "Other file",
}
KIND_HELP = {
    FileKind.MODEL: "A model that can answer.",
    FileKind.DRAFTER: "A small model made to draft for a large one. Use it as a draft, not to chat with.",
    FileKind.MMPROJ: "Lets a model see images. It is no model of its own and cannot be chatted with.",
    FileKind.MTP: "Extra layers that propose several tokens at once. They belong to one model and cannot chat.",
    FileKind.EAGLE: "A drafting head that reads the target's inner state. It cannot be used on its own.",
    FileKind.DFLASH: "A drafting head that proposes a block at once. It cannot be used on its own.",
    FileKind.IMATRIX: "Measurements used when a model is quantized. Nothing to chat with.",
    FileKind.VOCAB: "A vocabulary without weights. Nothing to chat with.",
    FileKind.ADAPTER: "A change to another model's weights. It cannot be used on its own.",
    FileKind.OTHER: "Not a model as far as its name and header tell.",
}
MATCH_WORDS = {
    Match.YES: "The draft matches",
    Match.NO: "The draft does not match",
    Match.CHECKING: "Checking the vocabularies",
    Match.UNCHECKED: "Not checked yet",
}
MATCH_ICONS = {
    Match.YES: "circle-check",
    Match.NO: "circle-x",
    Match.CHECKING: "search",
    Match.UNCHECKED: "circle-question-mark",
}
STATE_WORDS = {
    DownloadState.WAITING: "Waiting for its turn",
    DownloadState.RUNNING: "Downloading",
    DownloadState.CHECKING: "Checking the file",
    DownloadState.PAUSED: "Paused",
    DownloadState.FAILED: "Stopped",
    DownloadState.DONE: "Complete",
}


def bytes_or_unknown(num_bytes: int | None) -> str:
    """A size, or "-" where it is not known."""
    return UNKNOWN if num_bytes is None else size(num_bytes)


def compact(number: int | None) -> str:
    """A large count in a few letters: 1.23 M."""
    if number is None:
        return UNKNOWN
    if number < 1000:
        return str(number)
    value = number / 1000
    for unit in (" k", " M"):
        if value < 999.5:
            return f"{figure(value)}{unit}"
        value /= 1000
    return f"{figure(value)} B"


def rate(bytes_per_s: float | None) -> str:
    """A transfer speed with its unit."""
    return UNKNOWN if bytes_per_s is None else f"{size(round(bytes_per_s))}/s"


def time_left(seconds: float | None) -> str:
    """How long it will still take, no finer than it can be known."""
    if seconds is None:
        return "time left not known"
    if seconds < 60:
        return f"{max(round(seconds), 1)} s left"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min left"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min left"


def day(moment: date | None, today: date) -> str:
    """A date as people say it."""
    if moment is None:
        return UNKNOWN
    age = (today - moment).days
    if age <= 0:
        return "today"
    if age == 1:
        return "yesterday"
    if age < 30:
        return f"{age} days ago"
    return f"{moment.day} {moment:%b %Y}"


def used(moment: datetime | None, today: date) -> str:
    """When a model was last used."""
    return "never used" if moment is None else f"used {day(moment.date(), today)}"


def plural(number: int, one: str, many: str = "") -> str:
    """A count with its noun: 1 file, 3 files."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
