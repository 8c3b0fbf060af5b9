"""The paced drafter on scripted models: exact whatever the pacer decides, driven through all its depths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine import speculate
from engine.cost_curve import CostCurve
from engine.drafters import draft_model, paced
from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.paced import PacedDrafter
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.drafters.seen import confidences_of
from engine.drafters.suffix import SuffixDrafter, SuffixRules
from engine.fake_model import MarkovModel, RecurrentModel
from engine.interfaces import Rows, TokenIds
from engine.pacer import Pacer
from engine.prices import Prices
from engine.records import Mode, SamplingParams, Source
from engine.sampling import Sampler
from engine.sequence import CachedSequence
from engine.speculate import Speculation
from engine.stats import StatsRecorder
from tests.engine.test_speculate import N_VOCAB, P_LOGITS, Q_LOGITS, likely_path, plain_distribution
from tests.engine.test_verifier import chi_square_p

STAIRCASE = {1: 1.0, 2: 1.6, 3: 2.2, 4: 1.5, 5: 2.2, 6: 2.8, 7: 2.8, 8: 2.6, 16: 3.7, 32: 8.0}
FLAT = {1: 1.0, 32: 1.1}


class Clock:
    """A scripted clock: each look is some time after the last, now and then on another scale, as on a busy machine.

    With the machine's own clock the pacer would decide otherwise in every run, and a test of the output's distribution
    would be drawn anew each time, to fail by chance sooner or later.
    """

    def __init__(self, seed: int | tuple[int, ...]) -> None:
        self._rng = np.random.default_rng(seed)
        self._now = self._looks = 0.0
        self._scale = 1e-4

    def __call__(self) -> float:
        self._looks += 1
        if self._looks % 200 == 0:
            self._scale = 10.0 ** self._rng.uniform(-5, -2)
        self._now += self._rng.exponential(self._scale)
        return self._now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = Clock(1)
    monkeypatch.setattr(speculate, "perf_counter", scripted)
    monkeypatch.setattr(paced, "perf_counter", scripted)
    monkeypatch.setattr(draft_model, "perf_counter", scripted)


class Answering:
    """Answers over the scripted pair with one pacer, as a session makes them."""

    def __init__(self, curve: dict[int, float]) -> None:
        self.pacer = Pacer(CostCurve(curve), 0.05)
        self.pacer.observe_overhead(0.0)
        self.target = CachedSequence(MarkovModel(P_LOGITS))
        self.text = PromptLookupDrafter(1, 3)
        self.suffix = SuffixDrafter(SuffixRules(min_match=1, tail_match=1))
        model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset())
        ends = frozenset(likely_path(12)[-4:-2])
        ending = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, ends)
        to_an_end = SuffixDrafter(SuffixRules(min_match=1, tail_match=1), ends=ends)
        self.drafters = {
            "both": PacedDrafter(self.pacer, self.suffix, model),
            "both, to an end": PacedDrafter(self.pacer, to_an_end, ending),  # though answers go on past it
            "draft": PacedDrafter(self.pacer, None, model),
            "draft as asked": PacedDrafter(self.pacer, None, model, may_rest=False),
            "text": PacedDrafter(self.pacer, self.text, None),
        }
        self.depths: set[int] = set()
        self.num_chained = 0
        self.num_rested = 0  # runs of several plain passes

    def tokens(self, name: str, sampling: SamplingParams, count: int, prompt: list[int]) -> list[int]:
        ids = np.array(prompt, dtype=np.int32)
        self.target.reuse(ids)
        for _ in self.target.prefill(ids[self.target.num_past : -1]):
            pass
        stats = StatsRecorder(Mode.AUTO, 256)
        speculation = Speculation(self.target, self.drafters[name], Sampler(sampling), stats, ids, self.pacer)
        given: list[int] = []
        while len(given) < count:
            before = stats.proposed
            given += self.next_ids(speculation, self.drafters[name], count - len(given))
            self.depths.add(stats.proposed - before)
            self.num_chained += len(self.drafters[name]._chain.parts) > 1
            assert self.target.num_past == len(speculation.history) - 1
        return given

    def next_ids(self, speculation: Speculation, drafter: PacedDrafter, wanted: int) -> list[int]:
        """A pass, or where the drafter rests a run of plain ones: as an answer goes on."""
        rest = min(drafter.rest(speculation.history), wanted)
        if not rest:
            return speculation.step(32, wanted).ids
        ids = speculation.run_plain(rest, 60.0, drafter.wakes).ids
        self.num_rested += len(ids) > 1
        return ids


@pytest.mark.parametrize("name", ["both", "both, to an end", "draft", "draft as asked", "text"])
@pytest.mark.parametrize("curve", [STAIRCASE, FLAT], ids=["staircase", "flat"])
def test_greedy_output_is_the_argmax_path(name: str, curve: dict[int, float]) -> None:
    answering = Answering(curve)
    expected, last = [], 1
    for _ in range(120):
        last = int(P_LOGITS[last].argmax())
        expected.append(last)
    for _ in range(3):
        assert answering.tokens(name, SamplingParams(temperature=0.0), 120, [3, 1, 4, 1]) == expected


@pytest.mark.parametrize("curve", [STAIRCASE, FLAT], ids=["staircase", "flat"])
@pytest.mark.parametrize("name", ["both", "both, to an end", "draft", "text"])
def test_sampled_output_is_distributed_as_plain_decoding_whatever_the_pace(name: str, curve: dict[int, float]) -> None:
    answering = Answering(curve)
    counts = np.zeros((4, N_VOCAB), dtype=np.int64)
    prompt = likely_path(12)
    for seed in range(7000, 12000):
        sampling = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
        for position, token_id in enumerate(answering.tokens(name, sampling, 4, prompt)):
            counts[position, token_id] += 1
    assert len(answering.depths) > 2
    assert (answering.num_chained > 0) == (name == "both")
    for position in range(4):
        assert chi_square_p(counts[position], plain_distribution(prompt[-1], position)) > 0.001


def test_plain_passes_follow_each_other_until_text_that_pays_comes() -> None:
    answering = Answering({1: 1.0, 2: 1.4, 32: 40.0})
    path = likely_path(200)
    for _ in range(3):
        assert answering.tokens("both", SamplingParams(temperature=0.0), 120, path[:3]) == path[3:123]
    assert answering.num_rested > 0
    assert answering.depths - {0}


def test_where_passes_are_tiny_the_text_is_indexed_once_plain_passes_have_paid_for_it() -> None:
    answering = Answering({1: 0.05, 2: 0.06, 32: 0.07})
    drafter = PacedDrafter(answering.pacer, answering.suffix, None)
    answering.drafters["late"] = drafter
    path = likely_path(240)
    assert answering.tokens("late", SamplingParams(temperature=0.0), 180, path[:20]) == path[20:200]
    first = drafter._text_from
    assert 20 < first < 120
    assert answering.num_rested > 0
    assert answering.depths - {0}
    asked = PacedDrafter(answering.pacer, answering.suffix, None, may_rest=False)
    asked.begin(np.array(path[:20], dtype=np.int32), Sampler(SamplingParams(temperature=0.0)))
    assert asked._text_from == 20


@pytest.mark.parametrize(("look_ms", "waits"), [(0.4, False), (400.0, True)])
def test_what_indexing_takes_is_learnt_from_texts(
    look_ms: float, *, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = itertools.count()
    monkeypatch.setattr(paced, "perf_counter", lambda: next(looks) * look_ms / 1000.0)
    answering, sampler = Answering({1: 1.0, 32: 1.1}), Sampler(SamplingParams(temperature=0.0))
    for start in range(30):  # each text begins otherwise, so all of it is indexed
        prompt = np.arange(start, start + 100, dtype=np.int32)
        PacedDrafter(answering.pacer, SuffixDrafter(), None, may_rest=False).begin(prompt, sampler)
    assert answering.pacer.lessons.index_ms == pytest.approx(look_ms / 100.0, rel=0.01)
    drafter = PacedDrafter(answering.pacer, SuffixDrafter(), None)
    drafter.begin(np.arange(100, dtype=np.int32), sampler)
    assert (drafter._text_from > 100) is waits


def test_drafting_by_name_proposes_even_where_it_does_not_pay() -> None:
    prompt = np.array([1, 2], dtype=np.int32)
    proposals: dict[str, list[int]] = {}
    for name in ("draft", "draft as asked"):
        answering = Answering({1: 1.0, 2: 50.0, 32: 900.0})
        drafter = answering.drafters[name]
        drafter.begin(prompt, Sampler(SamplingParams(temperature=0.0)))
        proposals[name] = []
        for _ in range(12):
            proposals[name].append(len(drafter.propose(prompt, 8).ids))
            drafter.observe(0)
    assert proposals["draft as asked"] == [1] * 12
    assert proposals["draft"].count(0) >= 10


def test_the_length_of_a_match_counts_where_one_thing_alone_followed() -> None:
    once = confidences_of(Draft([1] * 20, Source.NGRAM, scores=[0.75] * 20, match_length=2))
    assert once[0] == pytest.approx(0.4)
    assert once == sorted(once)
    assert once[-1] == pytest.approx(0.98)
    often = confidences_of(Draft([1], Source.NGRAM, scores=[0.95], match_length=2))
    assert often[0] == pytest.approx(1 - 0.6 * 0.2)
    assert confidences_of(Draft([1], Source.NGRAM, scores=[0.6], match_length=16)) == [0.6]
    assert confidences_of(Draft([1, 2], Source.NGRAM, match_length=3)) == [0.6, 0.6]


class Counting(MarkovModel):
    """Counts the tokens it was given."""

    num_tokens = 0

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        self.num_tokens += len(ids)
        return super().forward(ids, n_rows, num_padding)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_what_was_seen_ahead_and_is_right_is_not_drafted_again(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answering = Answering(FLAT)
    model = Counting(P_LOGITS)
    drafter = PacedDrafter(answering.pacer, None, DraftModelDrafter(CachedSequence(model), N_VOCAB, frozenset()))
    answering.drafters["right"] = drafter
    monkeypatch.setattr(Prices, "plan", lambda _self, chances, **_: (1.0, min(most, len(chances))))
    answering.tokens("right", SamplingParams(temperature=0.0), 100, [3, 1, 4, 1])
    assert 50 < model.num_tokens <= 100 + 4 + 32


def test_where_the_draft_saw_the_answer_end_it_looks_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = np.roll(np.eye(N_VOCAB, dtype=np.float32) * 9.0, 1, axis=1)  # after each id the next one
    path = list(range(1, 7))
    answering = Answering(FLAT)
    model = Counting(logits)
    drafter = PacedDrafter(
        answering.pacer, None, DraftModelDrafter(CachedSequence(model), N_VOCAB, frozenset(path[-1:]))
    )
    monkeypatch.setattr(Prices, "plan", lambda _self, chances, **_: (1.0, min(1, len(chances))))
    history = np.array([0, *path[:1]], dtype=np.int32)
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    assert drafter.propose(history, 16).ids == path[1:2]
    num_seen = model.num_tokens
    assert num_seen == len(history) + len(path) - 2  # all but the end
    for count in range(2, len(path)):
        drafter.observe(0)
        history = np.array([0, *path[:count]], dtype=np.int32)
        assert drafter.propose(history, 16).ids == path[count:-1][:1]
    assert model.num_tokens == num_seen
    drafter.observe(0)
    history = np.array([*history, path[1]], dtype=np.int32)  # it went on instead
    assert drafter.propose(history, 16).ids == path[2:3]


def test_reading_that_was_stopped_does_not_make_drafting_look_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(paced, "perf_counter", lambda: now[0])

    def stops() -> bool:
        now[0] += 60.0
        return True

    answering = Answering(FLAT)
    model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS, 1024)), N_VOCAB, frozenset(), stops)
    drafter = PacedDrafter(answering.pacer, None, model)
    history = np.arange(1000, dtype=np.int32) % N_VOCAB
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    assert drafter.propose(history, 4).ids == []
    drafter.observe(0)
    assert model.was_stopped
    assert answering.pacer.learnt.model.cost_ms < 10.0


@pytest.mark.parametrize("curve", [STAIRCASE, FLAT], ids=["staircase", "flat"])
def test_the_draft_has_read_nothing_but_the_text_and_what_it_sees_ahead(curve: dict[int, float]) -> None:
    answering = Answering(curve)
    sequence = CachedSequence(MarkovModel(Q_LOGITS))
    drafter = PacedDrafter(answering.pacer, answering.suffix, DraftModelDrafter(sequence, N_VOCAB, frozenset()))
    history = np.array(likely_path(12), dtype=np.int32)
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    rng = np.random.default_rng(3)
    for _ in range(200):
        draft = drafter.propose(history, 16)
        seen = [*history.tolist(), *drafter._ahead.ids]
        assert sequence._ids[: sequence.num_past].tolist() == seen[: sequence.num_past]
        kept = int(rng.integers(0, len(draft.ids) + 1))
        drafter.observe(kept)
        history = np.array([*history, *draft.ids[:kept], rng.integers(0, N_VOCAB)], dtype=np.int32)


@pytest.mark.parametrize("name", ["both", "draft"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(("num_snapshots", "most"), [(0, 1), (0, 3), (2, 1), (0, 32)])
def test_a_draft_that_cannot_forget_a_tail_goes_back_to_its_checkpoint(
    name: str, temperature: float, num_snapshots: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = Answering(FLAT)
    sequence = CachedSequence(RecurrentModel(Q_LOGITS, num_snapshots=num_snapshots))
    text = answering.suffix if name == "both" else None
    model = DraftModelDrafter(sequence, N_VOCAB, frozenset())
    answering.drafters["state"] = PacedDrafter(answering.pacer, text, model, may_rest=False)
    plan = Prices.plan
    monkeypatch.setattr(Prices, "plan", lambda self, chances, **_: (plan(self, chances)[0], min(most, len(chances))))
    monkeypatch.setattr(sequence, "clear", lambda: pytest.fail("all of the text is read again"))
    answering.tokens("state", SamplingParams(temperature=temperature, seed=3), 150, [3, 1, 4, 1])
    assert max(answering.depths) > 0


def test_reading_a_prompt_does_not_make_drafting_look_dear_where_the_answer_ends_at_once() -> None:
    pacer = Answering(FLAT).pacer
    pacer.choose([], has_model=True, limit=8, may_rest=False, looks=True)
    before_ms = pacer.learnt.model.cost_ms
    pacer.observe([], 0, 5000.0, 0)  # nothing but the end was seen
    assert pacer.learnt.model.cost_ms < before_ms + 10.0


def test_reading_a_prompt_is_no_price_of_drafting_where_another_token_was_drawn_than_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answering, drew_on = Answering(FLAT), 0
    steps: list[float] = []
    monkeypatch.setattr(answering.pacer, "observe_drafting", steps.append)
    monkeypatch.setattr(paced._Gate, "worth_running", lambda *_: True)
    model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS, 1024)), N_VOCAB, frozenset())
    drafter = PacedDrafter(answering.pacer, None, model, may_rest=False)
    for seed in range(20):
        model._model.clear()
        history = np.arange(900, dtype=np.int32) % N_VOCAB
        drafter.begin(history, Sampler(SamplingParams(temperature=2.0, seed=seed)))
        drafter.propose(history, 8)
        drew_on += model.num_read < 900
        drafter.observe(0)
    assert drew_on > 5
    assert not steps


@pytest.mark.parametrize(("curve", "most"), [({**STAIRCASE, 17: 4.6, 33: 8.3}, 15), ({**FLAT, 33: 1.1}, 32)])
def test_nothing_is_proposed_beyond_the_pass_that_is_cheapest_a_token(
    curve: dict[int, float], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = Answering(curve)
    monkeypatch.setattr(answering.pacer.curve, "observe", lambda *_: 1.0)  # the scripted clock would change it
    right = DraftModelDrafter(CachedSequence(MarkovModel(P_LOGITS)), N_VOCAB, frozenset())
    answering.drafters["right"] = PacedDrafter(answering.pacer, None, right)
    answering.tokens("right", SamplingParams(temperature=0.0), 200, [3, 1, 4, 1])
    assert max(answering.depths) == most


def test_text_that_was_not_proposed_is_learnt_from() -> None:
    answering = Answering({1: 1.0, 2: 50.0, 32: 900.0})  # nothing pays here
    drafter = answering.drafters["text"]
    before = answering.pacer.learnt.text_chances.chance(0.6)
    path = [1, 2, 3] * 30
    drafter.begin(np.array(path[:4], dtype=np.int32), Sampler(SamplingParams(temperature=1.0, seed=1)))
    for i in range(4, 60):
        assert drafter.propose(np.array(path[:i], dtype=np.int32), 8).ids == []
        drafter.observe(0)
    assert answering.pacer.learnt.text_chances.chance(0.6) > max(before, 0.9)


@pytest.mark.parametrize(("temperature", "most", "learns"), [(0.0, 1, True), (1.0, 1, False), (1.0, 0, True)])
def test_of_what_would_be_drawn_nothing_is_learnt_by_what_came_but_where_nothing_was_proposed(
    temperature: float, most: int, learns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = Answering(FLAT)
    looks: list[Source] = []
    monkeypatch.setattr(Prices, "plan", lambda _self, chances, **_: (1.0, min(most, len(chances))))
    monkeypatch.setattr(answering.pacer, "observe_unsent", lambda source, *_rest: looks.append(source))
    answering.tokens("draft", SamplingParams(temperature=temperature, seed=3), 60, [3, 1, 4, 1])
    assert (Source.DRAFT in looks) == learns
