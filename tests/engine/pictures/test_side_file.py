"""Projector files are found beside their model and judged by their header before they are opened."""

import shutil
from pathlib import Path

import pytest

from engine.errors import SideFileError
from engine.gguf.header import read_header
from engine.pictures.side_file import check_side_file, find_side_file, picture_ubatch, row_width
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.vision_factory import FAMILIES, side_file, text_model, write_pair


@pytest.mark.parametrize("family", FAMILIES)
def test_what_belongs_together_fits_and_tells_its_width(tmp_path: Path, family: str) -> None:
    """By the tensors: in older files the metadata has another number."""
    pair = write_pair(tmp_path, family)
    check_side_file(pair.side, read_header(pair.model))
    assert row_width(read_header(pair.side)) == 64
    assert picture_ubatch(pair.side) == {"gemma3": 256, "gemma4v": 1_120}.get(family, 0)
    wide = side_file(family, n_embd=96).with_metadata(clip__vision__projection_dim=(Kind.UINT32, 64))
    with pytest.raises(
        SideFileError, match="belongs to another model: it gives 96 numbers per position, this model takes 64"
    ):
        check_side_file(wide.write(tmp_path / "wide.gguf"), read_header(pair.model))


def _without(name: str) -> GgufFile:
    return side_file("llava").with_metadata(**{name.replace(".", "__"): None})


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (tiny_llama(), "is not a side file"),
        (_without("clip.has_vision_encoder"), "does not see"),
        (side_file("llava").with_metadata(clip__has_vision_encoder=(Kind.BOOL, False)), "does not see"),
        (_without("clip.vision.image_size"), "vision.image_size is None"),
        (side_file("llava").with_metadata(clip__vision__image_size=(Kind.UINT32, 2**31)), "image_size is 2147483648"),
        (side_file("llava").with_metadata(clip__vision__patch_size=(Kind.UINT32, 0)), "patch_size is 0"),
        (side_file("llava").with_metadata(clip__projector_type=(Kind.STRING, "hunyuanvl")), "is of a kind"),
    ],
    ids=["a model", "no eyes", "ears only", "no size", "an absurd size", "no patches", "a dependent kind"],
)
def test_what_is_none_is_told_in_one_sentence(tmp_path: Path, made: GgufFile, sentence: str) -> None:
    target = read_header(text_model("llava").write(tmp_path / "model.gguf"))
    with pytest.raises(SideFileError, match=sentence) as caught:
        check_side_file(made.write(tmp_path / "mmproj.gguf"), target)
    assert caught.value.advice.startswith("Choose ")


@pytest.mark.parametrize("length", [0, 3, 100, 2000, 20_000])
def test_files_that_are_cut_are_told(tmp_path: Path, length: int) -> None:
    pair = write_pair(tmp_path, "llava")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(pair.side.read_bytes()[:length])
    with pytest.raises(SideFileError, match=r"cut\.gguf"):
        check_side_file(cut, read_header(pair.model))
    with pytest.raises(SideFileError, match="nothing"):
        check_side_file(tmp_path / "nothing.gguf", read_header(pair.model))


def test_the_one_beside_the_model_is_found(tmp_path: Path) -> None:
    assert find_side_file(tmp_path / "nowhere.gguf") is None
    pair = write_pair(tmp_path, "llava")
    assert find_side_file(pair.model) == pair.side
    half = tmp_path / "mmproj-F16.gguf"
    shutil.move(pair.side, half)
    assert find_side_file(pair.model) == half
    other = text_model("pixtral").write(tmp_path / "other.gguf")
    assert find_side_file(pair.model) is None, "it may be the other's"
    own = tmp_path / "mmproj-tiny-llava-q8_0.gguf"
    shutil.copy(half, own)
    assert find_side_file(pair.model) == own
    assert find_side_file(other) is None


def test_one_that_does_not_fit_is_not_found_and_half_precision_comes_first(tmp_path: Path) -> None:
    pair = write_pair(tmp_path, "llava")
    pair.side.unlink()
    side_file("llava", n_embd=32).write(tmp_path / "mmproj-F16.gguf")
    (tmp_path / "mmproj-broken.gguf").write_bytes(b"GGUF")
    assert find_side_file(pair.model) is None
    for name in ("mmproj-tiny-llava-f32.gguf", "mmproj-tiny-llava-f16.gguf", "mmproj-tiny-llava-q8_0.gguf"):
        side_file("llava").write(tmp_path / name)
    found = find_side_file(pair.model)
    assert found is not None
    assert found.name == "mmproj-tiny-llava-f16.gguf"


@pytest.mark.parametrize("family", ["gemma3", "qwen2vl", "qwen3vl"])
def test_one_of_another_family_is_refused_though_it_is_as_wide(tmp_path: Path, family: str) -> None:
    pair = write_pair(tmp_path, family)
    other = tiny_llama().write(tmp_path / "other.gguf")
    assert read_header(other).arch_value("embedding_length") == row_width(read_header(pair.side))
    with pytest.raises(SideFileError, match=r"belongs to another model: it is for \w+, and this one is llama\."):
        check_side_file(pair.side, read_header(other))
