"""Measures the cost of passes by number of tokens on this machine, with the installed llama.cpp.

    python packaging/measure/passes.py MODEL.gguf [--threads 2] [--rounds 8]

Sizes alternate, and the fastest round counts. Sizes beyond 33 tokens are not paced, but show steps of kernels. To
measure another build, set PYTHONPATH=folder-with-its-llama_cpp.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.llama import library
from engine.loading.loading import LoadOptions, open_model
from engine.pacing.measuring import measured_passes

SIZES = (*range(1, 19), 20, 24, 28, 31, 32, 33, 36, 48, 64)
HISTORY = 64  # tokens in the cache


def main() -> int:
    """Measure and print the costs."""
    parser = argparse.ArgumentParser(description="What passes cost.")
    parser.add_argument("model", type=Path)
    parser.add_argument("--threads", type=int, default=library.physical_cores())
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    loaded = open_model(options.model, LoadOptions(n_ctx=2048, threads=options.threads))
    loaded.sequence.forward([1] * HISTORY, 0)
    best_ms = dict.fromkeys(SIZES, float("inf"))
    with measured_passes(loaded.sequence) as run_pass:
        for _ in range(options.rounds):
            for size in SIZES:
                started = perf_counter()
                run_pass(size)
                best_ms[size] = min(best_ms[size], (perf_counter() - started) * 1000.0)
    for size, milliseconds in best_ms.items():
        print(f"{size:3d} tokens  {milliseconds:8.2f} ms  {milliseconds / best_ms[1]:6.2f} of a single pass")
    return 0


if __name__ == "__main__":
    sys.exit(main())
