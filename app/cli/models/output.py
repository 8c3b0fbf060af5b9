"""Repositories, models and downloads as tables and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from app.cli.output import counted_text, table
from app.core.domain.models import Download, DownloadStatus, FileKind, Gated, Offer, RepoModel, RepoSummary
from app.core.hub.records import LibraryModel, RepoDetails
from engine.pictures.side_file import find_side_file

MAX_QUANTIZATIONS = 6
NO_MODEL = "There is no model in it yet. `paceline models pull small` gets a small one; see also `search` and `import`."
_GATED = {
    Gated.AUTOMATIC: "its terms must be accepted first",
    Gated.MANUAL: "its publisher must approve your request first",
}


def as_dict(record: Any) -> Any:  # noqa: ANN401 (any record, any value in it)
    """A record as JSON: its fields and computed sizes."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        facts = {column.name: as_dict(getattr(record, column.name)) for column in dataclasses.fields(record)}
        return {**facts, "size_bytes": record.size_bytes} if isinstance(record, RepoModel) else facts
    if isinstance(record, Enum):
        return record.value
    if isinstance(record, tuple | list):
        return [as_dict(entry) for entry in record]
    if isinstance(record, Path):
        return str(record)
    return record.isoformat() if isinstance(record, datetime) else record


def size_words(size_bytes: int | None) -> str:
    """A size for people; a dash if it is unknown."""
    if size_bytes is None:
        return "-"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes} B"


def repo_row(summary: RepoSummary) -> tuple[str, ...]:
    """One line of search results."""
    some = summary.quantizations[:MAX_QUANTIZATIONS]
    more = "…" if len(summary.quantizations) > len(some) else ""
    return (
        summary.repo_id + (" (gated)" if summary.gated else ""),
        "-" if summary.downloads is None else f"{summary.downloads:,}",
        summary.licence or "-",
        "-" if summary.updated is None else summary.updated.date().isoformat(),
        " ".join(some) + more or "-",
    )


def show_text(details: RepoDetails, url: str) -> str:
    summary = details.summary
    facts = [summary.architecture, f"licence {summary.licence or 'not named'}"]
    if summary.downloads is not None:
        facts.append(counted_text(summary.downloads, "download", "downloads"))
    lines = [f"{summary.repo_id}  {url}", " · ".join(filter(None, facts))]
    if summary.gated:
        lines.append(f"Gated: {_GATED[summary.gated]}.")
    rows = [("model", "kind", "quantization", "size", "files"), *map(_model_row, details.models)]
    return "\n".join([*lines, "", table(rows) if details.models else "There is no GGUF file in it."])


def side_name(model: LibraryModel) -> str:
    """The name of the vision side file (mmproj); empty if there is none."""
    side = find_side_file(model.path) if model.kind is FileKind.MODEL and not model.missing else None
    return side.name if side is not None else ""


def list_text(models: Sequence[LibraryModel], offers: Sequence[Offer], folder: Path) -> str:
    lines = [f"Library: {folder}"]
    rows = [
        (
            model.name,
            _kind(model.kind),
            size_words(model.size_bytes),
            _where(model),
            model.draft and f"draft: {model.draft}",
            (side := side_name(model)) and f"sees pictures with {side}",
        )
        for model in models
    ]
    lines.append(table(rows) if rows else NO_MODEL)
    if offers:
        lines += ["", "Found in other programs, to be added with `paceline models import PATH`:"]
        lines.append(table((o.name, size_words(o.size_bytes), o.found_in, str(o.files[0])) for o in offers))
    return "\n".join(lines)


def progress_line(state: Download) -> str:
    name = state.request.model.name
    if state.status is DownloadStatus.WAITING:
        return f"{name}: {state.message} Attempt {state.attempt + 1} follows."
    if state.status is not DownloadStatus.RUNNING:
        return f"{name}: {state.status.value}"
    parts = [f"{size_words(state.done_bytes)} of {size_words(state.size_bytes)}"]
    if state.bytes_per_s:
        parts.append(f"{size_words(int(state.bytes_per_s))}/s")
    if state.seconds_left is not None:
        minutes, seconds = divmod(round(state.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02d} left")
    return f"{name}: {' · '.join(parts)}"


def _model_row(model: RepoModel) -> tuple[str, ...]:
    files = f"{len(model.files)}" + (f", {model.missing_shards} missing" if model.missing_shards else "")
    return model.name, _kind(model.kind), model.quantization or "-", size_words(model.size_bytes), files


def _kind(kind: FileKind) -> str:
    return kind.value


def _where(model: LibraryModel) -> str:
    return "missing" if model.missing else model.source or model.repo_id or model.origin.value
