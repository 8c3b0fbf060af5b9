"""Tests the start before the first paint, without a window."""

import subprocess
import sys
from pathlib import Path

from app.core.paths import find_paths
from app.startup.tasks import Startup

ROOT = Path(__file__).resolve().parents[3]


def test_what_is_broken_is_reported_and_the_rest_goes_on() -> None:
    paths = find_paths()
    paths.config.mkdir(parents=True)
    paths.settings_file.write_text("[broken", encoding="utf-8")
    paths.data.write_text("a file where the folder should be")
    startup = Startup(paths, [].append)
    store = startup.opened_store()
    assert len(startup.problems) == 3
    assert not store.is_persistent
    store.close()


def test_it_needs_no_qt() -> None:
    code = (
        "import sys; from app.startup.tasks import Startup; from app.core.paths import find_paths\n"
        "startup = Startup(find_paths(), print); startup.opened_store().close()\n"
        "sys.exit(bool(startup.problems) or any(name.startswith('PySide6') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
