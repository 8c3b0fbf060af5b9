"""Tests recorded answers replayed on a scripted clock, and the n-gram chances counted in them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = Path(__file__).resolve().parents[3] / "packaging" / "measure" / "recorded"


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Two answers, one that repeats its prompt and one that repeats nothing, each with a right or wrong draft."""
    text, new = list(range(100, 160)), list(range(300, 360))
    lines = [
        {"id": "same", "category": "same", "prompt_ids": text, "ids": text, "draft_ids": text},
        {"id": "new", "category": "new", "prompt_ids": text, "ids": new, "draft_ids": text},
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line | {"draft_chances": [0.99] * 60}) + "\n" for line in lines), "utf-8")
    return file


def said(script: str, *words: str) -> str:
    """The output of a script in a separate process: it replaces the engine's clock."""
    return subprocess.run(
        [sys.executable, str(MEASURE / script), *words], capture_output=True, text=True, check=True
    ).stdout


def gains(line: str) -> dict[str, float]:
    _machine, _mode, *rest = line.split()
    return {name: float(value) for name, value in zip(rest[::2], rest[1::2], strict=True)}


def test_text_pays_where_it_repeats_and_costs_nothing_elsewhere(answers: Path) -> None:
    found = gains(said("replay.py", str(answers), "--machine", "zen5", "--modes", "text"))
    assert found["same"] > 3.0
    assert found["new"] > 0.97


def test_constants_can_be_tried(answers: Path) -> None:
    usual, deep = (
        gains(said("replay.py", str(answers), "--machine", "gpu", "--modes", "draft", "--step", "0.05", *more))
        for more in ((), ("--set", "MAX_DEPTH=1"))
    )
    assert usual["same"] > 1.2 * deep["same"]
