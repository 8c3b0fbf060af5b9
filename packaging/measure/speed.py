"""Measures speed, always as a ratio between things alternated in one run.

    python packaging/measure/speed.py loop --target T.gguf
    python packaging/measure/speed.py seeds --target T.gguf --draft D.gguf --temperature 0.8 --minutes 5

`loop` sets our plain loop, events included, against a bare loop of low-level calls on the same context, in many short
pieces alternated within tenths of a second, so that a drift of the machine touches both alike; `seeds` sets answers
that a seed draws against those that none draws, on the questions for real models: tokens per second and acceptance.
Ratios come with a 95 % bootstrap interval, those of `seeds` of sums over questions. Modes and depths are compared by
`paceline bench`.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from itertools import cycle, islice
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.core.benchmark.prompts import read_prompts
from app.core.benchmark.runner import interleaved, turns
from engine.records import ChatRequest, Finished, LoadRequest, Mode, RunStats, SamplingParams
from engine.session.session import Session

PIECE_TOKENS, PIECES = 32, 250
GREEDY = SamplingParams(temperature=0.0)
RAW_PROMPT = "Once upon a time"
SEED_TOKENS = 64
WAYS: list[tuple[Mode, int | None, bool]] = [  # the last says whether a seed draws
    (Mode.OFF, None, False),
    (Mode.DRAFT, 3, False),
    (Mode.DRAFT, 3, True),
    (Mode.AUTO, None, False),
    (Mode.AUTO, None, True),
]
WORKLOADS = Path(__file__).resolve().parents[2] / "assets" / "workloads" / "real"


def interval(ratios: NDArray[np.float64], digits: int = 3) -> str:
    """Median of paired ratios with its 95 % bootstrap interval."""
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(ratios, (2000, len(ratios))), axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    return f"{np.median(ratios):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def answer(session: Session, request: ChatRequest) -> RunStats:
    """Run one answer to its end and return its counters."""
    for event in session.generate(request):
        if isinstance(event, Finished):
            return event.stats
    raise RuntimeError("the answer did not finish")


def bare_seconds(session: Session, count: int) -> float:
    """Seconds of a plain greedy loop of low-level calls, nothing else, on the session's own context."""
    target = session._target  # noqa: SLF001  (a measurement of what lies below the session)
    assert target is not None
    context = target.context
    ids = target.model.vocab.tokenize(RAW_PROMPT, special=True, add_bos=True)
    target.sequence.clear()
    context.forward(ids[:-1], 0)
    lib, batch, handle, width = context._lib, context._batch, context._handle, context.n_vocab  # noqa: SLF001
    token_id, position = ids[-1], len(ids) - 1
    started = time.perf_counter()
    for _ in range(count):
        batch.token[0], batch.pos[0], batch.logits[0], batch.n_tokens = token_id, position, 1, 1
        if lib.llama_decode(handle, batch) != 0:
            raise RuntimeError("a pass failed")
        token_id = int(np.ctypeslib.as_array(lib.llama_get_logits(handle), (width,)).argmax())
        position += 1
    seconds = time.perf_counter() - started
    context.clear()
    return seconds


def loop(options: argparse.Namespace) -> int:
    """Our plain loop against the bare one."""
    session = Session()
    session.load(LoadRequest(options.target, threads=options.threads))
    tokens, repeat = options.tokens or PIECE_TOKENS, options.repeat or PIECES
    request = ChatRequest(raw_prompt=RAW_PROMPT, sampling=GREEDY, max_tokens=tokens, ignore_eos=True)
    answer(session, request)
    pairs = np.empty((repeat, 2))
    for i in range(repeat):
        for which in (0, 1) if i % 2 else (1, 0):
            seconds = answer(session, request).decode_s if which else bare_seconds(session, tokens)
            pairs[i, which] = seconds / tokens
    bare_s, ours_s = pairs.T
    print(f"a pass: bare {np.median(bare_s) * 1e6:.0f} us, ours {np.median(ours_s) * 1e6:.0f} us")
    print(f"tokens per second, ours over bare: {interval(bare_s / ours_s)}")
    print(
        f"added by us: {interval((ours_s - bare_s) * 1e6, digits=0)} us a pass (median of {repeat} alternated pieces)"
    )
    return 0


def seeds(options: argparse.Namespace) -> int:
    """Every way of `WAYS` in turn, question after question, until the time is over."""
    session = Session()
    session.load(LoadRequest(options.target, options.draft, n_ctx=2048, threads=options.threads))
    session.measure(4.0)
    ends, found = time.monotonic() + 60.0 * options.minutes, list[list[RunStats]]()
    questions = interleaved([one for path in sorted(WORKLOADS.glob("*.jsonl")) for one in read_prompts(path)])
    for number, question in enumerate(islice(cycle(questions), options.repeat)):
        if time.monotonic() > ends:
            break
        stats: dict[tuple[Mode, int | None, bool], RunStats] = {}
        for mode, depth, is_seeded in turns(WAYS, number, number // len(questions)):
            sampling = SamplingParams(options.temperature, seed=number if is_seeded else None)
            request = ChatRequest(question.messages, mode, depth, sampling, options.tokens or SEED_TOKENS)
            stats[mode, depth, is_seeded] = answer(session, replace(request, ignore_eos=options.ignore_eos))
        found.append([stats[way] for way in WAYS])
    print(f"T = {options.temperature:g}, {len(found)} questions, usual truncation")
    print_ways(found)
    return 0


def print_ways(found: list[list[RunStats]]) -> None:
    """Tokens per second and acceptance of each of `WAYS`; below a seeded one both over the unseeded one's."""
    # The first to draft reads the prompt with the draft model for all: that is left out.
    fields = ("tokens", "generation_s", "passes", "accepted", "proposed")
    table = np.array([[[getattr(stats, name) for name in fields] for stats in row] for row in found])
    drawn = np.random.default_rng(0).integers(len(table), size=(2000, len(table)))
    sums = np.concatenate((table.sum(axis=0)[None], table[drawn].sum(axis=1)))  # [1 + resamples, ways, fields]
    speeds, rates = sums[:, :, 0] / sums[:, :, 1], sums[:, :, 3] / np.maximum(sums[:, :, 4], 1)

    def told(values: NDArray[np.float64]) -> str:
        low, high = np.percentile(values[1:], [2.5, 97.5])
        return f"{values[0]:.3f} ({low:.3f} to {high:.3f})"

    for number, (mode, depth, is_seeded) in enumerate(WAYS):
        name = f"{mode.value}{'' if depth is None else f' {depth}'}, {'a seed' if is_seeded else 'no seed'}"
        per_pass = sums[0, number, 0] / sums[0, number, 2]
        print(f"{name}: {speeds[0, number]:.1f} tok/s, {told(speeds[:, number] / speeds[:, 0])} of plain, ", end="")
        print(f"{per_pass:.2f} tokens a pass, {told(rates[:, number])} of {sums[0, number, 4]:.0f} accepted")
        if is_seeded:
            print(f"  over no seed: speed {told(speeds[:, number] / speeds[:, number - 1])}, ", end="")
            print(f"acceptance higher by {told(rates[:, number] - rates[:, number - 1])}")


def main() -> int:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["loop", "seeds"])
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--tokens", type=int, help=f"default {PIECE_TOKENS} for loop, {SEED_TOKENS} for seeds")
    parser.add_argument("--repeat", type=int, help=f"default {PIECES} for loop; questions of seeds")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--ignore-eos", action="store_true")
    parser.add_argument("--temperature", type=float, default=0.8, help="of seeds")
    parser.add_argument("--minutes", type=float, default=inf, help="after which seeds asks no more")
    options = parser.parse_args()
    return {"loop": loop, "seeds": seeds}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
