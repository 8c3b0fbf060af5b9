"""Tests summaries of the oldest turns: their selection, their replacement, and failures, which only omit turns."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from app.core.paths import builtin_target
from engine.errors import DecodeError
from engine.records import (
    ChatRequest,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Message,
    Overflow,
    PrefillProgress,
    RunStats,
    SamplingParams,
    SummaryUpdate,
    TextChunk,
)
from engine.session.session import Session
from engine.session.summarising import Summariser, prepend_summary
from tests.engine.answers import last_of

N_CTX = 512
SYSTEM = Message("system", "Be kind.")


def words(messages: Sequence[Message]) -> list[int]:
    """A word is a token."""
    return [0] * sum(len(message.content.split()) for message in messages)


def turns(number: int, length: int = 40) -> tuple[Message, ...]:
    return tuple(
        message
        for i in range(number)
        for message in (Message("user", f"q{i} " * length), Message("assistant", f"a{i} " * length))
    )


def conversation(number: int) -> tuple[Message, ...]:
    return (SYSTEM, *turns(number), Message("user", "And now?"))


class Writer:
    """Writes a given text, as `Session` would."""

    def __init__(self, text: str = "They spoke. It was long.", reason: FinishReason = FinishReason.END) -> None:
        self.text, self.reason = text, reason
        self.asked: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> Iterator[Event]:
        self.asked.append(request)
        yield PrefillProgress(request.request_id, 100, 200)
        for word in self.text.split(" "):
            yield TextChunk(request.request_id, f"{word} ", ())
        yield Finished(request.request_id, self.reason, RunStats())


def fitted(
    request: ChatRequest, run: Callable[[ChatRequest], Iterator[Event]], *, stopped: bool = False
) -> tuple[list[Event], ChatRequest, str]:
    summarising = Summariser(words, lambda message: len(message.content.split()), N_CTX, 16)
    steps, events = summarising.fit_request(request, run, lambda: stopped), []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as end:
            return events, end.value, summarising.note


def asked(messages: tuple[Message, ...]) -> ChatRequest:
    return ChatRequest(messages, overflow=Overflow.SUMMARISE, request_id=5, stop=("x",), use_past=True)


def test_what_fits_is_sent_as_it_is() -> None:
    writer = Writer()
    events, request, note = fitted(asked(conversation(3)), writer)
    assert (events, request.messages, note) == ([], conversation(3), "")
    assert not writer.asked


def test_the_oldest_turns_are_summarised_and_the_rest_stays() -> None:
    writer = Writer()
    events, request, note = fitted(asked(conversation(7)), writer)
    updates = [event for event in events if isinstance(event, SummaryUpdate)]
    last = updates[-1]
    assert len(updates) == len(events)
    assert last.complete
    assert last.text == "They spoke. It was long."
    number = last.num_messages
    assert number % 2 == 0 < number
    oldest = conversation(7)[1 : 1 + number]
    (inner,) = writer.asked
    assert inner.messages[:-1] == (SYSTEM, *oldest)
    assert "at most 32 words" in inner.messages[-1].content
    assert inner.sampling.greedy
    assert (inner.max_tokens, inner.stop, inner.use_past, inner.request_id) == (64, (), False, 5)
    question = conversation(7)[1 + number].content
    assert request.messages[:2] == (SYSTEM, Message("user", prepend_summary("They spoke. It was long.", question)))
    assert request.messages[2:] == conversation(7)[2 + number :]
    assert request.overflow is Overflow.DROP
    assert len(words(request.messages)) <= N_CTX - N_CTX // 8
    assert str(number) in note
    assert any(update.total == 200 for update in updates)


def test_a_cut_summary_ends_with_a_sentence_and_without_thoughts() -> None:
    events, _, _ = fitted(
        asked(conversation(7)), Writer("<think>Hm. What</think> Ada lives in Rome. She has a", FinishReason.LENGTH)
    )
    assert isinstance(events[-1], SummaryUpdate)
    assert events[-1].text == "Ada lives in Rome."


@pytest.mark.parametrize(
    ("writer", "why"), [(Writer(""), "wrote no summary"), (Writer(reason=FinishReason.CANCELLED), "was cancelled")]
)
def test_without_a_summary_turns_are_left_out_and_it_is_said(writer: Writer, why: str) -> None:
    events, request, note = fitted(asked(conversation(7)), writer)
    assert isinstance(events[-1], SummaryUpdate)
    assert why in events[-1].failure
    assert not events[-1].complete
    assert (request.messages, request.overflow, note) == (conversation(7), Overflow.DROP, "")


def test_a_failing_pass_is_a_failed_summary() -> None:
    def failing(request: ChatRequest) -> Iterator[Event]:
        yield PrefillProgress(request.request_id, 1, 2)
        raise DecodeError("The pass failed.")

    events, request, _ = fitted(asked(conversation(7)), failing)
    assert isinstance(events[-1], SummaryUpdate)
    assert events[-1].failure == "The pass failed."
    assert request.messages == conversation(7)


def test_where_all_is_stopped_nothing_is_said_of_the_summary() -> None:
    events, _, _ = fitted(asked(conversation(7)), Writer(reason=FinishReason.CANCELLED), stopped=True)
    assert not any(isinstance(event, SummaryUpdate) and event.failure for event in events)


def test_a_single_turn_that_is_too_long_is_not_summarised() -> None:
    messages = (*turns(1, 400), Message("user", "And now?"))
    events, request, _ = fitted(asked(messages), Writer())
    assert [type(event) for event in events] == [SummaryUpdate]
    assert isinstance(events[0], SummaryUpdate)
    assert "too long" in events[0].failure
    assert request.overflow is Overflow.DROP


# ---- on the built-in model ----------------------------------------------------------------------------------------


def request(number: int) -> ChatRequest:
    told = "Tell me more about the fox and the bear who live near the river. "
    messages = tuple(
        message for i in range(number) for message in (Message("user", f"{i}. {told}"), Message("assistant", told * 2))
    )
    greedy = SamplingParams(temperature=0.0)
    return ChatRequest(
        (*messages, Message("user", "Who?")), sampling=greedy, max_tokens=12, overflow=Overflow.SUMMARISE
    )


@pytest.fixture(scope="module")
def session() -> Session:
    session = Session()
    session.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))
    return session


def test_the_model_writes_the_summary_and_answers_after_it(session: Session) -> None:
    events = list(session.generate(request(12)))
    updates = [event for event in events if isinstance(event, SummaryUpdate)]
    assert updates[-1].complete or updates[-1].failure
    first_text = next(i for i, event in enumerate(events) if isinstance(event, TextChunk))
    assert all(not isinstance(event, SummaryUpdate) for event in events[first_text:])
    finished = last_of(events)
    if updates[-1].complete:
        assert finished.stats.left_out == 0
        assert any("sent as a summary" in decision for decision in finished.stats.decisions)


def test_skipping_the_summary_leaves_turns_out(session: Session) -> None:
    events = list(session.generate(request(12), should_skip=lambda: True))
    updates = [event for event in events if isinstance(event, SummaryUpdate)]
    assert "cancelled" in updates[-1].failure
    assert last_of(events).stats.left_out > 0
    assert last_of(events).stats.tokens > 0
