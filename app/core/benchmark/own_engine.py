"""Our own engine as a contestant of a benchmark."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.runs import PLAIN, MeasuredAnswer, Question, Variant
from engine.records import ChatRequest, Finished, Mode
from engine.session.session import Session


class OwnEngine:
    def __init__(self, session: Session, variants: Sequence[Variant]) -> None:
        self._session = session
        self._variants = tuple(variants)

    @property
    def variants(self) -> Sequence[Variant]:
        """Plain decoding comes first."""
        return self._variants

    def prompt_ids(self, prompt: BenchmarkPrompt, *, raw: bool) -> tuple[int, ...]:
        """The prompt's token ids, which all contestants get.

        Raises:
            EngineError: the chat template refuses the prompt.
        """
        return tuple(self._session.prompt_ids(_conversation(prompt, raw=raw)))

    def begin_round(self) -> None:
        """Does nothing: the session learns nothing from answers except pass costs."""

    def prepare(self, question: Question) -> None:
        """Process the prompt in target and draft, by generating one plain token and two drafted tokens."""
        self.answer(PLAIN, replace(question, max_tokens=1))
        if any(variant.mode not in (Mode.OFF, Mode.NGRAM) for variant in self._variants):
            for mode in (Mode.DRAFT, Mode.HEAD):  # the mode without a drafter decodes plainly
                self.answer(Variant(mode.value, 1), replace(question, max_tokens=2))

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """Answer in the variant's mode and depth; times are counted from the end of prefill.

        Raises:
            EngineError: the prompt does not fit the context, or a pass failed.
        """
        request = replace(
            _conversation(question.prompt, raw=question.raw),
            mode=Mode(variant.mode),
            depth=variant.depth,
            sampling=question.sampling,
            max_tokens=question.max_tokens,
            ignore_eos=question.ignore_eos,
        )
        started = time.perf_counter()
        for event in self._session.generate(request):
            if isinstance(event, Finished):
                wall_s = time.perf_counter() - started - event.stats.prompt_s
                return MeasuredAnswer(event.stats, event.token_ids, wall_s)
        raise RuntimeError("an answer ended without its last event")


def make_variants(modes: Sequence[Mode], depths: Sequence[int | None], unavailable: set[Mode]) -> tuple[Variant, ...]:
    """Plain decoding, then every available mode at every depth; ``auto`` has no fixed depth."""
    variants = [PLAIN]
    for mode in modes:
        if mode is Mode.OFF or mode in unavailable:
            continue
        variants += [Variant(mode.value, depth) for depth in ((None,) if mode is Mode.AUTO else depths)]
    return tuple(dict.fromkeys(variants))


def _conversation(prompt: BenchmarkPrompt, *, raw: bool) -> ChatRequest:
    if raw:
        return ChatRequest(raw_prompt=prompt.messages[-1].content)
    return ChatRequest(messages=prompt.messages)
