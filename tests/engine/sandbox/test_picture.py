"""Pictures are decoded in a child process; the result is pixels or one sentence."""

import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.errors import PictureError
from engine.picture import MAX_SIDE, Picture
from engine.sandbox.picture import MAX_BYTES, PictureReader, read_picture, read_picture_file
from tests.engine.sandbox.pictures import HEIGHT, WIDTH, broken, encoded, png, sample

BROKEN = broken()


def pixels(picture: Picture) -> NDArray[np.uint8]:
    """The pixels [height, width, 3]."""
    return np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize("name", list(BROKEN))
def test_broken_and_hostile_pictures_get_one_sentence(name: str) -> None:
    with pytest.raises(PictureError) as caught:
        read_picture(BROKEN[name], "holiday.png")
    assert "“holiday.png”" in caught.value.message
    assert caught.value.message.count(".") == 2  # including that of the name
    assert caught.value.advice.endswith(".")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_the_four_kinds_are_read(kind: str) -> None:
    options = {"JPEG": {"quality": 95}, "WEBP": {"lossless": True}}.get(kind, {})
    found = pixels(read_picture(encoded(sample(), kind, **options), "x.gguf"))  # whatever its name
    assert found.shape == (HEIGHT, WIDTH, 3)
    assert np.abs(found.astype(int) - np.asarray(sample()).astype(int)).mean() < 6


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "I;16"])
def test_png_of_every_kind_of_pixel_becomes_rgb(mode: str) -> None:
    """Also with 16 bits, which must not be cut at 255."""
    image = Image.fromarray(np.asarray(sample("L")).astype(np.uint16) * 257) if mode == "I;16" else sample(mode)
    found = pixels(read_picture(encoded(image, "PNG"), "x")).astype(int)
    expected = np.asarray(sample("L").convert("RGB") if mode[0] in "LI" else image.convert("RGB")).astype(int)
    assert np.abs(found - expected).max() <= 1


def test_colour_of_sixteen_bits_and_of_four_inks() -> None:
    values = bytes(one for _ in range(8) for one in (0, *([255, 255, 128, 0, 0, 0] * 8)))
    found = pixels(read_picture(png(8, 8, depth=16, data=zlib.compress(values)), "x"))
    assert np.abs(found.astype(int) - [255, 128, 0]).max() <= 1
    inks = pixels(read_picture(encoded(sample("CMYK"), "JPEG", quality=95), "x")).astype(int)
    assert np.abs(inks - np.asarray(sample()).astype(int)).mean() < 12


def test_what_is_transparent_lies_on_white() -> None:
    image = sample("RGBA")
    image.putalpha(0)
    assert (pixels(read_picture(encoded(image, "PNG"), "x")) == 255).all()


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize("turn", range(1, 9))
def test_the_cameras_turning_is_applied(turn: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = turn
    found = pixels(read_picture(encoded(sample(), "JPEG", quality=95, exif=exif), "x")).astype(int)
    upright = {
        1: np.asarray,
        2: np.fliplr,
        3: lambda a: np.rot90(a, 2),
        4: np.flipud,
        5: lambda a: np.transpose(a, (1, 0, 2)),
        6: lambda a: np.rot90(a, -1),
        7: lambda a: np.rot90(np.transpose(a, (1, 0, 2)), 2),
        8: np.rot90,
    }[turn](np.asarray(sample()))
    assert found.shape == upright.shape
    assert np.abs(found - upright.astype(int)).mean() < 6


def test_large_pictures_are_made_smaller_and_keep_their_shape() -> None:
    picture = read_picture(encoded(sample().resize((6000, 3000)), "JPEG"), "x")
    assert (picture.width, picture.height) == (MAX_SIDE, MAX_SIDE // 2)


def test_files_are_bounded_and_named(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="cannot be read"):
        read_picture_file(tmp_path / "nothing.png")
    with pytest.raises(PictureError, match="cannot be read"):
        read_picture_file(tmp_path)
    large = tmp_path / "large.png"
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(PictureError, match="more than 64 MB"):
        read_picture_file(large)
    good = tmp_path / "good.png"
    good.write_bytes(encoded(sample(), "PNG"))
    assert read_picture_file(good).width == WIDTH


def test_a_reader_that_takes_too_long_is_ended() -> None:
    with pytest.raises(PictureError, match="within 0 seconds"):
        read_picture(encoded(sample(), "PNG"), "x", limit_s=0.001)


def test_what_comes_again_is_decoded_once() -> None:
    asked = list[str]()

    def read(data: bytes, name: str) -> Picture:
        asked.append(name)
        return Picture(1, 1, data)

    reader = PictureReader(read)
    assert reader.read(b"abc", "a") is reader.read(b"abc", "b")
    reader.read(b"abd", "c")
    assert asked == ["a", "c"]


def test_a_picture_has_as_many_bytes_as_its_size_wants() -> None:
    with pytest.raises(ValueError, match="2 x 2"):
        Picture(2, 2, bytes(11))
    with pytest.raises(ValueError, match="0 x 2"):
        Picture(0, 2, b"")


def test_a_large_jpeg_is_decoded_small() -> None:
    """Decoded completely it would exceed the pixel limit."""
    data = encoded(Image.new("L", (12_000, 9_000), 200), "JPEG")
    assert read_picture(data, "x").width == MAX_SIDE
