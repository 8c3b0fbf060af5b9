"""Measures what the text drafters cost: microseconds a token for index and proposal, bytes a token, and their guesses.

    python packaging/measure/text_drafters.py [--texts FILE.jsonl.xz ...] [--vocabulary VOCAB.gguf]

Every token is appended to a context of 1k, 10k and 100k tokens and a proposal is asked for, as the decode loop does.
The ids are those of the texts, or drawn by Zipf's law where there are none. CPU time, so that a busy machine disturbs
little. `right` is how many tokens of a proposal the text goes on with.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import time
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.drafters.base import Drafter
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.drafters.suffix.index import SuffixIndex
from engine.llama.model import LlamaModel
from engine.records import SamplingParams
from engine.sampling.sampler import History, Sampler

SHARED = Path(__file__).resolve().parents[3] / "shared"
SIZES = (1_000, 10_000, 100_000)
NUM_VOCAB = 151_936
SAMPLER = Sampler(SamplingParams())
DRAFTERS: dict[str, Callable[[History], Drafter]] = {
    "prompt lookup": lambda _past: PromptLookupDrafter(),
    "suffix": lambda _past: SuffixDrafter(),
    "suffix, past": lambda past: SuffixDrafter(past=SuffixIndex(past.tolist())),
}


def text_ids(files: list[Path], vocabulary: Path, count: int) -> History:
    """The ids of the texts, a record of each file in turn."""
    ids: list[int] = []
    with LlamaModel(vocabulary, vocab_only=True) as model, ExitStack() as stack:
        opened = [stack.enter_context(lzma.open(path, "rt", encoding="utf-8")) for path in files]
        for lines in zip_longest(*opened):
            for line in filter(None, lines):
                record = json.loads(line)
                turns = [message["content"] for message in record.get("messages", ())]
                turns += [record.get(key) or "" for key in ("instruction", "input", "output")]
                ids += model.vocab.tokenize("\n".join(turn for turn in turns if turn) + "\n", special=False)
            if len(ids) >= count:
                break
    return np.array(ids[:count], dtype=np.int32)


def zipf_ids(count: int) -> History:
    """Ids whose frequencies fall as words' do: no phrase repeats but by chance."""
    rng = np.random.default_rng(0)
    drawn = rng.zipf(1.1, 4 * count)
    return drawn[drawn < NUM_VOCAB][:count].astype(np.int32)


def looping_ids(count: int) -> History:
    """The worst case for an index: a short period, again and again, then something new."""
    period = np.tile(np.arange(7, dtype=np.int32), count // 7 + 1)[:count]
    period[:: count // 10] = np.arange(1000, 1000 + len(period[:: count // 10]))
    return period


def timings(drafter: Drafter, ids: History, known: int, limit: int) -> tuple[NDArray[np.float64], int, int]:
    """Microseconds for each token beyond ``known``; tokens proposed, and those of them that were right."""
    drafter.begin(ids[:known], SAMPLER)
    spent = np.empty(len(ids) - known)
    num_proposed = num_right = 0
    for i, end in enumerate(range(known + 1, len(ids) + 1)):
        history = ids[:end]
        started = time.thread_time_ns()
        draft = drafter.propose(history, limit)
        spent[i] = (time.thread_time_ns() - started) / 1000
        wanted = ids[end : end + len(draft.ids)]
        differs = np.flatnonzero(wanted != draft.ids[: len(wanted)])
        num_proposed += len(draft.ids)
        num_right += int(differs[0]) if len(differs) else len(wanted)
    return spent, num_proposed, num_right


def sizes_in_bytes(drafter: Drafter, ids: History) -> list[int]:
    """What the drafter holds at each size."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    held = []
    for size in SIZES:
        drafter.begin(ids[:size], SAMPLER)
        held.append(tracemalloc.get_traced_memory()[0] - before)
    tracemalloc.stop()
    return held


def report(name: str, ids: History, limit: int, num_timed: int) -> None:
    """One line for each drafter and size; the first half of ``ids`` is the past, the second the conversation."""
    past, ids = ids[: len(ids) // 2], ids[len(ids) // 2 :]
    for kind, make in DRAFTERS.items():
        held = sizes_in_bytes(make(past), ids)
        drafter = make(past)
        for size, num_bytes in zip(SIZES, held, strict=True):
            timed = min(num_timed, size // 2)
            spent, num_proposed, num_right = timings(drafter, ids[:size], size - timed, limit)
            p50, p99 = np.percentile(spent, [50, 99])
            print(
                f"{name} {kind:13} {size:6} tokens: min {spent.min():4.1f}, p50 {p50:4.1f}, p99 {p99:5.1f}, "
                f"max {spent.max():6.1f} us a token; {num_bytes / size:3.0f} bytes a token; "
                f"{num_proposed / timed:5.2f} proposed a pass, {num_right / timed:5.2f} right",
                flush=True,
            )


def main() -> int:
    """Measure on texts (if there are any), on random ids and on a loop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, nargs="*", default=sorted((SHARED / "data").glob("*.jsonl.xz")))
    parser.add_argument("--vocabulary", type=Path, default=SHARED / "vocabs" / "ggml-vocab-qwen2.gguf")
    parser.add_argument("--limit", type=int, default=15, help="tokens that a proposal may have")
    parser.add_argument("--timed", type=int, default=5_000, help="tokens that are timed, at the end of the context")
    options = parser.parse_args()
    if options.texts and options.vocabulary.is_file():
        report("text", text_ids(options.texts, options.vocabulary, 2 * SIZES[-1]), options.limit, options.timed)
    report("zipf", zipf_ids(2 * SIZES[-1]), options.limit, options.timed)
    report("loop", looping_ids(2 * SIZES[-1]), options.limit, options.timed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
