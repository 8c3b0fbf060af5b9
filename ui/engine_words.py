"""The engine's own sentences in the user's language: why it drafts as it does, why a mode cannot run.

The engine speaks English and knows no language; a sentence of a known shape is taken apart and put together again in
the other language, any other one stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from ui.language import locale, mark, translate

SENTENCES = (
    mark("Engine", "No draft model is chosen."),
    mark("Engine", "plain decoding was asked for"),
    mark("Engine", "plain decoding instead: {reason}"),
    mark("Engine", "{mode} at the chosen depth of {depth}"),
    mark("Engine", "{mode}, paced by measured costs"),
    mark("Engine", "{mode} at depth {depth}"),
    mark("Engine", "draft on: {share} accepted at depth 1"),
    mark("Engine", "draft on as asked, but it does not pay: {why}"),
    mark("Engine", "draft paused: {why}"),
    mark("Engine", "n-gram on: the text repeats"),
    mark("Engine", "{share} accepted at depth 1, {needs}, where a rejection costs {cost} ms"),
    mark("Engine", "{share} accepted at depth 1, {needs}"),
    mark("Engine", "needs {share} here"),
    mark("Engine", "and cannot pay here at any acceptance"),
    mark("Engine", "the {number} oldest messages are left out: the context holds {size} tokens"),
)
INNER = ("reason", "why", "needs")  # fields that are sentences themselves
NARROW = {"mode": r"\w+", "depth": r"\d+"}
MODES = {"off": "plain", "ngram": "n-gram"}
_NUMBER = re.compile(r"(?<=\d)\.(?=\d)")


@cache
def _shape(sentence: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)\}", sentence)
    parts = (
        f"(?P<{piece}>{NARROW.get(piece, '.+?')})" if odd % 2 else re.escape(piece) for odd, piece in enumerate(pieces)
    )
    return re.compile("".join(parts))


def engine_sentence(text: str) -> str:
    """Give a sentence of the engine in the user's language, as far as its shape is known."""
    for sentence in SENTENCES:
        found = _shape(sentence).fullmatch(text)
        if found is not None:
            fields = {name: _field(name, value) for name, value in found.groupdict().items()}
            return translate("Engine", sentence).format(**fields)
    return text


def _field(name: str, value: str) -> str:
    if name in INNER:
        return engine_sentence(value)
    if name == "mode":
        return translate("Modes", MODES.get(value, value))
    return _NUMBER.sub(locale().decimalPoint(), value)
