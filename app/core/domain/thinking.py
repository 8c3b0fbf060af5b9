"""Splits an answer into reasoning and text, and measures the time of reasoning.

Only reasoning at the very start counts, since an answer may mention such tags later. If the template opens the tag in
the prompt, the answer has only the closing tag, and all text before it is reasoning.
"""

import re
import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.records import ANSWER_FRAMES, CHANNEL_SEPARATOR, REASONING_TAGS

# The last pair is what gpt-oss's channels look like without control tokens.
TAGS = (*REASONING_TAGS, ("analysis", "assistantfinal"))
_OPENINGS = tuple(opening for opening, _ in TAGS)
_BARE_OPENING = "analysis"  # also an English word: a tag only if a capital letter follows
_DIRECT_ANSWER = "<|channel|>final<|message|>"  # starts an answer of gpt-oss without reasoning
_CALLS = ("<|channel|>commentary", "<|start|>assistant to=")  # start a call of gpt-oss after its reasoning
_ANSWER_HEADS = (_DIRECT_ANSWER, *(opening for opening, _ in ANSWER_FRAMES if opening.startswith("<|")))  # no reasoning
_BEFORE_LAST, _LAST_END = "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"  # enclose the answer of Apriel
_LONGEST = max(map(len, (*_OPENINGS, *_ANSWER_HEADS)))
_CLOSING_TAGS = tuple(closing for _, closing in REASONING_TAGS if closing != _DIRECT_ANSWER)
_ANY_CLOSING_TAG = "|".join(map(re.escape, _CLOSING_TAGS))
# A closing tag at the end of a line, or directly between two words. An answer that only mentions the tag has quotation
# marks, backticks or blanks around it.
_LONE_CLOSING = re.compile(
    rf"^[^\n]*?(?:(?P<line>{_ANY_CLOSING_TAG})[ \t]*\n"
    rf"|(?<=[^\s`'\"“‘(])(?P<inline>{_ANY_CLOSING_TAG})(?=[^\s`'\"”’.,;:!?)]))",
    re.MULTILINE,
)
_ANY_TAG = re.compile("|".join(re.escape(tag) for pair in REASONING_TAGS for tag in pair))
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Split:
    """Offsets in a raw text: reasoning is ``[thought_start:thought_end]``, the answer ``[answer_start:answer_end]``.

    ``opened``: reasoning has begun; ``closed``: it has ended. A possible start of a tag belongs to neither part.
    """

    reasoning_start: int
    reasoning_end: int
    answer_start: int
    answer_end: int
    opened: bool = False
    closed: bool = True

    def reasoning(self, text: str) -> str:
        return text[self.reasoning_start : self.reasoning_end]

    def shown_reasoning(self, text: str) -> str:
        """The reasoning with inner tags replaced by line ends of the same length, so that offsets stay valid."""
        return _ANY_TAG.sub(lambda found: "\n" * len(found[0]), self.reasoning(text))

    def answer(self, text: str) -> str:
        return text[self.answer_start : self.answer_end]

    def with_answer(self, text: str, words: str) -> str:
        """The text with another answer."""
        return text[: self.answer_start] + words + text[self.answer_end :]


def split_thinking(text: str, *, final: bool = True) -> Split:
    """Split ``text``. ``final`` False: the text still grows, so a possible start of a tag at its end is held back."""
    begin = len(text) - len(text.lstrip())
    tags = _tags_at(text, begin)
    if tags is not None:
        return _split_open(text, begin + len(tags[0]), tags[1], final=final)
    if not final and _may_become_tag(text, begin, (*_OPENINGS, *_ANSWER_HEADS)):
        return Split(0, 0, begin, begin)  # the text may still become a tag
    if text.startswith(_ANSWER_HEADS, begin):
        start = begin + len(_DIRECT_ANSWER) if text.startswith(_DIRECT_ANSWER, begin) else begin
        return Split(begin, begin, *_answer_range(text, start, "", final=final))
    lone = _lone_closing(text)
    if lone is not None:
        kind = lone.lastgroup or "line"
        return _split_closed(text, (begin, lone.start(kind)), lone[kind], final=final)
    return Split(0, 0, 0, len(text))


def without_thinking(text: str) -> str:
    """The answer alone; the text itself if it has no reasoning."""
    return split_thinking(text).answer(text)


def _tags_at(text: str, offset: int) -> tuple[str, str] | None:
    tags = next((tags for tags in TAGS if text.startswith(tags[0], offset)), None)
    after = offset + len(_BARE_OPENING)
    return None if tags and tags[0] == _BARE_OPENING and not text[after : after + 1].isupper() else tags


def _may_become_tag(text: str, offset: int, tags: tuple[str, ...]) -> bool:
    """True if the text from ``offset`` on may be the start of one of ``tags``."""
    rest = text[offset : offset + _LONGEST]
    return any(tag.startswith(rest) for tag in tags)


def _lone_closing(text: str) -> re.Match[str] | None:
    """Find a closing tag outside code blocks that has no opening tag."""
    if not any(closing in text for closing in _CLOSING_TAGS):
        return None
    fences = [fence.end() for fence in _FENCE.finditer(text)]
    closings = _LONE_CLOSING.finditer(text)
    return next((found for found in closings if bisect_right(fences, found.end()) % 2 == 0), None)


def _split_open(text: str, start: int, closing: str, *, final: bool) -> Split:
    found = text.find(closing, start)
    calls = [offset for call in _CALLS if closing == _DIRECT_ANSWER and (offset := text.find(call, start)) >= 0]
    if calls and not 0 <= found < min(calls):
        return _split_closed(text, (start, min(calls)), "", final=final)
    if found >= 0:
        return _split_closed(text, (start, found), closing, final=final)
    end = len(text) if final else len(text) - held_length(text, (closing, *_CALLS, *CHANNEL_SEPARATOR), start)
    start, end = _trim(text, start, end)
    return Split(start, end, len(text), len(text), opened=True, closed=False)


def _split_closed(text: str, thought: tuple[int, int], closing: str, *, final: bool) -> Split:
    """The split after reasoning that ended with ``closing``. A directly following second block is included."""
    first, last = thought
    start = last + len(closing)
    for glue in CHANNEL_SEPARATOR:
        if text.endswith(glue, first, last):
            last -= len(glue)
            break
    first, last = _trim(text, first, last)
    start += len(text[start:]) - len(text[start:].lstrip())
    again = _tags_at(text, start)
    if again is not None and again[0] != _BARE_OPENING:
        more = _split_open(text, start + len(again[0]), again[1], final=final)
        return replace(more, reasoning_start=first)
    if not final and start < len(text) and _may_become_tag(text, start, _OPENINGS):
        return Split(first, last, start, start, opened=True)
    return Split(first, last, *_answer_range(text, start, closing, final=final), opened=True)


def _answer_range(text: str, start: int, closing: str, *, final: bool) -> tuple[int, int]:
    """The offsets of the answer without its enclosing tags."""
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
                end -= held_length(text, (ending,), start)
            if not opening and (end < len(text) or not final):  # the line end before the closing tag is a part of it
                end = start + len(text[start:end].rstrip())
            break
        if not final and start < len(text) and opening.startswith(text[start:]):
            end = start
    return start, max(start, end)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Strip empty lines at both ends of the reasoning."""
    part = text[start:end]
    first = start + len(part) - len(part.lstrip())
    return first, max(first, start + len(part.rstrip()))


def held_length(text: str, tags: tuple[str, ...], start: int = 0) -> int:
    """Length of the longest suffix of ``text[start:]`` that may begin one of ``tags``."""
    longest = 0
    for tag in tags:
        for size in range(min(len(tag) - 1, len(text) - start), longest, -1):
            if text.endswith(tag[:size]):
                longest = size
                break
    return longest


# ---- how long it took -------------------------------------------------------------------------------------------


class ThinkingTime:
    """Measures the time of reasoning of one answer while it streams.

    ``begun`` and ``before_ms``: text and time of the answer that is continued.
    """

    def __init__(
        self, begun: str = "", before_ms: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._text = begun
        self._ms = before_ms
        self._ended = split_thinking(begun).opened and split_thinking(begun).closed
        self._since_s: float | None = None

    def feed(self, text: str) -> bool:
        """Process a text chunk; returns True if the reasoning ended in it."""
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
        """Milliseconds so far; None without reasoning."""
        return self._ms
