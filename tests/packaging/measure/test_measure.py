"""Tests the exactness measurement of the built-in pair with fewer samples, and its power."""

import argparse
import sys
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

from tests.long_form import only_long, rounds
from tests.scripts import load_script

ROOT = Path(__file__).resolve().parents[3]
TARGET = ROOT / "assets" / "models" / "paceline-tiny-target.gguf"
DRAFT = ROOT / "assets" / "models" / "paceline-tiny-draft.gguf"


@pytest.fixture(scope="module")
def exactness() -> ModuleType:
    return load_script("measure/exactness.py")


def run(exactness: ModuleType, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    pair = ["--target", str(TARGET), "--draft", str(DRAFT)]
    monkeypatch.setattr(sys, "argv", ["exactness.py", words[0], *pair, *words[1:]])
    result: int = exactness.main()
    return result


@pytest.mark.parametrize(
    "words",
    [
        ("greedy", "--tokens", "32", "--prompts", "15"),
        ("greedy", "--tokens", "32", "--prompts", "8", "--parallel", "4"),
        ("greedy", "--tokens", "48", "--prompts", "5", "--depths", "auto", "7"),
        ("seeded", "--tokens", "24", "--prompts", "10"),
    ],
)
def test_tokens_are_the_same_in_every_mode(
    exactness: ModuleType, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    assert run(exactness, monkeypatch, *words) == 0


def test_sampled_tokens_are_distributed_as_plain_decoding(
    exactness: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    # For each mode and depth in three positions. A deliberately broken verification is found with 200, see below.
    samples = str(rounds(400, 1600))
    assert run(exactness, monkeypatch, "sampling", "--samples", samples, "--temperatures", "0.8") == 0


@only_long
def test_the_measurement_notices_a_wrong_verification(exactness: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(exactness, monkeypatch, "mutants", "--samples", "4800", "--temperatures", "1.0") == 0


def test_a_second_look_does_not_excuse_a_wrong_verification(
    exactness: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = mock.Mock(side_effect=lambda p, *_others: p)
    monkeypatch.setattr("engine.decoding.verifier.residual", broken)
    words = ("--samples", "600", "--temperatures", "1.0", "--modes", "draft", "--depths", "3")
    assert run(exactness, monkeypatch, "sampling", *words) == 1


@pytest.mark.parametrize(("again", "status"), [(0.2, 0), (0.0001, 1)])
def test_what_is_suspicious_is_looked_at_again_with_other_seeds(
    again: float, status: int, exactness: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[tuple[list[object], int, int]] = []

    def report(options: argparse.Namespace, runs: list[object], first_seed: int = 0) -> dict[object, float]:
        looks.append((runs, options.samples, first_seed))
        return dict.fromkeys(runs, again) if first_seed else {**dict.fromkeys(runs, 1.0), runs[1]: 1e-6}

    monkeypatch.setattr(sys.modules["distributions"], "sampling_report", report)
    assert run(exactness, monkeypatch, "sampling", "--samples", "100", "--modes", "draft", "auto") == status
    (runs, num_samples, first), (runs_again, num_again, first_again) = looks
    assert runs_again == [runs[1]]
    assert num_again > num_samples
    assert first_again != first
