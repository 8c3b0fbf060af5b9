"""Numbers to words: units always, three significant digits at most, "-" for what is not known; by the locale in use."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from PySide6.QtCore import QLocale
from PySide6.QtGui import Qt as GuiQt

from engine.records import RunStats
from ui.text.language import locale, mark, translate
from ui.text.mode_words import mode_word
from ui.text.nothing_drafted import figure_words, help_words
from ui.text.problem_words import in_language
from ui.text.setting_words import sentence

UNKNOWN = "-"
HOVER_CHARS = 64
TRUSTED_PASS_MS = 2.0  # passes of plain decoding beside which frames of the window are so large that they decide
SHORT_PASS_MS = 5.0  # passes of plain decoding beside which a frame of the window is not small

_MODE_LABELS: dict[str, str] = {
    "off": mark("Modes", "Off"),
    "ngram": mark("Modes", "N-gram"),
    "suffix": mark("Modes", "Suffix"),
    "draft": mark("Modes", "Draft"),
    "head": mark("Modes", "Head"),
    "hybrid": mark("Modes", "Hybrid"),
    "auto": mark("Modes", "Auto"),
}
_PARAMETER_UNITS = (
    mark("Figures", "{number} parameters"),
    mark("Figures", "{number} k parameters"),
    mark("Figures", "{number} M parameters"),
    mark("Figures", "{number} B parameters"),
    mark("Figures", "{number} T parameters"),
)


# The English beginnings, which every decision has, also one that was stored as plain text.
_OF_DRAFTING = re.compile(r"(token \d+: )?(draft|n-gram on|text lookup|plain decoding)")


def drafting_reason(decisions: Sequence[str]) -> str:
    """The newest of an answer's decisions that is about drafting, in the user's language; empty where none is."""
    return in_language(next((each for each in reversed(decisions) if _OF_DRAFTING.match(each)), ""))


def mode_label(mode: str) -> str:
    """A mode's name on a button."""
    return translate("Modes", _MODE_LABELS[mode])


def figure(value: float | None, digits: int = 3) -> str:
    """``value`` with at most ``digits`` significant digits and no exponent: 41.2, 2.71, 1,230."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    # Rounding may have gained a digit (9.996 -> 10.0).
    places = digits - 1 - math.floor(math.log10(abs(rounded)))
    return locale().toString(rounded, "f", max(places, 0))


def count(value: int | None) -> str:
    """A whole number with its thousands apart; counts are exact."""
    return UNKNOWN if value is None else locale().toString(value)


def number_text(value: float, *, grouped: bool = True) -> str:
    """A number as it is, to ten digits; without ``grouped`` as a person would type it."""
    place = QLocale(locale())
    if not grouped:
        place.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
    return place.toString(value) if isinstance(value, int) else place.toString(value, "g", 10)


def percent(share: float | None) -> str:
    """A share of 1 as a percentage; never rounded to 0 or 100 where it is neither."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    value = share * 100
    number = f"{value:.0f}"
    if 0 < value < 1:
        number = "<1"
    elif 99 < value < 100:
        number = ">99"
    # Qt's locales know the sign, but not whether a space stands before it.
    return translate("Figures", "{number}%").format(number=number)


def duration(seconds: float | None) -> str:
    """A time span in the unit that reads best."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if 0 < seconds < 0.000995:  # more digits of so little say nothing
        hundredths = max(round(seconds * 100_000), 1) / 100
        return f"{locale().toString(hundredths, 'f', 2)} ms"
    if seconds < 0.9995:
        return f"{figure(seconds * 1000)} ms"
    if seconds < 60:
        return f"{figure(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    return translate("Figures", "{minutes} min {seconds} s").format(minutes=minutes, seconds=rest)


def milliseconds(value_ms: float | None) -> str:
    """As `duration`, from milliseconds."""
    return duration(None if value_ms is None else value_ms / 1000)


def speed(tokens_per_second: float | None) -> str:
    """Tokens per second with the unit."""
    return translate("Figures", "{number} tok/s").format(number=figure(tokens_per_second))


def per_pass(tokens_per_pass: float | None) -> str:
    """Tokens per pass; always with the digits that tell 1.00 from 1.04."""
    return UNKNOWN if tokens_per_pass is None else figure(tokens_per_pass)


def times_plain(speedup: float | None) -> str:
    """A speed as a multiple of plain decoding's."""
    return UNKNOWN if speedup is None else f"{locale().toString(speedup, 'f', 2)}\N{MULTIPLICATION SIGN}"


def acceptance(stats: RunStats) -> str:
    """The acceptance rate with what it is a share of: ``68% of 210``."""
    if not stats.proposed:
        return UNKNOWN
    of = translate("Figures", "{share} of {number}")
    return of.format(share=percent(stats.acceptance_rate), number=count(stats.proposed))


def shown_speedup(stats: RunStats) -> float | None:
    """Speed over that of plain decoding; None also where passes are so short that it would tell of the window.

    Nor is anything faster that kept no drafted token: what such an answer gained, the machine did.
    """
    speedup = stats.speedup if stats.plain_ms is not None and stats.plain_ms >= TRUSTED_PASS_MS else None
    return None if speedup is not None and speedup > 1.0 and not stats.accepted else speedup


def footer_parts(stats: RunStats | None) -> list[tuple[str, str]]:
    """The figures below a finished answer, the most telling first, each with the sentence how it is measured."""
    if stats is None or not stats.tokens:
        return []
    passes = UNKNOWN if stats.tokens_per_pass is None else locale().toString(stats.tokens_per_pass, "f", 1)
    parts = [
        (speed(stats.tokens_per_second), _speed_words(stats)),
        (
            translate("Figures", "{number} tokens per pass").format(number=passes),
            translate("Figures", "Tokens per forward pass of the target; plain decoding is 1.0."),
        ),
    ]
    speedup = shown_speedup(stats)
    if stats.proposed and speedup is not None:
        parts.append(_plain_part(stats, speedup))
    how = translate("Figures", "How tokens were proposed.")
    return [*parts, _kept_part(stats), (mode_word(stats.mode), f"{how} {_why(stats)}".rstrip())]


def _why(stats: RunStats) -> str:
    """Why tokens were proposed or not at the end of the answer, as a sentence; empty where nothing is known of it."""
    reason = drafting_reason(stats.decisions)
    return f"{sentence(reason)}." if reason else ""


def _speed_words(stats: RunStats) -> str:
    """What the speed is, and why it is not compared with plain decoding where tokens were drafted and it is not."""
    words = translate("Figures", "Tokens per second, from the end of reading the prompt to the last token.")
    if not stats.proposed or shown_speedup(stats) is not None:
        return words
    if stats.plain_ms is None:
        why = translate(
            "Figures",
            "There is no comparison with plain decoding, whose cost was not known: it is measured while the "
            "window is idle, and dropped if the computer became much slower or faster during the answer.",
        )
    elif stats.plain_ms < TRUSTED_PASS_MS:
        why = translate(
            "Figures",
            "There is no comparison with plain decoding: its passes take only {cost} here, so the result "
            "would say more about drawing the window than about drafting.",
        ).format(cost=milliseconds(stats.plain_ms))
    else:
        why = translate(
            "Figures",
            "There is no comparison with plain decoding: no drafted token was accepted, so it was the computer "
            "that was faster than when the cost of a pass was measured.",
        )
    return f"{words} {why}"


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


def _plain_part(stats: RunStats, speedup: float) -> tuple[str, str]:
    words = translate("Figures", "{number}× plain").format(number=locale().toString(speedup, "f", 2))
    meaning = translate(
        "Figures",
        "Compared with plain decoding on this model with this much context: its passes of one token take "
        "{cost} here, so it would run at {speed}. That is measured while the window is idle, and corrected "
        "by later passes.",
    )
    plain = 1000.0 / stats.plain_ms if stats.plain_ms else None
    said = meaning.format(cost=milliseconds(stats.plain_ms), speed=speed(plain))
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


def context(used: int, size: int) -> str:
    """How much of the context is taken: ``1,204 / 4,096``."""
    return f"{count(used)} / {count(size)}" if size else UNKNOWN


def size(num_bytes: int) -> str:
    """A file or memory size in decimal units, as file managers show it."""
    value = float(num_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{figure(value)} {unit}"
        value /= 1000
    return f"{figure(value)} TB"


def parameters(num_params: int) -> str:
    """A parameter count in words: ``8.1 M parameters``."""
    value = float(num_params)
    for unit in _PARAMETER_UNITS[:-1]:
        if value < 999.5:
            return translate("Figures", unit).format(number=figure(value))
        value /= 1000
    return translate("Figures", _PARAMETER_UNITS[-1]).format(number=figure(value))


def hover(text: str) -> str:
    """A text for the pointer's hover, in lines that can be read at a glance."""
    return as_written("\n".join(_in_lines(line) for line in text.split("\n")))


def _in_lines(text: str) -> str:
    """Break between words. A window has a hundred such texts, for which `textwrap` took milliseconds of its start."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > HOVER_CHARS:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return "\n".join(lines)


def as_written(text: str) -> str:
    """A stranger's words for a hover: where Qt would take them for HTML and fetch what that names, they are escaped."""
    return GuiQt.convertFromPlainText(text) if GuiQt.mightBeRichText(text) else text


def on_button(name: str) -> str:
    """A stranger's words for a button or a menu, where Qt takes a lone ``&`` for the key of what follows it."""
    return name.replace("&", "&&")
