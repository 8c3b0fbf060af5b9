"""A deliberately useless draft costs almost nothing, and is used when it improves."""

from __future__ import annotations

import shutil
from pathlib import Path

import gguf
import numpy as np
import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.pacing.pacer import Choice
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from tests.engine.pacing.test_pacer import FLAT, STAIRCASE, Simulation, best_fixed

STEEP = {1: 7.0, 2: 13.0, 4: 26.0, 8: 52.0, 32: 200.0}  # every token costs as much as the first
CURVES = {"staircase": STAIRCASE, "flat": FLAT, "steep": STEEP}


def with_shuffled_rows(draft: Path, destination: Path) -> Path:
    """Copy a GGUF with shuffled rows of every matrix; header and vocabulary stay unchanged."""
    shutil.copyfile(draft, destination)
    rng = np.random.default_rng(0)
    for tensor in gguf.GGUFReader(destination, "r+").tensors:
        if len(tensor.shape) == 2:  # matrices
            rows = tensor.data.reshape(int(tensor.shape[1]), -1)
            rows[:] = rows[rng.permutation(len(rows))]
    return destination


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("acceptance", [0.0, 0.05])
@pytest.mark.parametrize("step_ms", [0.3, 1.0, 3.0])
def test_two_thousand_passes_lose_less_than_two_percent(curve: str, acceptance: float, step_ms: float) -> None:
    simulation = Simulation(CURVES[curve], acceptance, step_ms)
    assert simulation.run(2000) > 0.98
    if best_fixed(CURVES[curve], acceptance, step_ms) <= 1.0:  # otherwise even this draft pays
        assert simulation.choices.count(Choice.DRAFT) < 0.15 * 2000


@pytest.mark.parametrize("step_ms", [0.3, 1.0])
def test_recovery_takes_no_longer_than_a_probe_and_a_little(step_ms: float) -> None:
    simulation = Simulation(STAIRCASE, 0.05, step_ms)
    simulation.run(2000)
    simulation.acceptance = 0.9
    simulation.run(700)
    assert simulation.choices[-50:].count(Choice.DRAFT) > 40


def test_what_a_rested_draft_reads_first_does_not_count_against_it() -> None:
    simulation = Simulation(STAIRCASE, 0.9, 0.3)
    simulation.run(300)
    pacer = simulation.pacer
    for _ in range(3):
        pacer.decide([], has_model=True, limit=3)
        pacer.observe_step(512.0, 0.1, 3, 3)
        pacer.observe_draft([0.9] * 3, 3, 12.0, 500.0)
    simulation.run(1)
    assert simulation.choices[-1] is Choice.DRAFT


def test_a_shuffled_copy_of_the_draft_loads_and_is_almost_never_accepted(tmp_path: Path) -> None:
    shuffled = with_shuffled_rows(builtin_draft(), tmp_path / "shuffled.gguf")
    assert shuffled.stat().st_size == builtin_draft().stat().st_size
    session = Session()
    assert session.load(LoadRequest(str(builtin_target()), str(shuffled), 1024, threads=1)).draft is not None
    messages = (Message("user", "Write a short story about a fox."),)
    sampling = SamplingParams(temperature=0.0)
    answers = {}
    for mode, depth in ((Mode.OFF, None), (Mode.DRAFT, 3)):
        *_, last = session.generate(ChatRequest(messages, mode, depth, sampling, max_tokens=48, ignore_eos=True))
        assert isinstance(last, Finished)
        answers[mode] = last
    session.close()
    assert answers[Mode.DRAFT].token_ids == answers[Mode.OFF].token_ids
    assert (answers[Mode.DRAFT].stats.acceptance_rate or 0.0) < 0.05
