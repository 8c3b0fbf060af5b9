"""Tests which messages are left out if a conversation exceeds the context."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.paths import builtin_target
from engine.errors import PromptTooLongError
from engine.prompt.overflow import TrimmedMessages, check_length, without_oldest, without_unanswered
from engine.records import (
    QUESTION_DIVIDER,
    ChatRequest,
    Finished,
    LoadRequest,
    Message,
    Mode,
    Overflow,
    Picture,
    RunStats,
    SamplingParams,
    ToolCall,
)
from engine.session.session import Session
from engine.session.summarising import prepend_summary, with_summary
from tests.engine.answers import end_of


def talk(*sizes: int, system: bool = True) -> list[Message]:
    turns = [Message("user" if i % 2 == 0 else "assistant", "x" * size) for i, size in enumerate(sizes)]
    return [Message("system", "Be kind."), *turns] if system else turns


def size(message: Message) -> int:
    """One token per character."""
    return len(message.content)


def test_turns_go_by_quarters_of_the_context_oldest_first() -> None:
    messages = talk(10, 10, 10, 10, 10, 10, 10, 10, 10)
    kept = without_oldest(messages, size, 120)
    assert [part.num_left_out for part in kept] == [4, 6, 8]
    assert kept[0].messages == (messages[0], *messages[5:])
    assert kept[-1].messages == (messages[0], messages[-1])


def asked(*questions: str) -> Message:
    """A message of several questions; only the last one has an answer."""
    return Message("user", QUESTION_DIVIDER.join(questions), questions)


def test_questions_without_an_answer_go_and_a_summary_in_front_stays() -> None:
    first, second = Picture(1, 1, bytes(3)), Picture(1, 1, bytes([1, 1, 1]))
    question = replace(asked("first", "second", "third"), pictures=((2, first), (15, second)))
    messages = [*talk(5, 5), asked("early", "b"), Message("assistant", "c"), question]
    kept = without_unanswered(with_summary(messages, 2, "They spoke."))
    assert [message.content for message in kept.messages] == [
        "Be kind.",
        prepend_summary("They spoke.", "b"),
        "c",
        "third",
    ]
    assert kept.messages[-1].pictures == ((0, second),)
    assert kept.num_left_out == 3
    assert without_unanswered(kept.messages) == TrimmedMessages(kept.messages, 0)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=30), st.booleans(), st.integers(8, 200))
def test_what_stays_is_the_end_of_the_conversation(sizes: list[int], system: bool, n_ctx: int) -> None:
    messages = talk(*sizes, system=system)
    last = messages[-1]
    counts = []
    for part in without_oldest(messages, size, n_ctx):
        head = 1 if system else 0
        assert part.messages[:head] == tuple(messages[:head])
        assert part.messages[head:] == tuple(messages[head + part.num_left_out :])
        assert part.messages[head].role == "user"
        assert part.messages[-1] == last
        counts.append(part.num_left_out)
    assert counts == sorted(set(counts))


@given(st.lists(st.integers(1, 40), min_size=9, max_size=25))
def test_one_more_turn_seldom_moves_the_beginning(sizes: list[int]) -> None:
    """The beginning moves rarely while a conversation grows, so that the cache can be reused."""
    n_ctx, places = 160, []
    for end in range(1, len(sizes) + 1, 2):
        messages = talk(*sizes[:end])
        whole = sum(sizes[:end])
        fitting = [
            part for part in without_oldest(messages, size, n_ctx) if whole - _left(messages, part.num_left_out) < n_ctx
        ]
        places.append(0 if whole < n_ctx else fitting[0].num_left_out if fitting else end - 1)
    assert places == sorted(places)
    assert len(set(places)) <= 2 + 4 * sum(sizes) // n_ctx


def _left(messages: list[Message], count: int) -> int:
    return sum(len(message.content) for message in messages[1 : 1 + count])


def test_an_outgrown_conversation_goes_on_or_is_reported_as_wished() -> None:
    session = Session()
    session.load(LoadRequest(str(builtin_target()), n_ctx=256))
    turns = [
        Message(role, "one two three four five six seven eight") for _ in range(14) for role in ("user", "assistant")
    ]
    messages = (*turns, Message("user", "Hello"))
    greedy = SamplingParams(temperature=0.0)
    with pytest.raises(PromptTooLongError, match="but the context holds 256"):
        list(session.generate(ChatRequest(messages, Mode.OFF, sampling=greedy, max_tokens=4)))
    cached = []
    for more in range(4):
        longer = (*messages, *(Message(role, "and more") for _ in range(more) for role in ("assistant", "user")))
        events = list(session.generate(ChatRequest(longer, Mode.OFF, None, greedy, 4, overflow=Overflow.DROP)))
        end = events[-1]
        assert isinstance(end, Finished)
        assert end.stats.left_out > 0
        assert any("left out" in reason for reason in end.stats.decisions)
        assert end.stats.prompt_tokens < 256 - 256 // 8
        cached.append(end.stats.prompt_cached_tokens)
    assert sum(count > 60 for count in cached[1:]) >= 2  # the beginning stays, so the cache is used
    too_long = ChatRequest((Message("user", "word " * 400),), Mode.OFF, None, greedy, 4, overflow=Overflow.DROP)
    with pytest.raises(PromptTooLongError):
        list(session.generate(too_long))
    session.close()


@pytest.mark.parametrize("policy", list(Overflow))
def test_a_question_that_was_too_long_stands_in_nobodys_way(policy: Overflow) -> None:
    session = Session()
    session.load(LoadRequest(str(builtin_target()), n_ctx=256))
    greedy = SamplingParams(temperature=0.0)

    def answered(*messages: Message) -> RunStats:
        return end_of(session, ChatRequest(messages, Mode.OFF, None, greedy, 4, overflow=policy)).stats

    turn = (Message("user", "one two three"), Message("assistant", "four"))
    huge = "word " * 400
    with pytest.raises(PromptTooLongError) as caught:
        answered(*turn, Message("user", huge))
    assert f"has {caught.value.num_tokens:,} tokens" in str(caught.value)
    stats = answered(*turn, asked(huge, "Hello"))
    assert (stats.left_out, stats.unanswered) == (0, 1)
    assert any("questions without an answer left out: 1" in why for why in stats.decisions)
    stats = answered(*turn, asked(huge, "Hello"), Message("assistant", "Hi"), Message("user", "And now?"))
    assert (stats.left_out, stats.unanswered) == (0, 1)  # nor later
    half = "word " * 120  # too long together with the next one, but not alone
    stats = answered(asked(half, half))
    assert (stats.left_out, stats.unanswered) == (0, 1)
    session.close()


def test_a_prompt_within_reach_is_read() -> None:
    check_length(ChatRequest((Message("user", "x" * 100_000),)), 64)
    check_length(ChatRequest((Message("user", "x" * 7_000_000),)), 1_000_000)


@pytest.mark.parametrize(
    "request_",
    [
        ChatRequest(raw_prompt="x" * 200_000),
        ChatRequest(raw_prompt="", suffix="x" * 200_000),
        ChatRequest((Message("user", "x"), Message("assistant", "", tool_calls=(ToolCall("1", "a", "x" * 200_000),)))),
        ChatRequest((Message("user", "x"),), tools=({"function": {"description": "x" * 200_000}},)),
        ChatRequest(tuple(Message("user", "x" * 100) for _ in range(2000))),
    ],
)
def test_every_part_of_a_prompt_counts(request_: ChatRequest) -> None:
    with pytest.raises(PromptTooLongError):
        check_length(request_, 4096)
