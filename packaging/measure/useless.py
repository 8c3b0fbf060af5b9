"""Measures a pair that is useless on purpose: a draft with the same vocabulary whose weights are shuffled.

    python packaging/measure/useless.py --target PADDED.gguf --draft D.gguf

The rows of every matrix of the draft are put in another order; what it proposes is then as good as random. `auto` and
plain decoding answer the same prompts in turn; the ratio of their speeds should stay at 0.98 or above, and the reason
for which drafting stopped is printed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from speed import QUESTIONS, answer, interval

from engine.records import ChatRequest, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session


def shuffled(draft: Path, destination: Path, seed: int = 0) -> Path:
    """Copy a GGUF with the rows of every matrix in another order; header and vocabulary stay as they are."""
    shutil.copyfile(draft, destination)
    rng = np.random.default_rng(seed)
    for tensor in gguf.GGUFReader(destination, "r+").tensors:
        if len(tensor.shape) == 2:  # matrices
            rows = tensor.data.reshape(int(tensor.shape[1]), -1)
            rows[:] = rows[rng.permutation(len(rows))]
    return destination


def measure(options: argparse.Namespace, draft: Path) -> None:
    """Plain and automatic in turn, each first on every other prompt."""
    session = Session()
    session.load(LoadRequest(options.target, str(draft), threads=options.threads))
    session.measure()
    for temperature in (0.0, 0.8):
        ratios, reasons = [], dict[str, int]()
        for i in range(options.repeat * len(QUESTIONS)):
            sampling = SamplingParams(temperature=temperature, seed=i)
            messages = (Message("user", QUESTIONS[i % len(QUESTIONS)]),)
            speed: dict[Mode, float] = {}
            order = (Mode.OFF, Mode.AUTO) if i % 2 else (Mode.AUTO, Mode.OFF)
            answer(session, ChatRequest(messages, Mode.OFF, sampling=sampling, max_tokens=1))  # reads the prompt
            for mode in order:
                request = ChatRequest(messages, mode, None, sampling, options.tokens, ignore_eos=True)
                stats = answer(session, request)
                speed[mode] = stats.tokens_per_second or np.nan
                for reason in stats.decisions:
                    reported = reason.partition(": ")[2]
                    reasons[reported] = reasons.get(reported, 0) + 1
            ratios.append(speed[Mode.AUTO] / speed[Mode.OFF])
        print(f"temperature {temperature}: auto over plain {interval(np.array(ratios))}")
        for reason, count in sorted(reasons.items(), key=lambda item: -item[1])[:6]:
            print(f"  {count} times: {reason}")
    session.close()


def main() -> int:
    """Shuffle and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", required=True)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(options, shuffled(Path(options.draft), Path(folder) / "shuffled-draft.gguf"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
