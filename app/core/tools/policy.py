"""Permissions of tool calls: ask, or allowed once, in this chat, or always.

No side effects: the caller reads and stores "always" in the settings (`app.core.domain.tools.permissions`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from app.core.domain.tools.permissions import AllowedTool
from app.core.tools.interface import ToolDefinition

BUILT_IN = "Built in"  # the provider's name for display; no server may have it
# Tools that reveal and change nothing: the user is not asked.
ALWAYS_ALLOWED_TOOLS = frozenset({AllowedTool(BUILT_IN, "current_time"), AllowedTool(BUILT_IN, "calculate")})
_MAX_REASON = 500  # maximum characters of a reason


class Permission(Enum):
    ONCE = "once"
    CHAT = "chat"
    ALWAYS = "always"
    REFUSED = "refused"


@dataclass(frozen=True)
class UserDecision:
    """The user's answer to a request for permission. ``reason``: of a refusal, for the model."""

    answer: Permission
    reason: str = ""

    @property
    def may_run(self) -> bool:
        return self.answer is not Permission.REFUSED

    @property
    def for_model(self) -> str:
        """The text for the model that replaces the result of a refused call."""
        reason = " ".join(self.reason[:_MAX_REASON].split())
        said = f"The user did not allow this call: {reason}" if reason else "The user did not allow this call."
        return said + ("" if said.endswith((".", "!", "?")) else ".") + " Go on without it."


@dataclass(frozen=True)
class ToolPolicy:
    """The permissions: ``always`` (from the settings) and in this ``chat``. Immutable."""

    always: frozenset[AllowedTool] = frozenset()
    chat: frozenset[AllowedTool] = frozenset()
    allows_all: bool = False  # a command line option allows all tools

    def allows(self, tool: ToolDefinition) -> bool:
        """True if the tool may run without asking."""
        known, plain = key_of(tool), AllowedTool(tool.server, tool.name)
        return self.allows_all or any(one in kept for kept in self._all_allowed for one in (known, plain))

    def after_decision(self, tool: ToolDefinition, decision: UserDecision) -> ToolPolicy:
        """The policy after the user's decision on a call of this tool."""
        if decision.answer is Permission.CHAT:
            return replace(self, chat=self.chat | {key_of(tool)})
        if decision.answer is Permission.ALWAYS:
            name = (tool.server, tool.name)
            others = (one for one in self.always if (one.server, one.name) != name)
            return replace(self, always=frozenset((*others, key_of(tool))))
        return self

    @property
    def _all_allowed(self) -> tuple[frozenset[AllowedTool], ...]:
        return self.always, self.chat, ALWAYS_ALLOWED_TOOLS


def key_of(tool: ToolDefinition) -> AllowedTool:
    """The tool with a digest of its description, so that a changed tool needs a new permission."""
    import hashlib  # noqa: PLC0415  (the first paint waits for no tool)

    told = json.dumps([tool.description, tool.parameters, tool.title], sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
    return AllowedTool(tool.server, tool.name, digest)


def policy_allowing(definitions: Iterable[ToolDefinition], names: Iterable[str]) -> tuple[ToolPolicy, tuple[str, ...]]:
    """The policy that allows ``names`` (a tool, ``server/*`` or ``all``) for a run, and the unknown names."""
    tools, wanted = tuple(definitions), tuple(names)
    found = {name: [tool for tool in tools if name in (tool.name, f"{tool.server}/*")] for name in wanted}
    unknown = tuple(name for name in wanted if name != "all" and not found[name])
    chat = frozenset(key_of(tool) for some in found.values() for tool in some)
    return ToolPolicy(chat=chat, allows_all="all" in wanted), unknown
