"""A training on a small target: rows as the target has them, learning, going on, and the file that drafts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ToolError
from engine.heads.training import trainer as trainer_module
from engine.heads.training.run import Readings, measured_speed_forecast, read_texts
from engine.heads.training.speedup import best_speedup
from engine.heads.training.trainer import Curve, Trainer, TrainingPlan
from engine.loading.loading import LoadOptions, open_model
from engine.pacing.cost_curve import CostCurve
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode
from engine.session.session import Session

TARGET = Path(__file__).parents[4] / "assets" / "models" / "paceline-tiny-target.gguf"
PLAN = TrainingPlan(num_heads=2, vocabulary=256, seconds=0.5, every_s=60.0)


def texts(number: int) -> list[tuple[Message, ...]]:
    return [
        (
            Message("user", f"Count from {i} to {i + 12}."),
            Message("assistant", ", ".join(f"the number {n}" for n in range(i, i + 13))),
        )
        for i in range(number)
    ]


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("training")


@pytest.fixture(name="readings", scope="module")
def fixture_readings(folder: Path) -> Readings:
    return read_texts(TARGET, texts(60), folder, lambda _share: None)


def trained(folder: Path, readings: Readings, plan: TrainingPlan = PLAN) -> Trainer:
    made = Trainer(TARGET, folder, readings.found, plan)
    made.run(lambda _share: None, lambda _point: None)
    return made


def test_rows_give_the_targets_own_logits(readings: Readings) -> None:
    one = readings.found[3]
    with_own = Trainer(TARGET, Path("nowhere"), readings.found, PLAN)
    output = with_own.lent.output(np.arange(with_own.lent.n_vocab))
    target = open_model(str(TARGET), LoadOptions(n_ctx=512))
    expected = target.sequence.forward(one.ids.tolist(), 8).copy()
    target.close()
    found = one.rows[-8:].astype(np.float32) @ output.T
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.999
    assert len(one.rows) == len(one.ids) - one.first


def test_shards_are_taken_up_and_others_texts_refused(folder: Path, readings: Readings) -> None:
    calls = list[float]()
    again = read_texts(TARGET, texts(60), folder, calls.append)
    assert not calls
    assert all(np.array_equal(a.rows, b.rows) for a, b in zip(again.found, readings.found, strict=True))
    with pytest.raises(ToolError, match="of another model or of other texts"):
        read_texts(TARGET, texts(59), folder, calls.append)


def test_too_few_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="2,000 are the least"):
        read_texts(TARGET, texts(3), tmp_path, lambda _share: None)


def test_training_learns_goes_on_and_its_file_drafts(
    tmp_path: Path, readings: Readings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer_module, "_BATCH", 256)
    first = trained(tmp_path, readings)
    assert first.curve[-1].greedy[0] > 0.3
    assert first.curve[-1].tokens > 0
    on = trained(tmp_path, readings, replace(PLAN, seconds=first.seconds + 0.3))
    assert on.optimizer.step > first.optimizer.step
    assert on.curve[: len(first.curve)] == first.curve
    with pytest.raises(ToolError, match="another number or shape"):
        Trainer(TARGET, tmp_path, readings.found, replace(PLAN, num_heads=3))
    heads = tmp_path / "heads.gguf"
    on.write(heads)
    session = Session()
    ready = session.load(LoadRequest(str(TARGET), str(heads), n_ctx=512))
    assert ready.draft is not None, ready.unavailable
    request = ChatRequest(messages=texts(60)[0][:1], mode=Mode.HEAD, depth=2, max_tokens=32, ignore_eos=True)
    (end,) = [event for event in session.generate(request) if isinstance(event, Finished)]
    session.close()
    assert end.stats.proposed > 0
    judged = measured_speed_forecast(TARGET, heads, on.curve[-1].greedy)
    assert judged.step_share > 0.0
    assert judged.depth in (1, 2)


def test_the_last_look_is_what_the_curve_ends_with(tmp_path: Path, readings: Readings) -> None:
    looks = list[Curve]()
    made = Trainer(TARGET, tmp_path, readings.found, PLAN)
    made.run(lambda _share: None, looks.append)
    assert looks == made.curve
    assert [point.step for point in looks] == [0, made.optimizer.step]


def test_the_speed_forecast_takes_the_depth_that_pays_most() -> None:
    curve = CostCurve({1: 10.0, 2: 10.0, 3: 30.0, 4: 30.0, 8: 60.0})
    best = best_speedup(curve, 1.0, (0.5, 0.5, 0.5))
    assert best.depth == 1
    assert best.gain == pytest.approx(15.0 / 11.12)
    assert best.step_share == pytest.approx(0.1)
