"""A toy run of the training of heads, on the built-in target: answers, training, a GGUF that llama.cpp runs alike."""

from __future__ import annotations

import importlib.util
import json
import lzma
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEADS, PAIR = ROOT / "packaging" / "heads", ROOT / "packaging" / "pair"
TARGET = ROOT / "assets" / "models" / "paceline-tiny-target.gguf"
LAYERS = ("--layers", "1", "3", "5")
MISSING = [name for name in ("torch", "tokenizers") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"training needs {' and '.join(MISSING)}: pip install '.[train]'")


def script(name: str, *arguments: str | Path) -> str:
    path = os.pathsep.join([str(PAIR), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE", "PYTHONPATH": path}
    command = [sys.executable, str(HEADS / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def conversation(dice: random.Random) -> dict[str, object]:
    a, b = dice.randrange(20), dice.randrange(20)
    return {
        "messages": [
            {"role": "user", "content": f"What is {a} + {b}?"},
            {"role": "assistant", "content": f"{a} + {b} = {a + b}"},
            {"role": "user", "content": "Tell me a short story."},
        ]
    }


def train(folder: Path, steps: int) -> str:
    usual = ("--vocabulary", "512", "--ffn-width", "768", "--tokens", "1024", "--depth", "2", "--every", "9999")
    return script("train.py", TARGET, folder / "shards", folder, *usual, "--steps", str(steps))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, dice = tmp_path_factory.mktemp("heads"), random.Random(1)  # noqa: S311
    with lzma.open(folder / "small_chat.jsonl.xz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(conversation(dice)) + "\n" for _ in range(120))
    asked = ("--data", folder, "--read", "4000", "--batch", "24", "--minutes", "0.001", *LAYERS)
    printed = script("answer.py", TARGET, folder / "shards", *asked)
    assert re.search(r"1 shards, [1-9]\d* tokens of answers", printed)
    train(folder, 2)
    train(folder, 40)
    script("export.py", folder / "head.pt", TARGET, folder / "head.gguf", *LAYERS)
    return folder


def test_training_continues_and_learns(run: Path) -> None:
    first, last = (json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines())
    assert (first["step"], last["step"]) == (2, 40)
    for step in ("1", "2"):
        assert last[f"loss{step}"] < first[f"loss{step}"]
        assert last[f"greedy{step}"] > first[f"greedy{step}"]


def test_llama_cpp_runs_the_head_as_pytorch_does(run: Path) -> None:
    printed = script("compare.py", run / "head.pt", TARGET, run / "head.gguf", *LAYERS)
    lowest = [float(one) for one in re.findall(r"places (\S+)", printed)]
    assert len(lowest) == 3
    assert min(lowest) > 0.99
