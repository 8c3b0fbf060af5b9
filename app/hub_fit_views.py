"""From the engine's fit table to the one that is shown. Pure."""

from __future__ import annotations

from engine.fit import Verdict
from engine.fit_table import FitTable, ModelPlan, PairPlan
from ui import hub_records as views
from ui.hub_records import FitLevel, FitPart, FitPlace
from ui.language import mark, translate
from ui.problem_words import in_language

LEVELS = {Verdict.FITS: FitLevel.FITS, Verdict.TIGHT: FitLevel.TIGHT, Verdict.TOO_LARGE: FitLevel.TOO_LARGE}
_TIGHT_SHARE = 0.85

# What the engine's estimate names, as it is shown.
FIT_PARTS = (
    mark("FitParts", "Weights"),
    mark("FitParts", "Context"),
    mark("FitParts", "Compute buffers"),
    mark("FitParts", "Tokenizer and the rest"),
)


def fit_view(table: FitTable, pair: PairPlan) -> views.FitTable:
    """Rows of target and draft side by side, and each room with its verdict."""
    needed, room = table.needed, table.room
    places = [_memory(translate("HubFitViews", "Memory"), needed.main_bytes, room.main_bytes)]
    if room.gpu_bytes:
        places.append(_memory(translate("HubFitViews", "GPU memory"), needed.gpu_bytes, room.gpu_bytes))
    if needed.disk_bytes and room.disk_bytes is not None:
        level = FitLevel.TOO_LARGE if needed.disk_bytes > room.disk_bytes else FitLevel.FITS
        places.append(FitPlace(translate("HubFitViews", "Disk"), needed.disk_bytes, room.disk_bytes, level))
    return views.FitTable(
        n_ctx=pair.target.setup.n_ctx,
        parts=_parts(table, pair.draft),
        places=tuple(places),
        level=LEVELS[table.verdict],
        advice=tuple(in_language(change.sentence) for change in table.changes),
    )


def _parts(table: FitTable, draft: ModelPlan | None) -> tuple[FitPart, ...]:
    sizes: dict[str, dict[str, int]] = {}
    for row in table.rows:
        who, _, what = row.name.partition(": ")
        sizes.setdefault(what, {})[who] = row.main_bytes + row.gpu_bytes
    return tuple(
        FitPart(
            translate("FitParts", what[:1].upper() + what[1:]),
            by_side.get("Target"),
            by_side.get("Draft") if draft else None,
        )
        for what, by_side in sizes.items()
    )


def _memory(label: str, needed: int, free: int) -> FitPlace:
    level = FitLevel.TOO_LARGE if needed > free else FitLevel.FITS
    if level is FitLevel.FITS and needed > _TIGHT_SHARE * free:
        level = FitLevel.TIGHT
    return FitPlace(label, needed, free, level)
