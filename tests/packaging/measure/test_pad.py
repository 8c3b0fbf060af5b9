"""Padding with zero neurons gives the same text with more work."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import gguf
import numpy as np
import pytest

from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from tests.engine.gguf_factory import F16, F32, Q4_0, Kind, tiny_llama
from tests.scripts import load_script


@pytest.fixture
def pad() -> ModuleType:
    return load_script("measure/pad.py")


def logits(path: Path) -> np.ndarray:
    """The logits of every token of a text."""
    with LlamaModel(path) as model, LlamaContext(model, ContextParams(n_ctx=128, threads=1)) as context:
        ids = model.vocab.tokenize("Once upon a time there was a fox", special=True, add_bos=True)
        return np.array(context.forward(ids, len(ids)))


@pytest.mark.parametrize("kind", [Q4_0, F16, F32, 8])
def test_a_random_llama_has_the_requested_parameters(pad: ModuleType, tmp_path: Path, kind: int) -> None:
    source, padded = tiny_llama(feed_forward_kind=kind, seed=3).write(tmp_path / "source.gguf"), tmp_path / "p.gguf"
    pad.make_padded(source, padded, 3_000_000)
    # Longer rows are summed in other groups: differences up to 0.007 if the old length was no multiple of the group
    # (F16), up to 0.04 if a CPU has tiles for longer rows only.
    np.testing.assert_allclose(logits(padded), logits(source), atol=6e-2, rtol=0)
    assert 2_800_000 < sum(int(tensor.n_elements) for tensor in gguf.GGUFReader(padded).tensors) <= 3_000_000


def test_only_the_feed_forward_layers_and_their_length_change(pad: ModuleType, tmp_path: Path) -> None:
    source, padded = tiny_llama().write(tmp_path / "source.gguf"), tmp_path / "padded.gguf"
    pad.make_padded(source, padded, 2_000_000)
    old, new = gguf.GGUFReader(source), gguf.GGUFReader(padded)
    changed = {key for key, field in old.fields.items() if field.contents() != new.fields[key].contents()}
    assert changed == {"llama.feed_forward_length"}
    for before, after in zip(old.tensors, new.tensors, strict=True):
        assert (before.name, before.tensor_type) == (after.name, after.tensor_type)
        rows, columns = before.data.shape if before.data.ndim == 2 else (1, before.data.size)
        grown = after.data.reshape(-1, after.data.shape[-1])
        assert np.array_equal(grown[:rows, :columns], before.data.reshape(rows, columns))
        assert not grown[rows:].any()
        assert not grown[:, columns:].any()
        assert ("ffn_" in before.name and "norm" not in before.name) == (before.data.size != after.data.size)


def test_what_cannot_be_padded_is_refused(pad: ModuleType, tmp_path: Path) -> None:
    not_llama = tiny_llama().with_metadata(general__architecture=(Kind.STRING, "gpt2")).write(tmp_path / "a.gguf")
    mismatch = tiny_llama().with_metadata(llama__feed_forward_length=(Kind.UINT32, 64)).write(tmp_path / "b.gguf")
    lengths = (Kind.ARRAY, (Kind.UINT32, [96, 96]))
    uneven = tiny_llama().with_metadata(llama__feed_forward_length=lengths).write(tmp_path / "c.gguf")
    large = tiny_llama().write(tmp_path / "d.gguf")
    for path, num_params, reason in (
        (mismatch, 2_000_000, "cannot be padded"), (uneven, 2_000_000, "of one size"), (large, 1000, "nothing to pad")
    ):  # fmt: skip
        with pytest.raises(SystemExit, match=reason):
            pad.make_padded(path, tmp_path / "padded.gguf", num_params)
    with pytest.raises(SystemExit, match="no llama"):
        pad.make_padded(not_llama, tmp_path / "padded.gguf", 2_000_000)
