"""Records of how an answer was sampled: the seed, and all that must be equal to reproduce the answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import SAMPLING_KEYS
from app.core.domain.settings.values import Settings
from engine.records import ChatRequest, Message

# The settings that affect the text, except the system prompt. Speculative decoding does not affect it.
RECORDED_KEYS = ("seed", *SAMPLING_KEYS, "max_tokens", "thinking", "template_variables", "prompt_format")
_DIGEST_CHARS = 12
_NUM_SEEDS = 1_000_000


class SeedChoice(StrEnum):
    """The actions with a seed."""

    REPEAT = "repeat"  # reproduce the answer
    ANOTHER = "another"  # a new seed for another answer
    KEEP = "keep"  # use the seed for the chat


@dataclass(frozen=True, slots=True)
class SamplingRecord:
    """The sampling of an answer. ``values``: settings of `RECORDED_KEYS`. The other fields: digests of the prompt."""

    values: Mapping[str, SettingValue] = field(default_factory=dict)
    system_prompt: str = ""
    messages: str = ""
    tools: str = ""

    @property
    def is_greedy(self) -> bool:
        """True at temperature 0: the seed has no effect."""
        return self.values.get("temperature") == 0.0

    @property
    def seed(self) -> int | None:
        """The seed that reproduces the answer; None without a seed, or at temperature 0."""
        seed = self.values.get("seed")
        return None if seed is None or self.is_greedy else int(seed)


def record_sampling(settings: Settings, request: ChatRequest) -> SamplingRecord:
    """Record the sampling of the answer to ``request``, which was made from ``settings``."""
    told = [message for message in request.messages if message.role != "system"]
    return SamplingRecord(
        {key: settings.values[key] for key in RECORDED_KEYS},
        _digest([settings.text("system_prompt")]),
        _digest(map(_message_facts, told)),
        _digest(request.tools),
    )


def continued_sampling(before: SamplingRecord | None, now: SamplingRecord) -> SamplingRecord | None:
    """The record of a continued answer; None if no seed reproduces all of it. A different maximum length is allowed."""
    if before is None or {**before.values, "max_tokens": None} != {**now.values, "max_tokens": None}:
        return None
    return now if replace(before, values=now.values) == now else None


def new_seed() -> int:
    """A random seed, short enough to read and type."""
    return int.from_bytes(os.urandom(8), "big") % _NUM_SEEDS


def _message_facts(message: Message) -> list[object]:
    """The parts of a message that can be in the prompt."""
    calls = [(call.call_id, call.name, call.arguments) for call in message.tool_calls]
    pictures = [(place, picture.digest) for place, picture in message.pictures]
    return [message.role, message.content, message.questions, calls, message.tool_call_id, message.name, pictures]


def _digest(facts: Iterable[object]) -> str:
    """A digest of facts; empty without facts."""
    import hashlib  # noqa: PLC0415  (the first paint waits for no answer)

    listed = list(facts)
    if not any(listed):
        return ""
    written = json.dumps(listed, sort_keys=True)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
