"""Measures speed, always as a ratio between things alternated in one run.

    python packaging/measure/speed.py loop --target T.gguf
    python packaging/measure/speed.py modes --target PADDED.gguf --draft D.gguf

`loop` sets our plain loop, events included, against a bare loop of low-level calls on the same context, in many short
pieces alternated within tenths of a second, so that a drift of the machine touches both alike; `modes` sets every mode
and depth against plain decoding, prompt by prompt, at T = 0. Ratios come with a 95 % bootstrap interval.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, RunStats, SamplingParams
from engine.session.session import Session

PIECE_TOKENS, PIECES = 32, 250
MODE_TOKENS, MODE_REPEAT = 128, 20
GREEDY = SamplingParams(temperature=0.0)
RAW_PROMPT = "Once upon a time"
SETTINGS: list[tuple[Mode, int | None]] = [
    (Mode.NGRAM, 3),
    (Mode.NGRAM, 7),
    (Mode.DRAFT, 1),
    (Mode.DRAFT, 3),
    (Mode.DRAFT, 7),
    (Mode.DRAFT, 15),
]
QUESTIONS = (
    "Repeat this list: green river, old stone, quiet lamp, paper boat, winter apple, silver bell, iron gate, blue cup.",
    "Sort these words: river, stone, lamp, boat, apple, bell, cloud, garden, needle, pocket, ribbon, saddle.",
    "Write a short story about a fox.",
    "Write a short story about a child and a boat.",
    "What is speculative decoding?",
    "How do I switch the mode?",
    "What does the acceptance rate mean?",
    "One word per line: north, seven, candle, bridge, honey, marble, violet, anchor, button, feather.",
)


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


def modes(options: argparse.Namespace) -> int:
    """Every mode and depth against plain decoding, on the same prompts."""
    session = Session()
    session.load(LoadRequest(options.target, options.draft, threads=options.threads))
    speed: dict[tuple[Mode, int | None], list[float]] = {}
    passes: dict[tuple[Mode, int | None], list[float]] = {}
    for _ in range(options.repeat or MODE_REPEAT):
        for question in QUESTIONS:
            for mode, depth in ((Mode.OFF, None), *SETTINGS):
                messages = (Message("user", question),)
                request = ChatRequest(
                    messages,
                    mode,
                    depth,
                    GREEDY,
                    max_tokens=options.tokens or MODE_TOKENS,
                    ignore_eos=options.ignore_eos,
                )
                stats = answer(session, request)
                speed.setdefault((mode, depth), []).append(stats.tokens_per_second or np.nan)
                passes.setdefault((mode, depth), []).append(stats.tokens_per_pass or np.nan)
    plain = np.array(speed[Mode.OFF, None])
    print(f"plain: {np.median(plain):.1f} tokens/s")
    for (mode, depth), values in speed.items():
        if mode is not Mode.OFF:
            ratio = interval(np.array(values) / plain)
            print(
                f"{mode.value} depth {depth}: {ratio} times plain, {np.mean(passes[mode, depth]):.2f} tokens per pass"
            )
    return 0


def main() -> int:
    """Run one of the two measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["loop", "modes"])
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--tokens", type=int, help=f"default {PIECE_TOKENS} for loop, {MODE_TOKENS} for modes")
    parser.add_argument("--repeat", type=int, help=f"default {PIECES} for loop, {MODE_REPEAT} for modes")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--ignore-eos", action="store_true")
    options = parser.parse_args()
    return {"loop": loop, "modes": modes}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
