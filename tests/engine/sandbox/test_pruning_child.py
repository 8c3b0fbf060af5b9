"""The helper that writes a model without layers, as a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ModelLoadError
from engine.llama.model import LlamaModel
from engine.sandbox import pruning_child
from engine.sandbox.probe import ask_child
from tests.engine.gguf_factory import tiny_llama


def test_it_writes_and_says_so(tmp_path: Path) -> None:
    assert callable(pruning_child.main)
    source = tiny_llama(n_layer=3).write(tmp_path / "three.gguf")
    looks: list[bool] = []

    def look() -> bool:
        looks.append(True)
        return False

    assert ask_child("prune", [source, tmp_path / "one.gguf"], 60.0, look, ["0", "2"]) == {"written": True}
    with LlamaModel(tmp_path / "one.gguf") as model:
        assert model.n_layer == 1


def test_what_went_wrong_comes_back_as_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "none.gguf").write_bytes(b"nothing")
    with pytest.raises(ModelLoadError, match=r"none\.gguf"):
        ask_child("prune", [tmp_path / "none.gguf", tmp_path / "out.gguf"], 60.0, words=["0"])
