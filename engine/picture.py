"""A decoded picture of bounded size. A child process decodes untrusted files."""

from dataclasses import dataclass, field

MAX_SIDE = 2048  # pixels; the app scales larger pictures down
BYTES_PER_PIXEL = 3


@dataclass(frozen=True, slots=True)
class Picture:
    """``rgb`` has three bytes per pixel, row by row from the top. ``digest`` identifies pixels and size.

    Raises:
        ValueError: the number of bytes does not match the size.
    """

    width: int
    height: int
    rgb: bytes = field(repr=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 1 or len(self.rgb) != self.width * self.height * BYTES_PER_PIXEL:
            raise ValueError(f"a picture of {self.width} x {self.height} pixels does not have {len(self.rgb)} bytes")
        import hashlib  # noqa: PLC0415  (imports OpenSSL, which would delay the window's first paint)

        named = hashlib.blake2b(f"{self.width} {self.height} ".encode(), digest_size=16)
        named.update(self.rgb)
        object.__setattr__(self, "digest", named.hexdigest())
