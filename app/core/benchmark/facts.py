"""Collects the facts that all answers of a measurement share: models, settings, machine, code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import engine
from app.core.benchmark.report import machine
from app.core.benchmark.runner import BenchmarkPlan
from engine.gguf.model_parts import all_parts
from engine.records import LoadRequest

_ENDS_BYTES = 1 << 20  # bytes at each end of a model file that its digest covers: header and last weights
_VARYING = ("python", "memory_bytes")  # facts that may change on one machine


def facts_in_common(load: LoadRequest, plan: BenchmarkPlan) -> dict[str, object]:
    """Models, settings, machine, llama.cpp's libraries and our code; without prompts, rounds and variants."""
    return {
        "target": _model_facts(load.target),
        "draft": _model_facts(load.draft) if load.draft else None,
        "loading": {name: value for name, value in asdict(load).items() if name not in ("target", "draft")},
        "sampling": {name: value for name, value in asdict(plan.sampling).items() if name != "temperature"},
        "answers": {"max_tokens": plan.max_tokens, "raw": plan.raw, "ignore_eos": plan.ignore_eos},
        "machine": {name: value for name, value in machine().items() if name not in _VARYING},
        "code_of_the_engine": _digest(sorted(Path(engine.__file__).parent.rglob("*.py"))),
    }


def program_facts(path: str) -> dict[str, object]:
    """Name and digest of a peer's program; the digest includes llama.cpp's libraries beside it."""
    program = Path(path).resolve()
    beside = {file.resolve() for name in ("*llama*.so*", "*ggml*.so*") for file in program.parent.glob(name)}
    return {"name": program.name, "digest": _digest((program, *sorted(beside)))}


def _model_facts(path: str) -> dict[str, object]:
    """Name, size, and a digest of both ends of the file; only the name if it is unreadable (loading reports why)."""
    digest, size = hashlib.sha256(), 0
    try:
        for part in all_parts(Path(path)):
            with part.open("rb") as file:
                digest.update(file.read(_ENDS_BYTES))
                part_size = file.seek(0, 2)
                file.seek(max(0, part_size - _ENDS_BYTES))
                digest.update(file.read())
                size += part_size
    except OSError:
        return {"name": Path(path).name}
    return {"name": Path(path).name, "size_bytes": size, "digest": digest.hexdigest()[:12]}


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]
