"""Stores pictures: a child process decodes them, they are stored without metadata, and decoded for a model.

This process decodes only pictures that it has encoded itself.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from app.core.domain.attachment_errors import FileUnreadableError
from app.core.domain.attachments import Attachment, AttachmentKind, StoredPicture
from engine.errors import PictureError

if TYPE_CHECKING:
    from PIL.Image import Image

    from engine.picture import Picture

THUMBNAIL_PX = 320  # length of the longer side
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_JPEG = b"\xff\xd8\xff"
_JPEG_QUALITY = 95
_MOST_KEPT = 10  # decoded pictures: at most 128 MB


def is_picture(head: bytes) -> bool:
    """True for the start of a PNG, JPEG, WebP or GIF file."""
    return head.startswith(_SIGNATURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")


def picture_attachment(name: str, data: bytes, limit_s: float = 30.0) -> Attachment:
    """Make an attachment of a picture file, which a child process decodes within ``limit_s`` seconds.

    Raises:
        FileUnreadableError: the picture cannot be read; the message says why.
    """
    from engine.sandbox.picture import read_picture  # noqa: PLC0415  (the first paint waits for none)

    try:
        picture = read_picture(data, name, limit_s)
    except PictureError as error:
        raise FileUnreadableError(error.problem.message, error.problem.advice) from error
    kept = encode_for_storage(picture, is_photo=data.startswith(_JPEG))
    return Attachment(0, name, AttachmentKind.PICTURE, len(kept.data), picture=kept)


def encode_for_storage(picture: Picture, *, is_photo: bool) -> StoredPicture:
    """Encode pixels for storage: losslessly, except for photos that were JPEG."""
    import hashlib  # noqa: PLC0415

    from PIL import Image  # noqa: PLC0415  (most people attach none)

    image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
    data = _encode(image, is_photo=is_photo)
    small = image.copy()
    small.thumbnail((THUMBNAIL_PX, THUMBNAIL_PX))
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    return StoredPicture(digest, picture.width, picture.height, _encode(small, is_photo=is_photo), data)


def _encode(image: Image, *, is_photo: bool) -> bytes:
    buffer = io.BytesIO()
    if is_photo:
        image.save(buffer, "JPEG", quality=_JPEG_QUALITY)
    else:
        image.save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


class PictureCache:
    """Decodes stored pictures for a model, and keeps the last ones."""

    def __init__(self) -> None:
        self._kept: dict[str, Picture] = {}  # by digest

    def decoded(self, kept: StoredPicture) -> Picture:
        """The pixels of a picture that was encoded by `encode_for_storage`."""
        if (known := self._kept.get(kept.digest)) is not None:
            return known
        from PIL import Image  # noqa: PLC0415

        from engine.picture import Picture  # noqa: PLC0415

        image = Image.open(io.BytesIO(kept.data), formats=("PNG", "JPEG")).convert("RGB")
        picture = Picture(image.width, image.height, image.tobytes())
        oldest = list(self._kept.items())[-_MOST_KEPT + 1 :]
        self._kept = {**dict(oldest), kept.digest: picture}
        return picture
