"""Tests permissions for tools: ask, once, in this chat, always, refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.domain.tools.permissions import AllowedTool, allowed_line, read_allowed_tools
from app.core.tools.interface import ToolDefinition
from app.core.tools.policy import BUILT_IN, CallVerdict, Permission, ToolPolicy, UserDecision, policy_allowing

READ = ToolDefinition("read", "Read a file.", {"type": "object"}, "files")
OTHER = replace(READ, server="other")
SAME_SHORT_DIGEST = (("Tells the size of a file. Changes nothing.", 1894), ("Deletes the file without asking.", 8402))


def test_a_tool_is_asked_about_until_somebody_allows_it() -> None:
    policy = ToolPolicy()
    assert policy.verdict(READ) is CallVerdict.ASK
    assert policy.after_decision(READ, UserDecision(Permission.ONCE)) == policy
    assert policy.after_decision(READ, UserDecision(Permission.REFUSED)) == policy
    in_chat = policy.after_decision(READ, UserDecision(Permission.CHAT))
    assert in_chat.verdict(READ) is CallVerdict.RUN
    assert not in_chat.always
    always = policy.after_decision(READ, UserDecision(Permission.ALWAYS))
    assert always.verdict(READ) is CallVerdict.RUN
    assert not always.chat


def test_what_is_allowed_of_one_server_is_not_of_another() -> None:
    always = ToolPolicy().after_decision(READ, UserDecision(Permission.ALWAYS))
    assert always.verdict(OTHER) is CallVerdict.ASK


@pytest.mark.parametrize("change", [{"description": "Send a file."}, {"parameters": {}}, {"title": "Send"}])
def test_a_tool_that_says_something_else_is_asked_about_again(change: dict[str, object]) -> None:
    changed = replace(READ, **change)  # type: ignore[arg-type]
    always = ToolPolicy().after_decision(READ, UserDecision(Permission.ALWAYS))
    assert always.verdict(changed) is CallVerdict.ASK
    again = always.after_decision(changed, UserDecision(Permission.ALWAYS))
    assert (again.verdict(changed), again.verdict(READ)) == (CallVerdict.RUN, CallVerdict.ASK)


def test_a_description_with_the_same_short_digest_is_asked_about() -> None:
    """Found by trial: the first eight digits of both SHA-256 digests are equal."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    harmless, other = (
        ToolDefinition("do", f"{said} (build {number})", schema, "files") for said, number in SAME_SHORT_DIGEST
    )
    always = ToolPolicy().after_decision(harmless, UserDecision(Permission.ALWAYS))
    assert (always.verdict(harmless), always.verdict(other)) == (CallVerdict.RUN, CallVerdict.ASK)
    (digest,) = (one.digest for one in always.always)
    short = AllowedTool("files", "do", digest[:8])
    kept = ToolPolicy(frozenset(read_allowed_tools(allowed_line([short]))))
    assert (kept.verdict(harmless), kept.verdict(other)) == (CallVerdict.ASK, CallVerdict.ASK)  # of an old version


def test_always_goes_through_the_settings() -> None:
    always = ToolPolicy().after_decision(READ, UserDecision(Permission.ALWAYS))
    kept = ToolPolicy(frozenset(read_allowed_tools(allowed_line(always.always))))
    assert kept.verdict(READ) is CallVerdict.RUN
    assert ToolPolicy(frozenset(read_allowed_tools("files/read"))).verdict(READ) is CallVerdict.RUN  # written by hand
    assert kept.without_permission(AllowedTool("files", "read")).verdict(READ) is CallVerdict.ASK


def test_only_the_harmless_of_the_built_in_run_unasked() -> None:
    clock = ToolDefinition("current_time", "", {}, BUILT_IN)
    assert ToolPolicy().verdict(clock) is CallVerdict.RUN
    assert ToolPolicy().verdict(replace(clock, name="search_chats")) is CallVerdict.ASK
    assert ToolPolicy().verdict(replace(clock, server="built in")) is CallVerdict.ASK


def test_a_run_allows_by_name_by_server_or_all() -> None:
    policy, unknown = policy_allowing([READ, OTHER], ["read", "rm"])
    assert (policy.verdict(READ), policy.verdict(OTHER), unknown) == (CallVerdict.RUN, CallVerdict.RUN, ("rm",))
    policy, unknown = policy_allowing([READ, OTHER], ["files/*"])
    assert (policy.verdict(READ), policy.verdict(OTHER), unknown) == (CallVerdict.RUN, CallVerdict.ASK, ())
    assert policy_allowing([READ], ["all"])[0].verdict(OTHER) is CallVerdict.RUN


def test_the_model_is_told_of_a_refusal_with_its_reason_in_one_line() -> None:
    assert UserDecision(Permission.REFUSED).for_model == "The user did not allow this call. Go on without it."
    told = UserDecision(Permission.REFUSED, " not\nthis folder ").for_model
    assert told == "The user did not allow this call: not this folder. Go on without it."
    assert len(UserDecision(Permission.REFUSED, "x" * 10_000).for_model) < 600
