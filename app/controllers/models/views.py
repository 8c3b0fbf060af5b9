"""Makes view records of the Models panel from records of hub, downloads, library and memory estimate."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from app.core.domain import models as views
from app.core.domain.models import (
    DownloadRequest,
    FileKind,
    FileRow,
    LibraryRow,
    LinkView,
    MemoryPart,
    MemoryPlace,
    ModelRef,
    Presence,
    RepoModel,
    RepoSummary,
)
from app.core.hub.records import LibraryModel, Origin, RepoDetails
from app.core.hub.remote_header import KnownModel
from engine.fit.fit import judge
from engine.fit.table import FitTable, ModelPlan, PairPlan
from engine.gguf.title import model_title
from engine.records import FitLevel
from ui.text.formatting import parameters
from ui.text.language import Translator, mark, translate
from ui.text.problem_words import in_language

tr = Translator("HubViews")


# Parts of the memory estimate, and their labels.
FIT_PARTS = (
    mark("FitParts", "Weights"),
    mark("FitParts", "Context"),
    mark("FitParts", "Compute buffers"),
    mark("FitParts", "Tokenizer and the rest"),
    mark("FitParts", "Encoder for pictures"),
)
# 4.8 bits per parameter, as in usual files of the hub: search results have no sizes.
_USUAL_BYTES_PER_PARAMETER = 0.6
# A rough factor for caches, compute buffers and tables beyond the weights, until the header is read.
_OVERHEAD_FACTOR, _OVERHEAD_BYTES = 1.08, 500 * 10**6


def guess_fit(weights_bytes: float | None, free_bytes: int) -> FitLevel:
    """A first verdict from the size of the weights."""
    if weights_bytes is None or weights_bytes <= 0:
        return FitLevel.UNKNOWN
    needed = weights_bytes * _OVERHEAD_FACTOR + _OVERHEAD_BYTES
    return judge(round(needed), free_bytes)


def leaves_room(weights_bytes: int, free_bytes: int) -> bool:
    """True if weights of this size take at most half of the free memory."""
    return weights_bytes * _OVERHEAD_FACTOR + _OVERHEAD_BYTES <= free_bytes / 2


def repo_fit(summary: RepoSummary, free_bytes: int) -> FitLevel:
    """A first verdict: search results have no sizes."""
    weights = summary.num_parameters * _USUAL_BYTES_PER_PARAMETER if summary.num_parameters else None
    return guess_fit(weights, free_bytes)


def file_row(repo: str, model: RepoModel, presence: Presence, free_bytes: int) -> FileRow:
    return FileRow(
        ref=ModelRef(repo, model.files[0].path),
        kind=model.kind,
        label=model.quantization if model.kind.runs_alone else "",
        size_bytes=model.size_bytes,
        num_parts=len(model.files),
        fit=guess_fit(model.size_bytes, free_bytes),
        presence=presence,
    )


def file_rows(details: RepoDetails, presences: Mapping[str, Presence], free_bytes: int) -> tuple[FileRow, ...]:
    """The files of a repository; ``presences``: where each file is, by path."""
    repo = details.summary.repo_id
    rows = [
        file_row(repo, model, presences.get(model.files[0].path, Presence.ABSENT), free_bytes)
        for model in details.models
    ]
    labels = Counter(row.label for row in rows)
    names = {model.files[0].path: model.name for model in details.models}
    # In a repository with several models the quantization is no unique label.
    rows = [replace(row, label=names[row.ref.file]) if row.label and labels[row.label] > 1 else row for row in rows]
    return tuple(sorted(rows, key=lambda row: (row.kind is not FileKind.MODEL, row.size_bytes or 0)))


def library_row(
    model: LibraryModel, target: str, draft: str, architecture: str, title: str = "", side_file: str = ""
) -> LibraryRow:
    """A library row; ``target`` and ``draft`` are the files in use, ``title`` the header's name."""
    path = str(model.path)
    return LibraryRow(
        key=model.name,
        path=path,
        name=title or Path(model.name).name,
        size_bytes=model.size_bytes,
        architecture=architecture,
        quantization=model.quantization,
        last_used=model.last_used.astimezone() if model.last_used else None,
        paired_with=Path(model.draft).name if model.draft else "",
        in_place=model.origin is Origin.IN_PLACE,
        missing=model.missing,
        in_use="target" if path == target else "draft" if path == draft else "",
        licence=model.licence,
        source=model.source or model.repo_id,
        side_file=side_file,
    )


def link_view(request: DownloadRequest, known: KnownModel, hosts: tuple[str, ...], free_bytes: int) -> LinkView:
    header = known.header
    facts = [header.architecture, request.model.quantization]
    if header.num_params:
        facts.insert(1, parameters(header.num_params))
    return LinkView(
        url=request.url,
        name=model_title(header.metadata, request.model.name, header.num_params),
        facts=" · ".join(fact for fact in facts if fact),
        size_bytes=known.size_bytes,
        num_parts=known.num_parts,
        hosts=hosts,
        fit=guess_fit(known.size_bytes if known.num_parts == 1 else None, free_bytes),
    )


def fit_view(table: FitTable, pair: PairPlan) -> views.FitSummary:
    """Rows of target and draft side by side, and the verdict on each memory."""
    needed, room = table.needed, table.free
    places = [_memory(translate("HubFitViews", "Memory"), needed.main_bytes, room.main_bytes)]
    if len(room.devices) > 1:
        used = zip(needed.devices_bytes, room.devices, strict=False)
        places.extend(_memory(name, taken, free) for taken, (name, free) in used if taken)
    elif room.gpu_bytes:
        places.append(_memory(translate("HubFitViews", "GPU memory"), needed.gpu_bytes, room.gpu_bytes))
    if table.disk_bytes and room.disk_bytes is not None:
        level = FitLevel.TOO_LARGE if table.lacks_disk else FitLevel.FITS
        places.append(MemoryPlace(translate("HubFitViews", "Disk"), table.disk_bytes, room.disk_bytes, level))
    return views.FitSummary(
        n_ctx=pair.target.setup.n_ctx,
        parallel=pair.target.setup.num_answers,
        parts=_parts(table, pair.draft),
        places=tuple(places),
        level=table.verdict,
        advice=tuple(map(in_language, table.changes)),
    )


def _parts(table: FitTable, draft: ModelPlan | None) -> tuple[MemoryPart, ...]:
    sizes: dict[str, dict[str, int]] = {}
    for row in table.rows:
        sizes.setdefault(row.part, {})[row.role] = row.memory.all_bytes
    return tuple(
        MemoryPart(
            translate("FitParts", what[:1].upper() + what[1:]),
            by_side.get("Target"),
            by_side.get("Draft") if draft else None,
        )
        for what, by_side in sizes.items()
    )


def _memory(label: str, needed: int, free: int) -> MemoryPlace:
    return MemoryPlace(label, needed, free, judge(needed, free))
