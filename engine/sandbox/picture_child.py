"""The helper process that decodes a picture, isolated because a file may crash the decoder.

It reads the file from standard input, and writes a JSON line and the pixels, three bytes each. Only this module imports
Pillow, and only pixels leave the helper.
"""

import io
import json
import sys
import warnings

from PIL import Image, ImageOps, UnidentifiedImageError

from engine.sandbox.limits import limit_memory, limit_time, quiet_crashes, write_no_files

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_MEMORY_BYTES = 1_500_000_000  # besides the file: 80 million pixels of four bytes, twice, and buffers of decoders
_SIXTEEN_BITS = ("I;16", "I;16L", "I;16B", "I;16N", "I")
# Multiple of the pixel limit that is allowed for a JPEG, which can be decoded at an eighth of its size.
_MAX_JPEG_RATIO = 8


def main(arguments: list[str]) -> int:
    """Decode standard input. ``arguments``: limits of pixels, of a side, of the ratio of sides, and of seconds."""
    max_pixels, max_side, max_ratio, seconds = map(int, arguments)
    quiet_crashes()
    limit_time(seconds)
    write_no_files()
    data = sys.stdin.buffer.read()
    limit_memory(len(data), _MEMORY_BYTES)
    head, rgb = decode(data, max_pixels, max_side, max_ratio)
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + rgb)
    sys.stdout.buffer.flush()
    return 0


def decode(data: bytes, max_pixels: int, max_side: int, max_ratio: int) -> tuple[dict[str, object], bytes]:
    """Return size and pixels, or the kind of an error and no pixels."""
    Image.MAX_IMAGE_PIXELS = None  # this function checks the size itself
    warnings.simplefilter("ignore")
    try:
        try:
            image: Image.Image = Image.open(io.BytesIO(data), formats=_FORMATS)
        except UnidentifiedImageError:
            return {"error": "kind"}, b""
        width, height = image.size
        size: dict[str, object] = {"width": width, "height": height}
        if max(width, height) > max_ratio * min(width, height):
            return {"error": "narrow"}, b""
        image.draft("RGB", (max_side, max_side))  # decodes a JPEG no larger than needed
        if image.width * image.height > max_pixels or width * height > _MAX_JPEG_RATIO * max_pixels:
            return {"error": "large", **size}, b""
        image = _as_rgb(ImageOps.exif_transpose(image))
        image.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
        return {"width": image.width, "height": image.height}, image.tobytes()
    except MemoryError:
        return {"error": "memory"}, b""
    except Exception:  # noqa: BLE001  (a decoder may raise anything on an untrusted file)
        return {"error": "damaged"}, b""


def _as_rgb(image: Image.Image) -> Image.Image:
    if image.mode in _SIXTEEN_BITS:
        image = image.convert("I").point(lambda value: value * (1.0 / 257.0)).convert("L")
    if image.has_transparency_data:
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
    return image.convert("RGB")
