"""Measures what Python costs a row of logits at a large vocabulary.

    python packaging/measure/rows.py --vocab ggml-vocab-qwen2.gguf

Makes a model of random weights (two tiny layers) with the vocabulary of that file, runs real passes and times what the
engine does with each row: the argmax, the sampling chain, block verification (which asks for every row), and the
draft's side. Then drafted tokens, pass and draw, from whole rows and from the likeliest tokens as llama.cpp picks them
where the output layer lies (`--gpu-layers 99`), and whole answers: all of Python's time for a pass of plain decoding.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from random_model import make_model

from engine.decoding.block_verifier import verify_block
from engine.decoding.verifier import verify_greedy
from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.interfaces import Rows
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.llama.top_k_sampler import NUM_CANDIDATES
from engine.records import ChatRequest, Finished, LoadRequest, SamplingParams, Source
from engine.sampling.sampler import Sampler, top_probability
from engine.sequence import CachedSequence
from engine.session.session import Session

NO_HISTORY = np.zeros(1, dtype=np.int32)
DEPTH = 7


def per_row_us(context: LlamaContext, repeat: int, work: Callable[[Rows], object], num_rows: int) -> float:
    """Microseconds that ``work`` takes for each row of a pass, right after real passes; the median."""
    rng = np.random.default_rng(1)
    spent = []
    for _ in range(repeat):
        rows = context.forward(rng.integers(0, 1000, num_rows).tolist(), num_rows)
        started = perf_counter()
        work(rows)
        spent.append((perf_counter() - started) / num_rows)
        context.clear()
    return float(np.median(spent)) * 1e6


def block(greedy: Sampler, sampler: Sampler, rows: Rows, *, sampled: bool) -> object:
    """Verify a block as the loop does: here the draft is the target itself, so that every row is asked for."""
    if not sampled:
        draft = Draft([int(row.argmax()) for row in rows[:-1]], Source.DRAFT)
        started = perf_counter()
        verify_greedy(draft, lambda i: greedy.argmax(rows[i], NO_HISTORY, []))
        return perf_counter() - started
    q = [sampler.distribution(row, NO_HISTORY, []) for row in rows[:-1]]
    draft = Draft([one.draw(sampler.uniform()) for one in q], Source.DRAFT, q)
    started = perf_counter()
    verify_block(draft, lambda i: sampler.distribution(rows[i], NO_HISTORY, []), sampler.uniform)
    return perf_counter() - started


def block_us(context: LlamaContext, repeat: int, *, sampled: bool) -> float:
    """Microseconds for each row of verifying `DEPTH` proposed tokens; the median."""
    greedy, sampler = Sampler(SamplingParams(temperature=0.0)), Sampler(SamplingParams(seed=1))
    spent: list[float] = []

    def work(rows: Rows) -> None:
        spent.append(float(block(greedy, sampler, rows, sampled=sampled)) / len(rows))  # type: ignore[arg-type]

    per_row_us(context, repeat, work, DEPTH + 1)
    return float(np.median(spent)) * 1e6


def rows_report(model: LlamaModel, repeat: int, threads: int) -> None:
    """Print what each kind of use costs a row."""
    greedy, sampler = Sampler(SamplingParams(temperature=0.0)), Sampler(SamplingParams(seed=1))

    def argmaxes(rows: Rows) -> None:
        for row in rows:
            greedy.argmax(row, NO_HISTORY, [])

    def chains(rows: Rows) -> None:
        for row in rows:
            sampler.distribution(row, NO_HISTORY, []).draw(sampler.uniform())

    def confidences(rows: Rows) -> None:
        for row in rows:
            top_probability(row, greedy.argmax(row, NO_HISTORY, []))

    with LlamaContext(model, ContextParams(512, threads)) as context:
        for count in (1, DEPTH + 1):
            print(f"{count} rows: argmax {per_row_us(context, repeat, argmaxes, count):.0f} us a row", end=", ")
            print(f"sampling chain and draw {per_row_us(context, repeat, chains, count):.0f}", end=", ")
            print(f"argmax and confidence of a greedy draft {per_row_us(context, repeat, confidences, count):.0f}")
        print(f"verifying {DEPTH} greedy tokens: {block_us(context, repeat, sampled=False):.0f} us a row")
        print(f"block verification of {DEPTH} drawn tokens: {block_us(context, repeat, sampled=True):.0f} us a row")


def narrow_report(model: LlamaModel, repeat: int, threads: int) -> None:
    """Print what a drafted token takes, pass and draw, from whole rows and from candidates."""
    sampler = Sampler(SamplingParams(seed=1))
    for count in (0, NUM_CANDIDATES):
        with LlamaContext(model, ContextParams(2048, threads, num_candidates=count)) as context:
            sequence, history = CachedSequence(context), np.zeros(1, dtype=np.int32)
            drafter = DraftModelDrafter(sequence, model.vocab.n_vocab, frozenset())
            drafter.begin(history, sampler)
            drafter.propose(history, 1)
            spent = []
            for _ in range(repeat):
                drafter.begin(history, sampler)
                started = perf_counter()
                drafter.propose(history, DEPTH)
                spent.append((perf_counter() - started) / DEPTH)
            name = f"the {count} likeliest tokens" if context.num_candidates else "whole rows"
            print(f"a drafted token from {name}: {float(np.median(spent)) * 1e6:.0f} us")


def answers_report(path: Path, tokens: int, threads: int) -> None:
    """Print all of Python's time for a pass of plain decoding: the answer's time less that of its passes."""
    session = Session()
    session.load(LoadRequest(str(path), n_ctx=1024, threads=threads))
    list(session.generate(ChatRequest(raw_prompt="Hello", max_tokens=8, ignore_eos=True)))  # the first one pays more
    for temperature in (0.0, 0.8):
        request = ChatRequest(
            raw_prompt="Hello", sampling=SamplingParams(temperature, seed=1), max_tokens=tokens, ignore_eos=True
        )
        *_, last = session.generate(request)
        if isinstance(last, Finished):
            stats = last.stats
            rest_us = (stats.decode_s - stats.verify_s) / stats.passes * 1e6
            sampling_us = stats.sample_s / stats.passes * 1e6
            print(f"plain answer at T = {temperature}: {rest_us:.0f} us a pass beside it, sampling {sampling_us:.0f}")
    session.close()


def main() -> int:
    """Make the model and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", required=True, help="a GGUF with the vocabulary, such as ggml-vocab-qwen2.gguf")
    parser.add_argument("--spread", type=float, default=3.0, help="standard deviation of the logits")
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--gpu-layers", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = make_model(Path(options.vocab), Path(folder) / "large-vocabulary.gguf", options.spread)
        with LlamaModel(path, gpu_layers=options.gpu_layers) as model:
            print(f"{model.vocab.n_vocab} tokens, logits deviate by about {options.spread}")
            rows_report(model, options.repeat, options.threads)
            narrow_report(model, options.repeat, options.threads)
        answers_report(path, options.tokens, options.threads)
    return 0


if __name__ == "__main__":
    sys.exit(main())
