"""A toy run of the whole training: tokenizer, target, samples, draft, GGUFs that llama.cpp opens."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PAIR = Path(__file__).parents[3] / "packaging" / "pair"
MISSING = [name for name in ("torch", "tokenizers") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"training needs {' and '.join(MISSING)}: pip install '.[train]'")


def script(name: str, *arguments: str | Path) -> str:
    command = [sys.executable, str(PAIR / name), *map(str, arguments)]
    environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def losses(log: Path) -> list[float]:
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [line["loss"] for line in lines if "loss" in line]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    toy = ("--out", folder, "--toy", "--tokens-per-step", "1024", "--threads", "1")
    script("train_target.py", *toy, "--steps", "60")
    script("train_draft.py", *toy, "--steps", "40")
    for role in ("target", "draft"):
        script("export.py", folder / f"{role}.pt", folder / "tokenizer.json", folder / f"{role}.gguf", "--role", role)
    return folder


def test_loss_falls(run: Path) -> None:
    target, draft = losses(run / "target.jsonl"), losses(run / "draft.jsonl")
    assert target[-1] < target[0]
    assert draft[-1] < draft[0]


def test_training_continues_from_its_checkpoint(run: Path) -> None:
    arguments = ("--out", run, "--toy", "--tokens-per-step", "1024", "--threads", "1", "--steps", "80")
    printed = script("train_target.py", *arguments)
    steps = [json.loads(line)["step"] for line in printed.splitlines()]
    assert steps == [70, 80, 80]


def test_rounded_weights_cost_little(run: Path) -> None:
    last = json.loads((run / "target.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert abs(last["validation_rounded"] - last["validation"]) < 0.5


def test_tokenizer_and_logits_are_those_of_llama_cpp(run: Path) -> None:
    pytest.importorskip("llama_cpp", reason="comparing with llama.cpp needs llama-cpp-python")
    printed = script("compare.py", run / "target.pt", run / "tokenizer.json")
    result = json.loads(printed)
    assert result["token_mismatches"] == []
    assert result["strings"] > 500
    assert result["largest_difference"] < 0.02 * result["largest_logit"]
    assert result["same_first_choice"] > 0.97


def test_exported_pair_answers_and_is_measured(run: Path) -> None:
    pytest.importorskip("llama_cpp", reason="opening the files needs llama-cpp-python")
    printed = script("sample.py", run / "target.gguf", run / "samples.jsonl", "--tokens", "300")
    assert "tokens in" in printed
    record = json.loads((run / "samples.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert 0 < record["prompt"] < len(record["ids"])


def test_what_ships_reads_back_as_it_was_written(run: Path) -> None:
    code = (
        "import sys, torch; from pathlib import Path; from bpe import Tokenizer; from export import quantize, TYPES\n"
        "from gguf.quants import dequantize; from read_back import read_network, read_tokenizer\n"
        "from training import load_network; run = Path(sys.argv[1])\n"
        "text = 'Hello there, 123 <|im_start|>user\\n na\\u00efve \\U0001f389'\n"
        "whole = Tokenizer.load(run / 'tokenizer.json').encode(text)\n"
        "assert read_tokenizer(run / 'target.gguf').encode(text) == whole\n"
        "mine, read = load_network(run / 'draft.pt')[0], read_network(run / 'draft.gguf')\n"
        "assert mine.shape == read.shape\n"
        "for (name, one), (_, other) in zip(mine.named_parameters(), read.named_parameters(), strict=True):\n"
        "    kind = TYPES['F32' if one.ndim == 1 else 'Q4_0' if '.ffn_' in name else 'Q8_0']\n"
        "    stored = dequantize(quantize(one.detach().numpy(), kind), kind)\n"
        "    assert torch.equal(torch.from_numpy(stored), other.detach()), name\n"
    )
    command = [sys.executable, "-c", code, str(run)]
    done = subprocess.run(command, cwd=PAIR, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_draft_learns_on_from_what_ships(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="opening the files needs llama-cpp-python")
    samples = tmp_path / "samples.jsonl"
    script("sample.py", run / "target.gguf", samples, "--tokens", "300")
    pair = ("--pair", run / "target.gguf", run / "draft.gguf", "--samples", samples)
    toy = ("--out", tmp_path, "--toy", "--tokens-per-step", "1024", "--threads", "1", "--steps", "40")
    script("train_draft.py", *toy, *pair)
    more, first = losses(tmp_path / "draft.jsonl"), losses(run / "draft.jsonl")
    assert more[0] < first[0]
    script("export.py", tmp_path / "draft.pt", tmp_path / "tokenizer.json", tmp_path / "draft.gguf", "--role", "draft")
    assert (tmp_path / "draft.gguf").stat().st_size == (run / "draft.gguf").stat().st_size
