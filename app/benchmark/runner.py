"""Runs a comparison: prompt by prompt everybody in turn, decoding settings identical, round after round until enough.

Knows no report.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeVar

from app.benchmark.prompts import Prompt
from app.benchmark.ratios import ratio_of
from app.benchmark.runs import AUTO, PLAIN, Contestant, Question, Reader, Run, Variant
from engine.records import SamplingParams

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, and when it is enough.

    ``repeat`` rounds at least; with ``until_percent`` as many more as bring the intervals of auto over plain within
    that; never longer than ``max_minutes``.
    """

    temperatures: tuple[float, ...]
    sampling: SamplingParams
    max_tokens: int
    repeat: int = 1
    raw: bool = False
    ignore_eos: bool = False
    until_percent: float | None = None
    max_minutes: float | None = None


class Runner:
    """One measurement. What was measured so far is in ``runs``, also when it is interrupted."""

    def __init__(
        self,
        own: Reader,
        peers: Sequence[Contestant],
        prompts: Sequence[Prompt],
        plan: Plan,
        on_run: Callable[[Run], None] = lambda _run: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own = own
        self._contestants: tuple[Contestant, ...] = (own, *peers)
        self._prompts = interleaved(prompts)
        self._plan = plan
        self._on_run = on_run
        self._clock = clock
        self._deadline: float | None = None
        self.runs: list[Run] = []
        self.rounds = 0
        self.out_of_time = False

    @property
    def runs_per_round(self) -> int:
        """Answers of one round."""
        return len(self._pairs) * len(self._prompts) * len(self._plan.temperatures)

    def run(self) -> None:
        """Run rounds until there are enough, or the time is over.

        Raises:
            EngineError: a prompt does not fit the context, or a pass failed.
            PeerError: a peer failed.
        """
        if self._plan.max_minutes is not None:
            self._deadline = self._clock() + self._plan.max_minutes * 60.0
        while not self._enough() and not self.out_of_time:
            for temperature in self._plan.temperatures:
                self._round(temperature)
            self.rounds += not self.out_of_time

    @property
    def widest_percent(self) -> float | None:
        """Half of the widest interval over rounds of auto over plain, over workloads and temperatures, in percent."""
        widths = []
        for temperature in self._plan.temperatures:
            same = [run for run in self.runs if run.temperature == temperature]
            for category in (None, *dict.fromkeys(prompt.category for prompt in self._prompts)):
                ratio = ratio_of([run for run in same if category in (None, run.category)], AUTO, PLAIN)
                widths.append(ratio.half_width_percent if ratio else None)
        known = [width for width in widths if width is not None]
        return max(known) if known and len(known) == len(widths) else None

    @property
    def _pairs(self) -> list[tuple[Contestant, Variant]]:
        return [(contestant, variant) for contestant in self._contestants for variant in contestant.variants]

    def _enough(self) -> bool:
        if self.rounds < self._plan.repeat:
            return False
        widest = self.widest_percent
        return self._plan.until_percent is None or (widest is not None and widest <= self._plan.until_percent)

    def _round(self, temperature: float) -> None:
        if self.out_of_time:
            return
        for contestant in self._contestants:
            contestant.begin_round()
        for place, prompt in enumerate(self._prompts):
            if self._deadline is not None and self._clock() >= self._deadline:
                self.out_of_time = True
                return
            question = self._question(prompt, temperature)
            for contestant in self._contestants:
                contestant.prepare(question)
            for contestant, variant in turns(self._pairs, place, self.rounds):
                answered = contestant.answer(variant, question)
                self.runs.append(
                    Run(
                        prompt.id,
                        prompt.category,
                        temperature,
                        variant,
                        answered.stats,
                        self.rounds,
                        answered.token_ids,
                        answered.wall_s,
                    )
                )
                self._on_run(self.runs[-1])

    def _question(self, prompt: Prompt, temperature: float) -> Question:
        plan = self._plan
        seed = None if plan.sampling.seed is None else plan.sampling.seed + self.rounds
        return Question(
            prompt=prompt,
            ids=self._own.prompt_ids(prompt, raw=plan.raw),
            sampling=replace(plan.sampling, temperature=temperature, seed=seed),
            max_tokens=plan.max_tokens,
            ignore_eos=plan.ignore_eos,
            raw=plan.raw,
        )


def turns(items: Sequence[_Item], place: int, round_number: int) -> Iterator[_Item]:
    """``items`` in the order of one prompt: each prompt starts one further, each second round goes backwards.

    So nobody always follows the same neighbour, and a drift of the machine cancels.
    """
    start = place % len(items)
    ordered = [*items[start:], *items[:start]]
    yield from ordered if round_number % 2 == 0 else reversed(ordered)


def interleaved(prompts: Sequence[Prompt]) -> list[Prompt]:
    """One prompt of each category in turn: a measurement that is cut short has seen of all of them."""
    by_category: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        by_category.setdefault(prompt.category, []).append(prompt)
    return [prompt for row in zip_longest(*by_category.values()) for prompt in row if prompt is not None]
