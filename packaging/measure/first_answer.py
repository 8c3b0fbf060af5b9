"""Measures how far the first answer of a fresh start is from what the same prompt gets as the tenth.

    python packaging/measure/first_answer.py --target T.gguf [--draft D.gguf] [--busy] [--rounds 3]

Nothing is kept from earlier starts, and no past chats are looked into; eight other prompts lie between. With ``--busy``
both cores are taken by another program while the model is loaded and its passes are measured, and then free.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from busy import BusyCores

from app.benchmark.prompts import Prompt, read_prompts
from engine.records import ChatRequest, Finished, LoadRequest, Mode, RunStats, SamplingParams
from engine.session.session import Session

PROMPTS = Path(__file__).resolve().parents[2] / "assets" / "workloads" / "real"
KINDS = ("editing", "completion", "chat")
NUM_BETWEEN = 8
MEASURE_S = 0.7  # as `paceline run` has it


def answer(session: Session, prompt: Prompt, max_tokens: int) -> RunStats:
    """One answer in auto, as the app makes it."""
    sampling = SamplingParams(temperature=0.0)
    request = ChatRequest(prompt.messages, Mode.AUTO, sampling=sampling, max_tokens=max_tokens, use_past=False)
    for event in session.generate(request):
        if isinstance(event, Finished):
            return event.stats
    raise RuntimeError("the answer did not finish")


def start(options: argparse.Namespace) -> Session:
    """A session that knows nothing of this machine."""
    session = Session()
    with contextlib.ExitStack() as stack:
        if options.busy:
            cores = BusyCores(2)
            stack.callback(cores.close)
            stack.enter_context(cores.at_work())
        session.load(LoadRequest(options.target, options.draft, n_ctx=4096))
        session.measure(MEASURE_S)
    return session


def main() -> int:
    """A line for each prompt: tokens per second as the first answer and as the tenth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=128)
    options = parser.parse_args()
    by_kind = {kind: read_prompts(PROMPTS / f"{kind}.jsonl") for kind in KINDS}
    others = [prompts[10 + i] for i in range(NUM_BETWEEN) for prompts in (by_kind[KINDS[i % len(KINDS)]],)]
    ratios = []
    for number in range(options.rounds):
        prompt = by_kind[KINDS[number % len(KINDS)]][number]
        session = start(options)
        first = answer(session, prompt, options.max_tokens)
        session.measure(MEASURE_S)  # idle time
        for other in others:
            answer(session, other, options.max_tokens)
        tenth = answer(session, prompt, options.max_tokens)
        session.close()
        speeds = [stats.tokens_per_second or float("nan") for stats in (first, tenth)]
        ratios.append(speeds[0] / speeds[1])
        passes = [stats.tokens_per_pass or float("nan") for stats in (first, tenth)]
        print(
            f"{prompt.id}: first {speeds[0]:.1f} tok/s ({passes[0]:.2f} a pass), "
            f"tenth {speeds[1]:.1f} ({passes[1]:.2f}), {ratios[-1]:.2f}",
            flush=True,
        )
    print(f"first over tenth: {sum(ratios) / len(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
