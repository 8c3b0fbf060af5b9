"""Where an answer's reasoning ends and its words begin, and how long the reasoning took.

Only reasoning at the very beginning counts: an answer may talk about such tags later on. Of a template that opens the
tag in the prompt, only the closing tag comes: alone at the end of a line it turns all before it into reasoning.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

# Opening and closing tags as models write them; the last pair is what remains of the channels of gpt-oss where
# control tokens are left out of the text, the one before it where they are kept.
TAGS: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("analysis", "assistantfinal"),
)
_BARE = "analysis"  # a word, too: it counts only right before a capital letter
_FRAMES = (  # tags around the words that follow the reasoning
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
)
_BEFORE_FINAL = ("<|end|><|start|>assistant", "<|start|>assistant")
_LONE_TAGS = ("</think>", "</thinking>", "<|end_of_thought|>", "[/THINK]")
_LONE_CLOSING = re.compile(rf"^[^\n]*?({'|'.join(map(re.escape, _LONE_TAGS))})[ \t]*\n", re.MULTILINE)
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
        """The reasoning, without its tags."""
        return text[self.thought_start : self.thought_end]

    def answer(self, text: str) -> str:
        """The words of the answer."""
        return text[self.answer_start : self.answer_end]


def split_thinking(text: str, *, final: bool = True) -> Split:
    """Find the parts of ``text``; of one that still grows (``final`` False) an end that may be a tag is held back."""
    begin = len(text) - len(text.lstrip())
    head = text[begin : begin + 40]
    for opening, closing in TAGS:
        if head.startswith(opening) and _counts(opening, head):
            return _inside(text, begin + len(opening), closing, final=final)
        if not final and (opening.startswith(head) or (opening == _BARE and head == _BARE)):
            return Split(0, 0, begin, begin)  # nothing is certain yet
    lone = _lone_closing(text)
    if lone is not None:
        return _closed(text, (begin, lone.start(1)), lone.end(1), final=final)
    return Split(0, 0, 0, len(text))


def without_thinking(text: str) -> str:
    """The words of an answer alone; the text itself where there is no reasoning in it."""
    split = split_thinking(text)
    return split.answer(text) if split.opened else text


def _lone_closing(text: str) -> re.Match[str] | None:
    """A closing tag at the end of a line outside of code, where none was opened."""
    if not any(closing in text for closing in _LONE_TAGS):
        return None
    fences = [fence.end() for fence in _FENCE.finditer(text)]
    closings = _LONE_CLOSING.finditer(text)
    return next((found for found in closings if bisect_right(fences, found.start(1)) % 2 == 0), None)


def _counts(opening: str, head: str) -> bool:
    return opening != _BARE or head[len(_BARE) : len(_BARE) + 1].isupper()


def _inside(text: str, start: int, closing: str, *, final: bool) -> Split:
    found = text.find(closing, start)
    if found >= 0:
        return _closed(text, (start, found), found + len(closing), final=final)
    end = len(text) if final else len(text) - num_held(text, (closing, *_BEFORE_FINAL), start)
    start, end = _trim(text, start, end)
    return Split(start, end, len(text), len(text), opened=True, closed=False)


def _closed(text: str, thought: tuple[int, int], start: int, *, final: bool) -> Split:
    first, last = thought
    for glue in _BEFORE_FINAL:
        if text.endswith(glue, first, last):
            last -= len(glue)
            break
    first, last = _trim(text, first, last)
    start += len(text[start:]) - len(text[start:].lstrip())
    end = len(text)
    for opening, closing in _FRAMES:
        if text.startswith(opening, start):
            start += len(opening)
            stripped = text.rstrip()
            end = len(stripped) - len(closing) if stripped.endswith(closing) else end
            end = end if final or end < len(text) else end - num_held(text, (closing,), start)
            break
        if not final and start < len(text) and opening.startswith(text[start:]):
            end = start
    return Split(first, last, start, max(start, end), opened=True)


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
