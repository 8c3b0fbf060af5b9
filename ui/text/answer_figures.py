"""The figures of one answer in words: the line below it, and its speed beside that of plain decoding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.domain.speed.verdict import Missing, SpeedVerdict, answer_verdict
from engine.records import Mode, RunStats
from engine.sentences import Sentence
from ui.text.formatting import UNKNOWN, count, duration, milliseconds, percent, speed, times_plain
from ui.text.language import locale, mark, translate
from ui.text.mode_words import mode_word
from ui.text.problem_words import in_language
from ui.text.setting_words import sentence

# The English beginnings, which every decision has, also one that was stored as plain text.
_OF_DRAFTING = re.compile(r"(token \d+: )?(draft|n-gram on|text lookup|plain decoding)")
_WITH_PLACE = re.compile(r"token (?P<place>\d+): (?P<reason>.+)", re.DOTALL)
SHORT_PASS_MS = 5.0  # passes of plain decoding beside which a frame of the window is not small

_MISSING = {
    Missing.NO_TOKENS: mark("SpeedVerdict", "There is nothing to compare yet."),
    Missing.NOTHING_DRAFTED: mark("SpeedVerdict", "Nothing was drafted: this was plain decoding itself."),
    Missing.PLAIN_UNKNOWN: mark(
        "SpeedVerdict",
        "Not compared with plain decoding: what it costs here is measured while the window is idle, and was not yet.",
    ),
    Missing.BESIDE_OTHERS: mark(
        "SpeedVerdict", "Not compared with plain decoding: other answers were made at the same time."
    ),
    Missing.PLAIN_CHANGED: mark(
        "SpeedVerdict",
        "Not compared with plain decoding: the computer became much slower or faster during the answer.",
    ),
    Missing.FEW_TOKENS: mark(
        "SpeedVerdict", "Not compared with plain decoding: so few tokens say more about chance than about speed."
    ),
    Missing.SHORT_PASSES: mark(
        "SpeedVerdict",
        "Not compared with plain decoding: its passes take only {cost} here, so the result would say more about "
        "drawing the window than about drafting.",
    ),
    Missing.NOTHING_ACCEPTED: mark(
        "SpeedVerdict",
        "Not compared with plain decoding: no drafted token was accepted, so it was the computer that was faster.",
    ),
}
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


def drafting_reason(decisions: Sequence[str]) -> str:
    """The newest of an answer's decisions that is about drafting, in the user's language; empty where none is."""
    return decision_words(next((each for each in reversed(decisions) if _OF_DRAFTING.match(each)), ""))[0]


def decision_words(decision: str) -> tuple[str, str]:
    """A decision in the user's language, and the number of the token that it was taken at; empty where none is kept."""
    found = _WITH_PLACE.fullmatch(decision)
    if found is None:
        return in_language(decision), ""
    reason = decision.fields.get("reason", decision) if isinstance(decision, Sentence) else found["reason"]
    return in_language(reason if isinstance(reason, str) else str(reason)), count(int(found["place"]))


def verdict_words(verdict: SpeedVerdict) -> str:
    """The verdict in a few words: ``1.62× faster``."""
    if verdict.speedup is not None:
        return faster_words(verdict)
    if verdict.missing is Missing.NOTHING_DRAFTED:
        return translate("SpeedVerdict", "Plain decoding")
    if verdict.missing in (None, Missing.NO_TOKENS):
        return UNKNOWN
    if verdict.missing is Missing.NOT_SETTLED:
        return translate("SpeedVerdict", "Comparing …")
    return translate("SpeedVerdict", "Not compared")


def faster_words(verdict: SpeedVerdict) -> str:
    """How much faster or slower than plain decoding."""
    speedup = verdict.speedup
    if speedup is None:
        return UNKNOWN
    if verdict.is_even:
        return translate("SpeedVerdict", "About the same speed")
    faster, slower = translate("SpeedVerdict", "{times} faster"), translate("SpeedVerdict", "{times} slower")
    return faster.format(times=times_plain(speedup)) if speedup > 1 else slower.format(times=times_plain(1 / speedup))


def missing_words(verdict: SpeedVerdict, plain_ms: float | None) -> str:
    """Why no speed-up is shown, as a sentence; empty where one is. ``plain_ms``: what a plain pass takes."""
    if verdict.missing not in _MISSING:
        return ""
    return translate("SpeedVerdict", _MISSING[verdict.missing]).format(cost=milliseconds(plain_ms))


def basis_words(verdict: SpeedVerdict, stats: RunStats, *, live: bool = False) -> str:
    """What the verdict on an answer rests on, or why there is none; and what it leaves out.

    While an answer is made, ``live``, it is the same sentence, so that nothing below it moves; beside other answers it
    is another one, of as many lines.
    """
    basis = translate("SpeedVerdict", "Compared with plain decoding, as measured on this computer.")
    if live:
        return missing_words(verdict, None) if verdict.missing is Missing.BESIDE_OTHERS else basis
    return f"{missing_words(verdict, stats.plain_ms) or basis} {draft_reading_words(stats)}".rstrip()


def draft_reading_words(stats: RunStats) -> str:
    """What the draft model's reading of the prompt took; empty where it read none."""
    if not stats.draft_prompt_s:
        return ""
    words = translate("SpeedVerdict", "The draft model read the prompt in {time}, which is not counted here.")
    return words.format(time=duration(stats.draft_prompt_s))


# ---- the line below an answer ----------------------------------------------------------------------------------------


def footer_parts(stats: RunStats | None, seed: int | None = None) -> list[tuple[str, str]]:
    """The figures below a finished answer, the most telling first, each with the sentence how it is measured.

    Then its ``seed``, where it was drawn by one.
    """
    if stats is None or not stats.tokens:
        return []
    verdict = answer_verdict(stats)
    passes = UNKNOWN if stats.tokens_per_pass is None else locale().toString(stats.tokens_per_pass, "f", 1)
    parts = [
        (speed(stats.tokens_per_second), _speed_words(stats, verdict)),
        (
            translate("Figures", "{number} tokens per pass").format(number=passes),
            translate("Figures", "Tokens per forward pass of the target; plain decoding is 1.0."),
        ),
    ]
    if verdict.speedup is not None:
        parts.append(_plain_part(stats, verdict))
    how = translate("Figures", "How tokens were proposed.")
    parts += [_kept_part(stats), *_forced_parts(stats), (mode_word(stats.mode), f"{how} {_why(stats)}".rstrip())]
    parts.append(_length_part(stats))
    if seed is not None:
        meaning = translate("Figures", "It was drawn by this seed, which gives it again: see the menu of the answer.")
        parts.append((translate("Figures", "seed {seed}").format(seed=seed), meaning))
    return parts


def _length_part(stats: RunStats) -> tuple[str, str]:
    """How long the answer is, and how long its first token took, where that is known."""
    words = translate("Figures", "%Ln tokens", None, stats.tokens)
    meaning = translate("Figures", "Tokens of the answer, its reasoning included.")
    if stats.time_to_first_token_s is None:
        return words, meaning
    first = translate("Figures", "{tokens}, the first after {time}")
    took = translate("Figures", "The first came {time} after the question: the model reads the prompt before.")
    time = duration(stats.time_to_first_token_s)
    return first.format(tokens=words, time=time), f"{meaning} {took.format(time=time)}"


def _speed_words(stats: RunStats, verdict: SpeedVerdict) -> str:
    """What the speed is, and why it is not compared with plain decoding where tokens were drafted and it is not."""
    words = translate("Figures", "Tokens per second, from the end of reading the prompt to the last token.")
    return f"{words} {missing_words(verdict, stats.plain_ms)}".rstrip() if stats.proposed else words


def _why(stats: RunStats) -> str:
    """Why tokens were proposed or not at the end of the answer, as a sentence; empty where nothing is known of it."""
    reason = drafting_reason(stats.decisions)
    return f"{sentence(reason)}." if reason else ""


def nothing_drafted(stats: RunStats) -> str:
    """What an answer without a drafted token has in place of figures about them: that it is so, and why."""
    meaning = translate("Figures", "No tokens were proposed: every pass gave one token of the target.")
    return " ".join(filter(None, (meaning, _why(stats), help_words(stats))))


def _kept_part(stats: RunStats) -> tuple[str, str]:
    if not stats.proposed:
        return figure_words(stats), nothing_drafted(stats)
    words = translate("Figures", "{number} drafted, {share} accepted")
    meaning = translate("Figures", "How many of the drafted tokens the target accepted.")
    return words.format(share=percent(stats.acceptance_rate), number=count(stats.proposed)), meaning


def _forced_parts(stats: RunStats) -> list[tuple[str, str]]:
    if not stats.forced_accepted:
        return []
    words = translate("Figures", "{number} fixed by the schema")
    meaning = translate(
        "Figures", "Of the drafted tokens, those that a schema left no choice about: they needed no draft model."
    )
    return [(words.format(number=count(stats.forced_accepted)), meaning)]


def _plain_part(stats: RunStats, verdict: SpeedVerdict) -> tuple[str, str]:
    meaning = translate(
        "Figures",
        "Compared with plain decoding on this model with this much context: its passes of one token take "
        "{cost} here, so it would run at {speed}. That is measured while the window is idle, and corrected "
        "by later passes.",
    )
    plain = 1000.0 / stats.plain_ms if stats.plain_ms else None
    words = translate("Figures", "about the same speed") if verdict.is_even else faster_words(verdict)
    said = meaning.format(cost=milliseconds(stats.plain_ms), speed=speed(plain))
    said = f"{said} {draft_reading_words(stats)}".rstrip()
    if stats.plain_ms is None or stats.plain_ms >= SHORT_PASS_MS or stats.inter_token_ms_p50 is None:
        return words, said
    # Where a pass takes 0.4 ms one token in a hundred took 18 ms, and the figure was half of what it should be.
    share = translate(
        "Figures",
        "With passes this short, drawing the window takes a share of the processor's time. It counts for "
        "this answer, but not for plain decoding, so the figure is rather too low. Half of the tokens came "
        "within {median}.",
    )
    return words, f"{said} {share.format(median=milliseconds(stats.inter_token_ms_p50))}"


def footer(stats: RunStats | None) -> str:
    """The line of figures below a finished answer."""
    return " · ".join(text for text, _ in footer_parts(stats))
