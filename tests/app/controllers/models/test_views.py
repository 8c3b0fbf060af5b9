"""Tests how information of hub, downloads and library is shown."""

import pytest

from app.controllers.models.views import file_rows, fit_view, guess_fit, link_view, repo_fit
from app.core.domain.models import FileKind, Presence, RepoFile, RepoModel, RepoSummary
from app.core.hub.links import request_of
from app.core.hub.records import RepoDetails
from app.core.hub.remote_header import read_local_header
from app.core.paths import builtin_target
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import MemoryBytes
from engine.fit.table import FitRow, FitTable, FreeMemory, ModelPlan, PairPlan
from engine.records import FitLevel

GB = 10**9

REPO = "owner/name-GGUF"


def remote(name: str, size: int | None = GB, kind: FileKind = FileKind.MODEL, quantization: str = "Q8_0") -> RepoModel:
    return RepoModel(name, kind, (RepoFile(f"{name}.gguf", size),), quantization)


def test_a_guess_from_the_size_alone() -> None:
    assert guess_fit(None, 8 * GB) is FitLevel.UNKNOWN
    assert guess_fit(4 * GB, 8 * GB) is FitLevel.FITS
    assert guess_fit(6.5 * GB, 8 * GB) is FitLevel.TIGHT
    assert guess_fit(8 * GB, 8 * GB) is FitLevel.TOO_LARGE


def test_a_result_is_judged_by_its_number_of_weights() -> None:
    assert repo_fit(RepoSummary(REPO, num_parameters=8 * 10**9), 4 * GB) is FitLevel.TOO_LARGE
    assert repo_fit(RepoSummary("a/Alpha", num_parameters=10**9), 4 * GB) is FitLevel.FITS
    assert repo_fit(RepoSummary("b/beta"), 4 * GB) is FitLevel.UNKNOWN


def test_models_of_one_quantization_differ_and_side_files_are_last() -> None:
    models = (
        remote("mmproj-x", 10, FileKind.MMPROJ, "F16"),
        remote("big", 5 * GB, quantization="Q4_K_M"),
        remote("first", 2 * GB),
        remote("second", GB),
    )
    files = file_rows(RepoDetails(RepoSummary(REPO), models), {"big.gguf": Presence.HERE}, 16 * GB)
    assert [file.label for file in files] == ["second", "first", "Q4_K_M", ""]
    assert [file.presence for file in files][2] is Presence.HERE
    assert files[-1].kind is FileKind.MMPROJ


def test_a_fit_table_stands_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (
        FitRow("Target", "weights", MemoryBytes(4 * GB, (GB,))),
        FitRow("Target", "context", MemoryBytes(GB)),
        FitRow("Draft", "weights", MemoryBytes(GB)),
    )
    table = FitTable(rows, FreeMemory(6 * GB, 2 * GB, 4 * GB), 5 * GB, ("Choose a context of 4,096 tokens.",))
    plan = ModelPlan(header=None, setup=CacheSetup(8192))  # type: ignore[arg-type]
    shown = fit_view(table, PairPlan(plan, plan))
    assert [(part.label, part.target_bytes, part.draft_bytes) for part in shown.parts] == [
        ("Weights", 5 * GB, GB),
        ("Context", GB, None),
    ]
    assert [(place.label, place.level) for place in shown.places] == [
        ("Memory", FitLevel.TIGHT),
        ("GPU memory", FitLevel.FITS),
        ("Disk", FitLevel.TOO_LARGE),
    ]
    assert shown.level is FitLevel.TOO_LARGE
    assert shown.advice == ("Choose a context of 4,096 tokens.",)
    assert shown.n_ctx == 8192


def test_a_link_is_judged_by_its_header_and_by_the_memory() -> None:
    known = read_local_header(builtin_target())
    request = request_of("https://h.example/tiny-Q8_0.gguf")
    view = link_view(request, known, ("h.example",), 10**12)
    assert view.facts.startswith("llama · ")
    assert view.facts.endswith(" · Q8_0")
    assert (view.fit, view.size_bytes) == (FitLevel.FITS, builtin_target().stat().st_size)
    assert link_view(request, known, ("h.example",), 10).fit is FitLevel.TOO_LARGE
