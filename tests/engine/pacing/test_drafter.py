"""Tests the paced drafter on scripted models: exact whatever the pacer decides, at all depths."""

from collections.abc import Callable

import numpy as np
import pytest

import engine.pacing.drafter
from engine.decoding import loop
from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.pass_report import PassReport
from engine.decoding.stats import StatsRecorder
from engine.drafters import draft_model
from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.errors import DecodeError
from engine.interfaces import Rows, TokenIds
from engine.pacing.acceptance import text_kinds
from engine.pacing.constants import MAX_UNSEARCHED
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter, TextOrModelDrafter
from engine.pacing.pacer import Choice, Pacer
from engine.records import Mode, SamplingParams, Source
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from tests.engine.decoding.test_loop import N_VOCAB, P_LOGITS, Q_LOGITS, Run, likely_path, plain_distribution
from tests.engine.decoding.test_verifier import chi_square_p
from tests.fake_model import MarkovModel, RecurrentModel
from tests.long_form import rounds
from tests.scripted_pair import Clock, unseeded

STAIRCASE = {1: 1.0, 2: 1.6, 3: 2.2, 4: 1.5, 5: 2.2, 6: 2.8, 7: 2.8, 8: 2.6, 16: 3.7, 32: 8.0}
FLAT = {1: 1.0, 2: 1.02, 4: 1.03, 8: 1.04, 16: 1.05, 32: 1.1}
NEVER = {n: 1.0 if n == 1 else 50.0 * n for n in range(1, 34)}  # drafting never pays
GREEDY = SamplingParams(temperature=0.0)
PROPOSED_BY = {
    "both": {Source.NGRAM, Source.DRAFT},
    "both, to an end": {Source.DRAFT},
    "draft": {Source.DRAFT},
    "text": {Source.NGRAM},
}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = Clock(1)
    for module in (loop, engine.pacing.drafter, draft_model):
        monkeypatch.setattr(module, "perf_counter", scripted)


class ScriptedAnswer:
    """Answers of the scripted pair with one pacer, made like in a session."""

    def __init__(self, curve: dict[int, float]) -> None:
        self.pacer = Pacer(CostCurve(curve), 0.05)
        self.target = CachedSequence(MarkovModel(P_LOGITS))
        self.text = SuffixDrafter(min_match=1)
        self.suffix = SuffixDrafter(min_match=1)
        model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset())
        ends = frozenset(likely_path(12)[-4:-2])
        ending = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, ends)
        to_an_end = SuffixDrafter(min_match=1)
        to_an_end.ends = ends
        self.drafters = {
            "both": PacedDrafter(self.pacer, self.suffix, model),
            "both, to an end": PacedDrafter(self.pacer, to_an_end, ending),  # though answers continue after it
            "draft": PacedDrafter(self.pacer, None, model),
            "draft as asked": PacedDrafter(self.pacer, None, model, may_pause=False),
            "text": PacedDrafter(self.pacer, self.text, None),
        }
        self.depths: set[int] = set()
        self.sources: set[Source] = set()
        self.num_rested = 0  # runs of several plain passes

    def tokens(self, name: str, sampling: SamplingParams, count: int, prompt: list[int]) -> list[int]:
        ids = np.array(prompt, dtype=np.int32)
        self.target.reuse(ids)
        for _ in self.target.prefill(ids[self.target.num_past : -1]):
            pass
        stats = StatsRecorder(Mode.AUTO, 256)
        speculation = Speculation(
            self.target,
            self.drafters[name],
            unseeded(sampling),
            stats,
            ids,
            LoopConfig(self.pacer, (self.pacer,)),
        )
        given: list[int] = []
        while len(given) < count:
            before = stats.proposed
            given += self.next_ids(speculation, self.drafters[name], count - len(given))
            self.depths.add(stats.proposed - before)
            assert self.target.num_past == len(speculation.history) - 1
        return given

    def next_ids(self, speculation: Speculation, drafter: PacedDrafter, wanted: int) -> list[int]:
        """Tokens of a pass, or of a run of plain passes while the drafter pauses."""
        rest = min(drafter.pause_length(speculation.history), wanted)
        if not rest:
            ids = speculation.step(32, wanted).ids
            self.sources |= {drafter._draft.source} if drafter._draft.ids else set()
            return ids
        ids = speculation.run_plain(rest, 60.0, drafter.ends_pause).ids
        self.num_rested += len(ids) > 1
        return ids


@pytest.mark.parametrize("name", ["both", "both, to an end", "draft", "draft as asked", "text"])
@pytest.mark.parametrize("curve", [STAIRCASE, FLAT], ids=["staircase", "flat"])
def test_greedy_output_is_the_argmax_path(name: str, curve: dict[int, float]) -> None:
    answering = ScriptedAnswer(curve)
    expected, last = [], 1
    for _ in range(120):
        last = int(P_LOGITS[last].argmax())
        expected.append(last)
    for _ in range(3):
        assert answering.tokens(name, GREEDY, 120, [3, 1, 4, 1]) == expected


@pytest.mark.parametrize("curve", [STAIRCASE, FLAT], ids=["staircase", "flat"])
@pytest.mark.parametrize("name", ["both", "both, to an end", "draft", "text"])
def test_sampled_output_is_distributed_as_plain_decoding_whatever_the_pace(name: str, curve: dict[int, float]) -> None:
    answering = ScriptedAnswer(curve)
    counts = np.zeros((4, N_VOCAB), dtype=np.int64)
    prompt = likely_path(12)
    # Probabilities that are off by 13 % (root mean square) are detected nine times of ten; 3 % in the long form.
    for seed in range(7000, 7000 + rounds(2_000, 50_000)):
        sampling = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
        for position, token_id in enumerate(answering.tokens(name, sampling, 4, prompt)):
            counts[position, token_id] += 1
    assert len(answering.depths) > 2
    assert answering.sources >= PROPOSED_BY[name]
    for position in range(4):
        assert chi_square_p(counts[position], plain_distribution(prompt[-1], position)) > 0.001


def test_plain_passes_follow_each_other_until_text_that_pays_comes() -> None:
    answering = ScriptedAnswer({1: 1.0, 2: 1.4, 32: 40.0})
    path = likely_path(200)
    for _ in range(3):
        assert answering.tokens("both", GREEDY, 120, path[:3]) == path[3:123]
    assert answering.num_rested > 0
    assert answering.depths - {0}


def test_drafting_by_name_proposes_even_where_it_does_not_pay() -> None:
    prompt = np.array([1, 2], dtype=np.int32)
    proposals: dict[str, list[int]] = {}
    for name in ("draft", "draft as asked"):
        answering = ScriptedAnswer(NEVER)
        drafter = answering.drafters[name]
        drafter.begin(prompt, Sampler(GREEDY))
        proposals[name] = []
        for _ in range(12):
            proposals[name].append(len(drafter.propose(prompt, 8).ids))
            drafter.observe(0)
        assert (drafter.pause_length(prompt) > 0) == (name == "draft")
    assert proposals["draft as asked"] == [1] * 12
    assert proposals["draft"].count(0) >= 10


def report(draft: Draft, total_ms: float) -> PassReport:
    """The report of a pass that accepted the whole draft in its expected time; the rest is drafting and overhead."""
    count, forward_ms = len(draft.ids), CostCurve(FLAT).cost_ms(len(draft.ids) + 1)
    laps = (total_ms - forward_ms - 0.05, 0.0, forward_ms, 0.05, 0.0, 0.0, total_ms)
    return PassReport(2, draft, count, count + 1, 0, 0, 0, False, False, *laps)


def test_reading_that_was_stopped_does_not_make_drafting_look_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    for module in (engine.pacing.drafter, draft_model):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])

    def stops() -> bool:
        now[0] += 60.0
        return True

    pacer = ScriptedAnswer(FLAT).pacer
    model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS, 1024)), N_VOCAB, frozenset(), stops)
    drafter = PacedDrafter(pacer, None, model, may_pause=False)
    history = np.arange(1000, dtype=np.int32) % N_VOCAB
    drafter.begin(history[:-1], Sampler(GREEDY))
    assert drafter.propose(history, 4).ids == []
    drafter.observe(0)
    pacer.on_pass(report(Draft([], Source.DRAFT), 60_001.0))
    assert model.was_stopped
    assert pacer.acceptance.average is None
    assert pacer.prices.draft_step_ms == 0.05
    assert pacer.prices.draft_read_ms == pytest.approx(0.05 / 4)


@pytest.mark.parametrize("curve", [STAIRCASE, FLAT], ids=["staircase", "flat"])
def test_the_draft_has_read_nothing_but_the_text_and_what_it_proposed(curve: dict[int, float]) -> None:
    answering = ScriptedAnswer(curve)
    sequence = CachedSequence(MarkovModel(Q_LOGITS))
    drafter = PacedDrafter(answering.pacer, answering.suffix, DraftModelDrafter(sequence, N_VOCAB, frozenset()))
    history = np.array(likely_path(12), dtype=np.int32)
    drafter.begin(history, Sampler(GREEDY))
    rng, num_drafted = np.random.default_rng(3), 0
    for _ in range(200):
        draft = drafter.propose(history, 16)
        seen = [*history.tolist(), *(draft.ids if draft.source is Source.DRAFT else [])]
        assert sequence._ids[: sequence.num_past].tolist() == seen[: sequence.num_past]
        num_drafted += draft.source is Source.DRAFT
        kept = int(rng.integers(0, len(draft.ids) + 1))
        drafter.observe(kept)
        history = np.array([*history, *draft.ids[:kept], rng.integers(0, N_VOCAB)], dtype=np.int32)
    assert num_drafted > 5


@pytest.mark.parametrize("name", ["both", "draft"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(("num_snapshots", "most"), [(0, 1), (0, 3), (2, 1), (0, 32)])
def test_a_draft_that_cannot_forget_a_tail_goes_back_to_its_checkpoint(
    name: str, temperature: float, num_snapshots: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = ScriptedAnswer(FLAT)
    sequence = CachedSequence(RecurrentModel(Q_LOGITS, num_snapshots=num_snapshots))
    text = answering.suffix if name == "both" else None
    model = DraftModelDrafter(sequence, N_VOCAB, frozenset())
    answering.drafters["state"] = PacedDrafter(answering.pacer, text, model, may_pause=False)
    worth = Pacer.should_sample
    monkeypatch.setattr(Pacer, "should_sample", lambda self, drawn, *of: drawn < most and worth(self, drawn, *of))
    monkeypatch.setattr(sequence, "clear", lambda: pytest.fail("all of the text is read again"))
    answering.tokens("state", SamplingParams(temperature=temperature, seed=3), 150, [3, 1, 4, 1])
    assert Source.DRAFT in answering.sources
    assert max(answering.depths) > 0


class Timed(MarkovModel):
    """Each token of a pass takes a scripted time."""

    def __init__(self, now: list[float], token_s: float, n_ctx: int = 1024) -> None:
        super().__init__(Q_LOGITS, n_ctx)
        self._now, self._token_s = now, token_s
        self.num_tokens = 0

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        self._now[0] += len(ids) * self._token_s
        self.num_tokens += len(ids)
        return super().forward(ids, n_rows)


@pytest.mark.parametrize("ends", [frozenset[int](), frozenset(range(N_VOCAB))], ids=["goes on", "ends at once"])
def test_reading_a_prompt_does_not_make_drafting_look_dear(
    ends: frozenset[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    for module in (engine.pacing.drafter, draft_model):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    pacer = Pacer(CostCurve(FLAT), 0.01)
    model = DraftModelDrafter(CachedSequence(Timed(now, 1e-5)), N_VOCAB, ends)
    drafter = PacedDrafter(pacer, None, model, may_pause=False)
    history = np.arange(900, dtype=np.int32) % N_VOCAB
    drafter.begin(history[:-1], Sampler(GREEDY))
    began = now[0]
    draft = drafter.propose(history, 8)
    drafter.observe(len(draft.ids))
    pacer.on_pass(report(draft, (now[0] - began) * 1000.0 + 1.05))
    assert model.num_read == 900
    assert bool(draft.ids) is not bool(ends)
    assert pacer.acceptance.in_answer is not None
    assert pacer.acceptance.in_answer.cost < 1.5  # 900 tokens took nine plain passes
    assert pacer.prices.draft_step_ms == pytest.approx(0.01, rel=0.01)
    assert pacer.prices.draft_read_ms == pytest.approx(0.01 * (1 - 0.5**1) + 0.0025 * 0.5, rel=0.05)


def test_what_a_token_takes_is_learnt_where_there_was_little_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    for module in (engine.pacing.drafter, draft_model):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    pacer = Pacer(CostCurve(FLAT), 0.05)
    drafter = PacedDrafter(pacer, None, DraftModelDrafter(CachedSequence(Timed(now, 2e-4)), N_VOCAB, frozenset()))
    history = np.array([1, 2], dtype=np.int32)
    drafter.begin(history, Sampler(GREEDY))
    for _ in range(300):
        drafter.propose(history, 8)
        drafter.observe(0)
    assert pacer.prices.draft_step_ms == pytest.approx(0.2, rel=0.05)


def followed(drafter: PacedDrafter, history: list[int], *, rests: bool) -> None:
    """Continue the path 1, 2, 3, 1, 2, 3 without proposals: asked for each pass, or while pausing."""
    path = [1, 2, 3] * 30
    drafter.begin(np.array(path[:4], dtype=np.int32), Sampler(SamplingParams(temperature=1.0, seed=1)))
    for i in range(4, 60):
        history[:] = path[:i]
        if rests and i > 4:
            assert not drafter.ends_pause(np.array(history, dtype=np.int32))
            continue
        assert drafter.propose(np.array(history, dtype=np.int32), 8).ids == []
        drafter.observe(0)


@pytest.mark.parametrize("rests", [False, True])
def test_text_that_was_not_proposed_is_learnt_from(rests: bool) -> None:
    answering, before = ScriptedAnswer(NEVER), ScriptedAnswer(NEVER)
    followed(answering.drafters["text"], [], rests=rests)
    before.pacer.begin("SuffixDrafter False sampled", greedy=False)
    learnt, usual = (one.pacer.acceptance.text for one in (answering, before))
    gained = [kind for kind in range(18) if learnt.probability(kind) > usual.probability(kind) + 0.02]
    assert gained
    assert all(learnt.probability(kind) >= usual.probability(kind) for kind in gained)
    assert max(learnt.probability(kind) for kind in gained) > 0.8


def test_text_that_was_not_proposed_and_did_not_come_is_learnt_from() -> None:
    answering = ScriptedAnswer(NEVER)
    drafter, rng = answering.drafters["text"], np.random.default_rng(5)
    drafter.begin(np.array([0], dtype=np.int32), Sampler(GREEDY))
    history = [0, 1]
    for _ in range(150):
        history.append(int(rng.integers(0, N_VOCAB)))
        drafter.propose(np.array(history, dtype=np.int32), 8)
        drafter.observe(0)
    assert answering.pacer.acceptance.text.is_observed
    looked_up = answering.text.propose(np.array(history, dtype=np.int32), 8)
    kinds = text_kinds(looked_up)
    usual = Pacer(CostCurve(NEVER)).acceptance.text
    assert answering.pacer.acceptance.text.probability(kinds[0]) < usual.probability(kinds[0])


def looks(plain_ms: float, look_ms: float, count: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The tokens of an answer at which n-grams were looked up while pausing."""
    now = [0.0]
    monkeypatch.setattr(engine.pacing.drafter, "perf_counter", lambda: now[0])
    lengths: list[int] = []

    def slow_look(history: np.ndarray, limit: int) -> object:
        now[0] += look_ms / 1000.0
        lengths.append(len(history))
        return propose(history, limit)

    text = SuffixDrafter()
    propose: Callable[..., object] = text.propose
    drafter = PacedDrafter(Pacer(CostCurve({n: plain_ms * (1.0 + 30.0 * (n > 1)) for n in range(1, 34)})), text, None)
    drafter.begin(np.array([0], dtype=np.int32), Sampler(GREEDY))
    monkeypatch.setattr(text, "propose", slow_look)
    for number in range(1, count + 1):
        assert not drafter.ends_pause(np.arange(number, dtype=np.int32))
    return lengths


@pytest.mark.parametrize(("look_ms", "least"), [(0.004, 60), (0.03, 20), (30.0, 20)])
def test_looks_become_rare_where_they_take_a_share_of_a_pass_but_never_end(
    look_ms: float, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = looks(0.3, look_ms, 200, monkeypatch)
    assert least <= len(found) < 200
    assert max(np.diff(found[-10:])) <= MAX_UNSEARCHED


class Failing(MarkovModel):
    """Computes NaN."""

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        raise DecodeError("No pass.")


def test_without_a_draft_model_that_failed_it_goes_on_with_text() -> None:
    answering = ScriptedAnswer(FLAT)
    model = DraftModelDrafter(CachedSequence(Failing(Q_LOGITS)), N_VOCAB, frozenset())
    answering.drafters["failing"] = PacedDrafter(answering.pacer, answering.suffix, model, may_pause=False)
    path = likely_path(200)
    assert answering.tokens("failing", GREEDY, 120, path[:3]) == path[3:123]
    assert answering.sources == {Source.NGRAM}
    assert answering.pacer.decision.choice is not Choice.DRAFT


def test_at_a_fixed_depth_a_long_match_or_the_model_proposes() -> None:
    model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset())
    run = Run(TextOrModelDrafter(SuffixDrafter(min_match=8), model), GREEDY, likely_path(12)[:3])
    assert run.tokens(120, 7) == likely_path(200)[3:123]
    assert {Source.NGRAM, Source.DRAFT} <= run.stats.snapshot().provenance.keys()
