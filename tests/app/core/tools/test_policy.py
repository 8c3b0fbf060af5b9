"""Tests permissions for tools: ask, once, in this chat, always, refused."""

from dataclasses import replace

import pytest

from app.core.domain.tools.permissions import allowed_line, read_allowed_tools
from app.core.tools.interface import ToolDefinition
from app.core.tools.policy import BUILT_IN, Permission, ToolPolicy, UserDecision, policy_allowing

READ = ToolDefinition("read", "Read a file.", {"type": "object"}, "files")
OTHER = replace(READ, server="other")
ALWAYS = ToolPolicy().after_decision(READ, UserDecision(Permission.ALWAYS))


def test_a_tool_is_asked_about_until_it_is_allowed_in_the_chat_or_always() -> None:
    policy = ToolPolicy()
    assert not policy.allows(READ)
    for permission in (Permission.ONCE, Permission.REFUSED):
        assert policy.after_decision(READ, UserDecision(permission)) == policy
    in_chat = policy.after_decision(READ, UserDecision(Permission.CHAT))
    assert (in_chat.allows(READ), in_chat.allows(OTHER), in_chat.always) == (True, False, frozenset())
    assert (ALWAYS.allows(READ), ALWAYS.allows(OTHER), ALWAYS.chat) == (True, False, frozenset())


@pytest.mark.parametrize("change", [{"description": "Send a file."}, {"parameters": {}}, {"title": "Send"}])
def test_a_tool_that_says_something_else_is_asked_about_again(change: dict[str, object]) -> None:
    changed = replace(READ, **change)  # type: ignore[arg-type]
    assert not ALWAYS.allows(changed)
    again = ALWAYS.after_decision(changed, UserDecision(Permission.ALWAYS))
    assert (again.allows(changed), again.allows(READ)) == (True, False)


def test_always_goes_through_the_settings() -> None:
    kept = ToolPolicy(frozenset(read_allowed_tools(allowed_line(ALWAYS.always))))
    assert kept.allows(READ)
    assert ToolPolicy(frozenset(read_allowed_tools("files/read"))).allows(READ)  # written by hand


def test_only_the_harmless_of_the_built_in_run_unasked() -> None:
    clock = ToolDefinition("current_time", "", {}, BUILT_IN)
    others = (replace(clock, name="search_documents"), replace(clock, server="built in"))
    assert [ToolPolicy().allows(tool) for tool in (clock, *others)] == [True, False, False]


@pytest.mark.parametrize(
    ("names", "allowed", "unknown"),
    [(["read", "rm"], [True, True], ("rm",)), (["files/*"], [True, False], ()), (["all"], [True, True], ())],
)
def test_a_run_allows_by_name_by_server_or_all(names: list[str], allowed: list[bool], unknown: tuple[str, ...]) -> None:
    policy, found = policy_allowing([READ, OTHER], names)
    assert ([policy.allows(tool) for tool in (READ, OTHER)], found) == (allowed, unknown)


def test_the_model_is_told_of_a_refusal_with_its_reason_in_one_line() -> None:
    assert UserDecision(Permission.REFUSED).for_model == "The user did not allow this call. Go on without it."
    told = UserDecision(Permission.REFUSED, " not\nthis folder ").for_model
    assert told == "The user did not allow this call: not this folder. Go on without it."
    assert len(UserDecision(Permission.REFUSED, "x" * 10_000).for_model) < 600
