"""Why an answer has no drafted token, in plain words, and what would help: by its mode and the engine's decisions."""

from __future__ import annotations

from dataclasses import dataclass

from engine.records import Mode, RunStats
from engine.sentences import Sentence
from ui.text.language import mark, translate

SHORT_TOKENS = 8  # of an answer that ends before drafting could begin
_PAUSED, _TEXT_PAUSED = "draft paused", "text lookup paused"
_AT_DEPTH = "at the chosen draft length of 0"
_UNUSED = "the draft is not used"  # while text is


@dataclass(frozen=True, slots=True)
class _Cause:
    short: str  # behind "nothing drafted"
    help: str


PLAIN = _Cause("", mark("NothingDrafted", "The mode “Auto” drafts where that pays off."))
NO_LENGTH = _Cause(
    mark("NothingDrafted", "the draft length is 0"),
    mark("NothingDrafted", "Set the draft length to “Auto” to have tokens drafted."),
)
DEAR_DRAFT = _Cause(
    mark("NothingDrafted", "the draft would not pay off"),
    mark(
        "NothingDrafted",
        "The draft costs more time here than it would save. A smaller draft of the same family may pay off, and text "
        "that repeats is drafted without one.",
    ),
)
UNUSED_DRAFT = _Cause(
    mark("NothingDrafted", "the draft was not used"),
    mark(
        "NothingDrafted",
        "The loaded draft model was not used: it costs more time here than it would save. Of the text so far too "
        "little repeated to draft from it instead. A smaller draft of the same family may pay off.",
    ),
)
UNLIKELY_TEXT = _Cause(
    mark("NothingDrafted", "drafts from the text were rejected too often"),
    mark(
        "NothingDrafted",
        "Earlier text predicted too few tokens. A lower temperature, or a small draft model, may help.",
    ),
)
SHORT = _Cause(
    mark("NothingDrafted", "the answer was short"),
    mark("NothingDrafted", "Drafting begins after a few tokens and pays off in longer answers."),
)
NEW_TEXT = _Cause(
    mark("NothingDrafted", "no text repeated"),
    mark(
        "NothingDrafted",
        "Drafts came from the conversation only, and nothing in it repeated. Code, lists and corrections repeat more; "
        "a small draft model also drafts new text, see “Find a draft” in Models.",
    ),
)


def cause_of(stats: RunStats) -> _Cause:
    """The cause that explains an answer best."""
    reported = [each.template if isinstance(each, Sentence) else each for each in stats.decisions]
    said = [f"{text} {each}" for text, each in zip(reported, stats.decisions, strict=True)]
    if stats.mode is Mode.OFF:
        return PLAIN
    if any(_AT_DEPTH in each for each in said):
        return NO_LENGTH
    if any(_PAUSED in each for each in said):
        return DEAR_DRAFT
    if any(_UNUSED in each for each in said):
        return UNUSED_DRAFT
    if any(_TEXT_PAUSED in each for each in said):
        return UNLIKELY_TEXT
    return SHORT if stats.tokens < SHORT_TOKENS or stats.mode is Mode.DRAFT else NEW_TEXT


def figure_words(stats: RunStats) -> str:
    """What stands among the figures: "nothing drafted", with the cause in a few words."""
    nothing, cause = translate("Figures", "nothing drafted"), cause_of(stats)
    return f"{nothing}: {translate('NothingDrafted', cause.short)}" if cause.short else nothing


def help_words(stats: RunStats) -> str:
    """What would help, in a sentence or two."""
    return translate("NothingDrafted", cause_of(stats).help)
