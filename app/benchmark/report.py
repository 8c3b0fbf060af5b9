"""A benchmark as JSON and as Markdown: machine, models, rows. Knows no measuring."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import psutil

import app
from app.benchmark.summary import ALL, Row
from engine.llama import library
from engine.records import EngineReady, ModelInfo


def machine() -> dict[str, object]:
    """What this machine is, as far as speed depends on it; no names of people or places."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": psutil.cpu_count(logical=False),
        "memory_bytes": psutil.virtual_memory().total,
        "llama_cpp": library.system_info().strip(),
        "paceline": app.__version__,
    }


def models(ready: EngineReady) -> dict[str, object]:
    """The pair that was measured."""
    return {"target": _model(ready.target), "draft": _model(ready.draft) if ready.draft else None}


def as_json(ready: EngineReady, settings: dict[str, object], rows: Sequence[Row]) -> dict[str, object]:
    """The whole report."""
    return {
        "machine": machine(),
        "models": models(ready),
        "settings": settings,
        "rows": [row.as_dict() for row in rows],
    }


def as_markdown(rows: Sequence[Row]) -> str:
    """A table for each temperature: the speed-up of every mode and depth over plain, by category."""
    lines: list[str] = []
    for temperature in dict.fromkeys(row.temperature for row in rows):
        lines += [f"### T = {temperature:g}", "", _HEAD, _RULE]
        lines += [_line(row) for row in rows if row.temperature == temperature]
        lines.append("")
    return "\n".join(lines)


_HEAD = "| workload | mode | depth | tokens/s | over plain (95 %) | tokens per pass | accepted | p50 ms | p95 ms |"
_RULE = "|---|---|---|---:|---:|---:|---:|---:|---:|"


def _line(row: Row) -> str:
    paced = "-" if row.mode == "off" else "paced"
    cells = (
        f"**{row.category}**" if row.category == ALL else row.category,
        row.mode,
        paced if row.depth is None else str(row.depth),
        _figure(row.tokens_per_second, 1),
        f"{_figure(row.speedup, 2)} ({_figure(row.speedup_low, 2)}-{_figure(row.speedup_high, 2)})",
        _figure(row.tokens_per_pass, 2),
        "-" if row.acceptance_rate is None else f"{row.acceptance_rate * 100:.0f} %",
        _figure(row.inter_token_ms_p50, 1),
        _figure(row.inter_token_ms_p95, 1),
    )
    return f"| {' | '.join(cells)} |"


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _model(info: ModelInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "architecture": info.architecture,
        "num_params": info.num_params,
        "size_bytes": info.size_bytes,
        "n_ctx": info.n_ctx,
        "threads": info.threads,
        "gpu_layers": info.gpu_layers,
    }
