"""A picture as the engine takes it: decoded, bounded, without anything but its pixels.

Everybody takes it from `engine.records`. Who decodes a stranger's file does so in a child process.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_SIDE = 2048  # pixels: what is larger is made smaller before it comes here
BYTES_PER_PIXEL = 3
PictureSize = tuple[int, int]  # width and height, pixels


@dataclass(frozen=True, slots=True)
class Picture:
    """Pixels: ``rgb`` has three bytes for each, row by row from the top. ``digest`` names them and the size.

    Raises:
        ValueError: the bytes are not as many as the size wants.
    """

    width: int
    height: int
    rgb: bytes = field(repr=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 1 or len(self.rgb) != self.width * self.height * BYTES_PER_PIXEL:
            raise ValueError(f"a picture of {self.width} x {self.height} pixels does not have {len(self.rgb)} bytes")
        import hashlib  # noqa: PLC0415  (OpenSSL comes with it, which the window's first paint waits for)

        named = hashlib.blake2b(f"{self.width} {self.height} ".encode(), digest_size=16)
        named.update(self.rgb)
        object.__setattr__(self, "digest", named.hexdigest())
