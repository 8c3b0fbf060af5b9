"""Tests the header's model list, filled from a real library; choosing a row loads the model."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.paths import builtin_draft, builtin_target
from tests.app.controllers.models.place_steps import LEFT
from tests.app.core.hub.conftest import filled, harness, hub
from tests.app.fakes import AppHarness
from ui.widgets.choice_list import Choice

__all__ = ["filled", "harness", "hub"]  # fixtures


@pytest.fixture
def files(harness: AppHarness, tmp_path: Path) -> tuple[Path, Path]:
    """Copies of the built-in target and draft, added to the library."""
    target, draft = tmp_path / "mine" / "big.gguf", tmp_path / "mine" / "small.gguf"
    target.parent.mkdir()
    shutil.copy(builtin_target(), target)
    shutil.copy(builtin_draft(), draft)
    service = harness.controller.hub.service  # type: ignore[union-attr]
    for file in (target, draft):
        service.add(str(file))
    return target, draft


def rows_of(harness: AppHarness) -> tuple[Choice, ...]:
    return harness.window.header.picker.list.rows.rows


def keys_of(harness: AppHarness) -> list[str]:
    return [row.key for row in rows_of(harness)]


def take(harness: AppHarness, key: str) -> None:
    listing = harness.window.header.picker.list
    index = listing.model().index(keys_of(harness).index(key), 0)
    listing.scrollTo(index)
    QTest.mouseClick(listing.viewport(), LEFT, pos=listing.visualRect(index).center())


def test_the_librarys_models_are_listed_and_one_is_loaded_with_its_draft(
    harness: AppHarness, files: tuple[Path, Path], qtbot: QtBot
) -> None:
    target, draft = map(str, files)
    service = harness.controller.hub.service  # type: ignore[union-attr]
    service.record_use(target, draft)
    harness.window.header.open_models()
    qtbot.waitUntil(lambda: f"target:{target}" in keys_of(harness))
    row = next(row for row in rows_of(harness) if row.key == f"target:{target}")
    assert "Paceline tiny draft" in row.lines[0]
    num_before = len(harness.engine.loads)
    take(harness, f"target:{target}")
    qtbot.waitUntil(lambda: len(harness.engine.loads) > num_before)
    assert (harness.engine.loads[-1].target, harness.engine.loads[-1].draft) == (target, draft)


def test_only_what_can_draft_for_the_target_in_use_is_offered_as_its_draft(
    harness: AppHarness, files: tuple[Path, Path], qtbot: QtBot
) -> None:
    target, draft = map(str, files)
    harness.window.dialogs.file_chosen.emit(target, "target")
    harness.engine.ready(target, draft=None)
    qtbot.waitUntil(lambda: (view := harness.window.engine_view).target is not None and view.target.path == target)
    harness.window.header.open_models()
    qtbot.waitUntil(lambda: f"draft:{draft}" in keys_of(harness))
    assert f"draft:{target}" not in keys_of(harness)
    take(harness, f"draft:{draft}")
    qtbot.waitUntil(lambda: draft in harness.engine.drafts)


def test_what_was_opened_is_kept_with_its_draft_and_comes_back_with_it(
    harness: AppHarness, tmp_path: Path, qtbot: QtBot
) -> None:
    target, draft = tmp_path / "big.gguf", tmp_path / "small.gguf"
    shutil.copy(builtin_target(), target)
    shutil.copy(builtin_draft(), draft)
    service = harness.controller.hub.service  # type: ignore[union-attr]
    harness.engine.ready(str(target), str(draft))
    qtbot.waitUntil(lambda: service.draft_of(str(target)) == str(draft))
    used = {model.path: model.last_used for model in service.library.models()}
    assert used[target] is not None
    assert used[draft] is not None
    qtbot.waitUntil(lambda: harness.controller.state.pairs.get(str(target)) == str(draft))
    harness.window.dialogs.file_chosen.emit("models/other.gguf", "target")
    assert harness.engine.loads[-1].draft is None, "what was chosen for another target does not stay"
    harness.engine.ready("models/other.gguf", None)
    harness.window.dialogs.file_chosen.emit(str(target), "target")
    assert harness.engine.loads[-1].draft == str(draft)


def test_models_of_the_app_itself_are_not_kept(harness: AppHarness, qtbot: QtBot) -> None:
    service = harness.controller.hub.service  # type: ignore[union-attr]
    harness.engine.ready(str(builtin_target()), str(builtin_draft()))
    qtbot.waitUntil(lambda: not harness.controller.hub._jobs._threads)  # type: ignore[union-attr]
    assert not any(model.path == builtin_target() for model in service.library.models())
