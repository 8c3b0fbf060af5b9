"""Tests recommended pairs by their listed sizes: they fit in memory and, unless downloaded, on the disk."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.models.recommendations import Recommendations
from app.core.domain.models import Drafting, Suitability
from app.core.hub.errors import HubUnreachableError
from app.core.paths import assets_dir, builtin_draft, builtin_target
from engine.fit.fit import FreeMemory
from engine.records import FitLevel
from tests.app.controllers.models.place_steps import (
    DRAFT_FILE,
    DRAFT_REPO,
    REPO,
    TARGET_FILE,
    click,
    place_of,
    texts_of,
)
from tests.app.core.hub.conftest import filled, harness, hub
from tests.app.fakes import AppHarness

__all__ = ["filled", "harness", "hub"]  # fixtures

GB = 1_000_000_000


def recommended(
    free_disk: int | None,
    path: str = "",
    gb_per_s: float | None = None,
    free_memory: int = 60 * GB,
    gpu_bytes: int = 0,
) -> Recommendations:
    """The recommendations for a machine with much memory; ``path``: the path of every model, or empty."""
    judge: Any = SimpleNamespace(
        free_memory=lambda: FreeMemory(free_memory, gpu_bytes, free_disk),
        service=SimpleNamespace(path_of=lambda _ref: path),
    )
    return Recommendations(assets_dir() / "catalog.toml", judge, lambda: gb_per_s and gb_per_s * GB)


@pytest.mark.parametrize(("free_disk", "some"), [(0, False), (5_000_000, False), (500 * GB, True), (None, True)])
def test_what_has_no_room_on_the_disk_is_not_suggested(free_disk: int | None, some: bool) -> None:
    found = recommended(free_disk)
    assert any(row.fit is FitLevel.FITS for row in found.rows()) is some


def test_what_fits_a_gpu_is_fast_without_a_measurement() -> None:
    rows = recommended(500 * GB, gb_per_s=20.0, free_memory=21 * GB, gpu_bytes=24 * GB).rows()
    best = max(rows, key=lambda row: row.preference)
    assert (best.suits, best.tokens_per_s) == (Suitability.FAST, None)
    assert best.pair.target.size_bytes is not None
    assert 10 * GB < best.pair.target.size_bytes < 24 * GB


@pytest.mark.parametrize(
    ("gb_per_s", "free_memory", "first"),
    [
        (26.0, 21 * GB, "smollm2-1.7b"),  # models that reason, or are slower than reading speed, do not come first
        (41.0, 21 * GB, "gemma-3-4b"),
        (41.0, 5 * GB, "smollm2-1.7b"),  # half of the memory stays free
        (400.0, 21 * GB, "gemma-3-12b"),
        (1000.0, 60 * GB, "qwen3.6-35b-a3b"),
    ],
)
def test_what_is_offered_first_runs_well_here(gb_per_s: float, free_memory: int, first: str) -> None:
    found = recommended(500 * GB, gb_per_s=gb_per_s, free_memory=free_memory)
    best = max(found.rows(), key=lambda row: row.preference)
    assert best.key == first
    assert best.suits >= Suitability.WELL
    assert (best.pair.missing_bytes or 0) < free_memory / 2


def test_what_is_here_needs_no_disk() -> None:
    assert any(row.fit is FitLevel.FITS for row in recommended(0, "/models/here.gguf").rows())


def test_why_a_pair_could_not_be_checked_is_reported_once() -> None:
    def unreachable(_repo: str) -> None:
        raise HubUnreachableError("There is no network.")

    found = recommended(500 * GB)
    found._judge.service.client = SimpleNamespace(details=unreachable)  # type: ignore[assignment]
    row = found.open(found.pairs()[0].key, lambda: False)
    assert row.pair.match_words == "It could not be checked: There is no network."
    assert row.checked == ""


def test_what_drafts_is_shown_as_it_is_listed() -> None:
    rows = {row.key: row.pair for row in recommended(500 * GB).rows()}
    head = rows["gpt-oss-20b"]
    assert (head.drafting, head.draft and head.draft.name) == (Drafting.SIDE_FILE, "eagle3-gpt-oss-20b-Q8_0")
    assert (rows["qwen3.8-27b"].drafting, rows["qwen3.8-27b"].draft) == (Drafting.HEADS_INSIDE, None)
    assert (rows["glm-4.7-flash"].drafting, rows["glm-4.7-flash"].draft) == (Drafting.TEXT, None)
    assert rows["qwen3-8b"].draft is not None


LISTED = """\
format = 2

[[pair]]
key = "tiny"
name = "Tiny"
family = "tiny"
good_for = "tests"
drafting = "draft model"
verified = false
"""


def listed(file: Path, **sizes: int) -> None:
    """Write a list with the one pair that the tests' hub has."""
    text = LISTED
    for part, repo, name in (("target", REPO, TARGET_FILE), ("draft", DRAFT_REPO, DRAFT_FILE)):
        text += f'[pair.{part}]\nrepo = "{repo}"\nfile = "{name}"\nquantization = "Q8_0"\nlicence = "mit"\n'
        text += f"size_bytes = {sizes[part]}\n"
    file.write_text(text, "utf-8")


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a list that replaces the bundled one."""
    file = tmp_path / "catalog.toml"
    listed(file, target=builtin_target().stat().st_size, draft=builtin_draft().stat().st_size)
    monkeypatch.setattr("app.controllers.models.pairs.CATALOG_FILE", str(file))
    return file


def test_a_list_that_is_damaged_is_told_and_can_be_asked_for_again(
    harness: AppHarness, catalog: Path, qtbot: QtBot
) -> None:
    whole = catalog.read_text("utf-8")
    catalog.write_text(whole.replace("draft model", "magic"), "utf-8")
    harness.window.models.open("recommended")
    page = place_of(harness).recommended
    qtbot.waitUntil(lambda: "catalog.toml" in " ".join(texts_of(page.empty)))
    catalog.write_text(whole, "utf-8")
    click(page.empty, "Try again", qtbot)
    qtbot.waitUntil(lambda: page.list.rows.rowCount() > 0)
