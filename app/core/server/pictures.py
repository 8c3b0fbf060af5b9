"""Reads pictures of requests from data URLs; never from files or the network."""

from __future__ import annotations

import base64
import binascii
import re

from app.core.server.errors import ApiError
from app.core.server.fields import warn
from engine.errors import PictureError
from engine.picture import Picture
from engine.sandbox.picture import PictureReader

_DATA = re.compile(r"data:(image/[\w.+-]{1,40}|application/octet-stream)?(?:;[\w=-]{1,40})*;base64,", re.IGNORECASE)
_URL_SAFE = str.maketrans("-_", "+/")
MAX_PICTURES_READ = 512  # pictures in a request, of which the model gets the latest `MOST_PICTURES`
_INVALID = "invalid_image"


class PictureSource:
    """Reads the pictures of one request; repeated pictures are decoded once."""

    def __init__(self, reader: PictureReader | None = None) -> None:
        """``reader`` is shared between requests."""
        self._reader = reader or PictureReader()
        self._num_read = 0
        self.is_new = True  # the current part was not in an earlier request

    def for_request(self) -> PictureSource:
        """A source for one request, which counts the request's pictures up to `MAX_PICTURES_READ`."""
        return PictureSource(self._reader)

    def read(self, url: str, param: str) -> Picture:
        """Read the picture of a URL."""
        self._num_read += 1
        if self._num_read > MAX_PICTURES_READ:
            raise ApiError(400, f"A request may have {MAX_PICTURES_READ} pictures at most.", param=param, code=_INVALID)
        try:
            if url[:5].lower() == "data:":
                return self._reader.read(_bytes_of(url, param), "the picture")
        except PictureError as error:
            raise ApiError(400, f"`{param}`: {error.message} {error.advice}", param=param, code=_INVALID) from error
        message = (
            f"`{param}` must be a data: URL with the picture in base64: nothing is read from files or the network here."
        )
        raise ApiError(400, message, param=param, code=_INVALID)

    def read_or_describe(self, url: str, param: str) -> Picture | str:
        """Read the picture of a URL, or return a line of text if it is unreadable and was in an earlier request."""
        try:
            return self.read(url, param)
        except ApiError as error:
            if self.is_new:
                raise
            warn(f"{error.message} The model gets a line in its place.")
            return "[a picture that cannot be read]"


def _bytes_of(url: str, param: str) -> bytes:
    head = _DATA.match(url)
    try:
        if head is not None:
            text = re.sub(r"\s", "", url[head.end() :]).translate(_URL_SAFE).rstrip("=")
            return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        pass
    message = f"`{param}` must be `data:image/...;base64,` and the picture in base64."
    raise ApiError(400, message, param=param, code=_INVALID)
