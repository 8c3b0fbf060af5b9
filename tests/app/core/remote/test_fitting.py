"""Tests conversations longer than a remote context: rejected, or shortened as the request allows, and reported."""

from dataclasses import replace

import pytest

from app.core.domain.engines import ServerKind
from app.core.remote.answer import RemoteAnswer
from app.core.remote.client import RemoteClient
from app.core.remote.errors import ContextExceededError
from app.core.remote.fitting import FittingAnswer
from engine.records import ChatRequest, Event, Finished, Message, Overflow, TextChunk
from tests.app.core.remote.scripted_server import ScriptedServer, serving

TURNS = tuple(Message("user" if turn % 2 == 0 else "assistant", f"{turn} " + "word " * 20) for turn in range(9))
LONG = ChatRequest(TURNS, request_id=7, overflow=Overflow.DROP)


def told(server: ScriptedServer, request: ChatRequest, n_ctx: int = 0) -> list[Event]:
    client = RemoteClient(server.url)

    def answering(asked: ChatRequest) -> RemoteAnswer:
        return RemoteAnswer(client, asked, "org/model", ServerKind(server.script.kind), n_ctx)

    return list(FittingAnswer(answering, request, n_ctx).events(lambda: False))


def end_of(events: list[Event]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]


@pytest.mark.parametrize("n_ctx", [0, 150])
def test_the_oldest_turns_go_until_the_engine_takes_it(n_ctx: int) -> None:
    with serving(kind="vllm", max_chars=450) as server:
        events = told(server, LONG, n_ctx)
        sent = [message["content"] for message in server.bodies[-1]["messages"]]
    finished = end_of(events)
    left_out = finished.stats.left_out
    assert left_out > 0
    assert left_out % 2 == 0  # complete turns
    assert sent == [message.content for message in TURNS[left_out:]]
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "Hello, world!"
    assert len(server.bodies) <= 4


def test_the_system_prompt_and_the_last_question_stay() -> None:
    with serving(kind="vllm", max_chars=130) as server:
        finished = end_of(told(server, replace(LONG, messages=(Message("system", "Be brief."), *TURNS))))
        sent = server.bodies[-1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user"]
    assert sent[-1]["content"] == TURNS[-1].content
    assert finished.stats.left_out == 8


@pytest.mark.parametrize("asked", [replace(LONG, overflow=Overflow.STOP), replace(LONG, messages=TURNS[-1:])])
def test_nothing_is_left_out_where_that_is_not_wanted_or_nothing_is_earlier(asked: ChatRequest) -> None:
    with serving(kind="vllm", max_chars=45) as server:
        with pytest.raises(ContextExceededError):
            told(server, asked)
        assert len(server.bodies) == 1


def test_a_question_without_an_answer_goes_first() -> None:
    asked = "x" * 400 + "\n\n" + "Hi"
    joined = Message("user", asked, ("x" * 400, "Hi"))
    with serving(kind="vllm", max_chars=100) as server:
        finished = end_of(told(server, ChatRequest((joined,), request_id=7), 40))
        assert [message["content"] for message in server.bodies[-1]["messages"]] == ["Hi"]
    assert (finished.stats.left_out, finished.stats.unanswered) == (0, 1)


def test_a_length_that_no_answer_can_have_is_not_asked_for_again() -> None:
    with serving(kind="vllm", refuses_length=True) as server:
        finished = end_of(told(server, replace(LONG, max_tokens=5000)))
        assert ["max_tokens" in body for body in server.bodies] == [True, False]
    assert finished.stats.left_out == 0


def test_what_was_answered_in_part_is_not_asked_again() -> None:
    error = {"message": "This model's maximum context length is 150 tokens."}
    with serving(kind="vllm", error_after=2, error=error) as server:
        with pytest.raises(ContextExceededError):
            told(server, LONG)
        assert len(server.bodies) == 1
