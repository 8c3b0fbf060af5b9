"""Numbers as localized text: with units, at most three significant digits, "-" for unknown."""

import math

from PySide6.QtCore import QLocale
from PySide6.QtGui import Qt as GuiQt

from engine.records import RunStats
from ui.text.language import Translator, locale, mark, translate

tr = Translator("Figures")

UNKNOWN = "-"
TOOLTIP_CHARS = 64

_MODE_LABELS: dict[str, str] = {
    "off": mark("Modes", "Off"),
    "ngram": mark("Modes", "N-gram"),
    "suffix": mark("Modes", "Suffix"),
    "draft": mark("Modes", "Draft"),
    "head": mark("Modes", "Head"),
    "auto": mark("Modes", "Auto"),
}
_PARAMETER_UNITS = (
    tr.mark("{number} parameters"),
    tr.mark("{number} k parameters"),
    tr.mark("{number} M parameters"),
    tr.mark("{number} B parameters"),
    tr.mark("{number} T parameters"),
)


def mode_label(mode: str) -> str:
    """A mode's name for buttons."""
    return translate("Modes", _MODE_LABELS[mode])


def decimal_text(value: float | None) -> str:
    """``value`` with at most three significant digits and no exponent: 41.2, 2.71, 1,230."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    places = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    # Rounding may have added a digit (9.996 -> 10.0).
    places = 2 - math.floor(math.log10(abs(rounded)))
    return locale().toString(rounded, "f", max(places, 0))


def count(value: int | None) -> str:
    """A whole number with group separators, exact."""
    return UNKNOWN if value is None else locale().toString(value)


def number_text(value: float, *, grouped: bool = True) -> str:
    """A number with up to ten digits; ``grouped``: with thousands separators."""
    place = QLocale(locale())
    if not grouped:
        place.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
    return place.toString(value) if isinstance(value, int) else place.toString(value, "g", 10)


def percent(share: float | None) -> str:
    """A fraction as a percentage; never rounded to 0 or 100 unless exact."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    value = share * 100
    number = f"{value:.0f}"
    if 0 < value < 1:
        number = "<1"
    elif 99 < value < 100:
        number = ">99"
    # Qt's locales know the percent sign, but not whether a space precedes it.
    return tr("{number}%").format(number=number)


def duration(seconds: float | None) -> str:
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if 0 < seconds < 0.000995:  # further digits are not significant
        hundredths = max(round(seconds * 100_000), 1) / 100
        return f"{locale().toString(hundredths, 'f', 2)} ms"
    if seconds < 0.9995:
        return f"{decimal_text(seconds * 1000)} ms"
    if seconds < 60:
        return f"{decimal_text(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    return tr("{minutes} min {seconds} s").format(minutes=minutes, seconds=rest)


def milliseconds(value_ms: float | None) -> str:
    return duration(None if value_ms is None else value_ms / 1000)


def speed(tokens_per_second: float | None) -> str:
    return tr("{number} tok/s").format(number=decimal_text(tokens_per_second))


def per_pass(tokens_per_pass: float | None) -> str:
    """Tokens per pass, with enough digits to tell 1.00 from 1.04."""
    return UNKNOWN if tokens_per_pass is None else decimal_text(tokens_per_pass)


def times_plain(speedup: float | None) -> str:
    """A speed as a multiple of plain decoding."""
    return UNKNOWN if speedup is None else f"{locale().toString(speedup, 'f', 2)}\N{MULTIPLICATION SIGN}"


def acceptance(stats: RunStats) -> str:
    """The acceptance rate and its base: ``68% of 210``."""
    if not stats.proposed:
        return UNKNOWN
    of = tr("{share} of {number}")
    return of.format(share=percent(stats.acceptance_rate), number=count(stats.proposed))


def size(num_bytes: int) -> str:
    """A file or memory size in decimal units."""
    value = float(num_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{decimal_text(value)} {unit}"
        value /= 1000
    return f"{decimal_text(value)} TB"


def parameters(num_params: int) -> str:
    """A parameter count: ``8.1 M parameters``."""
    value = float(num_params)
    for unit in _PARAMETER_UNITS[:-1]:
        if value < 999.5:
            return tr(unit).format(number=decimal_text(value))
        value /= 1000
    return tr(_PARAMETER_UNITS[-1]).format(number=decimal_text(value))


def tooltip(text: str) -> str:
    """Text for a tool tip, broken into short lines."""
    return without_markup("\n".join(_in_lines(line) for line in text.split("\n")))


def _in_lines(text: str) -> str:
    """Wrap between words. `textwrap` would take milliseconds for the window's hundred tool tips."""
    if len(text) <= TOOLTIP_CHARS:
        return " ".join(text.split())
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > TOOLTIP_CHARS:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return "\n".join(lines)


def without_markup(text: str) -> str:
    """Untrusted text for a tool tip. Escaped if Qt would take it for HTML and load its resources."""
    return GuiQt.convertFromPlainText(text) if GuiQt.mightBeRichText(text) else text


def escape_mnemonics(name: str) -> str:
    """Untrusted text for a button or menu, where Qt takes ``&`` as a mnemonic marker."""
    return name.replace("&", "&&")
