"""A training on a small target: rows as the target has them, learning, going on, and the file that drafts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ToolError
from engine.heads.training import trainer as trainer_module
from engine.heads.training.run import Readings, measured_speed_forecast, read_texts
from engine.heads.training.speedup import Proposals, best_speedup
from engine.heads.training.trainer import Curve, Trainer, TrainingPlan
from engine.loading.loading import LoadOptions, open_model
from engine.pacing.cost_curve import CostCurve
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode
from engine.session.session import Session

TARGET = Path(__file__).parents[4] / "assets" / "models" / "paceline-tiny-target.gguf"
PLAN = TrainingPlan(num_heads=2, vocabulary=256, seconds=0.2, every_s=60.0, passes=1e6)


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
    first = trained(tmp_path, readings, replace(PLAN, seconds=0.5))
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
    found = on.proposals(on.best)
    assert found.tokens_per_pass == pytest.approx(max(map(tokens_per_pass, on.curve)))
    judged = measured_speed_forecast(TARGET, heads, found)
    assert judged.step_share > 0.0
    assert 0.0 <= judged.proposed <= 2.0


def test_the_last_look_is_what_the_curve_ends_with(tmp_path: Path, readings: Readings) -> None:
    looks = list[Curve]()
    made = Trainer(TARGET, tmp_path, readings.found, PLAN)
    made.run(lambda _share: None, looks.append)
    assert looks == made.curve
    assert [point.step for point in looks] == [0, made.optimizer.step]


def tokens_per_pass(point: Curve) -> float:
    one, two = point.greedy
    return 1.0 + one + one * two


def test_texts_that_were_read_often_enough_end_it(tmp_path: Path, readings: Readings) -> None:
    made = trained(tmp_path, readings, replace(PLAN, seconds=3600.0, passes=1.5))
    assert made.progress == 1.0
    assert made.has_read_enough
    assert 1.5 <= made.tokens / len(made.samples.places) < 3.0


def test_the_best_heads_are_kept_and_written(tmp_path: Path, readings: Readings) -> None:
    first = trained(tmp_path, readings)
    good = [one.copy() for head in first.best for one in head.parameters]
    for head in first.heads:
        head.skip[:] = 0.0
    worse = first.look()
    assert worse.greedy[0] < max(point.greedy[0] for point in first.curve)
    for trainer in (first, Trainer(TARGET, tmp_path, readings.found, PLAN)):
        kept = [one for head in trainer.best for one in head.parameters]
        assert all(np.array_equal(one, other) for one, other in zip(kept, good, strict=True))
        assert not trainer.heads[0].skip.any()


def test_a_damaged_curve_harms_no_training(tmp_path: Path, readings: Readings) -> None:
    steps = trained(tmp_path, readings).optimizer.step
    (tmp_path / "curve.jsonl").write_text('{"step": 1, "tok', encoding="utf-8")
    again = Trainer(TARGET, tmp_path, readings.found, PLAN)
    assert (again.optimizer.step, again.curve) == (steps, [])


def proposals(confidences: list[list[float]], right: list[list[bool]]) -> Proposals:
    return Proposals(np.array(confidences, dtype=np.float32), np.array(right), (0.0,) * len(right[0]))


def test_how_often_heads_are_right_counts_where_those_before_were() -> None:
    found = proposals(
        [[0.9, 0.9], [0.8, 0.1], [0.2, 0.9], [0.75, 0.1]], [[True, True], [True, False], [False, True], [False, False]]
    )
    assert found.greedy == (0.5, 0.5)
    assert found.tokens_per_pass == 1.75
    assert found.when_sure(0.7) == (0.75, pytest.approx(2 / 3))
    assert found.when_sure(0.95) == (0.0, 0.0)


def test_the_forecast_proposes_where_heads_are_sure() -> None:
    curve = CostCurve({1: 10.0, 2: 14.0, 3: 30.0, 4: 30.0, 8: 60.0})
    sure = proposals([[0.97, 0.97]] * 5 + [[0.3, 0.3]] * 15, [[True, True]] * 5 + [[False, False]] * 15)
    found = best_speedup(curve, 0.1, sure)
    assert found.proposed == 0.25  # the first head where it is sure; a third token of a pass is too dear
    assert found.gain == pytest.approx(25 * 10.0 / (20 * 10.0 + 5 * 4.12 + 25 * 0.1))
    assert found.step_share == pytest.approx(0.01)


def test_the_forecast_of_heads_that_are_never_right_is_a_loss() -> None:
    found = best_speedup(CostCurve({1: 10.0, 2: 11.0}), 1.0, proposals([[0.5]] * 4, [[False]] * 4))
    assert (found.proposed, found.gain) == (0.0, pytest.approx(10.0 / 11.0))
