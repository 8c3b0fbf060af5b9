"""Draws the pictures of the Models place: the real window against a hub on this machine that serves the built-in pair.

    python packaging/screenshots/models.py [--out docs/screenshots]

Verdicts, sizes, speeds and the machine in the pictures are real; only the hub is a small one of our own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from files import THEMES, at_each_scale
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication
from window import ROOT, AppWindow

from app.domain.models import DownloadState, ModelRef
from app.paths import builtin_draft, builtin_target
from engine.gguf.pad import make_padded
from tests.app.hub.loopback import LoopbackHub

OWNER = "paceline"
TINY, DRAFT, LARGE, OTHER, GATED = (
    f"{OWNER}/{name}-GGUF"
    for name in ("paceline-tiny", "paceline-tiny-draft", "paceline-large", "paceline-tiny-other", "paceline-gated")
)
TARGET_FILE, DRAFT_FILE = "paceline-tiny-Q8_0.gguf", "paceline-tiny-draft-Q8_0.gguf"
LARGE_FILE, OTHER_FILE = "paceline-large-Q8_0.gguf", "paceline-tiny-other-Q8_0.gguf"
SLOW_BYTES_PER_S = 4e6
README = """# Paceline tiny

The pair that comes with Paceline: a target and a draft of one vocabulary, trained on simple requests.

| model | weights | context |
|---|---|---|
| target | 8-bit | 2,048 tokens |
| draft | 8-bit | 2,048 tokens |

- Repeats texts, makes lists and tables, tells short stories.
- Shows how **speculative decoding** works, not what a large model knows.
"""


def fill(hub: LoopbackHub, folder: Path) -> None:
    """Put the built-in pair, a padded copy and a draft with one other token on the hub."""
    large = folder / "large.gguf"
    make_padded(builtin_target(), large, lambda _fraction: None, lambda: False)
    facts = {"architecture": "llama", "context_length": 2048}
    for repo, file, source in (
        (TINY, TARGET_FILE, builtin_target()),
        (DRAFT, DRAFT_FILE, builtin_draft()),
        (LARGE, LARGE_FILE, large),
        (OTHER, OTHER_FILE, builtin_draft().read_bytes().replace(b"river", b"rover", 1)),
        (GATED, "paceline-gated-Q8_0.gguf", builtin_target()),
    ):
        hub.add_file(repo, file, source)
        hub.add_file(repo, "README.md", README.encode())
        hub.describe(repo, downloads=len(repo) * 31, tags=["gguf", "license:mit"], gguf=facts)
    hub.add_file(TINY, "mmproj-paceline-tiny-f16.gguf", b"GGUF" + bytes(60_000))
    hub.describe(GATED, gated="auto")


class Pictures:
    """Walks through the place and draws each page in both themes."""

    def __init__(self, app_window: AppWindow, hub: LoopbackHub, out: Path) -> None:
        self.app_window, self.hub, self.out = app_window, hub, out
        self.place = app_window.window.models.panel

    def shoot(self, name: str) -> None:
        """Light, then dark."""
        for theme in THEMES:
            self.app_window.window.set_theme(theme)
            self.app_window.settle()
            self.app_window.shoot(self.out, f"models-{name}")

    def wait(self, done: Callable[[], bool], what: str) -> None:
        """Let the window work until it is so."""
        self.app_window.wait(done, what)

    def draw(self) -> None:
        """All pictures."""
        place = self.place
        self.wait(lambda: not place.welcome.is_looking, "the machine")
        self.shoot("first-run")
        self._search()
        self._pair()
        self._downloads()
        place.requests.add_requested.emit(str(builtin_target()))
        place.open("library")
        self.wait(lambda: len(place.library.lines) == 4, "the library")
        self.shoot("library")

    def _search(self) -> None:
        search = self.place.search
        self.place.open("search")
        search.field.setText("paceline")
        search.search()
        self.wait(lambda: search.list.rows.rowCount() >= 5, "results")
        keys = [row.key for row in search.list.rows.rows]
        search.list.setCurrentIndex(search.list.rows.index(keys.index(TINY), 0))
        self.wait(lambda: bool(search.pane.files.action_buttons), "details")
        self.shoot("search")

    def _pair(self) -> None:
        drafts = self.place.drafts
        self.place.requests.drafts_requested.emit(ModelRef(TINY, TARGET_FILE))
        self.wait(lambda: not drafts.found_drafts.busy and len(drafts.found_drafts.rows) > 1, "drafts")
        for file, name in ((DRAFT_FILE, "pair"), (OTHER_FILE, "refused")):
            rows = drafts.list.rows
            line = next(line for line, row in enumerate(rows.rows) if f"{row.title}.gguf" == file)
            drafts.list.setCurrentIndex(rows.index(line, 0))
            self.wait(drafts.card.fit.isVisible, "the verdict")
            self.app_window.settle(1.0)
            self.shoot(name)

    def _downloads(self) -> None:
        requests, page = self.place.requests, self.place.downloads
        self.hub.bytes_per_s = SLOW_BYTES_PER_S
        requests.pull_requested.emit((ModelRef(LARGE, LARGE_FILE),), False)
        self.app_window.settle(0.5)
        requests.pull_requested.emit((ModelRef(TINY, TARGET_FILE), ModelRef(DRAFT, DRAFT_FILE)), False)
        self.place.open("downloads")
        self.wait(lambda: len(page.lines) == 3, "the downloads")
        self.wait(lambda: any(line.state is DownloadState.DONE for line in page.lines.values()), "the first one")
        self.shoot("downloads")
        self.hub.bytes_per_s = 0.0
        self.wait(lambda: all(line.state is DownloadState.DONE for line in page.lines.values()), "all downloads")


def main() -> int:
    """Draw all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--one-scale", action="store_true", help="that of QT_SCALE_FACTOR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.one_scale:
        at_each_scale(__file__, sys.argv[1:])
        return 0
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder, LoopbackHub() as hub:
        os.environ.update(
            PACELINE_HOME=home, HF_ENDPOINT=hub.url, PYTHON_KEYRING_BACKEND="keyring.backends.null.Keyring"
        )
        fill(hub, Path(folder))
        application = QApplication(["paceline"])
        assert QFontDatabase.families(), "without a font every letter is a box"
        app_window = AppWindow(application)
        try:
            Pictures(app_window, hub, options.out).draw()
        finally:
            app_window.controller.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
