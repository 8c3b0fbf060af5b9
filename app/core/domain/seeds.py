"""Records of how an answer was sampled: the seed, and the settings that must be equal to reproduce the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import SAMPLING_KEYS
from app.core.domain.settings.values import Settings

# The settings that affect the text, except the system prompt. Speculative decoding does not affect it.
RECORDED_KEYS = ("seed", *SAMPLING_KEYS, "max_tokens", "thinking", "template_variables", "prompt_format")


@dataclass(frozen=True, slots=True)
class SamplingRecord:
    """The sampling of an answer. ``values``: settings of `RECORDED_KEYS`."""

    values: Mapping[str, SettingValue] = field(default_factory=dict)

    @property
    def is_greedy(self) -> bool:
        """True at temperature 0: the seed has no effect."""
        return self.values.get("temperature") == 0.0

    @property
    def seed(self) -> int | None:
        """The seed that reproduces the answer; None without a seed, or at temperature 0."""
        seed = self.values.get("seed")
        return None if seed is None or self.is_greedy else int(seed)


def record_sampling(settings: Settings) -> SamplingRecord:
    return SamplingRecord({key: settings.values[key] for key in RECORDED_KEYS})


def continued_sampling(before: SamplingRecord | None, now: SamplingRecord) -> SamplingRecord | None:
    """The record of a continued answer; None if no seed reproduces all of it. A different maximum length is allowed."""
    is_same = before is not None and {**before.values, "max_tokens": None} == {**now.values, "max_tokens": None}
    return now if is_same else None
