"""The records of a benchmark: variants, questions, answers, contestants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.domain.model_name import name_of_file
from app.core.domain.speed.races import LaneChoice
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
NO_DRAFT_AUTO = Variant(Mode.AUTO.value, None, f"{OWN_ENGINE} without draft")


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
    raw: bool = False
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
    raw: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """One measured answer. ``wall_s``: seconds of the request by our clock, minus prompt processing if known."""

    stats: RunStats
    token_ids: tuple[int, ...]
    wall_s: float


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
    wall_s: float | None = None

    def as_dict(self) -> dict[str, object]:
        """The counters, without the text."""
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
