"""Runs a workload: for each prompt every mode and depth in turn, decoding settings identical, only the mode changed.

Knows no report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.benchmark.prompts import Prompt
from engine.records import ChatRequest, Finished, Mode, RunStats, SamplingParams
from engine.session import Session


@dataclass(frozen=True, slots=True)
class Variant:
    """What is compared: a mode at a depth, None leaves the depth to the pacer."""

    mode: Mode
    depth: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. Plain decoding is always among the variants: everything is compared with it."""

    variants: tuple[Variant, ...]
    temperatures: tuple[float, ...]
    sampling: SamplingParams
    max_tokens: int
    repeat: int = 1
    raw: bool = False
    ignore_eos: bool = False

    @property
    def runs_per_prompt(self) -> int:
        """Answers that one prompt is asked for."""
        return len(self.variants) * len(self.temperatures) * self.repeat


@dataclass(frozen=True, slots=True)
class Run:
    """One measured answer."""

    prompt_id: str
    category: str
    temperature: float
    variant: Variant
    stats: RunStats


PLAIN = Variant(Mode.OFF, None)


def make_variants(modes: Sequence[Mode], depths: Sequence[int | None], unavailable: set[Mode]) -> tuple[Variant, ...]:
    """Plain decoding, then every available mode at every depth; ``auto`` paces itself, so it has no other depth."""
    variants = [PLAIN]
    for mode in modes:
        if mode is Mode.OFF or mode in unavailable:
            continue
        variants += [Variant(mode, depth) for depth in ((None,) if mode is Mode.AUTO else depths)]
    return tuple(dict.fromkeys(variants))


def run_plan(session: Session, prompts: Sequence[Prompt], plan: Plan, on_run: Callable[[Run], None]) -> list[Run]:
    """Run everything; ``on_run`` hears of each answer as it ends.

    Every prompt is decoded once before it counts, so that no variant pays for reading the prompt.

    Raises:
        EngineError: a prompt does not fit the context, or a pass failed.
    """
    runs: list[Run] = []
    for prompt in prompts:
        _answer(session, _request(prompt, plan, PLAIN, 0.0, 0), max_tokens=1)
        for temperature, variant, seed in _order(plan):
            request = _request(prompt, plan, variant, temperature, seed)
            stats = _answer(session, request, max_tokens=plan.max_tokens)
            runs.append(Run(prompt.id, prompt.category, temperature, variant, stats))
            on_run(runs[-1])
    return runs


def _order(plan: Plan) -> Iterator[tuple[float, Variant, int]]:
    """Every repetition goes through the variants in the other direction, so that a drift of the machine cancels."""
    for repetition in range(plan.repeat):
        for temperature in plan.temperatures:
            ordered = plan.variants if repetition % 2 == 0 else tuple(reversed(plan.variants))
            for variant in ordered:
                yield temperature, variant, repetition


def _request(prompt: Prompt, plan: Plan, variant: Variant, temperature: float, repetition: int) -> ChatRequest:
    seed = None if plan.sampling.seed is None else plan.sampling.seed + repetition
    return ChatRequest(
        messages=() if plan.raw else prompt.messages,
        raw_prompt=prompt.messages[-1].content if plan.raw else None,
        mode=variant.mode,
        depth=variant.depth,
        sampling=replace(plan.sampling, temperature=temperature, seed=seed),
        ignore_eos=plan.ignore_eos,
    )


def _answer(session: Session, request: ChatRequest, *, max_tokens: int) -> RunStats:
    for event in session.generate(replace(request, max_tokens=max_tokens)):
        if isinstance(event, Finished):
            return event.stats
    raise RuntimeError("an answer ended without its last event")
