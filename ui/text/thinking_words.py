"""How a model may be had think, in words."""

from __future__ import annotations

from engine.records import THINKING_OFF, THINKING_ON
from ui.text.formatting import count
from ui.text.language import mark, translate

_NAMES = {
    THINKING_OFF: mark("Thinking", "Off"),
    THINKING_ON: mark("Thinking", "On"),
    "adaptive": mark("Thinking", "As needed"),
    "minimal": mark("Thinking", "Minimal"),
    "low": mark("Thinking", "Low"),
    "medium": mark("Thinking", "Medium"),
    "high": mark("Thinking", "High"),
    "xhigh": mark("Thinking", "Very high"),
    "max": mark("Thinking", "Maximum"),
}
_LINES = {
    THINKING_OFF: mark("Thinking", "Answers at once"),
    THINKING_ON: mark("Thinking", "Reasons before it answers"),
    "adaptive": mark("Thinking", "Decides by the question"),
    "minimal": mark("Thinking", "Hardly reasons"),
    "low": mark("Thinking", "Reasons briefly"),
    "medium": mark("Thinking", "Reasons for a while"),
    "high": mark("Thinking", "Reasons at length"),
    "xhigh": mark("Thinking", "Reasons at great length"),
    "max": mark("Thinking", "Reasons for as long as it can"),
}


def thinking_name(name: str) -> str:
    """An option in a word or two."""
    if name.isdecimal():
        return translate("Thinking", "Up to {number} tokens").format(number=count(int(name)))
    return translate("Thinking", _NAMES[name])


def thinking_line(name: str) -> str:
    """What an option means, in a few plain words."""
    if name.isdecimal():
        return translate("Thinking", "Reasons until so much is written")
    return translate("Thinking", _LINES[name])
