"""Counts tokens of texts in slices, so that a long text does not delay other work.

A long text is split at line ends, and its slices are counted separately, which may change the count by a token per
split.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from engine.records import CountRequest, PictureSize, TokensCounted

SLICE_CHARS = 16_384

Count = Callable[[str | PictureSize], int | None]


class TokenCounter:
    """Counts one request after the other; not thread-safe."""

    def __init__(self) -> None:
        self._number = 0  # of the current request
        self._counts: list[int] = []  # counts of the current request's texts
        self._rest: deque[str | PictureSize] = deque()  # slices of the current text

    def count_slice(self, request: CountRequest, count: Count) -> TokensCounted | None:
        """Count one slice of a request; return the counts after the last slice.

        ``count`` returns the tokens of a text or of a picture, or None if no model is loaded.
        """
        if request.request_id != self._number:
            self._begin(request.request_id)
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
        counted = TokensCounted(request.request_id, None if known is None else tuple(self._counts))
        self._begin(0)
        return counted

    def give_up(self, request: CountRequest) -> TokensCounted:
        """Answer a request without counts after `count_slice` raised an exception."""
        self._begin(0)
        return TokensCounted(request.request_id, None)

    def _begin(self, number: int) -> None:
        self._number, self._counts = number, []
        self._rest.clear()


def slices(text: str) -> Iterator[str]:
    """Split a text into pieces of about `SLICE_CHARS`, at line ends if possible."""
    begin = 0
    while begin < len(text):
        end = begin + SLICE_CHARS
        if end < len(text):
            end = text.rfind("\n", begin, end) + 1 or end
        yield text[begin:end]
        begin = end
