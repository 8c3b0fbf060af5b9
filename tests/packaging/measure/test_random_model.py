"""A random model with any weight type loads and runs."""

from pathlib import Path
from types import ModuleType

import gguf
import pytest

from engine.llama.model import LlamaModel
from engine.loading.loading import LoadOptions, open_model
from tests.engine.gguf_factory import tiny_llama
from tests.long_form import only_long
from tests.scripts import load_script
from tests.shared_files import shared_file


@pytest.fixture
def random_model() -> ModuleType:
    return load_script("measure/random_model.py")


@pytest.mark.parametrize(
    ("weights", "kind"),
    [
        ("Q6_K", "Q6_K"),
        pytest.param("Q5_K", "Q5_K", marks=only_long),
        pytest.param("Q4_1", "Q4_1", marks=only_long),
        ("Q8_0", "Q8_0"),
    ],
)
def test_it_has_the_shape_and_the_weights_that_were_asked_for(
    random_model: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: str, kind: str
) -> None:
    path = tmp_path / "model.gguf"
    vocab = tiny_llama().write(tmp_path / "vocab.gguf")
    shape = ["--width", "256", "--feed-forward", "512", "--heads", "4", "--layers", "3", "--weights", weights]
    monkeypatch.setattr("sys.argv", ["random_model.py", str(vocab), str(path), *shape])
    assert random_model.main() == 0
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    assert tensors["blk.2.ffn_down.weight"].tensor_type.name == kind
    assert tensors["blk.2.ffn_down.weight"].shape.tolist() == [512, 256]
    assert {file.name for file in tmp_path.iterdir()} == {"model.gguf", vocab.name}
    loaded = open_model(path, LoadOptions(n_ctx=64))
    try:
        assert loaded.sequence.forward([1, 2, 3], 1).shape == (1, 263)
    finally:
        loaded.close()


def test_an_unknown_kind_of_weights_is_refused(random_model: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no weights of the kind Q9_X"):
        random_model.convert(tmp_path / "none.gguf", tmp_path / "model.gguf", "Q9_X")


def test_without_options_it_is_tiny(random_model: ModuleType, tmp_path: Path) -> None:
    vocab = shared_file("vocabs/ggml-vocab-gpt-2.gguf")
    path = random_model.make_model(vocab, tmp_path / "model.gguf", random_model.SPREAD)
    with LlamaModel(path) as model:
        assert model.vocab.n_vocab == 50257
