"""Measures how true the memory estimate is: against llama.cpp's own report, and against the growth of resident memory.

    python packaging/measure/memory.py
    python packaging/measure/memory.py --folder DIR --json OUT.json

Pads the built-in pair to several sizes of 400 MB and more, then loads each combination of model, context, cache type
and draft in a process of its own, without mmap, so that every byte is resident. Needs about 4 GB of free memory and of
free disk; takes a few minutes. Resident memory is read after passes that wake up all buffers.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil

from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import ModelMemory, estimate_memory
from engine.gguf.header import read_header
from engine.gguf.pad import make_padded
from engine.llama import library
from engine.llama.context import MAX_ROWS, ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.records import CacheType

MODELS = Path(__file__).resolve().parents[2] / "assets" / "models"
TARGET, DRAFT = MODELS / "paceline-tiny-target.gguf", MODELS / "paceline-tiny-draft.gguf"
# Parameters that the padded models have: about 440 MB, 880 MB and 1.3 GB as Q4_0; the draft about 60 MB.
TARGET_PARAMS = (800_000_000, 1_600_000_000, 2_400_000_000)
DRAFT_PARAMS = 100_000_000
LOG = "engine.llama.library"
_BUFFER = re.compile(r"(?:model|KV|RS|compute|output) buffer size = +([\d.]+) MiB")
MIB = 2**20


@dataclass(frozen=True)
class Case:
    """One combination; an empty ``draft`` is none."""

    target: str
    draft: str
    n_ctx: int
    cache_type: str


@dataclass(frozen=True)
class Row:
    """What one combination took, in bytes."""

    case: Case
    reported: float
    estimated_buffers: float
    resident_growth: float
    estimated_total: float

    @property
    def ratios(self) -> tuple[float, float]:
        """Estimate over llama.cpp's report, and over the growth of resident memory."""
        return self.estimated_buffers / self.reported, self.estimated_total / self.resident_growth


def cases(targets: list[Path], draft: Path) -> list[Case]:
    """Every model with two contexts and two cache types, with and without a draft: 24."""
    settings = [(2048, "f16"), (16384, "f16"), (8192, "q8_0"), (16384, "q4_0")]
    return [
        Case(str(target), str(drafting or ""), n_ctx, cache_type)
        for target in targets
        for drafting in (None, draft)
        for n_ctx, cache_type in settings
    ]


def measure(case: Case) -> Row:
    """Load it in this process; to be called once in a process."""
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
        sum(one.buffers_bytes for one in estimates),
        growth,
        sum(one.total.all_bytes for one in estimates),
    )


def tokens(path: Path) -> int:
    """Size of a model's vocabulary."""
    return read_header(path).arrays["tokenizer.ggml.tokens"].length


def read_all_into_memory() -> None:
    """Load models without mmap from here on: pages that are only mapped are not resident."""
    lib = library.start()
    usual = lib.llama_model_default_params

    def params() -> Any:  # noqa: ANN401
        changed = usual()
        changed.load_mode = lib.LLAMA_LOAD_MODE_NONE
        return changed

    lib.llama_model_default_params = params


def run(folder: Path) -> list[Row]:
    """Make the padded models where they are missing, and measure every case in a child."""
    draft = folder / "draft.gguf"
    targets = [folder / f"target-{number // 10**6}.gguf" for number in TARGET_PARAMS]
    for path, source, number in [*zip(targets, [TARGET] * 3, TARGET_PARAMS, strict=True), (draft, DRAFT, DRAFT_PARAMS)]:
        if not path.exists():
            make_padded(source, path, target_params=number, quantize=True)
    rows = []
    for case in cases(targets, draft):
        command = [sys.executable, __file__, "--case", json.dumps(asdict(case))]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        values = json.loads(output.strip().splitlines()[-1])
        row = Row(case, **{name: value for name, value in values.items() if name != "case"})
        rows.append(row)
        show(row)
    return rows


def show(row: Row) -> None:
    """Print one line."""
    case, (of_report, of_growth) = row.case, row.ratios
    what = f"{Path(case.target).stem:12} {'draft' if case.draft else '-':6} {case.n_ctx:6} {case.cache_type:5}"
    print(
        f"{what} told {row.reported / MIB:8.1f} MiB, estimated {row.estimated_buffers / MIB:8.1f} ({of_report:.3f}); "
        f"grew {row.resident_growth / MIB:8.1f} MiB, estimated {row.estimated_total / MIB:8.1f} ({of_growth:.3f})",
        flush=True,
    )


def main() -> int:
    """Measure; the status is 0 where every estimate is within a tenth of both."""
    parser = argparse.ArgumentParser(description="Compare the memory estimate with real loads.")
    parser.add_argument("--folder", type=Path, help="where the padded models are kept; default: a temporary folder")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(asdict(measure(Case(**json.loads(options.case))))))
        return 0
    with tempfile.TemporaryDirectory(prefix="paceline-memory-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = run(folder)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), "utf-8")
    worst = max(abs(ratio - 1) for row in rows for ratio in row.ratios)
    print(f"{len(rows)} combinations; the worst is off by {worst:.1%}.")
    return 0 if worst <= 0.1 else 1


if __name__ == "__main__":
    sys.exit(main())
