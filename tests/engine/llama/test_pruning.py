"""A model without some of its layers: kept layers are copied unchanged, unreadable files are rejected."""

from pathlib import Path

import gguf
import numpy as np
import pytest

from engine.errors import ToolError
from engine.llama.model import LlamaModel
from engine.llama.pruning import prune_layers
from tests.engine.gguf_factory import tiny_llama


def tensors(path: Path) -> dict[str, bytes]:
    return {tensor.name: np.asarray(tensor.data).tobytes() for tensor in gguf.GGUFReader(path).tensors}


def test_the_layers_that_stay_are_copied_and_numbered_anew(tmp_path: Path) -> None:
    source = tiny_llama(n_layer=4).write(tmp_path / "four.gguf")
    prune_layers(source, tmp_path / "two.gguf", [2, 1])
    with LlamaModel(tmp_path / "two.gguf") as model:
        assert model.n_layer == 2
    whole, pruned = tensors(source), tensors(tmp_path / "two.gguf")
    for name, data in pruned.items():
        assert data == whole[name.replace("blk.1.", "blk.3.")], name
    assert len(pruned) == len(whole) - 2 * 9


def test_a_file_that_is_no_model_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "none.gguf").write_bytes(b"GGUF and nothing more")
    with pytest.raises(ToolError, match=r"layers of none\.gguf out: "):
        prune_layers(tmp_path / "none.gguf", tmp_path / "out.gguf", [0])
