"""The short name, effect, needs and cost of each speculation mode."""

from dataclasses import dataclass

from engine.records import Mode
from ui.text.language import Translator

tr = Translator("Modes")


@dataclass(frozen=True, slots=True)
class ModeWords:
    does: str
    needs: str
    costs: str

    @property
    def lines(self) -> tuple[str, str, str]:
        """Effect, needs and costs as three lines."""
        return (
            self.does,
            tr("Needs: {words}").format(words=self.needs),
            tr("Costs: {words}").format(words=self.costs),
        )


_WORDS: dict[Mode, ModeWords] = {
    Mode.AUTO: ModeWords(
        tr.mark("Chooses the method that should be fastest for each pass, or no drafting."),
        tr.mark("Nothing. With a draft model it has one more choice."),
        tr.mark("A second or two of measuring after a model is loaded, and an occasional pass to measure again."),
    ),
    Mode.OFF: ModeWords(
        tr.mark("Without drafting: one token per pass of the target. Other modes are compared with it."),
        tr.mark("Nothing."),
        tr.mark("No extra work, and no gain."),
    ),
    Mode.NGRAM: ModeWords(
        tr.mark("Drafts the words that followed the same words earlier in this chat."),
        tr.mark("Text that repeats itself: code, quotations, lists, corrections. No second model."),
        tr.mark("Almost nothing; a wrong guess makes one pass a little longer."),
    ),
    Mode.SUFFIX: ModeWords(
        tr.mark(
            "Drafts the most frequent continuation of the longest match, here and in past chats if they may be used."
        ),
        tr.mark("Text that repeats itself, or resembles earlier text. No second model."),
        tr.mark("A little memory for the index; a wrong guess makes one pass a little longer."),
    ),
    Mode.DRAFT: ModeWords(
        tr.mark("A small model drafts tokens, and the target checks them all in one pass."),
        tr.mark("A draft model, best with the target's vocabulary and a tenth of its size or less."),
        tr.mark("Memory and time for its own passes; too large a draft makes answers slower."),
    ),
    Mode.HEAD: ModeWords(
        tr.mark("Layers that read the target's hidden state draft tokens; the target checks them in one pass."),
        tr.mark("A model with next-token layers (MTP), or a head made for this very model, chosen as the draft."),
        tr.mark("Memory and time for one or a few layers; on some machines it makes answers slower."),
    ),
}
_SHORT_NAMES: dict[str, str] = {
    "off": tr.mark("off"),
    "ngram": tr.mark("n-gram"),
    "suffix": tr.mark("suffix"),
    "draft": tr.mark("draft"),
    "head": tr.mark("head"),
    "auto": tr.mark("auto"),
}
_SUMMARIES: dict[str, str] = {
    "auto": tr.mark("The fastest method for each pass"),
    "off": tr.mark("Without drafting: the speed to compare with"),
    "ngram": tr.mark("Guesses from words used before in this chat"),
    "suffix": tr.mark("Guesses the most frequent continuation"),
    "draft": tr.mark("A small model guesses ahead, the large one checks"),
    "head": tr.mark("The model's own extra layers guess ahead"),
}
MODE_ORDER = (Mode.AUTO, Mode.OFF, Mode.NGRAM, Mode.SUFFIX, Mode.DRAFT, Mode.HEAD)


def unavailable_text(reason: str) -> str:
    """Why a mode cannot run now; empty if it can."""
    return tr("Not available: {reason}").format(reason=reason) if reason else ""


def mode_short_name(mode: str) -> str:
    """A mode's name within a sentence; an unknown mode unchanged."""
    return tr(_SHORT_NAMES.get(mode, mode))


def mode_summary(mode: str) -> str:
    return tr(_SUMMARIES[mode])


def mode_words(mode: Mode) -> ModeWords:
    words = _WORDS[mode]
    return ModeWords(*(tr(text) for text in (words.does, words.needs, words.costs)))
