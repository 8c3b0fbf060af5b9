"""Counts tokens with the loaded vocabulary, for everything in the window that shows them."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from engine.records import CountRequest, PictureSize, TokensCounted
from engine.requests import Engine, next_request_id

Countable = str | PictureSize


class TokenCounts(QObject):
    """Has each text and picture size counted once, and again for another model."""

    counted = Signal()  # counts have arrived, or are of another model

    def __init__(self, worker: Engine) -> None:
        super().__init__()
        self._worker = worker
        self._counts: dict[int, int] = {}  # by the hash of the text, which may be long
        self._waiting: dict[int, tuple[int, ...]] = {}
        self.size = 0  # tokens of the context; 0 if nothing can be counted: no model, or one of a remote server

    def model_changed(self, size: int) -> None:
        self.size = size
        self._counts.clear()
        self._waiting.clear()
        self.counted.emit()

    def of(self, text: Countable) -> int | None:
        """The number of tokens; None while it is unknown."""
        return self._counts.get(hash(text)) if text else 0

    def of_all(self, texts: Iterable[Countable]) -> int | None:
        """The sum, without the tokens that a template adds; None while a count is unknown."""
        counts = [self.of(text) for text in texts]
        return None if None in counts else sum(count or 0 for count in counts)

    def request(self, texts: Iterable[Countable]) -> None:
        asked = {key for keys in self._waiting.values() for key in keys}
        missing = {hash(text): text for text in texts if text}
        missing = {key: text for key, text in missing.items() if key not in self._counts and key not in asked}
        if self.size and missing:
            number = next_request_id()
            self._waiting[number] = tuple(missing)
            self._worker.submit(CountRequest(number, tuple(missing.values())))

    def on_counted(self, event: TokensCounted) -> None:
        keys = self._waiting.pop(event.request_id, ())
        if keys and event.counts is not None:
            self._counts.update(zip(keys, event.counts, strict=True))
            self.counted.emit()
