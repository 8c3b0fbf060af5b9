"""For a target without a draft, a local draft that speeds it up is suggested once, with a button."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.speed.pair_speed import RaceSpeed
from app.core.paths import builtin_draft, builtin_target, find_paths
from app.core.storage.pair_speeds import PairSpeeds
from tests.app.core.hub.pairs.test_speed_forecasts import keep_passes
from tests.app.fakes import AppHarness

WAIT_MS = 60_000


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A user's model with the built-in vocabulary."""
    return Path(shutil.copy(builtin_target(), tmp_path / "mine.gguf"))


def opened(harness: AppHarness, target: Path, draft: str | None = None) -> None:
    harness.window.dialogs.file_chosen.emit(str(target), "target")
    harness.engine.ready(str(target), draft)


def pays(target: Path, draft_ms: float) -> None:
    """Store measured passes of the target, and of a draft with this cost."""
    keep_passes(find_paths().cache, target, 4.0)
    keep_passes(find_paths().cache, builtin_draft(), draft_ms)


def jobs_done(harness: AppHarness, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: harness.controller.hub._jobs.is_idle)
    qtbot.wait(50)


def test_a_draft_of_the_library_is_suggested_with_what_it_gains(
    harness: AppHarness, qtbot: QtBot, target: Path, tmp_path: Path
) -> None:
    draft = shutil.copy(builtin_draft(), tmp_path / "small.gguf")
    pays(target, 0.2)
    harness.controller.hub.service.add(str(draft))
    opened(harness, target)
    banner = harness.window.notice_banner
    qtbot.waitUntil(lambda: not banner.action_button.isHidden())
    assert "Paceline tiny draft" in banner.message.text()
    assert "× that with drafting" in banner.message.text()
    qtbot.mouseClick(banner.action_button, Qt.MouseButton.LeftButton)
    assert harness.engine.drafts == [str(draft)]
    assert banner.isHidden()


@pytest.mark.parametrize("why", ["dear", "measured slower", "nothing known"])
def test_what_is_not_worth_it_is_not_offered(
    harness: AppHarness, qtbot: QtBot, target: Path, tmp_path: Path, why: str
) -> None:
    draft = Path(shutil.copy(builtin_draft(), tmp_path / "small.gguf"))
    if why != "nothing known":
        pays(target, 3.6 if why == "dear" else 0.2)
    if why == "measured slower":
        race = RaceSpeed(1.0, "auto", 0.0, 0.96, 0.93, 0.98, 3)
        PairSpeeds(find_paths().pair_speeds_file).add_race(target.stem, draft.stem, race)
    harness.controller.hub.service.add(str(draft))
    opened(harness, target)
    jobs_done(harness, qtbot)
    assert harness.window.notice_banner.action_button.isHidden()


@pytest.mark.parametrize("then", ["draft", "target", "demo", "away", "loading"])
def test_it_goes_with_what_it_was_said_of(
    harness: AppHarness, qtbot: QtBot, target: Path, tmp_path: Path, then: str
) -> None:
    pays(target, 0.2)
    draft = shutil.copy(builtin_draft(), tmp_path / "small.gguf")
    opened(harness, target)
    banner = harness.window.notice_banner
    qtbot.waitUntil(lambda: not banner.action_button.isHidden())
    if then == "draft":
        harness.engine.ready(str(target), str(draft))
    elif then == "target":
        harness.engine.ready(str(tmp_path / "other.gguf"), None)
    elif then == "demo":
        harness.engine.ready(str(builtin_target()), str(builtin_draft()))
    elif then == "away":
        harness.controller.hub.models_loaded(None)
    else:
        harness.window.dialogs.file_chosen.emit(str(tmp_path / "other.gguf"), "target")
    qtbot.waitUntil(lambda: banner.isHidden() or "can draft" not in banner.message.text())


def test_it_is_suggested_once(harness: AppHarness, qtbot: QtBot, target: Path, tmp_path: Path) -> None:
    pays(target, 0.2)
    harness.controller.hub.service.add(shutil.copy(builtin_draft(), tmp_path / "small.gguf"))
    opened(harness, target)
    banner = harness.window.notice_banner
    qtbot.waitUntil(lambda: not banner.action_button.isHidden())
    banner.hide()
    opened(harness, target)
    jobs_done(harness, qtbot)
    assert banner.action_button.isHidden() or banner.isHidden()
