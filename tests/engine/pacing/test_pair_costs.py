"""Tests costs of the built-in pair: measured once, stored, checked, corrected; disturbances are handled."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import DecodeError
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.pacing import pair_costs
from engine.pacing.constants import MEASURED_SIZES
from engine.pacing.measuring import DraftingTimes, ForeignCpuLoad
from engine.pacing.pair_costs import PairCosts
from engine.records import ChatRequest, Finished, FinishReason, LoadRequest, Mode, SamplingParams
from engine.sequence import CachedSequence
from engine.session.session import Session
from engine.storage.cost_store import FILE_NAME, CostStore
from engine.tuning.threads import PATIENCE

TRUE_MS = {n: 1.0 + 0.1 * n for n in MEASURED_SIZES}
REQUEST = LoadRequest(str(builtin_target()), str(builtin_draft()), threads=2, draft_threads=1)


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[LoadedModel, LoadedModel]]:
    target = open_model(builtin_target(), LoadOptions(2048, 2))
    draft = open_model(builtin_draft(), LoadOptions(2048, 1))
    yield target, draft
    draft.close()
    target.close()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Ignore other load on the machine; also after a test has undone its own patches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ForeignCpuLoad, "is_low", True)
        yield


def forbidden(*_arguments: object, **_others: object) -> dict[int, float]:
    raise AssertionError("this should not have been measured")


def wants(costs: PairCosts) -> bool:
    return costs.needs_measuring


def points(costs: PairCosts) -> dict[int, float]:
    assert costs.pacer is not None
    return costs.pacer.curve.points_ms


def measured(costs: PairCosts) -> dict[int, float]:
    assert costs.pacer is not None
    return costs.pacer.curve.known_ms


def test_the_first_start_measures_and_the_second_begins_with_that(
    pair: tuple[LoadedModel, LoadedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: dict(TRUE_MS))
    first = PairCosts(*pair, REQUEST, CostStore(tmp_path))
    assert wants(first)
    first.measure(0.2)
    assert not wants(first)
    monkeypatch.setattr(pair_costs, "measure_passes", forbidden)
    monkeypatch.setattr(pair_costs, "few_passes_ms", forbidden)
    second = PairCosts(*pair, REQUEST, CostStore(tmp_path))
    second.prepare(paced=True)
    assert measured(second) == pytest.approx(measured(first), rel=0.01)
    assert wants(second)  # it is not checked yet
    monkeypatch.setattr(
        pair_costs, "few_passes_ms", lambda _sequence, sizes, *_, **__: {n: points(second)[n] for n in sizes}
    )
    second.measure()
    assert not wants(second)


@pytest.mark.parametrize("in_idle_time", [True, False])
def test_the_cost_for_later_passes_is_measured_on_gpus_only(
    in_idle_time: bool, pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, draft = pair
    there = replace(target, info=replace(target.info, gpu_layers=7))
    behind_ms = [3.0, 2.0, 1.0, 1.0, 1.0]
    asked = []
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: dict(TRUE_MS))
    monkeypatch.setattr(pair_costs, "measure_graph_replay", lambda *_: asked.append(True) or behind_ms)
    for loaded, extra_ms in ((target, None), (there, 3.0)):
        costs = PairCosts(loaded, draft, REQUEST, CostStore())
        if in_idle_time:
            costs.measure(0.2)
        else:
            costs.prepare(paced=True)
            costs.prepare(paced=True)
        assert costs.pacer is not None
        assert (costs.pacer.prices.graph_replay and costs.pacer.prices.graph_replay.extra_ms) == extra_ms
    assert asked == [True]


@pytest.mark.parametrize("num_before", [0, 1, 5, 21, 45, 60])
def test_measuring_ends_before_the_next_pass_when_somebody_waits(
    pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch, num_before: int
) -> None:
    costs = PairCosts(*pair, REQUEST, CostStore())
    num_passes, num_late, threads = 0, 0, [one.context.threads for one in pair]
    forward = CachedSequence.forward

    def counted(sequence: CachedSequence, ids: Sequence[int], num_rows: int) -> object:
        nonlocal num_passes, num_late
        num_passes += 1
        num_late += num_passes > num_before and sequence is pair[0].sequence
        return forward(sequence, ids, num_rows)

    monkeypatch.setattr(CachedSequence, "forward", counted)
    costs.measure(60.0, should_stop=lambda: num_passes >= num_before)
    assert num_passes >= num_before
    assert num_late == 0
    assert wants(costs)
    assert [one.sequence.num_past for one in pair] == [0, 0]
    monkeypatch.undo()
    costs.measure(0.2)
    assert not wants(costs)
    assert costs.pacer is not None
    for one, number in zip(pair, threads, strict=True):
        one.context.set_threads(number)


def test_a_stop_ends_the_pass_that_is_measured_for_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    session, was_stopped = Session(), threading.Event()

    def stop_in_a_pass(sequence: CachedSequence, *_: object) -> dict[int, float]:
        was_stopped.set()
        session.interrupt.set()
        sequence.forward([0] * 33, 33)
        raise AssertionError("the pass went on to its end")

    session.load(REQUEST)
    try:
        monkeypatch.setattr(pair_costs, "measure_passes", stop_in_a_pass)
        request = ChatRequest(raw_prompt="Once", mode=Mode.AUTO, max_tokens=16, sampling=SamplingParams(0.0))
        *_, last = session.generate(request, was_stopped.is_set)
        assert isinstance(last, Finished)
        assert last.reason is FinishReason.CANCELLED
        monkeypatch.undo()
        session.interrupt.clear()
        *_, last = session.generate(request)
        assert isinstance(last, Finished)
        assert last.stats.tokens == 16
    finally:
        session.close()


def test_a_waiting_answer_gets_a_rough_curve_and_idle_time_a_better_one(
    pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = PairCosts(*pair, REQUEST, CostStore())
    costs.measure(0.2, should_stop=lambda: True)
    assert costs.pacer is None
    monkeypatch.setattr(pair_costs, "FOREGROUND_BUDGET_S", 0.01)
    costs.prepare(paced=True)
    assert costs.pacer is not None
    pacer = costs.pacer
    assert wants(costs)
    costs.measure(0.2)
    assert costs.pacer is pacer
    assert not wants(costs)


def test_a_curve_that_passes_contradict_is_measured_again_when_idle(
    pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = PairCosts(*pair, REQUEST, CostStore())
    costs.measure(0.2)
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_arguments: {1: 1.0, 8: 2.0})
    monkeypatch.setattr(
        pair_costs, "few_passes_ms", lambda _sequence, sizes, *_, **__: {n: points(costs)[n] / 3 for n in sizes}
    )
    costs.measure(0.2)
    assert points(costs)[1] != 1.0  # once it is well known, nothing is checked
    costs._is_checked = False
    assert wants(costs)
    costs.measure(0.2)
    assert (points(costs)[1], points(costs)[8]) == (1.0, 2.0)
    assert not wants(costs)


def test_plain_answers_do_not_keep_the_curve_from_being_measured(pair: tuple[LoadedModel, LoadedModel]) -> None:
    costs = PairCosts(*pair, REQUEST, CostStore())
    costs.prepare(paced=False)
    assert costs.pacer is None
    costs.measure(0.2)
    assert costs.pacer is not None


def test_a_stale_curve_is_measured_again(
    pair: tuple[LoadedModel, LoadedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_ms = {1: 1.0, 4: 2.0, 8: 3.0, 16: 5.0, 32: 9.0}
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: dict(true_ms))
    PairCosts(*pair, REQUEST, CostStore(tmp_path)).measure(0.2)
    monkeypatch.setattr(
        pair_costs, "few_passes_ms", lambda _sequence, sizes, *_, **__: {n: 2.0 * true_ms[n] for n in sizes}
    )
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: {n: 2.0 * ms for n, ms in true_ms.items()})
    again = PairCosts(*pair, REQUEST, CostStore(tmp_path))
    again.prepare(paced=True)
    pacer = again.pacer
    assert points(again)[8] == pytest.approx(3.0)
    again.measure(0.2)
    assert again.pacer is pacer
    assert points(again)[8] == pytest.approx(6.0)
    kept = json.loads((tmp_path / FILE_NAME).read_text())["costs"].values()
    assert any(entry["bands"]["0"].get("8") == pytest.approx(6.0) for entry in kept)


def test_a_disturbed_size_is_measured_again(
    pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a pass of 16 seems expensive it is never made, so that nothing would correct it."""
    true_ms = {1: 1.0, 4: 2.0, 8: 3.0, 16: 5.0, 32: 9.0}
    looks = iter([{**true_ms, 16: 6.5}, {**true_ms, 4: 3.0}])
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: next(looks))
    monkeypatch.setattr(pair_costs, "few_passes_ms", lambda _sequence, sizes, *_, **__: {n: true_ms[n] for n in sizes})
    costs = PairCosts(*pair, REQUEST, CostStore())
    costs.measure(0.2)
    assert not wants(costs)
    assert {n: points(costs)[n] for n in true_ms} == pytest.approx(true_ms)


def test_another_cache_type_or_number_of_threads_is_another_measurement(
    pair: tuple[LoadedModel, LoadedModel], tmp_path: Path
) -> None:
    store = CostStore(tmp_path)
    PairCosts(*pair, REQUEST, store).measure(0.2)
    other = PairCosts(*pair, LoadRequest("", threads=1, draft_threads=1), CostStore(tmp_path))
    other.prepare(paced=False)
    assert other.pacer is None
    assert pair[0].context.threads == 1


def test_where_only_the_draft_changes_it_alone_is_measured(
    pair: tuple[LoadedModel, LoadedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: dict(TRUE_MS))
    first = PairCosts(*pair, REQUEST, CostStore(tmp_path))
    first.measure(0.2)
    monkeypatch.setattr(pair_costs, "measure_passes", forbidden)
    monkeypatch.setattr(
        pair_costs, "few_passes_ms", lambda _sequence, sizes, *_, **__: {n: points(first)[n] for n in sizes}
    )
    chosen: list[tuple[int, ...]] = []
    monkeypatch.setattr("engine.pacing.pair_costs.choose_threads", lambda *of, **_: (chosen.append(of[2]), 2)[1])
    times = DraftingTimes(0.125, 0.03, is_steady=True)
    monkeypatch.setattr("engine.pacing.pair_costs.measure_drafting", lambda *_, **__: times)
    another = LoadRequest("", threads=2, draft_threads=2)  # a draft with other threads is another draft
    second = PairCosts(*pair, another, CostStore(tmp_path))
    second.prepare(paced=True)
    assert chosen == [(1,)]
    assert measured(second) == pytest.approx(measured(first), rel=0.01)
    assert second.pacer is not None
    assert (second.pacer.prices.draft_step_ms, second.pacer.prices.draft_read_ms) == (0.125, 0.03)
    assert pair[1].context.threads == 2
    second.measure(0.2)
    assert not wants(second)
    third = PairCosts(pair[0], None, REQUEST, CostStore(tmp_path))
    third.prepare(paced=True)
    assert measured(third) == pytest.approx(measured(first), rel=0.01)
    assert chosen == [(1,)]


def test_a_collapse_is_answered_by_fewer_threads_and_reported(
    pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: {1: 7.0, 8: 19.0})
    target = pair[0]
    costs = PairCosts(*pair, LoadRequest("", threads=2, draft_threads=2), CostStore())
    costs.measure(0.2)
    assert [model.context.threads for model in pair] == [2, 2]
    assert costs.pacer is not None
    before = costs.pacer.curve
    for _ in range(50):
        assert costs.observe_passes(1, [7.0]) == ""
    told = [costs.observe_passes(1, [100.0 if target.context.threads == 2 else 20.0]) for _ in range(12)]
    assert "threads from 2 to 1: another program uses the cores" in told
    assert [model.context.threads for model in pair] == [1, 1]
    assert costs.pacer.curve is not before
    assert not wants(costs)


def test_passes_that_ran_before_threads_changed_do_not_judge_the_change(
    pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: {1: 7.0, 8: 19.0})
    costs = PairCosts(*pair, LoadRequest("", threads=2, draft_threads=2), CostStore())
    costs.measure(0.2)
    collapsed = [100.0] * (PATIENCE + 9)  # all on two threads; only the first few are needed to detect it
    assert costs.observe_passes(1, collapsed) == ""
    assert pair[0].context.threads == 1
    told = [costs.observe_passes(1, [20.0]) for _ in range(3)]
    assert told[-1] == "threads from 2 to 1: another program uses the cores"


def test_the_reason_is_among_the_decisions_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PairCosts, "observe_passes", lambda *_: "threads from 2 to 1: another program uses the cores")
    session = Session()
    session.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))
    request = ChatRequest(raw_prompt="Hello", mode=Mode.OFF, sampling=SamplingParams(temperature=0.0), max_tokens=2)
    last = list(session.generate(request))[-1]
    session.close()
    decisions = last.stats.decisions  # type: ignore[union-attr]
    assert "token 0: threads from 2 to 1: another program uses the cores" in decisions


@pytest.mark.parametrize(("asked", "most"), [(None, 4), (1, 1)])
def test_more_threads_are_tried_unless_the_user_set_the_number(
    asked: int | None, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_costs.library, "physical_cores", lambda: 4)
    monkeypatch.setattr("engine.tuning.threads.choose", lambda _costs: 1)
    target = open_model(builtin_target(), LoadOptions(512, 1))
    costs = PairCosts(target, None, LoadRequest(str(builtin_target()), threads=asked), CostStore(tmp_path))
    costs.measure(0.1)
    assert costs._control is not None
    assert (costs._control.best, costs._control.most) == (1, most)
    target.close()


@pytest.mark.parametrize("work", [lambda costs: costs.measure(0.2), lambda costs: costs.prepare(paced=True)])
def test_a_failing_pass_is_an_error_and_measuring_continues_later(
    pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch, work: Callable[[PairCosts], None]
) -> None:
    def fail(*_: object) -> None:
        raise DecodeError("The pass failed.")

    costs = PairCosts(*pair, REQUEST, CostStore())
    with monkeypatch.context() as patch:
        patch.setattr("engine.llama.context.LlamaContext._decode", fail)
        with pytest.raises(DecodeError):
            work(costs)
    assert wants(costs)
    costs.measure(0.2)
    assert not wants(costs)


def test_a_target_that_runs_plain_has_nothing_measured_but_its_threads(
    pair: tuple[LoadedModel, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_costs, "measure_passes", forbidden)
    costs = PairCosts(replace(pair[0], can_rollback=False), None, REQUEST, CostStore())
    assert not wants(costs)
    assert costs.observe_passes(1, [5.0]) == ""
    costs.measure(0.2)
    costs.prepare(paced=True)
    assert costs.pacer is None
    assert not wants(costs)


def test_less_prompt_is_read_beside_answers_if_such_passes_are_slow(
    pair: tuple[LoadedModel, LoadedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: {n: 0.9 + 0.1 * n for n in MEASURED_SIZES})
    costs = PairCosts(*pair, REQUEST, CostStore(tmp_path))
    costs.measure(0.2)
    curve = measured(costs)
    assert costs.read_budget(1) == pytest.approx(15, abs=1)  # 2.5 plain passes of a millisecond
    for _ in range(20):  # tokens of a long prompt attend to thousands of others
        costs.observe_joined_pass(16, 2 * 2.5, num_read=15)
    assert costs.read_budget(1) == pytest.approx(3, abs=1)
    for _ in range(40):
        costs.observe_joined_pass(4, 20.0, num_read=3)
    assert costs.read_budget(1) <= 0
    assert measured(costs) == curve  # nothing follows for answers
    for _ in range(20):  # the next prompt is short
        costs.observe_joined_pass(2, 1.1, num_read=1)
    assert costs.read_budget(1) == pytest.approx(15, abs=1)
