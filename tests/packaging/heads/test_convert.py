"""Published heads are converted: the scores equal PyTorch's, and untrusted files are rejected."""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.heads.medusa import read_medusa
from engine.llama.head_graph import HeadGraphs
from tests.engine.gguf_factory import tiny_llama

CONVERT = Path(__file__).parents[3] / "packaging" / "heads" / "convert.py"
WIDTH, N_VOCAB, NUM_HEADS = 64, 263, 3
Weights = dict[str, NDArray[np.float32]]
has_torch = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not has_torch, reason="PyTorch's own files need torch: pip install torch")


def convert(*arguments: Path | str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CONVERT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=os.environ.copy())


def layout(kind: str, *, seed: int = 1, own_output: bool = True) -> Weights:
    """Random weights under the names of the authors' files: two blocks per head."""
    dice, found = np.random.default_rng(seed), {}

    def random(name: str, *shape: int) -> None:
        found[name] = dice.normal(0.0, 0.2, shape).astype(np.float32)

    for k in range(NUM_HEADS):
        wide = WIDTH * (k + 2 if kind == "hydra" else 1)
        for n in range(2):
            name = f"hydra_mlp.{k}.{n}.linear" if kind == "hydra" else f"{k}.{n}.linear"
            random(f"{name}.weight", WIDTH, WIDTH if n else wide)
            random(f"{name}.bias", WIDTH)
        if kind == "hydra":
            random(f"hydra_mlp.{k}.0.res_connection.weight", WIDTH, wide)
            random(f"hydra_mlp.{k}.0.res_connection.bias", WIDTH)
            random(f"hydra_lm_head.{k}.weight", N_VOCAB, WIDTH)
            random(f"hydra_lm_head.{k}.bias", N_VOCAB)
        elif own_output:
            random(f"{k}.2.weight", N_VOCAB, WIDTH)
    return found


def safetensors(weights: Weights) -> bytes:
    header, data = {}, b""
    for name, values in weights.items():
        header[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    listed = json.dumps(header).encode()
    return len(listed).to_bytes(8, "little") + listed + data


def scores(heads: Path, target: Path, row: NDArray[np.float32], seen: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The scores of a converted file in this engine; the embeddings are given unchanged."""
    weights = read_medusa(heads, target)
    graphs = HeadGraphs(weights.heads, WIDTH, "F32", 16)
    found = [graphs.scores(k, row, seen[: weights.layout.num_tokens(k)].view(np.uint8)) for k in range(NUM_HEADS)]
    graphs.close()
    return found


def silu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(x / (1.0 + np.exp(-x)), dtype=np.float32)


@pytest.mark.parametrize("kind", ["medusa", "hydra"])
def test_a_safetensors_file_gives_the_scores_of_its_formulas(tmp_path: Path, kind: str) -> None:
    weights, dice = layout(kind), np.random.default_rng(2)
    target, heads = tiny_llama().write(tmp_path / "target.gguf"), tmp_path / "heads.gguf"
    (tmp_path / "heads.safetensors").write_bytes(safetensors(weights))
    done = convert(tmp_path / "heads.safetensors", target, heads, "--type", "F32")
    assert done.returncode == 0, done.stderr
    row = dice.normal(size=WIDTH).astype(np.float32)
    seen = dice.normal(size=(NUM_HEADS, WIDTH)).astype(np.float32)
    for k, found in enumerate(scores(heads, target, row, seen)):
        name, x = (f"hydra_mlp.{k}", np.concatenate([row, *seen[: k + 1]])) if kind == "hydra" else (f"{k}", row)
        kept = x
        if kind == "hydra":
            kept = weights[f"{name}.0.res_connection.weight"] @ x + weights[f"{name}.0.res_connection.bias"]
        x = kept + silu(weights[f"{name}.0.linear.weight"] @ x + weights[f"{name}.0.linear.bias"])
        x = x + silu(weights[f"{name}.1.linear.weight"] @ x + weights[f"{name}.1.linear.bias"])
        output = f"hydra_lm_head.{k}" if kind == "hydra" else f"{k}.2"
        expected = weights[f"{output}.weight"] @ x + weights.get(f"{output}.bias", np.float32(0.0))
        assert np.allclose(found, expected, atol=1e-3)


@needs_torch
@pytest.mark.parametrize("kind", ["medusa", "hydra"])
def test_a_file_of_pytorch_gives_the_rows_of_its_modules(tmp_path: Path, kind: str) -> None:
    torch = pytest.importorskip("torch")
    nn = torch.nn

    class ResBlock(nn.Module):  # type: ignore[misc,name-defined]
        """As in both repositories."""

        def __init__(self, size: int, num_condition: int = 0) -> None:
            super().__init__()
            self.linear = nn.Linear(size * (num_condition + 1), size)
            self.res_connection = nn.Linear(size * (num_condition + 1), size) if num_condition else nn.Identity()
            self.act = nn.SiLU()

        def forward(self, x: Any) -> Any:  # noqa: ANN401  (PyTorch may be absent)
            return self.res_connection(x) + self.act(self.linear(x))

    torch.manual_seed(3)
    if kind == "medusa":
        heads = nn.ModuleList(
            nn.Sequential(ResBlock(WIDTH), nn.Linear(WIDTH, N_VOCAB, bias=False)) for _ in range(NUM_HEADS)
        )
    else:
        heads = nn.Module()
        heads.hydra_mlp = nn.ModuleList(
            nn.Sequential(ResBlock(WIDTH, k + 1), ResBlock(WIDTH)) for k in range(NUM_HEADS)
        )
        heads.hydra_lm_head = nn.ModuleList(nn.Linear(WIDTH, N_VOCAB) for _ in range(NUM_HEADS))
    row, seen = torch.randn(WIDTH), torch.randn(NUM_HEADS, WIDTH)
    target, out = tiny_llama().write(tmp_path / "target.gguf"), tmp_path / "heads.gguf"
    torch.save(heads.state_dict(), tmp_path / "heads.pt")
    done = convert(tmp_path / "heads.pt", target, out, "--type", "F32")
    assert done.returncode == 0, done.stderr
    with torch.inference_mode():
        for k, found in enumerate(scores(out, target, row.numpy(), seen.numpy())):
            if kind == "medusa":
                expected = heads[k](row)
            else:
                expected = heads.hydra_lm_head[k](heads.hydra_mlp[k](torch.cat([row, seen[: k + 1].flatten()])))
            assert np.allclose(found, expected.numpy(), atol=1e-4)


def test_heads_without_an_output_matrix_use_the_targets(tmp_path: Path) -> None:
    target, heads = tiny_llama().write(tmp_path / "target.gguf"), tmp_path / "heads.gguf"
    (tmp_path / "heads.safetensors").write_bytes(safetensors(layout("medusa", own_output=False)))
    done = convert(tmp_path / "heads.safetensors", target, heads, "--tokens", "100")
    assert done.returncode == 0, done.stderr
    weights = read_medusa(heads, target)
    assert weights.layout.num_outputs == weights.heads[0].output.rows == len(weights.ids) == 100
    assert weights.heads[0].output.kind == "F16"


def test_other_layouts_and_cut_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    target, source = tiny_llama().write(tmp_path / "target.gguf"), tmp_path / "heads.safetensors"
    whole = safetensors(layout("medusa"))
    for data, words in (
        (whole[:-100], "cut or damaged"),
        (whole[:50], "no safetensors file"),
        (safetensors({"model.layers.0.weight": np.zeros((2, 2), np.float32)}), "belongs to no layout"),
    ):
        source.write_bytes(data)
        done = convert(source, target, tmp_path / "heads.gguf")
        assert done.returncode == 1
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "heads.gguf").exists()


@pytest.mark.skipif(has_torch, reason="PyTorch is installed")
def test_without_pytorch_a_pt_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    target = tiny_llama().write(tmp_path / "target.gguf")
    (tmp_path / "heads.pt").write_bytes(b"weights")
    done = convert(tmp_path / "heads.pt", target, tmp_path / "heads.gguf")
    assert (done.returncode, done.stderr) == (
        1,
        "heads.pt is read by PyTorch, which is not installed: pip install torch.\n",
    )


class Harmful:
    """A pickle that runs a command when it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.trace}",)


@needs_torch
def test_a_pickle_that_would_run_something_is_not_opened(tmp_path: Path) -> None:
    target, trace = tiny_llama().write(tmp_path / "target.gguf"), tmp_path / "ran"
    (tmp_path / "heads.pt").write_bytes(pickle.dumps({"0.0.linear.weight": Harmful(trace)}))
    done = convert(tmp_path / "heads.pt", target, tmp_path / "heads.gguf")
    assert "holds more than weights" in done.stderr
    assert not trace.exists()
