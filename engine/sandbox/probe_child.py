"""The helper process that opens a model file for the first time: what crashes here harms nobody.

Checks the header, loads the weights, runs some tokens, and prints one JSON line: a report or an error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EngineError, ModelLoadError, NotEnoughMemoryError
from engine.fit.fit import all_parts_bytes, check_fit, estimate
from engine.gguf.hyperparameters import read_checked_header
from engine.gguf.model_parts import all_parts
from engine.llama import library
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.sandbox.limits import end_with_parent, limit_memory, quiet_crashes
from engine.sandbox.probe import ELSEWHERE
from engine.sentences import said, to_json

N_CTX = 64  # tokens; enough to run some
NUM_IN_A_PASS = 8  # fits the smallest context that a header may name
NUM_SAMPLED = 2000  # tokens whose texts are read again
ORDINARY = "Hello, 世界! <|im_start|>\n\t 123"
_ONE_FOR_EACH_FIRST_BYTE = (
    *range(1, 0x80),
    *range(0x80, 0x800, 0x40),
    0x800,
    *range(0x1000, 0x10000, 0x1000),
    0x10000,
    *range(0x40000, 0x110000, 0x40000),
)


def main(arguments: list[str]) -> int:
    """Open the file that ``arguments`` name; the status is 0 also where the answer is an error."""
    path, may_lie_elsewhere = Path(arguments[0]), ELSEWHERE in arguments[1:]
    return answer_as_json(lambda: {"report": examine(path, may_lie_elsewhere=may_lie_elsewhere)}, path.name)


def answer_as_json(work: Callable[[], dict[str, Any]], name: str) -> int:
    """Do the ``work`` of a helper process and print its answer, or its error, as one line."""
    end_with_parent()
    quiet_crashes()
    try:
        answer = work()
    except EngineError as error:
        answer = error_to_json(error)
    except MemoryError:
        answer = error_to_json(NotEnoughMemoryError(said("{name} needs more memory than it may.", name=name)))
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()
    return 0


def error_to_json(error: EngineError) -> dict[str, Any]:
    """What `engine.sandbox.probe.error_from_json` reads."""
    reported = {"message": to_json(error.message), "advice": to_json(error.advice)}
    return {"error": {"kind": type(error).__name__, **reported}}


def examine(path: Path, *, may_lie_elsewhere: bool = False) -> dict[str, Any]:
    """Open ``path`` and run some tokens; return the facts of a report.

    The file is mapped here, so that it is read through even where the main memory could not hold it.

    Raises:
        EngineError: it cannot be used; the message says why.
    """
    header = read_checked_header(path)
    whole = [all_parts_bytes(path, header)]
    if not may_lie_elsewhere:
        check_fit([header], N_CTX, weights_bytes=whole)
    num_bytes = sum(part.stat().st_size for part in all_parts(path))
    limit_memory(estimate([header], N_CTX, weights_bytes=whole).needed_bytes + 2 * num_bytes)
    with LlamaModel(path, repack=False) as model:
        facts = {
            "architecture": model.architecture,
            "name": model.name,
            "num_params": model.num_params,
            "size_bytes": model.size_bytes,
            "n_ctx_train": model.n_ctx_train,
            "n_vocab": model.vocab.n_vocab,
            "has_template": model.chat_template is not None,
            "is_recurrent": model.is_recurrent,
        }
        model.check_writes_text()
        _run_passes(model, _try_vocabulary(model))
    return facts


def _run_passes(model: LlamaModel, ids: list[int]) -> None:
    """Run one token, and then several: other kernels compute those, and a position of 0 hides what is turned by it."""
    params = ContextParams(N_CTX, library.default_threads(model.num_params))
    with LlamaContext(model, params) as context:
        for some in ([model.vocab.bos_id or 0], ids[:NUM_IN_A_PASS]):
            if some and not np.isfinite(context.forward(some, 1)).all():
                raise ModelLoadError(
                    said("{path} is damaged: its first passes gave numbers that are not finite.", path=model.path.name)
                )


def _try_vocabulary(model: LlamaModel) -> list[int]:
    """Use every function of the vocabulary that the program uses later: each reads lists of the file.

    The ids of an ordinary text. Every first byte that a text can have is tried by itself, and so are the texts of
    tokens from all over it.

    Raises:
        ModelLoadError: it has no token for any of an ordinary text.
    """
    vocab = model.vocab
    ordinary = vocab.tokenize(ORDINARY, special=False)
    if not ordinary:
        raise ModelLoadError(
            said("{path} has no tokens for ordinary text, so no prompt would reach it.", path=model.path.name)
        )
    ids = vocab.tokenize(ORDINARY, special=True, add_bos=True)
    for code in _ONE_FOR_EACH_FIRST_BYTE:
        ids += vocab.tokenize(chr(code), special=False)
    sample = "\n".join(map(vocab.token_text, range(0, vocab.n_vocab, vocab.n_vocab // NUM_SAMPLED + 1)))
    for special in (False, True):
        ids += vocab.tokenize(sample, special=special)
    for token_id in {*ids, *range(min(vocab.n_vocab, 300)), vocab.n_vocab - 1}:
        vocab.piece(token_id)
        vocab.token_text(token_id)
    return ordinary
