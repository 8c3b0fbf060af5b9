"""Runs a benchmark: in each round, all contestants answer each prompt in turn, with the same settings.

One of them is our own engine.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeVar

from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.runs import (
    PLAIN,
    BenchmarkPlan,
    BenchmarkRun,
    Contestant,
    MeasuredAnswer,
    Question,
    Variant,
)
from engine.records import MODES_WITH_DRAFT, ChatRequest, Finished, Mode
from engine.session.session import Session

_Item = TypeVar("_Item")


class OwnEngine:
    """Our own engine as a contestant. Of its variants, plain decoding comes first."""

    def __init__(self, session: Session, variants: Sequence[Variant]) -> None:
        self._session = session
        self.variants: Sequence[Variant] = tuple(variants)

    def prompt_ids(self, prompt: BenchmarkPrompt) -> tuple[int, ...]:
        """The prompt's token ids, which all contestants get.

        Raises:
            EngineError: the chat template refuses the prompt.
        """
        return tuple(self._session.prompt_ids(ChatRequest(messages=prompt.messages)))

    def begin_round(self) -> None:
        """Does nothing: the session learns nothing from answers except pass costs."""

    def prepare(self, question: Question) -> None:
        """Process the prompt in target and draft, by generating one plain token and two drafted tokens."""
        self.answer(PLAIN, replace(question, max_tokens=1))
        if any(variant.mode in MODES_WITH_DRAFT for variant in self.variants):
            for mode in (Mode.DRAFT, Mode.HEAD):  # the mode without a drafter decodes plainly
                self.answer(Variant(mode.value, 1), replace(question, max_tokens=2))

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """Answer in the variant's mode and depth; times are counted from the end of prefill.

        Raises:
            EngineError: the prompt does not fit the context, or a pass failed.
        """
        request = ChatRequest(
            messages=question.prompt.messages,
            mode=Mode(variant.mode),
            depth=variant.depth,
            sampling=question.sampling,
            max_tokens=question.max_tokens,
            ignore_eos=question.ignore_eos,
        )
        for event in self._session.generate(request):
            if isinstance(event, Finished):
                return event.stats, event.token_ids
        raise RuntimeError("an answer ended without its last event")


def make_variants(modes: Sequence[Mode], depths: Sequence[int | None], unavailable: set[Mode]) -> tuple[Variant, ...]:
    """Plain decoding, then every available mode at every depth; ``auto`` has no fixed depth."""
    variants = [PLAIN]
    for mode in modes:
        if mode is Mode.OFF or mode in unavailable:
            continue
        variants += [Variant(mode.value, depth) for depth in ((None,) if mode is Mode.AUTO else depths)]
    return tuple(dict.fromkeys(variants))


class Runner:
    """One measurement. ``runs`` holds the answers so far, also after an interruption.

    The time limit ends it between prompts, so that all contestants answered the same prompts.
    """

    def __init__(
        self,
        own: OwnEngine,
        peers: Sequence[Contestant],
        prompts: Sequence[BenchmarkPrompt],
        plan: BenchmarkPlan,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own = own
        self._contestants: tuple[Contestant, ...] = (own, *peers)
        self._prompts = interleaved(prompts)
        self._plan = plan
        self._clock = clock
        self._deadline: float | None = None
        self.on_run: Callable[[BenchmarkRun], None] = lambda _run: None
        self.runs: list[BenchmarkRun] = []
        self.rounds = 0
        self.out_of_time = False

    @property
    def runs_per_round(self) -> int:
        return len(self._pairs) * len(self._plan.temperatures) * len(self._prompts)

    def run(self) -> None:
        """Run rounds until the plan is fulfilled or time runs out.

        Raises:
            EngineError: a prompt does not fit the context, or a pass failed.
            PeerError: a peer failed.
        """
        if self._plan.max_minutes is not None:
            self._deadline = self._clock() + self._plan.max_minutes * 60.0
        while self.rounds < self._plan.repeat and not self.out_of_time:
            for temperature in self._plan.temperatures:
                self._round(temperature)
            self.rounds += not self.out_of_time

    @property
    def _pairs(self) -> list[tuple[Contestant, Variant]]:
        return [(contestant, variant) for contestant in self._contestants for variant in contestant.variants]

    def _round(self, temperature: float) -> None:
        """Run all prompts until time runs out."""
        for one in self._contestants:
            one.begin_round()
        for index, prompt in enumerate(self._prompts):
            if self._is_over():
                return
            question = self._question(prompt, temperature)
            for one in self._contestants:
                one.prepare(question)
            for contestant, variant in rotated(self._pairs, index, self.rounds):
                stats, ids = contestant.answer(variant, question)
                run = BenchmarkRun(prompt.id, prompt.category, temperature, variant, stats, self.rounds, ids)
                self.runs.append(run)
                self.on_run(run)

    def _is_over(self) -> bool:
        if not self.out_of_time and self._deadline is not None:
            self.out_of_time = self._clock() >= self._deadline
        return self.out_of_time

    def _question(self, prompt: BenchmarkPrompt, temperature: float) -> Question:
        plan = self._plan
        seed = None if plan.sampling.seed is None else plan.sampling.seed + self.rounds
        return Question(
            prompt=prompt,
            ids=self._own.prompt_ids(prompt),
            sampling=replace(plan.sampling, temperature=temperature, seed=seed),
            max_tokens=plan.max_tokens,
            ignore_eos=plan.ignore_eos,
        )


def rotated(items: Sequence[_Item], index: int, round_number: int) -> Iterator[_Item]:
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
