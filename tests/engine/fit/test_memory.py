"""Compares the memory estimate with llama.cpp's report: the built-in pair, loaded in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).with_name("memory_child.py")
MODELS = ROOT / "assets" / "models"


@pytest.mark.parametrize("cache_type", ["f16", "q8_0"])
@pytest.mark.parametrize("draft", ["", "paceline-tiny-draft.gguf"])
def test_llama_cpp_reports_what_was_estimated(cache_type: str, draft: str) -> None:
    target = str(MODELS / "paceline-tiny-target.gguf")
    case = {"target": target, "draft": draft and str(MODELS / draft), "n_ctx": 4096, "cache_type": cache_type}
    command = [sys.executable, str(SCRIPT), json.dumps(case)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    row = json.loads(output.strip().splitlines()[-1])
    assert row["estimated_buffers"] == pytest.approx(row["reported"], rel=0.1)
    assert row["reported"] > 4 * 10**6
    assert row["resident_growth"] > 0
