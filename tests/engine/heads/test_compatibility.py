"""Untrusted heads are judged by their headers: the result is a sentence or acceptance, whatever a file claims."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DraftRefusedError
from engine.gguf.header import GgufHeader, read_header
from engine.heads.compatibility import check_head_file
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for


def headers(folder: Path, head: GgufFile) -> tuple[GgufHeader, GgufHeader]:
    files = [one.write(folder / f"{i}.gguf") for i, one in enumerate((tiny_llama(), head))]
    return read_header(files[0]), read_header(files[1])


def without(head: GgufFile, name: str) -> GgufFile:
    return replace(head, tensors=tuple(tensor for tensor in head.tensors if tensor.name != name))


@pytest.mark.parametrize("own", [True, False])
def test_a_head_that_fits_its_target_is_taken(tmp_path: Path, own: bool) -> None:
    check_head_file(*headers(tmp_path, eagle3_for(own=own)))


@pytest.mark.parametrize(
    "layers",
    [
        (Kind.STRING, "0 1 1"),
        (Kind.UINT32, 1),
        (Kind.ARRAY, (Kind.STRING, ["0", "1", "1"])),
        (Kind.ARRAY, (Kind.FLOAT32, [0.0, float("nan"), 1.0])),
        (Kind.ARRAY, (Kind.FLOAT32, [0.5, 1.0, 1.0])),
        (Kind.ARRAY, (Kind.INT32, [0, 1, 1, 1])),
    ],
)
def test_layers_that_are_no_three_numbers_are_refused(tmp_path: Path, layers: tuple[Kind, Any]) -> None:
    head = eagle3_for().with_metadata(eagle3__target_layers=layers)
    with pytest.raises(DraftRefusedError, match="does not name the three layers"):
        check_head_file(*headers(tmp_path, head))


@pytest.mark.parametrize("layers", [[0, 1, 3], [-1, 0, 1]])
def test_layers_that_the_target_has_not_are_refused(tmp_path: Path, layers: list[int]) -> None:
    head = eagle3_for().with_metadata(eagle3__target_layers=(Kind.ARRAY, (Kind.INT32, layers)))
    with pytest.raises(DraftRefusedError, match="and this one has 2"):
        check_head_file(*headers(tmp_path, head))


def test_a_head_that_borrows_layers_of_another_width_is_refused(tmp_path: Path) -> None:
    head = eagle3_for().with_metadata(eagle3__embedding_length=(Kind.UINT32, 32))
    with pytest.raises(DraftRefusedError, match="another width than its own"):
        check_head_file(*headers(tmp_path, head))
    check_head_file(*headers(tmp_path, eagle3_for(own=True).with_metadata(eagle3__embedding_length=(Kind.UINT32, 32))))


def test_a_vocabulary_of_its_own_needs_an_output_layer_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(DraftRefusedError, match="no output layer for it"):
        check_head_file(*headers(tmp_path, without(eagle3_for(own=True), "output.weight")))
