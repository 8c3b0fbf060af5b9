"""The name, effect, needs and cost of each speculation mode."""

from __future__ import annotations

from dataclasses import dataclass

from engine.records import Mode
from ui.text.language import mark, translator

tr = translator("Modes")


@dataclass(frozen=True, slots=True)
class ModeWords:
    name: str
    does: str
    needs: str
    costs: str

    @property
    def lines(self) -> tuple[str, str, str]:
        """All three as lines."""
        return (
            self.does,
            tr("Needs: {words}").format(words=self.needs),
            tr("Costs: {words}").format(words=self.costs),
        )


_WORDS: dict[Mode, ModeWords] = {
    Mode.AUTO: ModeWords(
        mark("Modes", "Auto"),
        mark("Modes", "Chooses what should be fastest for each pass, which may be no drafting."),
        mark("Modes", "Nothing. With a draft model it has one more choice."),
        mark("Modes", "A second or two of measuring after a model is loaded, and an occasional pass to measure again."),
    ),
    Mode.OFF: ModeWords(
        mark("Modes", "Off"),
        mark("Modes", "Without drafting: one token per pass of the target. Other modes are compared with it."),
        mark("Modes", "Nothing."),
        mark("Modes", "No extra work, and no gain."),
    ),
    Mode.NGRAM: ModeWords(
        mark("Modes", "N-gram (prompt lookup)"),
        mark("Modes", "Drafts what followed the same words earlier in this chat."),
        mark("Modes", "Text that repeats itself: code, quotations, lists, corrections. No second model."),
        mark("Modes", "Almost nothing; a wrong guess makes one pass a little longer."),
    ),
    Mode.SUFFIX: ModeWords(
        mark("Modes", "Suffix decoding"),
        mark("Modes", "Drafts what most often followed the longest match, here and in past chats if they may be used."),
        mark("Modes", "Text that repeats itself, or resembles what was said before. No second model."),
        mark("Modes", "A little memory for the index; a wrong guess makes one pass a little longer."),
    ),
    Mode.DRAFT: ModeWords(
        mark("Modes", "Draft model"),
        mark("Modes", "A small model drafts tokens, and the target checks them all in one pass."),
        mark("Modes", "A draft model, best with the target's vocabulary and a tenth of its size or less."),
        mark("Modes", "Memory and time for its own passes; too large a draft makes answers slower."),
    ),
    Mode.HEAD: ModeWords(
        mark("Modes", "Head (MTP, EAGLE-3, DFlash)"),
        mark("Modes", "Layers that read the target's hidden state draft tokens; the target checks them in one pass."),
        mark("Modes", "A model with next-token layers (MTP), or a head made for this very model, chosen as the draft."),
        mark("Modes", "Memory and time for a layer or a few; on some machines it makes answers slower."),
    ),
}
_IN_A_LINE: dict[str, str] = {
    "off": mark("Modes", "off"),
    "ngram": mark("Modes", "n-gram"),
    "suffix": mark("Modes", "suffix"),
    "draft": mark("Modes", "draft"),
    "head": mark("Modes", "head"),
    "auto": mark("Modes", "auto"),
}
_LINES: dict[str, str] = {
    "auto": mark("Modes", "Whatever is fastest, pass by pass"),
    "off": mark("Modes", "Without drafting: the speed to compare with"),
    "ngram": mark("Modes", "Guesses from words used before in this chat"),
    "suffix": mark("Modes", "Guesses what most often followed the same words"),
    "draft": mark("Modes", "A small model guesses ahead, the large one checks"),
    "head": mark("Modes", "The model's own extra layers guess ahead"),
}
MODE_ORDER = (Mode.AUTO, Mode.OFF, Mode.NGRAM, Mode.SUFFIX, Mode.DRAFT, Mode.HEAD)


def not_now(reason: str) -> str:
    """Why a mode cannot run now; empty if it can."""
    return tr("Not available: {reason}").format(reason=reason) if reason else ""


def mode_word(mode: str) -> str:
    """A mode's name within a line; an unknown word unchanged."""
    return tr(_IN_A_LINE.get(mode, mode))


def mode_line(mode: str) -> str:
    return tr(_LINES[mode])


def mode_words(mode: Mode) -> ModeWords:
    words = _WORDS[mode]
    return ModeWords(*(tr(text) for text in (words.name, words.does, words.needs, words.costs)))
