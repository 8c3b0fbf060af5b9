"""Tests the state machine of a turn with tools: the next action, and the resulting messages."""

import json

import pytest

from app.core.storage.pictures import PictureCache, picture_attachment
from app.core.tools.interface import ToolDefinition, ToolResult
from app.core.tools.policy import Permission, ToolPolicy, UserDecision
from app.core.tools.turn import (
    MAX_CALLS,
    MAX_UNREADABLE,
    AskUser,
    GenerateAnswer,
    LoopEnding,
    RunCall,
    ToolLoop,
    functions_of,
    read_answer,
)
from engine.records import Message
from engine.tools.formats import ToolFormat
from tests.engine.sandbox.pictures import encoded, sample

ADD = ToolDefinition("add", "Add.", {"type": "object", "properties": {"a": {"type": "integer"}}}, "sums")
LOOK = ToolDefinition("look", "Look.", {"type": "object"}, "eyes")
QUESTION = (Message("user", "What is 1 + 1?"),)
ALL = ToolPolicy(allows_all=True)


def turn(policy: ToolPolicy = ALL, **limits: int) -> ToolLoop:
    return ToolLoop(QUESTION, (ADD, LOOK), policy, ToolFormat.HERMES, **limits)


def called(*calls: tuple[str, object]) -> str:
    written = (json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls)
    return "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in written)


def make_call(one: ToolLoop) -> RunCall:
    assert isinstance(one.next_step, RunCall)
    return one.next_step


def test_an_answer_without_calls_ends_the_turn() -> None:
    one = turn()
    assert one.next_step == GenerateAnswer(QUESTION, functions_of((ADD, LOOK)))
    one.add_answer("Two.")
    assert one.next_step == LoopEnding.ANSWERED
    assert one.messages[1:] == (Message("assistant", "Two."),)


def test_calls_are_made_one_after_the_other_and_the_model_is_asked_again() -> None:
    one = turn()
    one.add_answer("Let me see.\n" + called(("add", {"a": 1}), ("look", {})))
    first = make_call(one)
    assert (first.call.name, first.call.arguments, first.tool) == ("add", '{"a": 1}', ADD)
    one.add_result(ToolResult(first.call.call_id, "2"))
    second = make_call(one)
    one.add_result(ToolResult(second.call.call_id, "nothing", is_error=True))
    assert isinstance(one.next_step, GenerateAnswer)
    asked, *results = one.messages[1:]
    assert (asked.role, asked.content, [call.name for call in asked.tool_calls]) == (
        "assistant",
        "Let me see.\n",
        ["add", "look"],
    )
    assert [(m.role, m.content, m.tool_call_id, m.name) for m in results] == [
        ("tool", "2", first.call.call_id, "add"),
        ("tool", "nothing", second.call.call_id, "look"),
    ]


def test_a_call_waits_for_a_decision_and_a_refusal_is_told_with_its_reason() -> None:
    one = turn(ToolPolicy())
    one.add_answer(called(("add", {"a": 1}), ("add", {"a": 2}), ("look", {})))
    assert isinstance(one.next_step, AskUser)
    one.add_decision(UserDecision(Permission.REFUSED, "No sums today"))
    assert isinstance(one.next_step, AskUser)
    one.add_decision(UserDecision(Permission.ONCE))
    one.add_result(ToolResult(make_call(one).call.call_id, "3"))
    assert isinstance(one.next_step, AskUser)
    one.add_decision(UserDecision(Permission.CHAT))
    one.add_result(ToolResult(make_call(one).call.call_id, "seen"))
    one.add_answer(called(("look", {}), ("add", {})))
    one.add_result(ToolResult(make_call(one).call.call_id, "seen again"))
    assert isinstance(one.next_step, AskUser)  # the permission was for one call
    told = [message.content for message in one.messages if message.role == "tool"]
    assert told[0] == "The user did not allow this call: No sums today. Go on without it."
    assert told[1:] == ["3", "seen", "seen again"]


def test_a_tool_that_is_not_there_goes_back_as_an_error() -> None:
    one = turn()
    one.add_answer("Hm. " + called(("subtract", {"a": 1})))
    assert isinstance(one.next_step, GenerateAnswer)
    asked, result = one.messages[-2:]
    assert (asked.content, asked.tool_calls[0].name) == ("Hm.", "subtract")
    assert result.content == "There is no tool named 'subtract'. The tools are: add, look."
    assert result.tool_call_id == asked.tool_calls[0].call_id


@pytest.mark.parametrize(
    ("text", "name", "problem"),
    [
        ('<tool_call>\n{"name": "add", "arguments": {"a": 1]}\n</tool_call>', "add", "not valid JSON"),
        ("<tool_call>\nadd 1 and 1\n</tool_call>", "unreadable", "Write it again in the required format"),
        ('<tool_call>\n{"name": "add", "arguments": {"a": 1', "add", "not valid JSON"),
    ],
)
def test_a_call_that_cannot_be_read_goes_back_as_an_error(text: str, name: str, problem: str) -> None:
    one = turn()
    one.add_answer(text)
    assert isinstance(one.next_step, GenerateAnswer)
    asked, result = one.messages[-2:]
    assert asked.tool_calls[0].name == name
    assert problem in result.content


def test_a_model_that_goes_on_writing_what_cannot_be_read_ends_the_turn() -> None:
    one = turn()
    for _ in range(MAX_UNREADABLE - 1):
        one.add_answer("<tool_call>\nadd it\n</tool_call>")
        assert isinstance(one.next_step, GenerateAnswer)
    last = one.add_answer("Adding.\n<tool_call>\nadd it\n</tool_call>")
    assert one.next_step == LoopEnding.UNREADABLE
    assert last is not None
    assert last.answer_text == "Adding."  # an unreadable call is not an answer


def test_bare_objects_are_read_and_strange_ones_told() -> None:
    assert read_answer('{"name": "add", "parameters": {"a": 1}}', (ADD,), ToolFormat.LLAMA).calls[0].name == "add"
    strange = read_answer('{"name": "rm", "parameters": {"a": 1}}', (ADD,), ToolFormat.LLAMA)
    assert strange.problem.startswith("There is no tool named 'rm'")
    plain = read_answer('{"name": "Ann", "age": 3}', (ADD,), ToolFormat.LLAMA)
    assert (plain.answer_text, plain.unreadable) == ('{"name": "Ann", "age": 3}', "")


def test_reasoning_calls_nothing() -> None:
    thinking = f"<think>\nMaybe {called(('add', {}))}\n</think>\n\nTwo."
    answer = read_answer(thinking, (ADD,), ToolFormat.HERMES)
    assert (answer.answer_text.strip(), answer.calls) == ("Two.", ())
    assert "Maybe" in answer.reasoning
    opened = read_answer(f"Maybe {called(('add', {}))}</think>\n\nTwo.", (ADD,), ToolFormat.HERMES, "<think>\n")
    assert (opened.answer_text.strip(), opened.calls) == ("Two.", ())


def test_the_turn_ends_at_its_limit_with_every_call_answered() -> None:
    one = turn(max_steps=3)
    for number in range(3):
        one.add_answer(called(("add", {"a": number})))
        one.add_result(ToolResult(make_call(one).call.call_id, "again"))
    assert one.next_step == LoopEnding.LIMIT
    assert one.messages[-1].content == "again"


def test_too_many_calls_at_once_are_answered_without_being_made() -> None:
    one = turn()
    one.add_answer(called(*(("add", {"a": number}) for number in range(MAX_CALLS + 3))))
    for _ in range(MAX_CALLS):
        one.add_result(ToolResult(make_call(one).call.call_id, "ok"))
    assert isinstance(one.next_step, GenerateAnswer)
    assert sum(message.content == "ok" for message in one.messages) == MAX_CALLS
    assert sum("calls are allowed in one answer" in message.content for message in one.messages) == 3


@pytest.mark.parametrize("place", ["asked", "generating", "calling", "at the limit"])
def test_it_stops_at_any_point_and_leaves_no_call_without_a_result(place: str) -> None:
    one = turn(ToolPolicy() if place == "asked" else ALL, max_steps=1 if place == "at the limit" else 5)
    if place != "generating":
        one.add_answer(called(("add", {}), ("look", {})))
    one.stop()
    assert one.next_step == LoopEnding.STOPPED
    calls = [call.call_id for message in one.messages for call in message.tool_calls]
    results = [message.tool_call_id for message in one.messages if message.role == "tool"]
    assert calls == results
    before = one.messages
    assert one.add_answer("more") is None
    assert one.add_result(ToolResult("1", "late")) is None
    assert one.messages == before


def test_what_nobody_waits_for_changes_nothing() -> None:
    one = turn(ToolPolicy())
    assert one.add_decision(UserDecision(Permission.ONCE)) is None
    one.add_answer(called(("add", {})))
    assert one.add_result(ToolResult("1", "nobody allowed this")) is None
    one.add_decision(UserDecision(Permission.ONCE))
    assert one.add_result(ToolResult("another", "no")) is None
    assert isinstance(one.next_step, RunCall)


def test_a_call_that_was_cut_ends_the_turn() -> None:
    one = turn()
    one.add_answer('<tool_call>\n{"name": "add", "arguments": {"a": 1', is_cut=True)
    assert one.next_step == LoopEnding.CUT


def test_long_results_are_cut_and_the_model_is_told_how_much() -> None:
    one = turn(result_chars=10)
    one.add_answer(called(("add", {})))
    kept = one.add_result(ToolResult(make_call(one).call.call_id, "x" * 1_000, cut=500))
    assert kept is not None
    assert (kept.text, kept.cut) == ("x" * 10, 1_490)
    assert one.messages[-1].content == "x" * 10 + "\n[1,490 more characters were left out]"


def test_pictures_of_a_result_are_named_to_a_model_without_vision() -> None:
    picture = picture_attachment("picture 1", encoded(sample(), "PNG"))
    for decode in (None, PictureCache().decoded):
        one = turn()
        one.decode = decode
        one.add_answer(called(("add", {})))
        one.add_result(ToolResult(make_call(one).call.call_id, "[picture 1]", pictures=(picture,)))
        told = one.messages[-1]
        assert told.role == "tool"
        if decode is None:
            assert told.content == "Attached picture, which you cannot see: picture 1\n\n[picture 1]"
            assert told.pictures == ()
        else:
            assert told.content == "[picture 1]"
            assert [(place, seen.rgb) for place, seen in told.pictures] == [(0, sample().tobytes())]
