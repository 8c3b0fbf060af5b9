"""What is left out where a conversation has outgrown the context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.paths import builtin_target
from engine.errors import PromptTooLongError
from engine.overflow import without_oldest, without_unanswered
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, Overflow, SamplingParams
from engine.session import Session


def talk(*sizes: int, system: bool = True) -> list[Message]:
    turns = [Message("user" if i % 2 == 0 else "assistant", "x" * size) for i, size in enumerate(sizes)]
    return [Message("system", "Be kind."), *turns] if system else turns


def test_turns_go_by_quarters_of_the_context_oldest_first() -> None:
    messages = talk(10, 10, 10, 10, 10, 10, 10, 10, 10)
    kept = without_oldest(messages, len, 120)
    assert [part.num_left_out for part in kept] == [4, 6, 8]
    assert kept[0].messages == (messages[0], *messages[5:])
    assert kept[-1].messages == (messages[0], messages[-1])


def test_the_last_question_alone_has_nothing_to_leave_out() -> None:
    assert without_oldest(talk(500), len, 100) == []


def test_questions_without_an_answer_go_one_by_one_after_all_turns() -> None:
    questions = ("first", "second", "third")
    messages = [*talk(10, 10), Message("user", "\n\n".join(questions), questions)]
    kept = without_unanswered(messages)
    assert [part.messages[-1].content for part in kept] == ["second\n\nthird", "third"]
    assert [part.num_left_out for part in kept] == [3, 4]
    assert all(part.messages[0] == messages[0] and len(part.messages) == 2 for part in kept)
    assert without_unanswered(talk(10, 10, 10)) == without_unanswered(talk()) == without_unanswered([]) == []


@given(st.lists(st.integers(0, 60), min_size=1, max_size=30), st.booleans(), st.integers(8, 200))
def test_what_stays_is_the_end_of_the_conversation(sizes: list[int], system: bool, n_ctx: int) -> None:
    messages = talk(*sizes, system=system)
    last = messages[-1]
    counts = []
    for part in without_oldest(messages, len, n_ctx):
        head = 1 if system else 0
        assert part.messages[:head] == tuple(messages[:head])
        assert part.messages[head:] == tuple(messages[head + part.num_left_out :])
        assert part.messages[head].role == "user"
        assert part.messages[-1] == last
        counts.append(part.num_left_out)
    assert counts == sorted(set(counts))


@given(st.lists(st.integers(1, 40), min_size=9, max_size=25))
def test_one_more_turn_seldom_moves_the_beginning(sizes: list[int]) -> None:
    """What answers see begins at few places while a conversation grows, so that the cache can be used again."""
    n_ctx, places = 160, []
    for end in range(1, len(sizes) + 1, 2):
        messages = talk(*sizes[:end])
        whole = sum(sizes[:end])
        fitting = [
            part for part in without_oldest(messages, len, n_ctx) if whole - _left(messages, part.num_left_out) < n_ctx
        ]
        places.append(0 if whole < n_ctx else fitting[0].num_left_out if fitting else end - 1)
    assert places == sorted(places)
    assert len(set(places)) <= 2 + 4 * sum(sizes) // n_ctx


def _left(messages: list[Message], count: int) -> int:
    return sum(len(message.content) for message in messages[1 : 1 + count])


def test_an_outgrown_conversation_goes_on_or_is_told_as_wished() -> None:
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
    assert sum(count > 60 for count in cached[1:]) >= 2  # the beginning stands still, so the cache is used
    too_long = ChatRequest((Message("user", "word " * 400),), Mode.OFF, None, greedy, 4, overflow=Overflow.DROP)
    with pytest.raises(PromptTooLongError):
        list(session.generate(too_long))
    questions = ("word " * 400, "Hello")  # the first one had no answer for the same reason
    joined = (*turns, Message("user", "\n\n".join(questions), questions))
    end = list(session.generate(ChatRequest(joined, Mode.OFF, None, greedy, 4, overflow=Overflow.DROP)))[-1]
    assert isinstance(end, Finished)
    assert end.stats.left_out == len(turns) + 1
    session.close()
