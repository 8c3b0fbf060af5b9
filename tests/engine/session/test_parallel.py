"""Tests parallel answers on real models: each equals a single answer, and none disturbs the others."""

import queue
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as statistics

from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.loading.exactness import why_inexact
from engine.records import (
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Mode,
    SamplingParams,
    TextChunk,
)
from engine.requests import OnEvent, RunJob, next_request_id
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.engine.answers import GREEDY, end_of
from tests.engine.gguf_factory import tiny_windowed
from tests.long_form import rounds
from tests.shared_files import shared_model

TARGET, DRAFT = "babyllama-tok105-f16.gguf", "babyllamaB-tok105-f16.gguf"
PROMPTS = ("Once upon a time there was a little girl", "The dog", "Tom and Lily went to the park. Tom said", "A")
WAIT_S = 60.0
NEAR_TIE = 0.05  # logit difference


@dataclass(slots=True)
class Heard:
    """The events of one request."""

    text: str = ""
    end: Finished | EngineFailed | None = None

    @property
    def finished(self) -> Finished:
        assert isinstance(self.end, Finished), self.end
        return self.end


class Asker:
    """An engine with several parallel requests; each gets only its own events."""

    def __init__(
        self, parallel: int, *, target: str = TARGET, draft: str | None = None, n_ctx: int = 512, **options: object
    ) -> None:
        """``options``: those of `LoadRequest`."""
        self.sessions = list[Session]()
        self.worker = EngineWorker(lambda _event: None, self._make)
        self.worker.start()
        ready: queue.Queue[Event] = queue.Queue()
        paths = [path if path is None or path.startswith("/") else shared_model(path) for path in (target, draft)]
        request = LoadRequest(*paths, n_ctx, threads=1, parallel=parallel, **options)  # type: ignore[arg-type]
        self.worker.submit(replace(request, request_id=next_request_id()), ready.put)
        while not isinstance(event := ready.get(timeout=WAIT_S), EngineReady):
            assert not isinstance(event, EngineFailed), event
        self.ready = event

    def _make(self) -> Session:
        self.sessions.append(Session())
        return self.sessions[-1]

    def ask(self, requests: Sequence[ChatRequest], on_event: OnEvent = lambda _event: None) -> list[Heard]:
        """Submit all at once, and wait until all have ended."""
        heard = {request.request_id: Heard() for request in requests}
        done = threading.Semaphore(0)

        def take(event: Event) -> None:
            if isinstance(event, TextChunk):
                heard[event.request_id].text += event.text
            elif isinstance(event, Finished | EngineFailed):
                assert heard[event.request_id].end is None
                heard[event.request_id].end = event
                done.release()
            on_event(event)

        for request in requests:
            self.worker.submit(request, take)
        for _ in requests:
            assert done.acquire(timeout=WAIT_S)
        return list(heard.values())

    def close(self) -> None:
        assert self.worker.close(10)


@pytest.fixture
def side_by_side() -> Iterator[Asker]:
    asker = Asker(4, draft=DRAFT)
    yield asker
    asker.close()


def question(text: str, *, mode: Mode = Mode.OFF, depth: int | None = None, **fields: object) -> ChatRequest:
    wanted = {"max_tokens": 40, "ignore_eos": True, "sampling": GREEDY, "use_past": False} | fields
    return ChatRequest(raw_prompt=text, mode=mode, depth=depth, request_id=next_request_id(), **wanted)  # type: ignore[arg-type]


def alone(requests: Sequence[ChatRequest]) -> list[tuple[int, ...]]:
    asker = Asker(1)
    found = [asker.ask([replace(one, request_id=next_request_id())])[0].finished.token_ids for one in requests]
    asker.close()
    return found


def assert_alike(asked: Sequence[ChatRequest], found: Sequence[Heard], expected: Sequence[tuple[int, ...]]) -> None:
    """Check that answers are equal if the target is bit-exact, else up to a near tie."""
    inexact = why_inexact(shared_model(TARGET))
    model = LlamaModel(shared_model(TARGET))
    for request, heard, other in zip(asked, found, expected, strict=True):
        ids = heard.finished.token_ids
        assert len(ids) == len(other)
        at = next((i for i, (a, b) in enumerate(zip(ids, other, strict=True)) if a != b), None)
        if at is not None:
            assert request.raw_prompt is not None
            context = LlamaContext(model, ContextParams(n_ctx=512, threads=1))
            row = context.forward([*model.vocab.tokenize(request.raw_prompt, special=True), *ids[:at]], 1)[0]
            context.close()
            is_tie = inexact and abs(row[ids[at]] - row[other[at]]) < NEAR_TIE
            assert is_tie, f"{request.raw_prompt}, token {at}"
    model.close()


@pytest.mark.parametrize(("mode", "depth"), [(Mode.OFF, None), (Mode.NGRAM, 4), (Mode.DRAFT, 3), (Mode.AUTO, None)])
def test_greedy_answers_are_those_that_each_would_be_alone(side_by_side: Asker, mode: Mode, depth: int | None) -> None:
    asked = [question(text, mode=mode, depth=depth) for text in PROMPTS]
    heard = side_by_side.ask(asked)
    assert_alike(asked, heard, alone([replace(one, mode=Mode.OFF, depth=None) for one in asked]))
    assert all(one.finished.stats.joined_passes for one in heard)
    assert all("made together" in " ".join(one.finished.stats.decisions) for one in heard)


def test_the_output_beside_others_has_the_targets_distribution() -> None:
    asker = Asker(4, draft=DRAFT)
    sampling = SamplingParams(temperature=0.9, top_k=0, top_p=1.0, min_p=0.0)
    modes, number = [(Mode.DRAFT, 2), (Mode.AUTO, None), (Mode.OFF, None), (Mode.SUFFIX, 3)], rounds(120, 200)
    asked = [
        question("Once", mode=mode, depth=depth, sampling=replace(sampling, seed=None), max_tokens=3)
        for _ in range(number)
        for mode, depth in modes
    ]
    heard = asker.ask(asked)
    asker.close()  # its thread makes passes of its own when idle
    session = Session()
    session.load(LoadRequest(shared_model(TARGET), n_ctx=512, threads=1))
    for place, (mode, _) in enumerate(modes):
        answers = [one.finished.token_ids for one in heard[place :: len(modes)]]
        assert len(answers) == number
        assert first_token_p(session, [ids[0] for ids in answers]) > 0.0005, mode
    session.close()


def first_token_p(session: Session, drawn: list[int]) -> float:
    """P value of the tokens after "Once", in cells with an expected count of at least five."""
    target = session._loaded()
    ids = np.asarray(target.model.vocab.tokenize("Once", special=True, add_bos=True), dtype=np.int32)
    target.sequence.clear()
    row = target.sequence.forward(ids, 1)[0].astype(np.float64) / 0.9
    p = np.exp(row - row.max())
    wanted, seen = p / p.sum() * len(drawn), Counter(drawn)
    cells, have, want = list[tuple[float, float]](), 0.0, 0.0
    for token_id in np.argsort(-wanted):
        have, want = have + seen[int(token_id)], want + wanted[token_id]
        if want >= 5.0:
            cells.append((have, want))
            have = want = 0.0
    cells[-1] = (cells[-1][0] + have, cells[-1][1] + want)
    statistic = sum((one - other) ** 2 / other for one, other in cells)
    return float(statistics.chi2.sf(statistic, max(len(cells) - 1, 1)))


def test_a_stop_ends_one_answer_and_no_other(side_by_side: Asker) -> None:
    asked = [question(text, max_tokens=200) for text in PROMPTS]
    first = asked[1].request_id

    def stop(event: Event) -> None:
        if isinstance(event, TextChunk) and event.request_id == first:
            side_by_side.worker.cancel(first)

    heard = side_by_side.ask(asked, stop)
    reasons = [one.finished.reason for one in heard]
    assert reasons == [FinishReason.LENGTH, FinishReason.CANCELLED, FinishReason.LENGTH, FinishReason.LENGTH]
    assert heard[1].finished.stats.tokens < 200


def test_an_edit_before_the_window_is_answered_as_by_a_fresh_model(tmp_path: Path) -> None:
    path = str(tiny_windowed(window=32).write(tmp_path / "windowed.gguf"))
    asker = Asker(2, target=path, n_ctx=768)
    hills, sea = "The bear went up the hill. " * 8, "A ship came home at night. " * 8
    asker.ask([question(hills, max_tokens=150), question(sea, max_tokens=60)])
    asker.ask([question(hills + sea, max_tokens=100)])
    edited = question(hills[:90] + "and down again", max_tokens=60)
    found = asker.ask([edited])[0].finished
    asker.close()
    fresh = Asker(1, target=path, n_ctx=768)
    assert found.token_ids == fresh.ask([replace(edited, request_id=next_request_id())])[0].finished.token_ids
    fresh.close()


def test_the_beginning_that_prompts_share_is_read_once() -> None:
    asker = Asker(2, n_ctx=1024)
    common = "Once upon a time there was a little girl. " * 3
    asked = [question(common + "Tom", max_tokens=30), question(common + "Lily", max_tokens=4)]
    began = threading.Event()
    second = list[Heard]()

    def ask_second() -> None:
        began.wait(WAIT_S)
        second.extend(asker.ask([asked[1]]))

    thread = threading.Thread(target=ask_second)
    thread.start()
    asker.ask([asked[0]], lambda event: began.set() if isinstance(event, TextChunk) else None)
    thread.join(WAIT_S)
    stats = second[0].finished.stats
    assert stats.prompt_cached_tokens > 0.8 * stats.prompt_tokens
    assert second[0].finished.token_ids == alone([asked[1]])[0]
    asker.close()


def test_an_answer_that_fails_leaves_the_others_be(side_by_side: Asker) -> None:
    asked = [question(PROMPTS[0], max_tokens=60), question("word " * 3000), question(PROMPTS[1], max_tokens=60)]
    heard = side_by_side.ask(asked)
    assert isinstance(heard[1].end, EngineFailed)
    assert [heard[i].finished.stats.tokens for i in (0, 2)] == [60, 60]


@pytest.mark.parametrize("step", ["prepare_slots", "_make_slot"])
def test_a_surprise_before_answers_run_is_told_and_the_next_one_is_made(
    side_by_side: Asker, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("surprise")

    with monkeypatch.context() as patch:
        patch.setattr(Session, step, fail)
        assert isinstance(side_by_side.ask([question("A", max_tokens=3)])[0].end, EngineFailed)
    assert side_by_side.ask([question("A", max_tokens=3)])[0].finished.stats.tokens == 3


def test_a_job_that_shares_runs_beside_answers_and_another_does_not(side_by_side: Asker) -> None:
    class Asking:
        def run(self, session: Session, should_stop: object, on_event: object, between_steps: object) -> list[int]:
            number = len(side_by_side.sessions[0].batcher)
            return [number, end_of(session, question("A", max_tokens=5)).stats.joined_passes]

    answer = question(PROMPTS[0], max_tokens=100)
    ends: queue.Queue[Event] = queue.Queue()
    for shares in (True, False):
        side_by_side.worker.submit(answer := replace(answer, request_id=next_request_id()), ends.put)
        side_by_side.worker.submit(RunJob(Asking(), shares=shares), ends.put)
        values = list[list[int]]()
        for _ in range(2):
            while not hasattr(event := ends.get(timeout=WAIT_S), "value") and not isinstance(event, Finished):
                pass
            values += [event.value] if hasattr(event, "value") else []
        (value,) = values
        assert value[0] == (2 if shares else 0)
        assert bool(value[1]) is shares


def test_a_memory_that_is_a_state_answers_one_at_a_time() -> None:
    asker = Asker(4, target="tiny-rwkv7-834K-f32.gguf", n_ctx=256)
    assert asker.ready.target.parallel == 1
    heard = asker.ask([question(text, max_tokens=5) for text in PROMPTS])
    assert all(one.finished.stats.joined_passes == 0 for one in heard)
    asker.close()
