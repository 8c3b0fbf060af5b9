"""Loads models without mmap in a separate process, and prints measured and estimated memory.

python tests/engine/fit/memory_child.py JSON takes a `Case`, prints a `Row`

Resident memory is read after passes that have used all buffers.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import psutil

from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import ModelMemory, estimate_memory
from engine.gguf.header import read_header
from engine.llama import library
from engine.llama.context import MAX_ROWS, ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.records import CacheType

LOG = "engine.llama.library"
_BUFFER = re.compile(r"(?:model|KV|RS|compute|output) buffer size = +([\d.]+) MiB")
MIB = 2**20


@dataclass(frozen=True)
class Case:
    """A combination to measure; an empty ``draft`` means none."""

    target: str
    draft: str
    n_ctx: int
    cache_type: str


@dataclass(frozen=True)
class Row:
    """Memory of one combination, in bytes."""

    case: Case
    reported: float
    estimated_buffers: float
    resident_growth: float
    estimated_total: float


def measure(case: Case) -> Row:
    """Load the models in this process and measure. May be called only once per process."""
    lines: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logging.getLogger(LOG).addHandler(Listener())
    logging.getLogger(LOG).setLevel(logging.DEBUG)
    read_all_into_memory()
    setup = CacheSetup(case.n_ctx, case.cache_type, case.cache_type)
    paths = [Path(path) for path in (case.target, case.draft) if path]
    estimates: list[ModelMemory] = [estimate_memory(read_header(path), setup) for path in paths]
    process = psutil.Process()
    before = process.memory_info().rss
    for path in paths:
        model = LlamaModel(path)
        params = ContextParams(case.n_ctx, 1, cache_type=CacheType(case.cache_type))
        context = LlamaContext(model, params)
        context.forward([1] * 128, MAX_ROWS)
        context.forward([1] * 128, MAX_ROWS)
    growth = process.memory_info().rss - before
    outputs = sum(MAX_ROWS * tokens(path) * 4 for path in paths)
    reported = sum(float(size) for line in lines for size in _BUFFER.findall(line)) * MIB + outputs
    return Row(
        case,
        reported,
        sum((one.weights + one.cache + one.compute).all_bytes for one in estimates),
        growth,
        sum(one.total.all_bytes for one in estimates),
    )


def tokens(path: Path) -> int:
    """Size of a model's vocabulary."""
    return read_header(path).arrays["tokenizer.ggml.tokens"].length


def read_all_into_memory() -> None:
    """Disable mmap for later loads: mapped pages need not be resident."""
    lib = library.start()
    usual = lib.llama_model_default_params

    def params() -> Any:  # noqa: ANN401
        changed = usual()
        changed.load_mode = lib.LLAMA_LOAD_MODE_NONE
        return changed

    lib.llama_model_default_params = params


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(measure(Case(**json.loads(sys.argv[1]))))) + "\n")
