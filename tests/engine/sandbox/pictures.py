"""Pictures for tests: valid ones of every format, and sixty that are broken, unsupported or hostile."""

import functools
import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 40, 24


def sample(mode: str = "RGB") -> Image.Image:
    """A gradient: rotation and colours are visible."""
    across, down = np.meshgrid(np.linspace(0, 255, WIDTH), np.linspace(0, 255, HEIGHT))
    values = np.stack((across, down, np.full_like(across, 60)), axis=-1).astype(np.uint8)
    return Image.fromarray(values).convert(mode)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:  # noqa: ANN401  (Pillow's)
    """The image in this file format."""
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def png(width: int, height: int, *, depth: int = 8, colour: int = 2, data: bytes = b"", extra: bytes = b"") -> bytes:
    """A PNG that claims a size, with any pixel data."""
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + extra + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _jpeg_of_size(width: int, height: int) -> bytes:
    """A small JPEG whose header claims another size."""
    data = encoded(sample(), "JPEG")
    place = data.index(b"\xff\xc0") + 5
    return data[:place] + struct.pack(">HH", height, width) + data[place + 4 :]


def _webp_of_size(width: int, height: int) -> bytes:
    """An animation of one frame whose header claims this size."""
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + size + b"ANIM" + struct.pack("<I", 6) + bytes(6)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _more_broken(good: dict[str, bytes]) -> dict[str, bytes]:
    """Further broken files, also of unsupported formats."""
    frames = [sample(), sample().rotate(90, expand=True)]
    moving = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    inks, deep = encoded(sample("CMYK"), "JPEG"), encoded(Image.new("I;16", (40, 24), 700), "PNG")
    flat = encoded(sample("P"), "PNG")
    return {
        "an animation cut in its first frame": moving[: len(moving) // 5],
        "an animation of 16,384 x 16,384": _webp_of_size(16_384, 16_384),
        "an animation without frames": _webp_of_size(30, 20),
        "four inks, cut": inks[: len(inks) // 2],
        "16 bits, cut": deep[: len(deep) * 2 // 3],
        "a JPEG of 65,535 x 65,535": _jpeg_of_size(65_535, 65_535),
        "a JPEG of 50,000 x 50,000": _jpeg_of_size(50_000, 50_000),
        "a JPEG 0 wide": _jpeg_of_size(0, 24),
        "a GIF of size 0": b"GIF89a" + bytes(7) + good["GIF"][13:],
        "a bomb of 16 bits": png(30_000, 30_000, depth=16, data=zlib.compress(bytes(100_000), 9)),
        "a depth of 3": png(30, 20, depth=3, data=zlib.compress(bytes(2000))),
        "colours of a kind that is none": png(30, 20, colour=7, data=zlib.compress(bytes(2000))),
        "a palette that is missing": flat.replace(b"PLTE", b"PLTX"),
        "a head with a wrong sum": good["PNG"][:29] + b"\0\0\0\0" + good["PNG"][33:],
        "no head": good["PNG"][:8] + good["PNG"][33:],
        "a text chunk of 2 GB that is not there": png(30, 20)[:33] + b"\x7f\xff\xff\xfftEXt" + bytes(50),
        "AVIF": b"\0\0\0 ftypavif\0\0\0\0avifmif1miafMA1B" + bytes(100),
        "HEIC": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(100),
        "JPEG 2000": b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(100),
        "PSD": b"8BPS\0\1" + bytes(100),
        "a sound that begins as WebP does": b"RIFF" + struct.pack("<I", 40) + b"WAVEfmt " + bytes(40),
    }


@functools.cache
def broken() -> dict[str, bytes]:
    """Invalid files by name of the fault."""
    good = {kind: encoded(sample(), kind) for kind in ("PNG", "JPEG", "WEBP", "GIF")}
    found: dict[str, bytes] = {"nothing": b"", "one byte": b"\x89", "zeros": bytes(4000), "text": b"no picture\n" * 40}
    for kind, data in good.items():
        found[f"{kind} head alone"] = data[:12]
        found[f"{kind} cut in the head"] = data[:20]
        found[f"{kind} cut in the middle"] = data[: len(data) // 2]
        found[f"{kind} with another's head"] = good["GIF" if kind == "PNG" else "PNG"][:16] + data[16:]
    found |= {
        "BMP": encoded(sample(), "BMP"),
        "TIFF": encoded(sample(), "TIFF"),
        "ICO": encoded(sample().resize((16, 16)), "ICO"),
        "PPM": encoded(sample(), "PPM"),
        "PDF": encoded(sample(), "PDF"),
        "EPS": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) (r) file\n%%EOF\n",
        "SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>',
        "HTML": b"<!doctype html><img src=x>",
        "GGUF": b"GGUF" + bytes(200),
        "ZIP": b"PK\x03\x04" + bytes(100),
        "a bomb of 50,000 x 50,000": png(50_000, 50_000, data=zlib.compress(bytes(100_000), 9)),
        "a bomb of grey": png(60_000, 60_000, depth=1, colour=0, data=zlib.compress(bytes(10_000))),
        "a size of 0": png(0, 10, data=zlib.compress(b"")),
        "a size beyond 2 ** 31": png(2**31 + 5, 2**31 + 5),
        "a line of 30,000": png(30_000, 1, data=zlib.compress(bytes(90_001))),
        "no pixels": png(30, 20),
        "pixels of garbage": png(30, 20, data=b"\xff" * 500),
        "too few pixels": png(300, 200, data=zlib.compress(bytes(1000))),
        "a text chunk that unpacks to 200 MB": png(
            30, 20, data=b"", extra=_chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(200_000_000), 9))
        ),
        **_more_broken(good),
        "a GIF of 65,535 x 65,535": b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\x00\x00\x00" + bytes(30),
    }
    return found
