"""How many tokens texts have, counted a slice at a time, so that nothing else waits for a long text.

A long text is cut at line ends and its slices are counted apart; where words meet a cut, that may differ from the whole
by a token.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from engine.records import CountRequest, PictureSize, TokensCounted

SLICE_CHARS = 16_384

Count = Callable[[str | PictureSize], int | None]


class TokenCounter:
    """Counts one request after the other; belongs to one thread."""

    def __init__(self) -> None:
        self._number = 0  # of the request at hand
        self._counts: list[int] = []  # of it, text by text
        self._rest: deque[str | PictureSize] = deque()  # slices of its text that is being counted

    def work(self, request: CountRequest, count: Count) -> TokensCounted | None:
        """Count one slice of a request; return the answer where it was the last one.

        ``count`` gives the tokens of a text or the places of a picture, or None where there is no vocabulary.
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
        """Answer a request without counts: what `work` calls has raised something."""
        self._begin(0)
        return TokensCounted(request.request_id, None)

    def _begin(self, number: int) -> None:
        self._number, self._counts = number, []
        self._rest.clear()


def slices(text: str) -> Iterator[str]:
    """Cut a text into pieces of about `SLICE_CHARS`, after the last line end of each where it has one."""
    begin = 0
    while begin < len(text):
        end = begin + SLICE_CHARS
        if end < len(text):
            end = text.rfind("\n", begin, end) + 1 or end
        yield text[begin:end]
        begin = end
