"""What may run: asked, once, in this chat, always, refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.allowed_tools import AllowedTool, allowed_line, read_allowed_tools
from app.tools.interface import ToolDefinition
from app.tools.policy import BUILT_IN, Answer, Decision, ToolPolicy, Verdict, allowing

READ = ToolDefinition("read", "Read a file.", {"type": "object"}, "files")
OTHER = replace(READ, server="other")


def test_a_tool_is_asked_about_until_somebody_allows_it() -> None:
    policy = ToolPolicy()
    assert policy.verdict(READ) is Verdict.ASK
    assert policy.after(READ, Decision(Answer.ONCE)) == policy
    assert policy.after(READ, Decision(Answer.REFUSED)) == policy
    in_chat = policy.after(READ, Decision(Answer.CHAT))
    assert in_chat.verdict(READ) is Verdict.RUN
    assert not in_chat.always
    always = policy.after(READ, Decision(Answer.ALWAYS))
    assert always.verdict(READ) is Verdict.RUN
    assert not always.chat


def test_what_is_allowed_of_one_server_is_not_of_another() -> None:
    always = ToolPolicy().after(READ, Decision(Answer.ALWAYS))
    assert always.verdict(OTHER) is Verdict.ASK


@pytest.mark.parametrize("change", [{"description": "Send a file."}, {"parameters": {}}, {"title": "Send"}])
def test_a_tool_that_says_something_else_is_asked_about_again(change: dict[str, object]) -> None:
    changed = replace(READ, **change)  # type: ignore[arg-type]
    always = ToolPolicy().after(READ, Decision(Answer.ALWAYS))
    assert always.verdict(changed) is Verdict.ASK
    again = always.after(changed, Decision(Answer.ALWAYS))
    assert (again.verdict(changed), again.verdict(READ)) == (Verdict.RUN, Verdict.ASK)


def test_always_goes_through_the_settings() -> None:
    always = ToolPolicy().after(READ, Decision(Answer.ALWAYS))
    kept = ToolPolicy(frozenset(read_allowed_tools(allowed_line(always.always))))
    assert kept.verdict(READ) is Verdict.RUN
    assert ToolPolicy(frozenset(read_allowed_tools("files/read"))).verdict(READ) is Verdict.RUN  # written by hand
    assert kept.forgetting(AllowedTool("files", "read")).verdict(READ) is Verdict.ASK


def test_only_the_harmless_of_the_built_in_run_unasked() -> None:
    clock = ToolDefinition("current_time", "", {}, BUILT_IN)
    assert ToolPolicy().verdict(clock) is Verdict.RUN
    assert ToolPolicy().verdict(replace(clock, name="search_chats")) is Verdict.ASK
    assert ToolPolicy().verdict(replace(clock, server="built in")) is Verdict.ASK


def test_a_run_allows_by_name_by_server_or_all() -> None:
    policy, unknown = allowing([READ, OTHER], ["read", "rm"])
    assert (policy.verdict(READ), policy.verdict(OTHER), unknown) == (Verdict.RUN, Verdict.RUN, ("rm",))
    policy, unknown = allowing([READ, OTHER], ["files/*"])
    assert (policy.verdict(READ), policy.verdict(OTHER), unknown) == (Verdict.RUN, Verdict.ASK, ())
    assert allowing([READ], ["all"])[0].verdict(OTHER) is Verdict.RUN


def test_the_model_is_told_of_a_refusal_with_its_reason_in_one_line() -> None:
    assert Decision(Answer.REFUSED).for_model == "The user did not allow this call. Go on without it."
    told = Decision(Answer.REFUSED, " not\nthis folder ").for_model
    assert told == "The user did not allow this call: not this folder. Go on without it."
    assert len(Decision(Answer.REFUSED, "x" * 10_000).for_model) < 600
