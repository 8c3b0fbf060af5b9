"""A draft with another vocabulary in a session: equal answers and distribution, and its notices."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from app.core.paths import builtin_draft
from engine.records import (
    CacheType,
    ChatRequest,
    FinishReason,
    LoadRequest,
    Message,
    Mode,
    SamplingParams,
    Source,
)
from engine.session.session import Session
from tests.engine.answers import GREEDY, answer, asked, end_of
from tests.long_form import rounds
from tests.shared_files import shared_model

PROMPTS = [f"{start} {who}" for start in ("Once upon a time, there was", "The", "One day") for who in ("a girl", "Tom")]


# A pair trained on the same stories, one of them with letters as tokens, so its drafts are translated; and a pair with
# different words.
PAIRS = {
    "letters": ("stories260K-f16.gguf", "babyllama-tok105-f16.gguf", 0.60),
    "words": ("aidreams260K-f32.gguf", "stories260K-f16.gguf", 0.94),
}


@pytest.fixture(name="pair", scope="module", params=PAIRS)
def fixture_pair(request: pytest.FixtureRequest) -> Iterator[Session]:
    target, draft, _ = PAIRS[request.param]
    session = Session()
    session.load(LoadRequest(shared_model(target), shared_model(draft), threads=1))
    yield session
    session.close()


def test_the_draft_is_taken_and_its_share_reported(pair: Session) -> None:
    ready = pair.ready()
    assert not {Mode.DRAFT, Mode.AUTO} & set(ready.unavailable)
    assert ready.draft is not None
    share = next(share for _, draft, share in PAIRS.values() if draft in ready.draft.path)
    assert ready.draft.coverage == pytest.approx(share, abs=0.01)
    assert ready.target.coverage is None


@pytest.mark.parametrize("mode", [Mode.DRAFT, Mode.AUTO])
def test_a_greedy_answer_is_the_plain_one(pair: Session, mode: Mode) -> None:
    accepted = 0
    for prompt in PROMPTS:
        plain = answer(pair, Mode.OFF, prompt)
        drafted = answer(pair, mode, prompt, depth=3)
        assert drafted.token_ids == plain.token_ids
        accepted += drafted.stats.provenance.get(Source.DRAFT, 0)
    assert accepted > (10 if mode is Mode.DRAFT else 0)


@pytest.mark.parametrize("temperature", [0.8, 1.0])
def test_drawn_tokens_are_distributed_as_plain_ones(pair: Session, temperature: float) -> None:
    """Of the second to fourth token of an answer, in both modes; rare tokens are pooled."""
    number, accepted = rounds(250, 400), 0
    counts: dict[Mode, list[Counter[int]]] = {mode: [Counter() for _ in range(3)] for mode in (Mode.OFF, Mode.DRAFT)}
    for mode, places in counts.items():
        for seed in range(number):
            sampling = SamplingParams(temperature, 12, 0.95, 0.02, seed=seed + (0 if mode is Mode.OFF else number))
            ended = answer(pair, mode, "Once upon a time", sampling=sampling, max_tokens=4, depth=3)
            accepted += ended.stats.accepted
            for place, counter in enumerate(places):
                counter[ended.token_ids[place + 1]] += 1
    assert accepted > 20
    for plain, drafted in zip(*counts.values(), strict=True):
        common = [token_id for token_id, count in (plain + drafted).items() if count >= 20]
        table = np.array(
            [[each[i] for i in common] + [number - sum(each[i] for i in common)] for each in (plain, drafted)]
        )
        table = table[:, table.sum(axis=0) > 0]
        assert stats.chi2_contingency(table).pvalue > 0.001


def test_a_conversation_goes_on_from_what_the_draft_has_read(pair: Session) -> None:
    messages = (Message("user", "Tell me of a dog."),)
    for _ in range(3):
        request = ChatRequest(messages, Mode.DRAFT, depth=3, sampling=GREEDY, max_tokens=20)
        assert end_of(pair, request).stats.proposed > 0
        messages = (*messages, Message("assistant", "It ran."), Message("user", "And then?"))


def test_two_conversations_in_turn_one_edited_and_one_stopped(tmp_path: Path) -> None:
    """With the state cache, which holds the draft's own tokens: the answers are those of plain decoding."""
    target, draft, _ = PAIRS["letters"]
    session = Session(state_folder=tmp_path)
    session.states.set_limit(1 << 28)
    session.load(LoadRequest(shared_model(target), shared_model(draft), threads=1))
    long = "Once upon a time, there was a little girl. " * 6
    accepted = 0
    for number, text in (
        (1, long),
        (2, "The big dog. " * 12),
        (1, long + "She"),
        (1, long[:-8] + "He"),
        (2, "The big dog."),
    ):
        ids = {}
        for mode in (Mode.DRAFT, Mode.OFF):
            ended = answer(session, mode, text, max_tokens=24, depth=3, conversation_id=number)
            ids[mode] = ended.token_ids
            accepted += ended.stats.provenance.get(Source.DRAFT, 0)
        assert ids[Mode.DRAFT] == ids[Mode.OFF], (number, text)
        stops = iter([False] * 4 + [True] * 100)
        request = asked(Mode.DRAFT, text, depth=3, conversation_id=number)
        assert end_of(session, request, lambda: next(stops)).reason is FinishReason.CANCELLED  # noqa: B023
    assert accepted > 20
    session.close()


@pytest.mark.parametrize("name", PAIRS)
def test_a_full_context_ends_the_answer(name: str) -> None:
    target, draft, _ = PAIRS[name]
    session = Session()
    session.load(LoadRequest(shared_model(target), shared_model(draft), n_ctx=64, threads=1))
    ended = answer(session, Mode.DRAFT, depth=4, max_tokens=None)
    session.close()
    assert ended.reason is FinishReason.CONTEXT
    assert ended.stats.context_used >= 60


@pytest.mark.parametrize("cache", [CacheType.Q8_0, CacheType.F16])
def test_a_draft_with_a_state_or_a_small_cache_reads_on(cache: CacheType) -> None:
    """A recurrent draft, whose memory can be restored to one position only, and a quantized cache."""
    draft = shared_model("tiny-rwkv7-834K-f32.gguf") if cache is CacheType.F16 else str(builtin_draft())
    session = Session()
    session.load(LoadRequest(shared_model(PAIRS["letters"][0]), draft, threads=1, draft_cache_type=cache))
    for prompt in PROMPTS[:3]:
        plain = answer(session, Mode.OFF, prompt)
        drafted = answer(session, Mode.DRAFT, prompt, depth=3)
        assert drafted.token_ids == plain.token_ids
        assert drafted.stats.proposed > 20
        assert not any("left out" in line for line in drafted.stats.decisions)
    session.close()
