"""Reads pictures of requests: data URLs, or files below one folder; never from the network."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.core.server.errors import ApiError
from app.core.server.fields import Fields, missing, unsupported, warn
from engine.errors import PictureError
from engine.picture import Picture
from engine.sandbox.picture import PictureReader, read_picture_file

_DATA = re.compile(r"data:(image/[\w.+-]{1,40}|application/octet-stream)?(?:;[\w=-]{1,40})*;base64,", re.IGNORECASE)
_URL_SAFE = str.maketrans("-_", "+/")
MOST_READ = 512  # pictures in a request, of which the model gets the latest `MOST_PICTURES`
_INVALID = "invalid_image"


class PictureSource:
    """Reads the pictures of one request; repeated pictures are decoded once."""

    def __init__(self, media_path: Path | None = None, reader: PictureReader | None = None) -> None:
        """``media_path``: folder of files that requests may name, or None. ``reader`` is shared between requests."""
        self._media_path = media_path
        self._reader = reader or PictureReader()
        self._num_read = 0
        self.is_new = True  # the current part was not in an earlier request

    def for_request(self) -> PictureSource:
        """A source for one request, which counts the request's pictures up to `MOST_READ`."""
        return PictureSource(self._media_path, self._reader)

    def read(self, url: str, param: str) -> Picture:
        """Read the picture of a URL.

        Raises:
            ApiError: 400: not a picture, not allowed, or too many pictures.
        """
        self._num_read += 1
        if self._num_read > MOST_READ:
            raise ApiError(400, f"A request may have {MOST_READ} pictures at most.", param=param, code=_INVALID)
        try:
            if url[:5].lower() == "data:":
                return self._reader.read(_bytes_of(url, param), "the picture")
            if url[:5].lower() == "file:":
                return read_picture_file(self._file(url, param))
        except PictureError as error:
            raise ApiError(400, f"`{param}`: {error.message} {error.advice}", param=param, code=_INVALID) from error
        message = f"`{param}` must be a data: URL with the picture in base64: nothing is fetched from the network here."
        raise ApiError(400, message, param=param, code=_INVALID)

    def read_or_placeholder(self, url: str, param: str) -> Picture | str:
        """Read the picture of a URL, or return a line of text if it is unreadable and was in an earlier request.

        Raises:
            ApiError: 400: the picture is new, or the server is strict.
        """
        try:
            return self.read(url, param)
        except ApiError as error:
            if self.is_new or not warn(f"{error.message} The model gets a line in its place."):
                raise
            return "[a picture that cannot be read]"

    def _file(self, url: str, param: str) -> Path:
        if self._media_path is None:
            message = f"`{param}` names a file, and this server reads none: `serve --media-path DIR` allows it."
            raise ApiError(400, message, param=param, code=_INVALID)
        parts, folder = urlsplit(url), self._media_path.resolve()
        try:
            path = (folder / unquote(parts.path)).resolve()
        except (ValueError, OSError, RuntimeError):  # an invalid file name, or a loop of links
            path = Path("/")
        if parts.netloc not in ("", "localhost") or not path.is_relative_to(folder):
            message = f"`{param}` names a file outside the folder of pictures of this server."
            raise ApiError(400, message, param=param, code=_INVALID)
        return path


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


def read_part(value: dict[str, object], param: str, source: PictureSource | None) -> Picture | str:
    """Read an ``image_url`` part: a picture, or a line in its place.

    See `placeholder` for pictures that the model cannot see.

    Raises:
        ApiError: the part is invalid.
    """
    fields = Fields(value, f"{param}.")
    fields.take("type")
    fields.take("cache_control")
    given = fields.take("image_url")
    fields.end()
    if isinstance(given, Picture):  # an adapter of another API has already read it
        return given
    if isinstance(given, dict):
        inner = Fields(given, f"{param}.image_url.")
        given = inner.take("url")
        inner.take("detail")  # ignored: the encoder decides the resolution
        inner.end()
    at = f"{param}.image_url.url"
    if not isinstance(given, str) or source is None:
        raise missing(at)
    return source.read_or_placeholder(given, at)


def placeholder(param: str, source: PictureSource | None, *, is_picture_possible: bool) -> str | None:
    """The line in place of a picture that the model cannot see; None if it can.

    An error would block the conversation for good, since clients send all messages again.

    Raises:
        ApiError: the model cannot see the picture, in strict mode.
    """
    if not is_picture_possible:
        message = "is a picture, which only messages of the user and results of tools may have here"
        line = "[a picture that is not shown here]"
    elif source is None:
        message = "is a picture, and the model here cannot see: its side file (mmproj) is not loaded"
        line = "[a picture that this model cannot see]"
    else:
        return None
    if not warn(f"A part {message}. The model gets a line in its place."):
        raise unsupported(f"{param}.type", f"`{param}` {message}.")
    return line
