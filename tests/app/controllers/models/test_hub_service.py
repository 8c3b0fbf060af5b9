"""Tests how information of hub, library and links is shown."""

from pathlib import Path
from typing import cast

from app.controllers.models.hub_service import HubService, file_rows, guess_fit, repo_fit
from app.core.domain.models import FileKind, Presence, RepoFile, RepoModel, RepoSummary
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue
from app.core.hub.library.library import Library
from app.core.hub.records import RepoDetails
from engine.records import FitLevel
from tests.engine.gguf_factory import tiny_llama
from tests.engine.vision_factory import write_pair
from ui.models.library_page import facts


def test_models_that_see_are_named_with_their_side_file(tmp_path: Path) -> None:
    """Only they: a projector without its model is none, and a deleted one is not named any more."""
    for name in ("seeing", "blind", "library"):
        (tmp_path / name).mkdir()
    pair = write_pair(tmp_path / "seeing", "llava")
    blind = tiny_llama().write(tmp_path / "blind" / "blind.gguf")
    library = Library(tmp_path / "library", tmp_path / "library.json")
    for path in (pair.model, blind):
        library.add(path)
    service = HubService(cast("HubClient", None), library, cast("DownloadQueue", None))
    seeing, other = sorted(service.library_rows("", ""), key=lambda row: not row.side_file)
    assert f"sees pictures with {pair.side.name}" in facts(seeing)
    assert "sees" not in facts(other)
    pair.side.unlink()
    assert not any(row.side_file for row in service.library_rows("", ""))


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
