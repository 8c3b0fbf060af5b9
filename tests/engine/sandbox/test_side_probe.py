"""A projector file is tried with its target in a child process: a crash there becomes one sentence."""

from functools import partial
from pathlib import Path

import pytest

from engine.errors import EngineError, ModelFileError
from engine.sandbox import probe
from engine.sandbox.probe import CACHE_FILE, probe_side
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.vision_factory import FAMILIES, Pair, side_file, write_pair


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize("family", FAMILIES)
def test_good_ones_pass_and_are_not_tried_again(tmp_path: Path, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = write_pair(tmp_path, family)
    inspect = partial(probe_side, cache_dir=tmp_path)
    inspect(pair.model, pair.side, lambda: False)
    assert (tmp_path / CACHE_FILE).exists()
    monkeypatch.setattr(probe, "ask_child", lambda *_: pytest.fail("tried again"))
    inspect(pair.model, pair.side, lambda: False)
    pair.side.write_bytes(side_file(family, seed=1).to_bytes())
    with pytest.raises(BaseException, match="tried again"):
        inspect(pair.model, pair.side, lambda: False)


def _hostile() -> dict[str, GgufFile]:
    good = side_file("llava")
    return {
        "no weights": GgufFile(good.metadata),
        "a weight is missing": GgufFile(good.metadata, good.tensors[:-2]),
        "an unknown projector": good.with_metadata(clip__projector_type=(Kind.STRING, "nothing")),
        "another's projector": good.with_metadata(clip__projector_type=(Kind.STRING, "gemma3")),
        "no heads": good.with_metadata(clip__vision__attention__head_count=(Kind.UINT32, 0)),
        "too many heads": good.with_metadata(clip__vision__attention__head_count=(Kind.UINT32, 1000)),
        "more layers than it has": good.with_metadata(clip__vision__block_count=(Kind.UINT32, 900)),
        "a patch that does not divide": good.with_metadata(clip__vision__patch_size=(Kind.UINT32, 7)),
        "an image that is too large for it": good.with_metadata(clip__vision__image_size=(Kind.UINT32, 16_384)),
        "no means": good.with_metadata(clip__vision__image_mean=None),
        "weights that are no numbers": good.with_tensor("mm.0.bias", data=b"\xff\xff\xff\x7f" * 64),
        "a weight of another size": good.with_tensor("mm.0.weight", dims=(64, 32)),
    }


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize("name", list(_hostile()))
def test_hostile_ones_end_the_child_and_nobody_else(tmp_path: Path, name: str) -> None:
    pair = write_pair(tmp_path, "llava")
    side = _hostile()[name].write(tmp_path / "mmproj-hostile.gguf")
    with pytest.raises(EngineError, match=r"mmproj-hostile\.gguf"):
        probe_side(pair.model, side)


def test_one_of_another_model_is_refused(tmp_path: Path) -> None:
    pair = Pair(write_pair(tmp_path, "llava").model, side_file("pixtral", n_embd=128).write(tmp_path / "other.gguf"))
    with pytest.raises(ModelFileError, match=r"other\.gguf belongs to another model"):
        probe_side(pair.model, pair.side)


@pytest.mark.usefixtures("warm_helpers")
def test_one_whose_marks_the_model_does_not_know_is_of_another_model(tmp_path: Path) -> None:
    """As wide as the model, but the model lacks the tokens that libmtmd puts around pictures."""
    target = tiny_llama().write(tmp_path / "plain.gguf")
    side = side_file("idefics3").write(tmp_path / "mmproj-slices.gguf")
    with pytest.raises(
        EngineError, match=r"mmproj-slices\.gguf belongs to another model: it puts pictures between markers"
    ):
        probe_side(target, side)
