"""How an answer was drawn: its seed, and all that must be the same for this seed to give it again."""

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

# Settings that shape what is said, but for the system prompt. How tokens are proposed is none of them.
DRAWING_KEYS = ("seed", *SAMPLING_KEYS, "max_tokens", "thinking", "template_variables", "prompt_format")
_DIGEST_CHARS = 12
_NUM_SEEDS = 1_000_000


class SeedWish(StrEnum):
    """What is wanted of the seed of an answer."""

    REPEAT = "repeat"  # the answer again
    ANOTHER = "another"  # another answer, by a seed of its own
    KEEP = "keep"  # the chat goes on with it


@dataclass(frozen=True, slots=True)
class Drawn:
    """How an answer was drawn. ``values`` are the settings of `DRAWING_KEYS`, the rest digests of what was asked."""

    values: Mapping[str, SettingValue] = field(default_factory=dict)
    system_prompt: str = ""
    messages: str = ""
    tools: str = ""

    @property
    def is_greedy(self) -> bool:
        """Whether nothing was drawn: at temperature 0 every seed gives the same."""
        return self.values.get("temperature") == 0.0

    @property
    def seed(self) -> int | None:
        """What gives the answer again; None where it was drawn without, or nothing was drawn."""
        seed = self.values.get("seed")
        return None if seed is None or self.is_greedy else int(seed)


def drawn_with(settings: Settings, request: ChatRequest) -> Drawn:
    """Note how the answer to ``request``, which was made of ``settings``, is drawn."""
    told = [message for message in request.messages if message.role != "system"]
    return Drawn(
        {key: settings.values[key] for key in DRAWING_KEYS},
        _digest([settings.text("system_prompt")]),
        _digest(map(_facts, told)),
        _digest(request.tools),
    )


def gone_on(before: Drawn | None, now: Drawn) -> Drawn | None:
    """How an answer is drawn that went on as ``now``; None where no seed gives all of it. Its length may differ."""
    if before is None or {**before.values, "max_tokens": None} != {**now.values, "max_tokens": None}:
        return None
    return now if replace(before, values=now.values) == now else None


def new_seed() -> int:
    """Give a seed that nobody chose, and that can be read and typed."""
    return int.from_bytes(os.urandom(8), "big") % _NUM_SEEDS


def _facts(message: Message) -> list[object]:
    """What a model may read of a message."""
    calls = [(call.call_id, call.name, call.arguments) for call in message.tool_calls]
    pictures = [(place, picture.digest) for place, picture in message.pictures]
    return [message.role, message.content, message.questions, calls, message.tool_call_id, message.name, pictures]


def _digest(facts: Iterable[object]) -> str:
    """The same for the same facts; empty for none."""
    import hashlib  # noqa: PLC0415  (the first paint waits for no answer)

    listed = list(facts)
    if not any(listed):
        return ""
    written = json.dumps(listed, sort_keys=True)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
