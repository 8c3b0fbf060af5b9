"""Decodes untrusted pictures in a helper process with bounded time and memory (`engine.sandbox.picture_child`)."""

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.errors import PictureError
from engine.gguf.source import open_ordinary
from engine.picture import MAX_SIDE, Picture
from engine.sandbox.helper import HelperTimeoutError, run_helper
from engine.sentences import i18n

log = logging.getLogger(__name__)

MAX_BYTES = 64 << 20  # largest file
MAX_PIXELS = 80_000_000  # largest picture before scaling
MAX_RATIO = 100  # largest ratio of the sides, since encoders refuse narrower pictures or abort the process
LIMIT_S = 30.0
_MAX_CACHED_BYTES = 64 << 20
_CONVERT = i18n("Save it as PNG or JPEG, and give that.")


def read_picture_file(path: Path) -> Picture:
    """Decode a picture file.

    Raises:
        PictureError: it cannot be read; the message says why.
    """
    try:
        with open_ordinary(path) as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: an impossible name
        reason = getattr(error, "strerror", None) or error
        raise PictureError(i18n("“{name}” cannot be read: {reason}.", name=path.name, reason=reason)) from error
    return read_picture(data, path.name)


def read_picture(data: bytes, name: str, limit_s: float = LIMIT_S) -> Picture:
    """Decode the bytes of a picture file; ``name`` is used in messages.

    Raises:
        PictureError: it cannot be read; the message says why.
    """
    if not data:
        raise PictureError(i18n("“{name}” is empty.", name=name))
    if len(data) > MAX_BYTES:
        raise PictureError(
            i18n("“{name}” has more than {limit} MB.", name=name, limit=MAX_BYTES >> 20), "Make it smaller."
        )
    head, _, rgb = _ask_child(data, name, limit_s).partition(b"\n")
    try:
        answer: dict[str, Any] = json.loads(head)
        kind = answer.get("error")
        if kind is None:
            return Picture(int(answer["width"]), int(answer["height"]), rgb)
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        log.info("the reader of a picture gave no answer: %r", error)
        kind = "damaged"
    raise _refusal(str(kind), name, answer if kind != "damaged" else {})


def _ask_child(data: bytes, name: str, limit_s: float) -> bytes:
    words = [str(number) for number in (MAX_PIXELS, MAX_SIDE, MAX_RATIO, int(limit_s) + 1)]
    try:
        return run_helper("picture", words, data, limit_s=limit_s).output
    except HelperTimeoutError:
        raise PictureError(
            i18n("“{name}” could not be read within {limit_s:.0f} seconds.", name=name, limit_s=limit_s), _CONVERT
        ) from None


def _refusal(kind: str, name: str, answer: dict[str, Any]) -> PictureError:
    if kind == "kind":
        return PictureError(i18n("“{name}” is not a PNG, JPEG, WebP or GIF picture.", name=name), _CONVERT)
    if kind == "large":
        size = {"width": int(answer["width"]), "height": int(answer["height"])}
        return PictureError(
            i18n(
                "“{name}” has {width} x {height} pixels, more than {limit} million in all.",
                name=name,
                limit=MAX_PIXELS // 1_000_000,
                **size,
            ),
            "Make it smaller.",
        )
    if kind == "narrow":
        return PictureError(
            i18n("“{name}” is more than {limit} times as long as it is wide.", name=name, limit=MAX_RATIO),
            "Cut out the part that matters.",
        )
    if kind == "memory":
        return PictureError(i18n("Reading “{name}” takes more memory than a picture should.", name=name), _CONVERT)
    return PictureError(i18n("“{name}” is damaged: its pixels cannot be read.", name=name), _CONVERT)


class PictureReader:
    """Decodes each picture once, since every request has all pictures of its conversation. Thread-safe."""

    def __init__(self, read: Callable[[bytes, str], Picture] = read_picture) -> None:
        self._read = read
        self._kept: OrderedDict[bytes, Picture] = OrderedDict()  # by digest of the file, least recently used first
        self._lock = threading.Lock()

    def read(self, data: bytes, name: str) -> Picture:
        key = hashlib.blake2b(data, digest_size=16).digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        picture = self._read(data, name)
        with self._lock:
            self._kept[key] = picture
            while len(self._kept) > 1 and sum(len(one.rgb) for one in self._kept.values()) > _MAX_CACHED_BYTES:
                self._kept.popitem(last=False)
        return picture
