"""Measures what is left of our speed while other programs want the cores.

    python packaging/measure/busy.py --target PADDED.gguf --draft D.gguf
    python packaging/measure/busy.py --target PADDED.gguf --draft D.gguf --spins 1000,10000,50000

Every mode answers in turn undisturbed and beside one busy process for each core, on the same prompts; what counts is
the ratio of the two speeds. Before each undisturbed answer another one gives the threads time to come back. With
``--spins`` everything is repeated in processes of its own that set GOMP_SPINCOUNT, which OpenMP reads only when it is
loaded. Needs signals that stop and continue a process (not on Windows).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

PROMPTS = (
    "Repeat this list: green river, old stone, quiet lamp, paper boat, winter apple, silver bell, iron gate, blue cup.",
    "Write a short story about a fox.",
    "What is speculative decoding?",
)
BUSY = "while True: pass"
SETTLE_S = 0.3
BACK_TOKENS = 150  # of the answer that is not measured


class BusyCores:
    """One endless loop for each core, stopped but while `at_work`."""

    def __init__(self, count: int) -> None:
        self._processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
        self._signal(signal.SIGSTOP)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Let them run inside the block."""
        self._signal(signal.SIGCONT)
        time.sleep(SETTLE_S)
        try:
            yield
        finally:
            self._signal(signal.SIGSTOP)
            time.sleep(SETTLE_S)

    def close(self) -> None:
        """End them."""
        for process in self._processes:
            process.kill()
            process.wait()

    def _signal(self, number: int) -> None:
        for process in self._processes:
            process.send_signal(number)


def measure(options: argparse.Namespace) -> int:
    """Every mode, undisturbed and disturbed in turn."""
    from engine.records import (  # noqa: PLC0415
        ChatRequest,
        Finished,
        LoadRequest,
        Message,
        Mode,
        RunStats,
        SamplingParams,
    )
    from engine.session.session import Session  # noqa: PLC0415  (OpenMP reads its settings when the engine is imported)

    def answer(mode: Mode, prompt: str, tokens: int = options.tokens) -> RunStats:
        sampling = SamplingParams(temperature=options.temperature, seed=1)
        messages = (Message("user", prompt),)
        request = ChatRequest(messages, mode, None, sampling, tokens, ignore_eos=True)
        for event in session.generate(request):
            if isinstance(event, Finished):
                return event.stats
        raise RuntimeError("the answer did not finish")

    session = Session()
    session.load(LoadRequest(options.target, options.draft, threads=options.threads))
    session.measure()
    modes = [mode for mode in Mode if mode not in session.ready().unavailable]
    speeds: dict[tuple[Mode, bool], list[float]] = {(mode, busy): [] for mode in modes for busy in (False, True)}
    reasons: dict[Mode, list[str]] = {mode: [] for mode in modes}
    cores = BusyCores(options.processes)
    try:
        for _ in range(options.repeat):
            for prompt in PROMPTS:
                for mode in modes:
                    answer(Mode.OFF, prompt, BACK_TOKENS)
                    speeds[mode, False].append(answer(mode, prompt).tokens_per_second or 0.0)
                    with cores.at_work():
                        stats = answer(mode, prompt)
                    speeds[mode, True].append(stats.tokens_per_second or 0.0)
                    reasons[mode] += stats.decisions
    finally:
        cores.close()
        session.close()
    print(f"GOMP_SPINCOUNT {os.environ.get('GOMP_SPINCOUNT', 'not set')}, {options.processes} busy processes")
    for mode in modes:
        calm, busy = statistics.median(speeds[mode, False]), statistics.median(speeds[mode, True])
        shares = [b / c for c, b in zip(speeds[mode, False], speeds[mode, True], strict=True) if c]
        note = next((reason for reason in reasons[mode] if "thread" in reason), "")
        print(
            f"{mode.value:>7}: undisturbed {calm:7.1f} tokens/s, disturbed {busy:7.1f}; share {busy / calm:.2f} "
            f"(pairs {min(shares):.2f} to {max(shares):.2f}) {note}",
            flush=True,
        )
    return 0


def main() -> int:
    """Measure here, or once for each spin count in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--spins", default="", help="spin counts to compare, separated by commas")
    options = parser.parse_args()
    if not options.spins:
        return measure(options)
    words = [word for word in sys.argv[1:] if not word.startswith("--spins") and word != options.spins]
    for spins in options.spins.split(","):
        environment = os.environ | {"GOMP_SPINCOUNT": spins}
        subprocess.run([sys.executable, __file__, *words], env=environment, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
