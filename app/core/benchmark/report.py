"""The data of a benchmark: machine, models, settings, rows, comparisons, every answer."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import psutil

import app
from app.core.benchmark.comparisons import NAMES, Comparison, compare
from app.core.benchmark.runs import BenchmarkRun
from app.core.benchmark.summary import Row, summarise
from engine.llama import library
from engine.records import EngineReady, ModelInfo


@dataclass(frozen=True, slots=True)
class Report:
    machine: dict[str, object]
    models: dict[str, object]
    settings: dict[str, object]
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    answers: tuple[BenchmarkRun, ...] = ()  # in the order of measurement

    def as_dict(self) -> dict[str, object]:
        """The report for JSON; each kind of comparison has its own key."""
        return {
            "machine": self.machine,
            "models": self.models,
            "settings": self.settings,
            "rows": [row.as_dict() for row in self.rows],
            **{name: [one.as_dict() for one in self.comparisons if one.name == name] for name in NAMES},
            "answers": [run.as_dict() for run in self.answers],
        }


def make_report(ready: EngineReady, settings: dict[str, object], runs: Sequence[BenchmarkRun]) -> Report:
    return Report(
        machine(),
        models(ready),
        settings,
        tuple(summarise(runs, seeded=settings.get("seed") is not None)),
        tuple(compare(runs)),
        tuple(runs),
    )


def machine() -> dict[str, object]:
    """The facts of this machine that affect speed, without personal data."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "processor": library.processor_name(),
        "cores": psutil.cpu_count(logical=False),
        "memory_bytes": psutil.virtual_memory().total,
        "llama_cpp": library.system_info().strip(),
        "llama_cpp_libraries": [one.description for one in library.loaded_libraries()],
        "paceline": app.__version__,
    }


def models(ready: EngineReady) -> dict[str, object]:
    draft = ready.draft or ready.own_head
    return {"target": _model(ready.target), "draft": _model(draft) if draft else None}


def _model(info: ModelInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "architecture": info.architecture,
        "num_params": info.num_params,
        "size_bytes": info.size_bytes,
        "n_ctx": info.n_ctx,
        "threads": info.threads,
        "gpu_layers": info.gpu_layers,
        "placement": asdict(info.placement),
        "inexact": info.inexact_reason,
        "keys": info.cache_type.value,
        "values": info.cache_type.value,
        "flash_attention": info.flash_attention.value,
    }
