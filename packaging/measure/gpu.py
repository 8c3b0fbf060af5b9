"""Measures models on a graphics processor: what they take of its memory, what passes cost, whether rows are right.

    python packaging/measure/gpu.py MODEL.gguf [MODEL.gguf ...] [--tokens 256] [--rounds 8] [--no-rows]

For each model, with all layers there: the estimate of its memory against llama.cpp's report and the device's own count;
the time of a pass by its number of tokens; a plain answer, and what of its time is spent outside of passes; a long
prompt; and rows of logits against the processor's, which takes a while where a model is large: `--no-rows`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import estimate_memory
from engine.gguf.header import read_header
from engine.llama.devices import find_gpus
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.pacing.measuring import measurable
from engine.records import NO_DEVICE, ChatRequest, Finished, LoadRequest, Message, Mode, Placement, SamplingParams
from engine.session.session import Session

SIZES = (*range(1, 10), 12, 16, 17, 24, 32, 33, 64)
HISTORY = 64  # tokens in the cache
N_CTX = 4096
LONG_PROMPT = 2048  # tokens, about
QUESTION = "Explain how a bicycle stays upright."
MIB = 2**20


def main() -> int:
    """Measure and print; status 1 where nothing can be measured."""
    parser = argparse.ArgumentParser(description="What models cost on a graphics processor.")
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--no-rows", action="store_true")
    options = parser.parse_args()
    gpus = find_gpus()
    if not gpus:
        print("llama.cpp finds no graphics processor.")
        return 1
    for gpu in gpus:
        print(f"{gpu.name}: {gpu.description}, {(gpu.total_bytes or 0) / MIB:.0f} MiB")
    for model in options.models:
        print(f"\n{model.name}")
        report_memory(model)
        loaded = open_model(model, LoadOptions(n_ctx=N_CTX))
        report_passes(loaded, options.rounds)
        report_prompt(loaded)
        loaded.close()
        report_answer(model, options.tokens)
        if not options.no_rows:
            report_rows(model)
    return 0


def report_memory(model: Path) -> None:
    """The estimate, llama.cpp's report, and by how much the device's free memory shrinks."""
    open_model(model, LoadOptions(n_ctx=256)).close()  # what the driver takes once stays
    before, started = free_bytes(), perf_counter()
    loaded = open_model(model, LoadOptions(n_ctx=N_CTX))
    took_s, taken = perf_counter() - started, before - free_bytes()
    info = loaded.info
    estimate = estimate_memory(read_header(model), CacheSetup(info.n_ctx, "f16", "f16"), info.gpu_layers)
    estimated = estimate.weights.gpu_bytes + estimate.cache.gpu_bytes + estimate.compute.gpu_bytes
    assert info.memory is not None
    reported = sum(one.all_bytes for one in info.memory.devices if one.name != "CPU")
    print(
        f"loaded in {took_s:.2f} s; {info.gpu_layers} layers on the GPU; of its memory {taken / MIB:.0f} MiB taken, "
        f"{reported / MIB:.0f} MiB reported, {estimated / MIB:.0f} MiB estimated ({estimated / reported:.3f})"
    )
    loaded.close()


def free_bytes() -> int:
    """Of all graphics processors."""
    return sum(gpu.free_bytes or 0 for gpu in find_gpus())


def report_passes(loaded: LoadedModel, rounds: int) -> None:
    """The quickest of the rounds for each size: alternating, and each in a row, where graphs of the last are replayed.

    The first round warms up.
    """
    alternating = [size for _ in range(rounds + 1) for size in SIZES]
    in_a_row = [size for size in SIZES for _ in range(rounds + 1)]
    loaded.sequence.forward([1] * HISTORY, 0)
    for name, order in (("alternating", alternating), ("in a row", in_a_row)):
        times: dict[int, list[float]] = {size: [] for size in SIZES}
        with measurable(loaded.sequence) as run_pass:
            for size in order:
                started = perf_counter()
                run_pass(size)
                times[size].append((perf_counter() - started) * 1000.0)
        best_ms = {size: min(found[1:]) for size, found in times.items()}
        print(f"pass, ms (over one token), {name}: ", end="")
        print(", ".join(f"{size}: {ms:.2f} ({ms / best_ms[1]:.2f})" for size, ms in best_ms.items()))


def report_prompt(loaded: LoadedModel) -> None:
    """Tokens a second of reading."""
    speeds = []
    ids = np.array([3 + i % 90 for i in range(LONG_PROMPT)], dtype=np.int32)
    for _ in range(3):
        loaded.sequence.clear()
        started = perf_counter()
        for _step in loaded.sequence.prefill(ids[:-1]):
            pass
        loaded.sequence.forward(ids[-1:].tolist(), 1)[0].argmax()
        speeds.append(LONG_PROMPT / (perf_counter() - started))
    believed = loaded.sequence.prompt_speed or 0.0
    print(f"reads {LONG_PROMPT} tokens at {np.median(speeds):.0f} tok/s, and takes it for {believed:.0f}")


def report_answer(model: Path, num_tokens: int) -> None:
    """Plain decoding as a chat does it: tokens a second, and what a token costs outside of its pass."""
    session = Session()
    try:
        session.load(LoadRequest(str(model), n_ctx=N_CTX))
        request = ChatRequest(
            messages=(Message("user", QUESTION),),
            mode=Mode.OFF,
            sampling=SamplingParams(temperature=0.0),
            max_tokens=num_tokens,
            ignore_eos=True,
        )
        for _ in range(3):
            (stats,) = (event.stats for event in session.generate(request) if isinstance(event, Finished))
            outside_us, choosing_us = (
                seconds / stats.tokens * 1e6 for seconds in (stats.decode_s - stats.verify_s, stats.sample_s)
            )
            print(
                f"plain: {stats.tokens_per_second or 0.0:.1f} tok/s, "
                f"{1e3 * stats.verify_s / stats.passes:.3f} ms a pass; "
                f"{outside_us:.0f} us a token outside, {choosing_us:.0f} of them to choose it"
            )
    finally:
        session.close()


def report_rows(model: Path) -> None:
    """The same tokens there and on the processor: correlation of their rows, and whether the likeliest is the same."""
    ids = [3 + 7 * i % 90 for i in range(48)]
    rows = []
    for place in (Placement(), Placement((NO_DEVICE,))):
        loaded = open_model(model, LoadOptions(n_ctx=256, placement=place))
        rows.append([np.array(row) for size in (1, 4, 9, 33) for row in fresh_rows(loaded, ids[:size])])
        loaded.close()
    alike = [float(np.corrcoef(one, other)[0, 1]) for one, other in zip(*rows, strict=True)]
    same = sum(int(one.argmax() == other.argmax()) for one, other in zip(*rows, strict=True))
    print(f"rows: correlation {min(alike):.5f} to {max(alike):.5f}, the same likeliest token in {same} of {len(alike)}")


def fresh_rows(loaded: LoadedModel, ids: list[int]) -> np.ndarray:
    """Rows of all ``ids``, read in one pass into an empty cache."""
    loaded.context.clear()
    return np.array(loaded.context.forward(ids, len(ids)))


if __name__ == "__main__":
    sys.exit(main())
