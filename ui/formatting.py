"""Numbers to words: units always, three significant digits at most, "-" for what is not known. Pure, no Qt."""

from __future__ import annotations

import math
import textwrap
from datetime import date

from engine.records import RunStats

UNKNOWN = "-"
HOVER_CHARS = 64

MODE_LABELS: dict[str, str] = {
    "off": "Off",
    "ngram": "N-gram",
    "suffix": "Suffix",
    "draft": "Draft",
    "hybrid": "Hybrid",
    "auto": "Auto",
}
MODE_WORDS: dict[str, str] = {
    "off": "plain",
    "ngram": "n-gram",
    "suffix": "suffix",
    "draft": "draft",
    "hybrid": "hybrid",
    "auto": "auto",
}


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
    return f"{rounded:,.{max(places, 0)}f}"


def count(value: int | None) -> str:
    """A whole number with its thousands apart; counts are exact."""
    return UNKNOWN if value is None else f"{value:,}"


def percent(share: float | None) -> str:
    """A share of 1 as a percentage; never rounded to 0 or 100 where it is neither."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    value = share * 100
    if 0 < value < 1:
        return "<1 %"
    if 99 < value < 100:
        return ">99 %"
    return f"{value:.0f} %"


def duration(seconds: float | None) -> str:
    """A time span in the unit that reads best."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0.9995:
        return f"{figure(seconds * 1000)} ms"
    if seconds < 60:
        return f"{figure(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def milliseconds(value_ms: float | None) -> str:
    """As `duration`, from milliseconds."""
    return duration(None if value_ms is None else value_ms / 1000)


def speed(tokens_per_second: float | None) -> str:
    """Tokens per second with the unit."""
    return f"{figure(tokens_per_second)} tok/s"


def per_pass(tokens_per_pass: float | None) -> str:
    """Tokens per pass; always with the digits that tell 1.00 from 1.04."""
    return UNKNOWN if tokens_per_pass is None else figure(tokens_per_pass)


def times_plain(speedup: float | None) -> str:
    """A speed as a multiple of plain decoding's."""
    return UNKNOWN if speedup is None else f"{speedup:.2f}\N{MULTIPLICATION SIGN}"


def acceptance(stats: RunStats) -> str:
    """The acceptance rate with what it is a share of: ``68 % of 210``."""
    if not stats.proposed:
        return UNKNOWN
    return f"{percent(stats.acceptance_rate)} of {count(stats.proposed)}"


def footer(stats: RunStats | None) -> str:
    """The line of figures below a finished answer."""
    if stats is None or not stats.tokens:
        return ""
    kept = f"{acceptance(stats)} accepted" if stats.proposed else "nothing proposed"
    parts = [speed(stats.tokens_per_second), f"{per_pass(stats.tokens_per_pass)} per pass", kept]
    if stats.proposed and stats.speedup is not None:
        parts.append(f"{times_plain(stats.speedup)} plain")
    return " · ".join((*parts, MODE_WORDS[stats.mode]))


def footer_help(stats: RunStats | None) -> str:
    """What the line of figures means, for its hover."""
    if stats is None or not stats.tokens:
        return ""
    sentences = [
        "Tokens per second, from the end of reading the prompt to the last token; tokens per forward pass of the",
        "target; how many of the drafted tokens were kept.",
    ]
    if stats.proposed and stats.speedup is not None:
        cost = milliseconds(stats.plain_ms)
        sentences.append(f"Against plain decoding, whose passes were measured here at {cost} a token.")
    return " ".join(sentences)


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
    for unit in ("", " k", " M", " B"):
        if value < 999.5:
            return f"{figure(value)}{unit} parameters"
        value /= 1000
    return f"{figure(value)} T parameters"


def hover(text: str) -> str:
    """A text for the pointer's hover, in lines that can be read at a glance."""
    lines = (textwrap.wrap(line, HOVER_CHARS, break_long_words=False) for line in text.split("\n"))
    return "\n".join("\n".join(parts) for parts in lines)


def day_group(day: date, today: date) -> str:
    """The heading under which a conversation of ``day`` is listed."""
    age = (today - day).days
    if age <= 0:
        return "Today"
    return "Yesterday" if age == 1 else "Earlier"
