"""Where an answer's reasoning ends and its words begin, and how long the reasoning took.

Only reasoning at the very beginning counts: an answer may talk about such tags later on. Of a template that opens the
tag in the prompt, only the closing tag comes, which turns all before it into reasoning.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.records import ANSWER_FRAMES, BETWEEN_CHANNELS, REASONING_TAGS

# The last pair is what remains of the channels of gpt-oss where control tokens were left out of the text.
TAGS = (*REASONING_TAGS, ("analysis", "assistantfinal"))
_OPENINGS = tuple(opening for opening, _ in TAGS)
_BARE = "analysis"  # a word, too: it counts only right before a capital letter
_DIRECT = "<|channel|>final<|message|>"  # an answer of gpt-oss that did not reason
_CALLS = ("<|channel|>commentary", "<|start|>assistant to=")  # of gpt-oss, behind its reasoning
_HEADS = (_DIRECT, *(opening for opening, _ in ANSWER_FRAMES if opening.startswith("<|")))  # of answers that did not
_BEFORE_LAST, _LAST_END = "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"  # of Apriel, around its words
_LONGEST = max(map(len, (*_OPENINGS, *_HEADS)))
_LONE = tuple(closing for _, closing in REASONING_TAGS if closing != _DIRECT)
_ANY_LONE = "|".join(map(re.escape, _LONE))
# At the end of a line, or right between the last word of the reasoning and the first of the answer: an answer that
# talks about a tag has quotation marks, backticks or blanks around it.
_LONE_CLOSING = re.compile(
    rf"^[^\n]*?(?:(?P<line>{_ANY_LONE})[ \t]*\n|(?<=[^\s`'\"“‘(])(?P<inline>{_ANY_LONE})(?=[^\s`'\"”’.,;:!?)]))",
    re.MULTILINE,
)
_INNER = re.compile("|".join(re.escape(tag) for pair in REASONING_TAGS for tag in pair))
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Split:
    """Places in a raw text: reasoning is ``[thought_start:thought_end]``, the words ``[answer_start:answer_end]``.

    ``opened``: there is reasoning; ``closed``: it has ended. What may still become a tag is in neither part.
    """

    thought_start: int
    thought_end: int
    answer_start: int
    answer_end: int
    opened: bool = False
    closed: bool = True

    def thought(self, text: str) -> str:
        """The reasoning, without the tags around it."""
        return text[self.thought_start : self.thought_end]

    def shown_thought(self, text: str) -> str:
        """The reasoning with line ends for the tags between its blocks: as long, so that places in it stay true."""
        return _INNER.sub(lambda found: "\n" * len(found[0]), self.thought(text))

    def answer(self, text: str) -> str:
        """The words of the answer."""
        return text[self.answer_start : self.answer_end]

    def with_answer(self, text: str, words: str) -> str:
        """The text with other words of the answer."""
        return text[: self.answer_start] + words + text[self.answer_end :]


def split_thinking(text: str, *, final: bool = True) -> Split:
    """Find the parts of ``text``; of one that still grows (``final`` False) an end that may be a tag is held back."""
    begin = len(text) - len(text.lstrip())
    tags = _tags_at(text, begin)
    if tags is not None:
        return _inside(text, begin + len(tags[0]), tags[1], final=final)
    if not final and _may_become_tag(text, begin, (*_OPENINGS, *_HEADS)):
        return Split(0, 0, begin, begin)  # nothing is certain yet
    if text.startswith(_HEADS, begin):
        start = begin + len(_DIRECT) if text.startswith(_DIRECT, begin) else begin
        return Split(begin, begin, *_words(text, start, "", final=final))
    lone = _lone_closing(text)
    if lone is not None:
        kind = lone.lastgroup or "line"
        return _closed(text, (begin, lone.start(kind)), lone[kind], final=final)
    return Split(0, 0, 0, len(text))


def without_thinking(text: str) -> str:
    """The words of an answer alone; the text itself where there is no reasoning in it."""
    return split_thinking(text).answer(text)


def _tags_at(text: str, place: int) -> tuple[str, str] | None:
    """The tags of reasoning that begins here."""
    return next((tags for tags in TAGS if text.startswith(tags[0], place) and _counts(tags[0], text, place)), None)


def _counts(opening: str, text: str, place: int) -> bool:
    after = place + len(_BARE)
    return opening != _BARE or text[after : after + 1].isupper()


def _may_become_tag(text: str, place: int, tags: tuple[str, ...]) -> bool:
    """Whether what stands from ``place`` to the end may be the beginning of one of ``tags``."""
    rest = text[place : place + _LONGEST]
    return any(tag.startswith(rest) for tag in tags)


def _lone_closing(text: str) -> re.Match[str] | None:
    """A closing tag outside of code, where none was opened."""
    if not any(closing in text for closing in _LONE):
        return None
    fences = [fence.end() for fence in _FENCE.finditer(text)]
    closings = _LONE_CLOSING.finditer(text)
    return next((found for found in closings if bisect_right(fences, found.end()) % 2 == 0), None)


def _inside(text: str, start: int, closing: str, *, final: bool) -> Split:
    found = text.find(closing, start)
    calls = [place for call in _CALLS if closing == _DIRECT and (place := text.find(call, start)) >= 0]
    if calls and not 0 <= found < min(calls):
        return _closed(text, (start, min(calls)), "", final=final)
    if found >= 0:
        return _closed(text, (start, found), closing, final=final)
    end = len(text) if final else len(text) - num_held(text, (closing, *_CALLS, *BETWEEN_CHANNELS), start)
    start, end = _trim(text, start, end)
    return Split(start, end, len(text), len(text), opened=True, closed=False)


def _closed(text: str, thought: tuple[int, int], closing: str, *, final: bool) -> Split:
    """Reasoning that ended with ``closing``; another one may follow at once, which is a part of it."""
    first, last = thought
    start = last + len(closing)
    for glue in BETWEEN_CHANNELS:
        if text.endswith(glue, first, last):
            last -= len(glue)
            break
    first, last = _trim(text, first, last)
    start += len(text[start:]) - len(text[start:].lstrip())
    again = _tags_at(text, start)
    if again is not None and again[0] != _BARE:
        more = _inside(text, start + len(again[0]), again[1], final=final)
        return replace(more, thought_start=first)
    if not final and start < len(text) and _may_become_tag(text, start, _OPENINGS):
        return Split(first, last, start, start, opened=True)
    return Split(first, last, *_words(text, start, closing, final=final), opened=True)


def _words(text: str, start: int, closing: str, *, final: bool) -> tuple[int, int]:
    """Where the words of the answer begin and end, without the frame around them."""
    end = len(text)
    frames = (("", _LAST_END),) if closing == _BEFORE_LAST else ANSWER_FRAMES
    for opening, ending in frames:
        if text.startswith(opening, start):
            start += len(opening)
            start += len(text[start:]) - len(text[start:].lstrip()) if opening else 0
            stripped = text.rstrip()
            if stripped.endswith(ending):
                end = max(start, len(stripped) - len(ending))
            elif not final:
                end -= num_held(text, (ending,), start)
            if not opening and (end < len(text) or not final):  # the line end before it is the frame's
                end = start + len(text[start:end].rstrip())
            break
        if not final and start < len(text) and opening.startswith(text[start:]):
            end = start
    return start, max(start, end)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave empty lines around the reasoning out."""
    part = text[start:end]
    first = start + len(part) - len(part.lstrip())
    return first, max(first, start + len(part.rstrip()))


def num_held(text: str, tags: tuple[str, ...], start: int = 0) -> int:
    """Length of the longest end of ``text`` from ``start`` on that may begin one of ``tags``."""
    longest = 0
    for tag in tags:
        for size in range(min(len(tag) - 1, len(text) - start), longest, -1):
            if text.endswith(tag[:size]):
                longest = size
                break
    return longest


# ---- how long it took -------------------------------------------------------------------------------------------


class ThinkingTime:
    """Fed with the text of one answer as it comes. ``begun`` and ``before_ms``: of an answer that goes on."""

    def __init__(
        self, begun: str = "", before_ms: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._text = begun
        self._ms = before_ms
        self._ended = split_thinking(begun).opened and split_thinking(begun).closed
        self._since_s: float | None = None

    def feed(self, text: str) -> bool:
        """Take the next piece; True where the reasoning ended with it."""
        if self._ended:
            return False
        if self._since_s is None:
            self._since_s = self._clock() - (self._ms or 0) / 1000
        self._text += text
        split = split_thinking(self._text, final=False)
        if not split.opened:
            return False
        self._ms = round((self._clock() - self._since_s) * 1000)
        self._ended = split.closed
        return self._ended

    @property
    def thinking_ms(self) -> int | None:
        """Milliseconds so far, None where there is no reasoning."""
        return self._ms
