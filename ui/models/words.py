"""Words of the Models panel: verdicts, kinds of files, speeds and dates."""

from datetime import date, datetime
from typing import NamedTuple

from PySide6.QtCore import QDate

from app.core.domain.models import CatalogRow, DownloadStatus, Drafting, FileKind, VocabularyMatch
from engine.records import FitLevel
from ui.text.formatting import UNKNOWN, decimal_text, number_text, size
from ui.text.language import Translator, locale

tr = Translator("Words")


class StatusSign(NamedTuple):
    """An icon and a word in one tone: "good", "warn", "bad" or "muted"."""

    icon: str
    tone: str
    text: str

    @property
    def words(self) -> str:
        return tr(self.text)


FIT = {
    FitLevel.FITS: StatusSign("circle-check", "good", tr.mark("Fits")),
    FitLevel.TIGHT: StatusSign("triangle-alert", "warn", tr.mark("Tight")),
    FitLevel.TOO_LARGE: StatusSign("circle-x", "bad", tr.mark("Too large")),
    FitLevel.UNKNOWN: StatusSign("circle-question-mark", "muted", tr.mark("Fit unknown")),
}
MATCH = {
    VocabularyMatch.YES: StatusSign("circle-check", "good", tr.mark("The draft matches")),
    VocabularyMatch.TRANSLATED: StatusSign("circle-check", "good", tr.mark("The draft can be used")),
    VocabularyMatch.NO: StatusSign("circle-x", "bad", tr.mark("The draft does not match")),
    VocabularyMatch.CHECKING: StatusSign("search", "muted", tr.mark("Checking the vocabularies")),
    VocabularyMatch.UNCHECKED: StatusSign("circle-question-mark", "muted", tr.mark("Not checked yet")),
}
KINDS = {  # the name of each kind of file, and its explanation
    FileKind.MODEL: (tr.mark("Model"), tr.mark("A model that can answer.")),
    FileKind.DRAFT: (
        tr.mark("Draft model"),
        tr.mark("A small model made to draft for a large one. Use it as a draft, not for chatting."),
    ),
    FileKind.MMPROJ: (
        tr.mark("Image projector (mmproj)"),
        tr.mark("Lets a model see pictures. It is not a model itself and cannot chat."),
    ),
    FileKind.MTP: (
        tr.mark("Next-token heads (MTP)"),
        tr.mark("Extra layers that propose several tokens at once. They belong to one model and cannot chat."),
    ),
    FileKind.EAGLE: (
        tr.mark("EAGLE head"),
        tr.mark("A draft head that reads the target's inner state. It cannot be used on its own."),
    ),
    FileKind.DFLASH: (
        tr.mark("DFlash or DSpark head"),
        tr.mark("A draft head that proposes a block at once. It cannot be used on its own."),
    ),
    FileKind.IMATRIX: (
        tr.mark("Quantization data (imatrix)"),
        tr.mark("Measurements used when a model is quantized. Not for chatting."),
    ),
    FileKind.VOCAB: (tr.mark("Vocabulary only"), tr.mark("A vocabulary without weights. Not for chatting.")),
    FileKind.ADAPTER: (
        tr.mark("Adapter (LoRA)"),
        tr.mark("A change to another model's weights. It cannot be used on its own."),
    ),
}
DRAFTING_WORDS = {
    Drafting.DRAFT_MODEL: tr.mark("A small model drafts for it"),
    Drafting.HEADS_INSIDE: tr.mark("Draft heads inside: next-token layers (MTP) in the model's own file"),
    Drafting.SIDE_FILE: tr.mark("A head in a file of its own (MTP, EAGLE-3, DFlash or DSpark)"),
    Drafting.TEXT: tr.mark("Text that repeats is drafted; no second model is needed"),
}
STATE_WORDS = {
    DownloadStatus.QUEUED: tr.mark("Waiting"),
    DownloadStatus.WAITING: tr.mark("Waiting"),
    DownloadStatus.RUNNING: tr.mark("Downloading"),
    DownloadStatus.VERIFYING: tr.mark("Checking the file"),
    DownloadStatus.PAUSED: tr.mark("Paused"),
    DownloadStatus.FAILED: tr.mark("Stopped"),
    DownloadStatus.DONE: tr.mark("Complete"),
}


def bytes_or_unknown(num_bytes: int | None) -> str:
    return UNKNOWN if num_bytes is None else size(num_bytes)


def speed_words(row: CatalogRow) -> str:
    """The expected speed without drafting; empty if unknown."""
    if row.tokens_per_s is None:
        return ""
    speed = number_text(float(f"{row.tokens_per_s:.2g}"))
    if row.thinks:
        return tr("about {speed} tokens per second, and it thinks first").format(speed=speed)
    return tr("about {speed} tokens per second").format(speed=speed)


def compact_number(number: int | None) -> str:
    """A large count in a few letters: 1.23 M."""
    if number is None:
        return UNKNOWN
    if number < 1000:
        return str(number)
    value = number / 1000
    for unit in (" k", " M"):
        if value < 999.5:
            return f"{decimal_text(value)}{unit}"
        value /= 1000
    return f"{decimal_text(value)} B"


def transfer_rate(bytes_per_s: float | None) -> str:
    """A transfer speed with its unit."""
    return UNKNOWN if bytes_per_s is None else f"{size(round(bytes_per_s))}/s"


def time_left(seconds: float | None) -> str:
    """The remaining time, rounded to seconds or minutes since it is an estimate."""
    if seconds is None:
        return tr("time left unknown")
    if seconds < 60:
        return tr("{seconds} s left").format(seconds=max(round(seconds), 1))
    minutes = round(seconds / 60)
    if minutes < 60:
        return tr("{minutes} min left").format(minutes=minutes)
    hours, rest = divmod(minutes, 60)
    return tr("{hours} h {rest} min left").format(hours=hours, rest=rest)


def day_text(moment: date | None, today: date) -> str:
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


def last_used_text(moment: datetime | None, today: date) -> str:
    return tr("never used") if moment is None else tr("used {day}").format(day=day_text(moment.date(), today))
