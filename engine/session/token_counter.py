"""How many tokens texts have, counted a slice at a time, so that nothing else waits for a long text.

A long text is cut at line ends and its slices are counted apart; where words meet a cut, that may differ from the whole
by a token.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator

from engine.records import CountRequest, PictureSize, TokensCounted

SLICE_CHARS = 16_384

Count = Callable[[str | PictureSize], int | None]


class TokenCounter:
    """Requests in their order. `submit` may be called from any thread; the rest belongs to one thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: deque[CountRequest] = deque()
        self._counts: list[int] = []  # of the first request, text by text
        self._rest: deque[str | PictureSize] = deque()  # slices of its text that is being counted
        self._begun = False

    def submit(self, request: CountRequest) -> None:
        """Have texts counted."""
        with self._lock:
            self._asked.append(request)

    @property
    def has_work(self) -> bool:
        """Whether `work` has something to do."""
        return bool(self._asked)

    def work(self, count: Count) -> TokensCounted | None:
        """Count one slice; return the answer where it was the last one of a request.

        ``count`` gives the tokens of a text or the places of a picture, or None where there is no vocabulary.
        """
        with self._lock:
            request = self._asked[0] if self._asked else None
        if request is None:
            return None
        if not self._begun:
            self._begun, self._counts = True, []
        if not self._rest and len(self._counts) < len(request.texts):
            text = request.texts[len(self._counts)]
            self._rest.extend(slices(text) if isinstance(text, str) else [text])
            self._counts.append(0)
        known: int | None = 0
        if self._rest:
            known = count(self._rest.popleft())
            self._counts[-1] += known or 0
        if known is not None and (self._rest or len(self._counts) < len(request.texts)):
            return None
        counts = None if known is None else tuple(self._counts)
        with self._lock:
            self._asked.popleft()
        self._rest.clear()
        self._begun = False
        return TokensCounted(request.request_id, counts)

    def fail_current(self) -> TokensCounted:
        """Answer the request at hand without counts: what `work` calls has raised something."""
        with self._lock:
            request = self._asked.popleft()
        self._rest.clear()
        self._begun = False
        return TokensCounted(request.request_id, None)


def slices(text: str) -> Iterator[str]:
    """Cut a text into pieces of about `SLICE_CHARS`, after the last line end of each where it has one."""
    begin = 0
    while begin < len(text):
        end = begin + SLICE_CHARS
        if end < len(text):
            end = text.rfind("\n", begin, end) + 1 or end
        yield text[begin:end]
        begin = end
