"""Tests the drafts on this computer for a target: by their headers, the cheapest first."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.domain.models import FileKind
from app.core.hub.pairs.assessment import find_drafts
from app.core.hub.records import LibraryModel, Origin
from app.core.hub.remote_header import KnownModel, read_local_header
from engine.errors import ModelFileError
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for

pytestmark = pytest.mark.usefixtures("warm_helpers")

TARGET = tiny_llama(n_ff=9600).with_metadata(general__basename=(Kind.STRING, "Tiny-2.5"))
DRAFT = tiny_llama(n_ff=32)
STRANGER = DRAFT.with_metadata(tokenizer__ggml__bos_token_id=(Kind.UINT32, 7))


@pytest.fixture(name="target")
def fixture_target(tmp_path: Path) -> KnownModel:
    return read_local_header(TARGET.write(tmp_path / "Tiny-2.5-7B-Q4_0.gguf"))


def here(path: Path, kind: FileKind = FileKind.MODEL, *, missing: bool = False) -> LibraryModel:
    return LibraryModel(path.stem, (path,), kind, Origin.IN_PLACE, missing=missing)


def names(found: Sequence[LibraryModel]) -> list[str]:
    return [model.name for model in found]


def test_models_here_are_judged_by_their_headers(target: KnownModel, tmp_path: Path) -> None:
    good, stranger = DRAFT.write(tmp_path / "draft.gguf"), STRANGER.write(tmp_path / "stranger.gguf")
    big = tiny_llama(n_ff=9600, seed=1).write(tmp_path / "big.gguf")
    half = tiny_llama(n_ff=4000).write(tmp_path / "half.gguf")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    head = eagle3_for(TARGET).write(tmp_path / "eagle3-tiny.gguf")
    other_head = eagle3_for(TARGET, width=96).write(tmp_path / "eagle3-other.gguf")
    assert target.path is not None
    library = [
        here(target.path), here(half), here(good), here(stranger), here(big), here(broken), here(head),
        here(other_head, FileKind.EAGLE),
        here(tmp_path / "gone.gguf", missing=True), here(tmp_path / "mmproj.gguf", FileKind.MMPROJ),
    ]  # fmt: skip
    found = names(find_drafts(target, library))
    assert "eagle3-tiny" in found
    assert [name for name in found if name != "eagle3-tiny"] == ["draft", "half", "stranger"], "the cheapest first"


def test_a_copy_of_the_target_and_a_second_copy_of_a_draft_are_not_listed(target: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    assert target.path is not None
    paths = [
        TARGET.write(tmp_path / "copies" / target.path.name), DRAFT.write(tmp_path / "draft.gguf"),
        DRAFT.write(tmp_path / "copies" / "draft.gguf"),
    ]  # fmt: skip
    library = [replace(here(path), size_bytes=path.stat().st_size) for path in paths]
    assert [one.path for one in find_drafts(target, library)] == [paths[1]]


def test_it_can_be_cancelled(target: KnownModel, tmp_path: Path) -> None:
    library = [here(DRAFT.write(tmp_path / "draft.gguf"))]
    with pytest.raises(ModelFileError, match="cancelled"):
        find_drafts(target, library, should_stop=lambda: True)
