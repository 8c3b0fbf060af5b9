"""Gives every test its own folders, needs no display, and makes tests independent of a busy machine."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from pytestqt.qtbot import QtBot

from tests.garbage import collect_some
from tests.long_form import LONG
from tests.waiting import PATIENCE_S

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QWidget

PATIENCE_MS = round(1000 * PATIENCE_S)
STEP_S = 0.0002  # duration of one step of sliced work on a fast CPU
FIRST_PAUSES_MS = (0, 1, 1, 2, 3, 5)  # first polling intervals of a condition; pytest-qt uses ten milliseconds

hypothesis.settings.register_profile(
    "paceline",
    deadline=None,
    # CI must give the same result twice.
    derandomize=bool(os.environ.get("CI")) and not LONG,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("paceline")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Background jobs of a shell ignore SIGINT, and those of nohup SIGHUP; child processes of the tests would inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if os.name == "posix" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# These take minutes. Started last, they would leave the other cores idle at the end.
LONGEST = (
    "packaging/measure/test_measure.py",
    "engine/session/test_recurrent.py",
    "app/core/hub/downloads/test_bad_networks.py",
)


# Collect garbage between tests only: see `garbage`.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register `FailureNames` in the printing process; last, since this hook also creates pytest's reporter."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailureNames(reporter))


class FailureNames:
    """Prints each failure at once, from all processes: a cancelled run prints no summary."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called with the results of all processes."""
        if report.failed:
            self._reporter.write_line(f"\nFAILED {report.nodeid}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest tests first."""
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST))


def pytest_collection_finish() -> None:
    """Exclude imports and collected tests from garbage collection: most objects belong to them, and they stay."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Close files that llama-cpp-python opens at import and leaves open, to avoid warnings at exit."""
    if loaded := sys.modules.get("llama_cpp._utils"):
        loaded.outnull_file.close()
        loaded.errnull_file.close()


@pytest.fixture(autouse=True)
def garbage(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Collect garbage on this thread only, as the app does: deleting a widget on another thread may deadlock Qt."""
    gc.disable()
    for name in ("freeze", "unfreeze"):  # an app in a test must not unfreeze the tests' own objects
        monkeypatch.setattr(gc, name, lambda: None)
    yield
    collect_some()


@pytest.fixture(autouse=True)
def paceline_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for all data of the tested app."""
    home = tmp_path / "home"
    monkeypatch.setenv("PACELINE_HOME", str(home))
    return home


class PatientBot(QtBot):
    """A `QtBot` with timeouts for a busy machine; conditions that hold at once do not wait longer."""

    def waitUntil(self, callback: Callable[[], object], **options: object) -> None:  # noqa: N802  (Qt's way of naming)
        for pause_ms in FIRST_PAUSES_MS:  # most conditions hold after the next event
            with suppress(AssertionError):
                if callback() in (None, True):
                    return
            self.wait(pause_ms)
        super().waitUntil(callback, **{"timeout": PATIENCE_MS, **options})

    def waitSignal(self, signal: object, **options: object) -> object:  # noqa: N802
        return super().waitSignal(signal, **{"timeout": PATIENCE_MS, **options})

    def waitExposed(self, widget: QWidget, **options: object) -> object:  # noqa: N802
        return super().waitExposed(widget, **{"timeout": PATIENCE_MS, **options})


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """The `QtBot` for busy machines."""
    return PatientBot(request)


@pytest.fixture(scope="session")
def qapp(qapp: QApplication) -> QApplication:
    """Set the application's language to English, plurals included, whatever the system language is.

    The clock of `OffscreenScheduler` advances by `STEP_S` with each query, so the number of cards created in an event
    loop iteration does not depend on the machine.
    """
    from ui.text.language import ENGLISH, install_language
    from ui.widgets.offscreen_scheduler import OffscreenScheduler

    looks = itertools.count()
    OffscreenScheduler.worked_s = staticmethod(lambda: STEP_S * next(looks))
    install_language(qapp, Path(__file__).parents[1] / "assets" / "translations", ENGLISH)
    return qapp
