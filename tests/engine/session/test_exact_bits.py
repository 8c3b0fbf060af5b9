"""Bit-exact: the same tokens and logprobs alone or in parallel, and whatever the caches held before."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.records import ChatRequest, Event, Finished, LoadRequest, Mode, SamplingParams, TextChunk, TokenLogprob
from engine.requests import next_request_id
from engine.session.session import Session
from tests.engine.session.test_parallel import Asker
from tests.exact import require_exact
from tests.long_form import rounds

TARGET, DRAFT = str(builtin_target()), str(builtin_draft())
Told = tuple[tuple[int, ...], tuple[TokenLogprob, ...]]
FOX = "Once upon a time there was a fox who lived near the river. "
BEAR = "The bear went up the hill because it wanted to see the sea. "
GREEDY = SamplingParams(temperature=0.0)
CHAINS = (
    GREEDY,
    SamplingParams(temperature=0.7, seed=5),
    SamplingParams(temperature=1.0, seed=6, top_k=40, repeat_penalty=1.2),
    SamplingParams(temperature=1.0, seed=7, min_p=0.05),
)
GRAMMAR = 'root ::= [A-Z] [a-z ]+ (", " [a-z ]+)* "." (" " root)?'


@pytest.fixture(autouse=True)
def fixture_exact() -> None:
    require_exact(TARGET)


def question(number: int, mode: Mode, **changes: object) -> ChatRequest:
    """Prompts from a few tokens to some hundreds, with each sampling chain and the grammar in turn."""
    prompt = ("", FOX * 9, BEAR, FOX + BEAR * 3, "Tom and")[number % 5] + (FOX, "A dog", BEAR, "So")[number % 4]
    usual: dict[str, object] = {
        "depth": None if mode in (Mode.OFF, Mode.AUTO) else 1 + number % 5,
        "sampling": CHAINS[number % len(CHAINS)],
        "grammar": GRAMMAR if number % 6 == 5 else "",
        "max_tokens": 20 + 7 * (number % 4),
        "ignore_eos": number % 6 != 5,
        "top_logprobs": 3,
        "use_past": False,
        "request_id": next_request_id(),
    }
    return ChatRequest(mode=mode, **({"raw_prompt": prompt} | usual | changes))  # type: ignore[arg-type]


def told_by(events: Sequence[Event]) -> Told:
    (end,) = [event for event in events if isinstance(event, Finished)]
    logprobs = [one for event in events if isinstance(event, TextChunk) for one in event.logprobs]
    return end.token_ids, tuple(logprobs)


def ask_together(asker: Asker, asked: Sequence[ChatRequest]) -> list[Told]:
    heard = defaultdict[int, list[Event]](list)
    asker.ask(asked, lambda event: heard[event.request_id].append(event))
    return [told_by(heard[one.request_id]) for one in asked]


@pytest.fixture(scope="module")
def alone() -> Iterator[Session]:
    """A session for one answer at a time, plain, with an empty cache, on one thread."""
    session = Session()
    session.load(LoadRequest(TARGET, n_ctx=1024, threads=1))
    yield session
    session.close()


def fresh(alone: Session, asked: ChatRequest) -> Told:
    alone._loaded().sequence.clear()
    return told_by(list(alone.generate(replace(asked, mode=Mode.OFF, depth=None, conversation_id=0))))


def test_drafting_changes_no_token_and_no_log_probability(alone: Session) -> None:
    session = Session()
    session.load(LoadRequest(TARGET, DRAFT, n_ctx=1024, threads=2))
    for number in range(rounds(8, 40)):
        asked = [question(number, mode) for mode in Mode if mode is not Mode.HEAD]
        found = {one.mode: told_by(list(session.generate(one))) for one in asked}
        assert set(found.values()) == {fresh(alone, asked[0])}, f"number {number}"
    session.close()


def test_answers_side_by_side_are_those_alone(alone: Session) -> None:
    """While prompts of all lengths are read and other answers end."""
    asker, modes = Asker(4, draft=DRAFT, target=TARGET, n_ctx=1024), (Mode.OFF, Mode.DRAFT, Mode.SUFFIX, Mode.AUTO)
    asked = [question(number, modes[number // 3 % 4]) for number in range(rounds(16, 60))]
    found = ask_together(asker, asked)
    asker.close()
    for number, (one, told) in enumerate(zip(asked, found, strict=True)):
        assert told == fresh(alone, one), f"number {number}"


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.DRAFT, Mode.AUTO])
def test_what_the_caches_held_changes_nothing(alone: Session, tmp_path: Path, mode: Mode) -> None:
    """Chats that continue, are edited, branch, and return after others and after a restart."""
    turns = [(1, FOX * 4), (1, FOX * 4 + BEAR), (2, BEAR * 5), (1, FOX * 4 + BEAR + FOX)]
    turns += [(1, FOX * 2 + BEAR), (3, FOX * 4 + "and"), (1, FOX * 4 + BEAR + "So"), (2, BEAR * 5 + FOX)]
    for start in range(2):
        session = Session(state_folder=tmp_path)
        session.load(LoadRequest(TARGET, DRAFT, n_ctx=1024, threads=2))
        session.states.set_limit(1 << 30)
        restored = 0
        for number, (conversation, prompt) in enumerate(turns):
            sampling = CHAINS[(number + start) % len(CHAINS)]
            asked = question(number, mode, raw_prompt=prompt, sampling=sampling, grammar="", ignore_eos=True)
            events = list(session.generate(replace(asked, conversation_id=conversation)))
            restored += next(one.stats.restored_tokens for one in events if isinstance(one, Finished))
            assert told_by(events) == fresh(alone, asked), f"start {start}, turn {number}"
        assert restored > 100
        session.close()
