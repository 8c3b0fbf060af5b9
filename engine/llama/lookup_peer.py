"""llama-cpp-python as it comes, with its own prompt lookup, in a process of its own: a peer to measure.

Run as ``python -m engine.llama.lookup_peer SETTINGS``; questions and answers are JSON lines. Uses nothing of our
engine, not even how its threads wait: it is to run as its users run it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import llama_cpp
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

_CACHE_TYPES = {"f16": llama_cpp.GGML_TYPE_F16, "q8_0": llama_cpp.GGML_TYPE_Q8_0, "q4_0": llama_cpp.GGML_TYPE_Q4_0}


class CountingLlama(llama_cpp.Llama):  # type: ignore[misc]
    """The package's own class, which counts its passes."""

    passes = 0
    evaluated = 0

    def eval(self, tokens: list[int]) -> None:
        """One pass over ``tokens``."""
        self.passes += 1
        self.evaluated += len(tokens)
        super().eval(tokens)


def main(arguments: list[str]) -> int:
    """Answer until stdin ends; the first line out says that it is ready."""
    settings: dict[str, Any] = json.loads(arguments[0])
    # What the libraries print belongs to stderr: stdout is for the answers only.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    llama = open_model(settings)
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(llama, json.loads(line))), file=out, flush=True)
    return 0


def open_model(settings: dict[str, Any]) -> CountingLlama:
    """Load the target, with the package's prompt lookup where ``lookup`` says how many tokens it proposes."""
    kind = _CACHE_TYPES[settings["cache_type"]]
    lookup = settings["lookup"]
    return CountingLlama(
        model_path=settings["target"],
        n_ctx=settings["n_ctx"],
        n_threads=settings["threads"],
        n_threads_batch=settings["threads"],
        n_gpu_layers=settings["gpu_layers"],
        flash_attn=settings["flash_attention"] == "on",
        type_k=kind,
        type_v=kind,
        draft_model=LlamaPromptLookupDecoding(num_pred_tokens=lookup) if lookup else None,
        verbose=False,
    )


def answer(llama: CountingLlama, question: dict[str, Any]) -> dict[str, Any]:
    """One answer with its counters; the seconds run from the last prompt token to the last token, as ours do."""
    ids, seed = question["ids"], question["seed"]
    llama.set_seed(llama_cpp.LLAMA_DEFAULT_SEED if seed is None else seed % 2**32)
    llama.reset()
    llama.eval(ids[:-1])
    llama.passes = llama.evaluated = 0
    started = time.perf_counter()
    tokens = list(_tokens(llama, question))
    seconds = time.perf_counter() - started
    return {
        "token_ids": tokens,
        "seconds": seconds,
        "passes": llama.passes,
        "proposed": llama.evaluated - llama.passes,
    }


def _tokens(llama: CountingLlama, question: dict[str, Any]) -> Iterator[int]:
    vocab = llama_cpp.llama_model_get_vocab(llama.model)
    for made, token in enumerate(llama.generate(question["ids"], **question["sampling"]), 1):
        yield int(token)
        ended = llama_cpp.llama_vocab_is_eog(vocab, token) and not question["ignore_eos"]
        if ended or made == question["max_tokens"]:
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
