"""Tests the start-up tasks without a window."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.core.paths import find_paths
from app.startup.tasks import TASKS, Startup, StartupTask, run_tasks

ROOT = Path(__file__).resolve().parents[3]


def test_the_tasks_run_in_order_and_fill_the_startup() -> None:
    startup = Startup(find_paths(), [].append)
    run_tasks(startup, TASKS)
    assert [task.name for task in TASKS] == ["folders", "settings", "chats"]
    store = startup.opened_store()
    assert startup.problems == []
    assert store.conversations() == ()
    store.close()


def test_a_list_of_other_tasks_runs_as_well() -> None:
    startup = Startup(find_paths(), [].append)
    run_tasks(
        startup,
        [StartupTask("one", lambda s: s.notices.append("one")), StartupTask("two", lambda s: s.notices.append("two"))],
    )
    assert startup.notices == ["one", "two"]


def test_what_is_broken_is_reported_and_the_rest_goes_on() -> None:
    paths = find_paths()
    paths.config.mkdir(parents=True)
    paths.settings_file.write_text("[broken", encoding="utf-8")
    paths.data.write_text("a file where the folder should be")
    startup = Startup(paths, [].append)
    run_tasks(startup, TASKS)
    store = startup.opened_store()
    assert len(startup.problems) == 3
    assert not store.is_persistent
    store.close()


def test_the_tasks_need_no_qt() -> None:
    code = (
        "import sys; from app.startup.tasks import TASKS, Startup, run_tasks; from app.core.paths import find_paths\n"
        "startup = Startup(find_paths(), print); run_tasks(startup, TASKS); startup.opened_store().close()\n"
        "sys.exit(any(name.startswith('PySide6') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
