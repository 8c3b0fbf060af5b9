"""The exactness of the built-in pair, scaled down: the same measurement with fewer samples, and its sharpness."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "assets" / "models" / "paceline-tiny-target.gguf"
DRAFT = ROOT / "assets" / "models" / "paceline-tiny-draft.gguf"


@pytest.fixture(scope="module")
def exactness() -> ModuleType:
    spec = importlib.util.spec_from_file_location("exactness", ROOT / "packaging" / "measure" / "exactness.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["exactness"] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


def run(exactness: ModuleType, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    pair = ["--target", str(TARGET), "--draft", str(DRAFT)]
    monkeypatch.setattr(sys, "argv", ["exactness.py", words[0], *pair, *words[1:]])
    result: int = exactness.main()
    return result


def test_greedy_tokens_are_the_same_in_every_mode(exactness: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(exactness, monkeypatch, "greedy", "--tokens", "32", "--prompts", "15") == 0


def test_with_near_ties_decided_as_plain_there_is_no_difference_at_all(
    exactness: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--tie-safe", "--tokens", "48", "--prompts", "5", "--depths", "auto", "7")
    assert run(exactness, monkeypatch, "greedy", *words) == 0


def test_sampled_tokens_are_distributed_as_plain_decoding(
    exactness: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(exactness, monkeypatch, "sampling", "--samples", "1600", "--temperatures", "0.8") == 0


def test_the_measurement_notices_a_wrong_verification(exactness: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(exactness, monkeypatch, "mutants", "--samples", "1600", "--temperatures", "1.0") == 0
