"""Measures exactness on real models: whether all modes give equal answers, and the distribution of sampled tokens.

    python packaging/measure/exactness.py greedy --target T.gguf --draft D.gguf --prompts 500
    python packaging/measure/exactness.py seeded --target T.gguf --draft D.gguf --prompts 100
    python packaging/measure/exactness.py sampling --target T.gguf --draft D.gguf --samples 20000
    python packaging/measure/exactness.py mutants --target T.gguf --draft D.gguf

`greedy` compares every mode with plain decoding and lists differences; a bit-exact target must have none. With
`--parallel` several answers of each mode run in parallel, and are compared with single answers of plain decoding.
`seeded` does the same above temperature 0, with a seed per prompt, and alternating sampling chains and a grammar.
`sampling` compares the first token with the exact p, and each of the first three positions with plain decoding, by
chi-square over cells pooled to at least ten expected tokens: at depth 3, and paced through all depths by invented cost
curves. Suspicious results are tested again with other seeds and four times the samples. `mutants` breaks the
verification on purpose, and shows that the test detects it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from distributions import mutants, sampling

from engine.records import FROM_MODEL, ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session

# Sampling settings of seeded answers, each used with every temperature; "grammar" also uses `GRAMMAR`.
LINKS: dict[str, dict[str, float]] = {
    "nothing cut": {"top_k": 0, "top_p": 1.0, "min_p": 0.0},
    "top-k 40": {"top_k": 40, "top_p": 1.0, "min_p": 0.0},
    "min-p 0.05": {"top_k": 0, "top_p": 1.0, "min_p": 0.05},
    "penalties": {"repeat_penalty": 1.1, "presence_penalty": 0.3, "frequency_penalty": 0.2},
    "grammar": {},
}
CHAINS = {
    f"T {temperature:g}, {name}": SamplingParams(temperature, **links)  # type: ignore[arg-type]
    for temperature in (0.7, 1.0)
    for name, links in LINKS.items()
}
GRAMMAR = 'root ::= [A-Z] [a-z ]+ (", " [a-z ]+)* "." (" " root)?'
WORDS = ("river", "stone", "lamp", "boat", "apple", "bell", "cloud", "garden", "needle", "pocket", "ribbon", "wagon")


def greedy_prompts(count: int) -> Iterator[str]:
    """Yield different prompts, alternating between copying, editing, questions, stories and sums."""
    rng = np.random.default_rng(6)
    for number in range(count):
        words = ", ".join(rng.choice(WORDS, 10))
        one, other = (int(rng.integers(10, 99)) for _ in range(2))
        yield (
            f"Repeat this list: {words}.",
            f"Sort these words: {words}.",
            f"Write a short story about a {WORDS[number // 5 % len(WORDS)]} and number {number}.",
            f"What is {one} + {other}?",
            f"What is speculative decoding? Mention a {WORDS[number // 5 % len(WORDS)]} and {words}.",
        )[number % 5]


@dataclass
class Found:
    """Results of comparing the modes with plain decoding."""

    num_answers: int = 0
    num_different: int = 0
    accepted: int = 0
    proposed: int = 0

    def count(self, end: Finished) -> None:
        """Add an answer's counters."""
        self.num_answers += 1
        self.accepted += end.stats.accepted
        self.proposed += end.stats.proposed


def same_answers(options: argparse.Namespace) -> int:
    """Compare the tokens of all modes with those of plain decoding, greedy or seeded.

    Return 1 if an answer differs although the target is bit-exact.
    """
    session = Session()
    session.load(LoadRequest(options.target, options.draft, n_ctx=2048, parallel=options.parallel))
    modes = [Mode(name) for name in options.modes] if options.modes else list(Mode)
    runs = [(mode, depth) for mode in modes if mode is not Mode.OFF for depth in options.depths or [None]]
    runs += [(Mode.OFF, None)] if options.parallel > 1 else []
    found = {run: Found() for run in runs}
    is_chat = session.ready().target.template_name == FROM_MODEL
    ends, number = time.monotonic() + 60.0 * options.minutes, options.skip
    prompts = islice(enumerate(greedy_prompts(options.prompts)), options.skip, None)
    while group := list(islice(prompts, options.parallel)):
        if time.monotonic() > ends:
            break
        number = group[-1][0]
        requests = [request_of(options, place, text, is_chat=is_chat) for place, text in group]
        plain = [answer(session, request).token_ids for request in requests]
        for (mode, depth), one in found.items():
            for request, wanted, end in zip(requests, plain, answers(session, requests, mode, depth), strict=True):
                one.count(end)
                if end.token_ids != wanted:
                    one.num_different += 1
                    text = request.messages[0].content if request.messages else request.raw_prompt
                    print(f"{mode.value} {depth}: differs: {text}", flush=True)
    else:
        number = options.prompts
    print(f"prompts {options.skip} to {number} of {options.prompts}")
    for (mode, depth), one in found.items():
        print(
            f"{mode.value} at depth {'paced' if depth is None else depth}: {one.num_different} of {one.num_answers} "
            f"answers of {options.tokens} tokens differ; {one.accepted} of {one.proposed} kept"
        )
    inexact = session.ready().target.inexact_reason
    print(inexact or "The target is exact to the bit: none may differ.")
    return int(not inexact and any(one.num_different for one in found.values()))


def request_of(options: argparse.Namespace, number: int, text: str, *, is_chat: bool) -> ChatRequest:
    """Make the request of a prompt; seeded ones use the sampling chains in turn."""
    chain, sampling = "greedy", SamplingParams(temperature=0.0)
    if options.what == "seeded":
        chain = list(CHAINS)[number // 5 % len(CHAINS)]  # one chain for five prompts, one of each kind
        sampling = replace(CHAINS[chain], seed=number)
    return ChatRequest(
        messages=(Message("user", text),) if is_chat else (),
        raw_prompt=None if is_chat else f"{text} ",
        sampling=sampling,
        grammar=GRAMMAR if "grammar" in chain else "",
        max_tokens=options.tokens,
        ignore_eos="grammar" not in chain,
    )


def answers(session: Session, requests: list[ChatRequest], mode: Mode, depth: int | None) -> list[Finished]:
    """Run requests in a mode, in parallel if there are several."""
    asked = [replace(request, mode=mode, depth=depth) for request in requests]
    if len(asked) == 1:
        return [answer(session, asked[0])]
    ends = dict[int, Finished]()

    def work(slot: int) -> None:
        ends[slot] = answer(session.slot(slot), asked[slot])
        session.slot(slot).release_slot()

    session.prepare_slots(lambda: False)
    for slot in range(len(asked)):
        session.batcher.start(partial(work, slot))
    while len(session.batcher):
        session.batcher.step()
    return [ends[slot] for slot in range(len(asked))]


def answer(session: Session, request: ChatRequest) -> Finished:
    """Run one request to its end."""
    (end,) = [event for event in session.generate(request) if isinstance(event, Finished)]
    return end


def _depth(text: str) -> int | None:
    return None if text == "auto" else int(text)


def main() -> int:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["greedy", "seeded", "sampling", "mutants"])
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", help="greedy and seeded do without, where the modes do")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--prompts", type=int, default=60, help="of the greedy measurement")
    parser.add_argument("--parallel", type=int, default=1, help="greedy and seeded: answers of a mode side by side")
    parser.add_argument("--skip", type=int, default=0, help="so many of them, which an earlier run compared")
    parser.add_argument("--minutes", type=float, default=inf, help="end after so many; --skip goes on")
    parser.add_argument("--depths", nargs="+", type=_depth, help="auto: paced; default: paced; of samples: 3 and paced")
    parser.add_argument("--modes", nargs="+", help="default: all")
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.8, 1.0])
    options = parser.parse_args()
    return {"greedy": same_answers, "seeded": same_answers, "sampling": sampling, "mutants": mutants}[options.what](
        options
    )


if __name__ == "__main__":
    sys.exit(main())
