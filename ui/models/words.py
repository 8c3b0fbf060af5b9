"""Words of the Models panel: verdicts, kinds of files, speeds and dates."""

from __future__ import annotations

from datetime import date, datetime

from PySide6.QtCore import QDate

from app.core.domain.models import DownloadStatus, Drafting, FileKind, FitLevel, VocabularyMatch
from ui.text.formatting import UNKNOWN, figure, size
from ui.text.language import locale, mark, translator

tr = translator("Words")

FIT_WORDS = {
    FitLevel.FITS: mark("Words", "Fits"),
    FitLevel.TIGHT: mark("Words", "Tight"),
    FitLevel.TOO_LARGE: mark("Words", "Too large"),
    FitLevel.UNKNOWN: mark("Words", "Fit unknown"),
}
FIT_ICONS = {
    FitLevel.FITS: "circle-check",
    FitLevel.TIGHT: "triangle-alert",
    FitLevel.TOO_LARGE: "circle-x",
    FitLevel.UNKNOWN: "circle-question-mark",
}
FIT_TONES = {FitLevel.FITS: "good", FitLevel.TIGHT: "warn", FitLevel.TOO_LARGE: "bad"}
MATCH_TONES = {VocabularyMatch.YES: "good", VocabularyMatch.TRANSLATED: "good", VocabularyMatch.NO: "bad"}
KIND_WORDS = {
    FileKind.MODEL: mark("Words", "Model"),
    FileKind.DRAFT: mark("Words", "Draft model"),
    FileKind.MMPROJ: mark("Words", "Image projector (mmproj)"),
    FileKind.MTP: mark("Words", "Next-token heads (MTP)"),
    FileKind.EAGLE: mark("Words", "EAGLE head"),
    FileKind.DFLASH: mark("Words", "DFlash or DSpark head"),
    FileKind.IMATRIX: mark("Words", "Quantization data (imatrix)"),
    FileKind.VOCAB: mark("Words", "Vocabulary only"),
    FileKind.ADAPTER: mark("Words", "Adapter (LoRA)"),
}
KIND_HELP = {
    FileKind.MODEL: mark("Words", "A model that can answer."),
    FileKind.DRAFT: mark("Words", "A small model made to draft for a large one. Use it as a draft, not for chatting."),
    FileKind.MMPROJ: mark("Words", "Lets a model see images. It is not a model itself and cannot chat."),
    FileKind.MTP: mark(
        "Words", "Extra layers that propose several tokens at once. They belong to one model and cannot chat."
    ),
    FileKind.EAGLE: mark("Words", "A drafting head that reads the target's inner state. It cannot be used on its own."),
    FileKind.DFLASH: mark("Words", "A drafting head that proposes a block at once. It cannot be used on its own."),
    FileKind.IMATRIX: mark("Words", "Measurements used when a model is quantized. Not for chatting."),
    FileKind.VOCAB: mark("Words", "A vocabulary without weights. Not for chatting."),
    FileKind.ADAPTER: mark("Words", "A change to another model's weights. It cannot be used on its own."),
}
DRAFTING_WORDS = {
    Drafting.DRAFT_MODEL: mark("Words", "A small model drafts for it"),
    Drafting.HEADS_INSIDE: mark("Words", "Heads inside: next-token layers (MTP) in the model's own file"),
    Drafting.SIDE_FILE: mark("Words", "A head in a file of its own (MTP, EAGLE-3, DFlash, DSpark or Medusa)"),
    Drafting.TEXT: mark("Words", "Text that repeats is drafted; no second model is needed"),
}
MATCH_WORDS = {
    VocabularyMatch.YES: mark("Words", "The draft matches"),
    VocabularyMatch.TRANSLATED: mark("Words", "The draft can be used"),
    VocabularyMatch.NO: mark("Words", "The draft does not match"),
    VocabularyMatch.CHECKING: mark("Words", "Checking the vocabularies"),
    VocabularyMatch.UNCHECKED: mark("Words", "Not checked yet"),
}
MATCH_ICONS = {
    VocabularyMatch.YES: "circle-check",
    VocabularyMatch.TRANSLATED: "circle-check",
    VocabularyMatch.NO: "circle-x",
    VocabularyMatch.CHECKING: "search",
    VocabularyMatch.UNCHECKED: "circle-question-mark",
}
STATE_WORDS = {
    DownloadStatus.QUEUED: mark("Words", "Waiting"),
    DownloadStatus.WAITING: mark("Words", "Waiting"),
    DownloadStatus.RUNNING: mark("Words", "Downloading"),
    DownloadStatus.VERIFYING: mark("Words", "Checking the file"),
    DownloadStatus.PAUSED: mark("Words", "Paused"),
    DownloadStatus.FAILED: mark("Words", "Stopped"),
    DownloadStatus.DONE: mark("Words", "Complete"),
}


def bytes_or_unknown(num_bytes: int | None) -> str:
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
    """The remaining time, rounded to what can be known."""
    if seconds is None:
        return tr("time left unknown")
    if seconds < 60:
        return tr("{seconds} s left").format(seconds=max(round(seconds), 1))
    minutes = round(seconds / 60)
    if minutes < 60:
        return tr("{minutes} min left").format(minutes=minutes)
    hours, rest = divmod(minutes, 60)
    return tr("{hours} h {rest} min left").format(hours=hours, rest=rest)


def day(moment: date | None, today: date) -> str:
    """A date in words."""
    if moment is None:
        return UNKNOWN
    age = (today - moment).days
    if age <= 0:
        return tr("today")
    if age == 1:
        return tr("yesterday")
    if age < 30:
        return tr("%n days ago", None, age)
    return locale().toString(QDate(moment.year, moment.month, moment.day), tr("d MMM yyyy"))


def used(moment: datetime | None, today: date) -> str:
    return tr("never used") if moment is None else tr("used {day}").format(day=day(moment.date(), today))
