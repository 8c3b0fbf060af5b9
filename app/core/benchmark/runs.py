"""The records of a benchmark: who takes part, what is asked, what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.domain.model_name import name_of_file
from app.core.domain.speed.races import LaneChoice
from engine.records import Mode, RunStats, SamplingParams

OURS = "paceline"


@dataclass(frozen=True, slots=True)
class Variant:
    """What is compared: one of our modes at a depth (None leaves it to the pacer), or a peer's configuration."""

    mode: str
    depth: int | None = None
    engine: str = OURS

    @property
    def label(self) -> str:
        """A short name: ``plain``, ``auto``, ``draft 3``, ``llama-server draft-3``."""
        if self.engine != OURS:
            return f"{self.engine} {self.mode}" if self.depth is None else f"{self.engine} {self.mode} {self.depth}"
        if self.mode == Mode.OFF:
            return "plain"
        return self.mode if self.depth is None else f"{self.mode} {self.depth}"


PLAIN = Variant(Mode.OFF.value)
AUTO = Variant(Mode.AUTO.value)
NO_DRAFT_AUTO = Variant(Mode.AUTO.value, None, f"{OURS} without draft")


def variant_of(choice: LaneChoice) -> Variant:
    """A lane as a benchmark names it; a lane with models of its own counts as another engine."""
    own = [name_of_file(path) for path in (choice.target, choice.draft) if path]
    return Variant(choice.mode.value, choice.depth, f"{OURS} with {' and '.join(own)}" if own else OURS)


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt with the decoding settings that hold for everybody. ``ids`` is the prompt as the target reads it."""

    prompt: BenchmarkPrompt
    ids: tuple[int, ...]
    sampling: SamplingParams
    max_tokens: int
    ignore_eos: bool = False
    raw: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """One measured answer. ``wall_s`` is the whole request by our clock, reading the prompt excluded where known."""

    stats: RunStats
    token_ids: tuple[int, ...]
    wall_s: float


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """One measured answer in its place: prompt, temperature, round, variant."""

    prompt_id: str
    category: str
    temperature: float
    variant: Variant
    stats: RunStats
    round: int = 0
    token_ids: tuple[int, ...] = ()
    wall_s: float | None = None

    def as_dict(self) -> dict[str, object]:
        """What a ratio of its own can be computed from; its words are left out."""
        return {
            "prompt": self.prompt_id,
            "category": self.category,
            "temperature": self.temperature,
            "round": self.round,
            "compared": self.variant.label,
            "tokens": self.stats.tokens,
            "passes": self.stats.passes,
            "proposed": self.stats.proposed,
            "accepted": self.stats.accepted,
            "decode_s": self.stats.decode_s,
            "draft_s": self.stats.draft_s,
            "wall_s": self.wall_s,
        }


class Contestant(Protocol):
    """One engine that takes part, in all its variants."""

    @property
    def variants(self) -> Sequence[Variant]:
        """What it runs, in order."""

    def begin_round(self) -> None:
        """A new pass over all prompts begins: forget what earlier answers taught."""

    def prepare(self, question: Question) -> None:
        """Read the prompt, so that no variant pays for it."""

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """Answer it.

        Raises:
            EngineError: our engine failed.
            PeerError: the peer failed.
        """


class Reader(Contestant, Protocol):
    """The contestant that also turns a prompt into the ids that everybody is asked with."""

    def prompt_ids(self, prompt: BenchmarkPrompt, *, raw: bool) -> tuple[int, ...]:
        """The prompt as the target reads it."""
