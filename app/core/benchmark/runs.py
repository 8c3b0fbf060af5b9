"""The records of a benchmark: variants, questions, answers, contestants."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.domain.model_name import name_of_file
from app.core.domain.speed.races import LaneChoice
from app.core.storage.chats.codec import stats_to_text
from engine.records import Mode, RunStats, SamplingParams

OWN_ENGINE = "paceline"
ALL_CATEGORIES = "all"  # the category of all prompts together


@dataclass(frozen=True, slots=True)
class Variant:
    """One of our modes at a depth (None: chosen by the engine), or a configuration of a peer."""

    mode: str
    depth: int | None = None
    engine: str = OWN_ENGINE

    @property
    def label(self) -> str:
        """A short name: ``plain``, ``auto``, ``draft 3``, ``llama-server draft-3``."""
        if self.engine != OWN_ENGINE:
            return f"{self.engine} {self.mode}" if self.depth is None else f"{self.engine} {self.mode} {self.depth}"
        if self.mode == Mode.OFF:
            return "plain"
        return self.mode if self.depth is None else f"{self.mode} {self.depth}"


PLAIN = Variant(Mode.OFF.value)
AUTO = Variant(Mode.AUTO.value)


def variant_of(choice: LaneChoice) -> Variant:
    """The variant of a lane. A lane with its own draft counts as another engine."""
    engine = f"{OWN_ENGINE} with {name_of_file(choice.draft)}" if choice.draft else OWN_ENGINE
    return Variant(choice.mode.value, choice.depth, engine)


@dataclass(frozen=True, slots=True)
class BenchmarkPlan:
    """The variants, settings and length of a benchmark.

    ``repeat`` rounds, for at most ``max_minutes``. Each round has its own seed.
    """

    temperatures: tuple[float, ...]
    sampling: SamplingParams
    max_tokens: int
    repeat: int = 1
    ignore_eos: bool = False
    max_minutes: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt and the decoding settings for all contestants. ``ids``: the prompt's token ids."""

    prompt: BenchmarkPrompt
    ids: tuple[int, ...]
    sampling: SamplingParams
    max_tokens: int
    ignore_eos: bool = False


MeasuredAnswer = tuple[RunStats, tuple[int, ...]]  # counters and token ids


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """One measured answer with its prompt, temperature, round and variant."""

    prompt_id: str
    category: str
    temperature: float
    variant: Variant
    stats: RunStats
    round: int = 0
    token_ids: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The counters, without the text."""
        return {
            "prompt": self.prompt_id,
            "category": self.category,
            "temperature": self.temperature,
            "round": self.round,
            "compared": self.variant.label,
            "stats": json.loads(stats_to_text(self.stats) or "{}"),
        }


class Contestant(Protocol):
    """One engine with all its variants."""

    @property
    def variants(self) -> Sequence[Variant]: ...

    def begin_round(self) -> None:
        """Start a new round: forget text of earlier answers."""

    def prepare(self, question: Question) -> None:
        """Process the prompt before the measured answers."""

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """Answer one question.

        Raises:
            EngineError: our engine failed.
            PeerError: the peer failed.
        """
