"""If graphs are replayed, occasional speculation costs more than its passes take."""

import numpy as np
import pytest

from engine.pacing import measuring
from engine.pacing.cost_curve import CostCurve
from engine.pacing.graph_replay import NUM_SLOW_PASSES, NUM_WATCHED_PASSES, GraphReplayCost
from engine.pacing.pacer import Pacer
from engine.sequence import CachedSequence
from tests.engine.pacing.scripted import Clock, ScriptedAnswer, TimedModel

# SmolLM2 135M on an H100, by tokens of a pass: launched one by one, and replayed.
LAUNCHED_MS = {1: 2.33, 2: 2.86, 3: 2.82, 4: 2.77, 6: 2.85, 8: 2.87, 9: 4.29, 16: 4.42, 24: 4.74, 33: 5.24}
REPLAYED_MS = {1: 1.06, 2: 1.26, 3: 1.46, 4: 1.5, 6: 1.59, 8: 1.68, 9: 3.05, 16: 3.34, 24: 3.81, 33: 4.32}
PLAIN_MS = REPLAYED_MS[1]
BEHIND_MS = [LAUNCHED_MS[1]] * NUM_SLOW_PASSES + [PLAIN_MS] * (NUM_WATCHED_PASSES - NUM_SLOW_PASSES)


class Graphs:
    """Times of passes: from the third of equal size in a row on, they are replayed."""

    def __init__(self) -> None:
        self._launched, self._replayed = CostCurve(LAUNCHED_MS).points_ms, CostCurve(REPLAYED_MS).points_ms
        self._size = self._num_alike = 0

    def __call__(self, num_tokens: int) -> float:
        self._num_alike = self._num_alike + 1 if num_tokens == self._size else 1
        self._size = num_tokens
        costs_ms = self._replayed if self._num_alike > NUM_SLOW_PASSES else self._launched
        return costs_ms.get(num_tokens, 0.15 * num_tokens)


def answer_ms(
    monkeypatch: pytest.MonkeyPatch, path: list[int], graph_replay: GraphReplayCost | None, count: int
) -> float:
    shares = {n: (PLAIN_MS if n == 1 else ms) / PLAIN_MS for n, ms in LAUNCHED_MS.items()}
    run = ScriptedAnswer(monkeypatch, path, 200, PLAIN_MS, shares=shares, cost_ms=Graphs(), graph_replay=graph_replay)
    return run.generate(count).seconds * 1000.0


def measured() -> GraphReplayCost:
    graph_replay = GraphReplayCost()
    graph_replay.use_measured(BEHIND_MS)
    return graph_replay


def hardly_repeating(count: int) -> list[int]:
    """Phrases of four tokens that repeat with different continuations, as in chat."""
    rng = np.random.default_rng(5)
    phrases = rng.integers(0, 400, (60, 4))
    return [int(one) for number in rng.integers(0, 60, count) for one in (*phrases[number], *rng.integers(400, 900, 3))]


@pytest.mark.parametrize("is_measured", [True, False])
def test_text_that_hardly_repeats_costs_nothing(is_measured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    path, count = hardly_repeating(200), 900
    plain_ms = count * PLAIN_MS
    assert answer_ms(monkeypatch, path, None, count) > 1.25 * plain_ms  # the purpose of the rule
    graph_replay = measured() if is_measured else GraphReplayCost()
    assert answer_ms(monkeypatch, path, graph_replay, count) < (1.01 if is_measured else 1.03) * plain_ms


def test_text_that_repeats_is_still_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    path = [*range(300), *range(20, 280), *range(300, 340)]
    blind_ms = answer_ms(monkeypatch, path, None, 350)
    assert answer_ms(monkeypatch, path, measured(), 350) < min(1.05 * blind_ms, 0.5 * 350 * PLAIN_MS)


def test_passes_right_behind_a_larger_one_say_nothing_of_plain_ones() -> None:
    graph_replay = GraphReplayCost()
    assert graph_replay.observe(1, BEHIND_MS) == BEHIND_MS[NUM_SLOW_PASSES:]  # after a prompt
    assert graph_replay.observe(1, [PLAIN_MS]) == [PLAIN_MS]
    assert graph_replay.observe(4, [LAUNCHED_MS[4]]) == [LAUNCHED_MS[4]]
    assert [len(graph_replay.observe(1, [ms])) for ms in BEHIND_MS] == [0] * NUM_SLOW_PASSES + [1] * (
        NUM_WATCHED_PASSES - NUM_SLOW_PASSES
    )


def test_a_larger_pass_is_charged_once_for_those_in_a_row() -> None:
    graph_replay = measured()
    extra_ms = NUM_SLOW_PASSES * (LAUNCHED_MS[1] - PLAIN_MS)
    assert graph_replay.extra_ms == pytest.approx(extra_ms)
    assert graph_replay.pending_ms == 0.0  # the prompt came last
    graph_replay.observe(1, [PLAIN_MS])
    assert graph_replay.pending_ms == pytest.approx(extra_ms)
    graph_replay.observe(4, [LAUNCHED_MS[4]])
    assert graph_replay.pending_ms == 0.0
    graph_replay.observe(1, [PLAIN_MS])
    graph_replay.begin()
    assert graph_replay.pending_ms == 0.0


def test_what_a_device_still_computes_of_a_prompt_is_not_learnt() -> None:
    graph_replay = measured()
    for _ in range(20):
        graph_replay.begin()
        assert graph_replay.observe(1, [120.0, *BEHIND_MS[1:]]) == BEHIND_MS[NUM_SLOW_PASSES:]
    assert graph_replay.extra_ms == measured().extra_ms


def test_of_each_pass_behind_the_least_of_a_few_tries_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, stalls = Graphs(), iter([0.0] * 7 + [300.0] + [0.0] * 100)
    clock = Clock(monkeypatch)
    monkeypatch.setattr(measuring, "perf_counter", clock)
    model = TimedModel(np.zeros((9, 9), dtype=np.float32), clock, lambda n: graphs(n) + next(stalls))
    assert measuring.measure_graph_replay(CachedSequence(model)) == pytest.approx(BEHIND_MS)


def test_a_stall_is_soon_forgotten() -> None:
    graph_replay = measured()
    graph_replay.observe(4, [LAUNCHED_MS[4]])
    graph_replay.observe(1, [300.0, *BEHIND_MS[1:]])
    assert graph_replay.extra_ms < 1.5 * measured().extra_ms


def test_the_start_of_a_try_is_paid_out_of_what_may_go_to_tries() -> None:
    spent = []
    for graph_replay in (measured(), None):
        pacer = Pacer(CostCurve({1: PLAIN_MS, 4: LAUNCHED_MS[4]}), 0.5, graph_replay=graph_replay)
        for _ in range(40):
            pacer.observe_draft([0.9] * 3, 0, 40.0)  # it does not pay
        pacer._probe_budget = 50.0
        pacer.observe_run([PLAIN_MS] * NUM_WATCHED_PASSES, 0.02)
        assert pacer.decide([], has_model=True, limit=8).is_probe
        before = pacer._probe_budget
        pacer.observe_draft([0.9] * 3, 0, 4.0)
        spent.append(before - pacer._probe_budget)
    assert spent[0] == pytest.approx(spent[1] + measured().extra_ms / pacer.prices.plain_ms, rel=0.1)


def test_it_follows_what_answers_show() -> None:
    graph_replay = measured()
    for _ in range(60):  # a backend without replay
        graph_replay.observe(8, [LAUNCHED_MS[8]])
        graph_replay.observe(1, [PLAIN_MS] * 20)
    assert graph_replay.extra_ms < 0.01


def test_plain_decoding_costs_what_passes_in_a_row_take() -> None:
    knowing, blind = (
        Pacer(CostCurve({1: PLAIN_MS, 4: LAUNCHED_MS[4]}), graph_replay=one) for one in (measured(), None)
    )
    for pacer in (knowing, blind):
        for _ in range(200):
            pacer.observe_pass(4, LAUNCHED_MS[4])
            pacer.observe_run(BEHIND_MS[: NUM_SLOW_PASSES + 1], 0.02)
    assert knowing.curve.cost_ms(1) == pytest.approx(PLAIN_MS, rel=0.01)
    assert blind.curve.cost_ms(1) > 1.2 * PLAIN_MS
