"""Tests the information in file names, and which names may become paths."""

import random
from pathlib import Path

import pytest

from app.core.domain.models import FileKind, RepoFile
from app.core.hub.errors import UnsafeNameError
from app.core.hub.file_names import (
    all_shards,
    check_repo_id,
    group_models,
    kind_of,
    model_name,
    path_inside,
    quantization_of,
    safe_parts,
)

BAD_PATHS = [
    "",
    "..",
    "../a.gguf",
    "a/../../b.gguf",
    "a/..",
    "./a.gguf",
    "a//b.gguf",
    "a/",
    "/etc/passwd.gguf",
    "//server/share/a.gguf",
    "\\\\server\\share\\a.gguf",
    "..\\a.gguf",
    "a\\b.gguf",
    "C:a.gguf",
    "C:/a.gguf",
    "a.gguf:stream",
    "nul",
    "NUL.gguf",
    "x/com1.gguf",
    "con .gguf",
    "lpt\u00b9.gguf",
    "a\0.gguf",
    "a\n.gguf",
    "a\u202e.gguf",
    "a.gguf.",
    "a.gguf ",
    " a.gguf",
    "-rf.gguf",
    "~root/a.gguf",
    "a?.gguf",
    "a*.gguf",
    "<a>.gguf",
    "a" * 300 + ".gguf",
    "/".join(["a"] * 400),
    "\ud800.gguf",
]


@pytest.mark.parametrize("path", BAD_PATHS, ids=ascii)
def test_a_name_that_could_lead_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(UnsafeNameError) as caught:
        safe_parts(path)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("path", ["a.gguf", "Q4_K_M/m-00001-of-00002.gguf", "ünïcode 模型.gguf", "consul.gguf"])
def test_a_plain_name_is_kept(path: str) -> None:
    assert "/".join(safe_parts(path)) == path


def test_500_names_made_of_tricks_stay_inside_or_are_refused(tmp_path: Path) -> None:
    draw = random.Random(20)  # noqa: S311 (names to try, no secret)
    pieces = ["..", ".", "/", "//", "\\", "C:", "a", "nul", ".gguf", "\0", "~", " ", "\u202e", "%2e%2e", "con", "é"]
    accepted = 0
    for _ in range(500):
        path = "".join(draw.choices(pieces, k=draw.randint(1, 7)))
        try:
            place = path_inside(tmp_path, safe_parts(path))
        except UnsafeNameError:
            continue
        accepted += 1
        assert place.resolve().is_relative_to(tmp_path.resolve())
        assert place != tmp_path
    assert 0 < accepted < 250


def test_a_link_out_of_the_folder_is_seen(tmp_path: Path) -> None:
    library, outside = tmp_path / "library", tmp_path / "outside"
    library.mkdir()
    outside.mkdir()
    (library / "owner").symlink_to(outside)
    with pytest.raises(UnsafeNameError, match="through a link"):
        path_inside(library, ("owner", "a.gguf"))


@pytest.mark.parametrize(
    "repo_id", ["", "a", "a/b/c", "../b", "a/..", "a/b c", "a/.b", "a\\b/c", "a/b\n", "a/" + "b" * 97]
)
def test_what_is_no_repository_is_refused(repo_id: str) -> None:
    with pytest.raises(UnsafeNameError):
        check_repo_id(repo_id)
    assert check_repo_id("bartowski/Qwen2.5-7B_x-GGUF") == "bartowski/Qwen2.5-7B_x-GGUF"


@pytest.mark.parametrize(
    ("path", "kind", "quantization"),
    [
        ("Qwen3-8B-Q4_K_M.gguf", FileKind.MODEL, "Q4_K_M"),
        ("q/Qwen3-235B-UD-Q2_K_XL-00001-of-00003.gguf", FileKind.MODEL, "UD-Q2_K_XL"),
        ("BF16/Llama-00002-of-00009.gguf", FileKind.MODEL, "BF16"),
        ("gpt-oss-20b-mxfp4.gguf", FileKind.MODEL, "MXFP4"),
        ("model.fp16.gguf", FileKind.MODEL, "F16"),
        ("a-IQ2_XXS.gguf", FileKind.MODEL, "IQ2_XXS"),
        ("specter-7b.gguf", FileKind.MODEL, ""),
        ("mmproj-model-f16.gguf", FileKind.MMPROJ, "F16"),
        ("Qwen3.5-mmproj-BF16.gguf", FileKind.MMPROJ, "BF16"),
        ("mtp-Qwen3.6-Q8_0.gguf", FileKind.MTP, "Q8_0"),
        ("Qwen3.6-nextn.gguf", FileKind.MTP, ""),
        ("Qwen3.6-MTP-Q8_0.gguf", FileKind.MODEL, "Q8_0"),
        ("llama-eagle3-f16.gguf", FileKind.EAGLE, "F16"),
        ("Qwen3-DFlash-b16.gguf", FileKind.DFLASH, ""),
        ("Meta-Llama.imatrix.gguf", FileKind.IMATRIX, ""),
        ("Qwen3-0.6B-DRAFT-Q8_0.gguf", FileKind.DRAFT, "Q8_0"),
        ("ggml-vocab-qwen2.gguf", FileKind.VOCAB, ""),
        ("my-lora-f16.gguf", FileKind.ADAPTER, "F16"),
    ],
)
def test_kind_and_quantization_from_the_name(path: str, kind: FileKind, quantization: str) -> None:
    assert kind_of(path) is kind
    assert quantization_of(path) == quantization


def test_shards_are_one_model() -> None:
    names = ["b/m-00002-of-00003.gguf", "b/m-00001-of-00003.gguf", "b/m-00003-of-00003.gguf", "mmproj-F16.gguf"]
    names += ["a-00002-of-00002.gguf", "README.md", "x-00004-of-00003.gguf"]
    models = {model.name: model for model in group_models(RepoFile(name, 10) for name in names)}
    assert [file.path for file in models["m"].files] == [names[1], names[0], names[2]]
    assert (models["m"].size_bytes, models["m"].missing_shards) == (30, 0)
    assert models["a"].missing_shards == 1
    assert set(models) == {"m", "a", "mmproj-F16", "x-00004-of-00003"}  # x: its number exceeds the total
    assert model_name("b/m-00002-of-00003.gguf") == "m"


def test_all_shards_from_any_one() -> None:
    assert [path.name for path in all_shards(Path("d/m-00002-of-00002.gguf"))] == [
        "m-00001-of-00002.gguf",
        "m-00002-of-00002.gguf",
    ]
    assert all_shards(Path("d/m.gguf")) == (Path("d/m.gguf"),)
