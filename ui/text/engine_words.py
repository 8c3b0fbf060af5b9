"""The engine's own sentences in the user's language: why it drafts as it does, why a mode cannot run.

The engine speaks English and knows no language; a sentence of a known shape is taken apart and put together again in
the other language, as it also comes from files; one that still knows its template needs none of that, and any other
stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from engine.sentences import Sentence
from ui.text.language import locale, mark, translate
from ui.text.problem_words import in_language

SENTENCES = (
    mark("Engine", "token {place}: {why}"),
    mark("Engine", "plain decoding was asked for"),
    mark("Engine", "plain decoding instead: {reason}"),
    mark("Engine", "{mode} at the chosen depth of {depth}"),
    mark("Engine", "{mode}, paced by measured costs"),
    mark("Engine", "{mode} at depth {depth}"),
    mark("Engine", "draft on: {share} accepted at depth 1"),
    mark("Engine", "draft on: {share} expected at depth 1"),
    mark("Engine", "draft on as asked, but it does not pay: {why}"),
    mark("Engine", "draft paused: {why}"),
    mark("Engine", "n-gram on: the text repeats"),
    mark("Engine", "text lookup paused: {why}"),
    mark("Engine", "draft model: {why}"),
    mark("Engine", "draft left out: {reason}"),
    mark("Engine", "{share} accepted at depth 1, {needs}, where a rejection costs {cost} ms"),
    mark("Engine", "{share} accepted at depth 1, {needs}"),
    mark("Engine", "{share} accepted, {needs}"),
    mark("Engine", "{share} expected at depth 1, {needs}, where a rejection costs {cost} ms"),
    mark("Engine", "{share} expected at depth 1, {needs}"),
    mark("Engine", "{share} expected, {needs}"),
    mark("Engine", "needs {share} here"),
    mark("Engine", "and cannot pay here at any acceptance"),
    mark("Engine", "the {number} oldest messages are left out: the context holds {size} tokens"),
    mark("Engine", "{number} questions without an answer are left out: the context holds {size} tokens"),
    mark("Engine", "the {number} oldest messages are sent as a summary"),
    mark("Engine", "{threads} to {most}: {why}"),
    mark("Engine", "1 thread"),
    mark("Engine", "{most} threads"),
    mark("Engine", "another program uses the cores"),
    mark("Engine", "the cores are free again"),
    mark("Engine", "that is faster here"),
    mark(
        "Engine",
        "tie-safe: {number} near ties (margins under {margin}) decided as in plain decoding, "
        "{size} tokens decoded again in {took}",
    ),
    mark("Engine", "kept {size} tokens of the {role} for the chat before in {took}"),
    mark("Engine", "brought back {size} tokens of the {role} from {store} in {took}"),
    mark("Engine", "a kept cache could not be brought back; its tokens are decoded again"),
    mark(
        "Engine",
        "{size} tokens are decoded again (about {took}): bringing them back from {store} would take about {instead}",
    ),
    mark("Engine", "target"),
    mark("Engine", "draft"),
    mark("Engine", "memory"),
    mark("Engine", "disk"),
)
_TIES = (
    "tie-safe: {number} near ties (margins under {margin}) decided as in plain decoding, "
    "{size} tokens decoded again in {took}"
)
_KEPT = "kept {size} tokens of the {role} for the chat before in {took}"
_BROUGHT = "brought back {size} tokens of the {role} from {store} in {took}"
_AGAIN = "{size} tokens are decoded again (about {took}): bringing them back from {store} would take about {instead}"
_ONE_TIE = mark(
    "Engine",
    "tie-safe: 1 near tie (margin under {margin}) decided as in plain decoding, {size} tokens decoded again in {took}",
)
ONE = {  # a sentence and its field that is 1: how it is said then
    ("the {number} oldest messages are left out: the context holds {size} tokens", "number"): mark(
        "Engine", "the oldest message is left out: the context holds {size} tokens"
    ),
    ("{number} questions without an answer are left out: the context holds {size} tokens", "number"): mark(
        "Engine", "a question without an answer is left out: the context holds {size} tokens"
    ),
    ("the {number} oldest messages are sent as a summary", "number"): mark(
        "Engine", "the oldest message is sent as a summary"
    ),
    (_TIES, "number"): _ONE_TIE,
    (_TIES, "size"): mark(
        "Engine",
        "tie-safe: {number} near ties (margins under {margin}) decided as in plain decoding, "
        "1 token decoded again in {took}",
    ),
    (_KEPT, "size"): mark("Engine", "kept 1 token of the {role} for the chat before in {took}"),
    (_BROUGHT, "size"): mark("Engine", "brought back 1 token of the {role} from {store} in {took}"),
    (_AGAIN, "size"): mark(
        "Engine", "1 token is decoded again (about {took}): bringing it back from {store} would take about {instead}"
    ),
    (_ONE_TIE, "size"): mark(
        "Engine",
        "tie-safe: 1 near tie (margin under {margin}) decided as in plain decoding, 1 token decoded again in {took}",
    ),
}
INNER = ("reason", "why", "needs", "threads", "role", "store")  # fields that are sentences or words themselves
NARROW = {
    "mode": r"\w+",
    "depth": r"\d+",
    "place": r"\d+",
    "most": r"\d+",
    "threads": r"\d+ threads?",
    "role": r"\w+",
    "store": r"\w+",
}
MODES = {"off": "plain", "ngram": "n-gram"}
_IN_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")


_OF_DRAFTING = re.compile(r"(token \d+: )?(draft|n-gram on|text lookup|plain decoding)")


@cache
def _shape(sentence: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)\}", sentence)
    parts = (
        f"(?P<{piece}>{NARROW.get(piece, '.+?')})" if odd % 2 else re.escape(piece) for odd, piece in enumerate(pieces)
    )
    return re.compile("".join(parts))


def engine_sentence(text: str) -> str:
    """Give a sentence of the engine in the user's language, as far as its shape is known."""
    if isinstance(text, Sentence):
        return in_language(text)
    for sentence in SENTENCES:
        begins_so = text.startswith(sentence.partition("{")[0])  # else the first answer would wait for thirty patterns
        found = _shape(sentence).fullmatch(text) if begins_so else None
        if found is not None:
            fields = {name: _field(name, value) for name, value in found.groupdict().items()}
            return translate("Engine", _singular(sentence, fields)).format(**fields)
    return in_language(text)


def drafting_reason(decisions: Sequence[str]) -> str:
    """The newest of an answer's decisions that is about drafting, in the user's language; empty where none is."""
    reason = next((each for each in reversed(decisions) if _OF_DRAFTING.match(each)), "")
    return engine_sentence(reason) if reason else ""


def _singular(sentence: str, fields: Mapping[str, str]) -> str:
    for name in ("number", "size"):
        if fields.get(name) == "1":
            sentence = ONE.get((sentence, name), sentence)
    return sentence


def _field(name: str, value: str) -> str:
    if name in INNER:
        return engine_sentence(value)
    if name == "mode":
        return translate("Modes", MODES.get(value, value))
    signs = {".": locale().decimalPoint(), ",": locale().groupSeparator()}
    return _IN_NUMBER.sub(lambda found: signs[found[0]], value)
