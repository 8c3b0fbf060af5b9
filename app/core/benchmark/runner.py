"""Runs a benchmark: in each round, all contestants answer each prompt in turn, with the same settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeVar

from app.core.benchmark.journal import Journal
from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.ratios import ratio_of
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkRun, Contestant, Question, Reader, Variant
from engine.records import SamplingParams

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class BenchmarkPlan:
    """The variants, settings and length of a benchmark.

    At least ``repeat`` rounds; with ``until_percent`` more, until the intervals of auto over plain are that narrow, for
    at most ``max_minutes``. Rounds are numbered from ``first_round``, and each has its own seed. ``only`` lists the
    variants for each temperature.
    """

    temperatures: tuple[float, ...]
    sampling: SamplingParams
    max_tokens: int
    repeat: int = 1
    raw: bool = False
    ignore_eos: bool = False
    until_percent: float | None = None
    max_minutes: float | None = None
    first_round: int = 0
    only: Mapping[float, Sequence[Variant]] | None = None


class Runner:
    """One measurement. ``runs`` holds the answers so far, also after an interruption.

    With a ``journal`` every answer is stored at once, stored answers are reused, and the time limit may end the run
    after any answer. Without a journal it ends only between prompts, so that all contestants answered the same prompts.
    """

    def __init__(
        self,
        own: Reader,
        peers: Sequence[Contestant],
        prompts: Sequence[BenchmarkPrompt],
        plan: BenchmarkPlan,
        *,
        journal: Journal | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own = own
        self._contestants: tuple[Contestant, ...] = (own, *peers)
        self._prompts = interleaved(prompts)
        self._plan = plan
        self._journal = journal
        self._clock = clock
        self._deadline: float | None = None
        self.on_run: Callable[[BenchmarkRun], None] = lambda _run: None  # also called for reused answers
        self.runs: list[BenchmarkRun] = []
        self.rounds = 0
        self.out_of_time = False

    @property
    def runs_per_round(self) -> int:
        return sum(len(self._pairs(temperature)) for temperature in self._plan.temperatures) * len(self._prompts)

    def run(self) -> None:
        """Run rounds until the plan is fulfilled or time runs out.

        Raises:
            EngineError: a prompt does not fit the context, or a pass failed.
            PeerError: a peer failed.
            OSError: the journal cannot be written.
        """
        if self._plan.max_minutes is not None:
            self._deadline = self._clock() + self._plan.max_minutes * 60.0
        while not self._enough() and not self.out_of_time:
            for temperature in self._plan.temperatures:
                self._round(temperature)
            self.rounds += not self.out_of_time

    @property
    def widest_percent(self) -> float | None:
        """Half of the widest interval (over rounds) of auto over plain, for all workloads, in percent."""
        widths = []
        for temperature in self._plan.temperatures:
            same = [run for run in self.runs if run.temperature == temperature]
            for category in (None, *dict.fromkeys(prompt.category for prompt in self._prompts)):
                ratio = ratio_of([run for run in same if category in (None, run.category)], AUTO, PLAIN)
                widths.append(ratio.half_width_percent if ratio else None)
        known = [width for width in widths if width is not None]
        return max(known) if known and len(known) == len(widths) else None

    def _pairs(self, temperature: float) -> list[tuple[Contestant, Variant]]:
        only = None if self._plan.only is None else self._plan.only[temperature]
        every = [(contestant, variant) for contestant in self._contestants for variant in contestant.variants]
        return [pair for pair in every if only is None or pair[1] in only]

    def _enough(self) -> bool:
        if self.rounds < self._plan.repeat:
            return False
        widest = self.widest_percent
        return self._plan.until_percent is None or (widest is not None and widest <= self._plan.until_percent)

    def _round(self, temperature: float) -> None:
        """Run all prompts until time runs out. Peers begin a new round only if an answer is missing."""
        pairs = self._pairs(temperature)
        begun = False
        for index, prompt in enumerate(self._prompts):
            if self._journal is None and self._is_over():
                return
            question: Question | None = None  # None until all contestants have processed the prompt
            for contestant, variant in turns(pairs, index, self.rounds):
                run = self._stored_run(prompt, temperature, variant)
                if run is None:
                    if self._journal is not None and self._is_over():
                        return
                    if not begun:
                        self._begin_round(pairs)
                        begun = True
                    if question is None:
                        question = self._prepare_question(prompt, temperature, pairs)
                    run = self._measure(contestant, variant, question)
                self.runs.append(run)
                self.on_run(run)

    def _is_over(self) -> bool:
        if not self.out_of_time and self._deadline is not None:
            self.out_of_time = self._clock() >= self._deadline
        return self.out_of_time

    @property
    def _round_number(self) -> int:
        return self._plan.first_round + self.rounds

    def _stored_run(self, prompt: BenchmarkPrompt, temperature: float, variant: Variant) -> BenchmarkRun | None:
        if self._journal is None:
            return None
        return self._journal.find(prompt, temperature, variant, self._round_number)

    @staticmethod
    def _begin_round(pairs: Sequence[tuple[Contestant, Variant]]) -> None:
        for contestant in _distinct_contestants(pairs):
            contestant.begin_round()

    def _prepare_question(
        self, prompt: BenchmarkPrompt, temperature: float, pairs: Sequence[tuple[Contestant, Variant]]
    ) -> Question:
        question = self._question(prompt, temperature)
        for contestant in _distinct_contestants(pairs):
            contestant.prepare(question)
        return question

    def _measure(self, contestant: Contestant, variant: Variant, question: Question) -> BenchmarkRun:
        answered = contestant.answer(variant, question)
        run = BenchmarkRun(
            question.prompt.id,
            question.prompt.category,
            question.sampling.temperature,
            variant,
            answered.stats,
            self._round_number,
            answered.token_ids,
            answered.wall_s,
        )
        if self._journal is not None:
            self._journal.keep(question.prompt, run)
        return run

    def _question(self, prompt: BenchmarkPrompt, temperature: float) -> Question:
        plan = self._plan
        seed = None if plan.sampling.seed is None else plan.sampling.seed + self._round_number
        return Question(
            prompt=prompt,
            ids=self._own.prompt_ids(prompt, raw=plan.raw),
            sampling=replace(plan.sampling, temperature=temperature, seed=seed),
            max_tokens=plan.max_tokens,
            ignore_eos=plan.ignore_eos,
            raw=plan.raw,
        )


def _distinct_contestants(pairs: Sequence[tuple[Contestant, Variant]]) -> list[Contestant]:
    return [contestant for i, (contestant, _) in enumerate(pairs) if all(contestant is not one for one, _ in pairs[:i])]


def turns(items: Sequence[_Item], index: int, round_number: int) -> Iterator[_Item]:
    """Order ``items`` for one prompt: rotated by the prompt's ``index``, reversed in every second round.

    This way no contestant always follows the same one, and a drift of the machine's speed cancels out.
    """
    start = index % len(items)
    ordered = [*items[start:], *items[:start]]
    yield from ordered if round_number % 2 == 0 else reversed(ordered)


def interleaved(prompts: Sequence[BenchmarkPrompt]) -> list[BenchmarkPrompt]:
    """Take one prompt of each category in turn, so that a measurement that is stopped early covers all categories."""
    by_category: dict[str, list[BenchmarkPrompt]] = {}
    for prompt in prompts:
        by_category.setdefault(prompt.category, []).append(prompt)
    return [prompt for row in zip_longest(*by_category.values()) for prompt in row if prompt is not None]
