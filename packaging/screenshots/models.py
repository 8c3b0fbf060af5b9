"""Draws the place of the models: the first steps, and a draft judged for a model of the library.

    python packaging/screenshots/models.py --target T.gguf --draft D.gguf [--out docs/screenshots]

Verdicts, sizes, speeds and the machine in the pictures are real. The hub is not asked.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from window import ROOT, AppWindow, make_application

from app.core.domain.models import ModelRef


def draw(app_window: AppWindow, options: argparse.Namespace) -> None:
    """Both parts."""
    place = app_window.window.models.panel
    app_window.wait(lambda: not place.welcome.is_looking, "the machine")
    app_window.shoot(options.out, "models-first-run")
    for file in (options.target, options.draft):
        place.requests.add_requested.emit(file)
    app_window.wait(lambda: len(place.library.lines) >= 2, "the library")
    drafts = place.drafts
    place.requests.drafts_requested.emit(ModelRef(path=options.target))
    app_window.wait(lambda: not drafts.found_drafts.busy and bool(drafts.found_drafts.rows), "drafts")
    drafts.list.choose_first()
    app_window.wait(drafts.card.fit.isVisible, "the verdict")
    app_window.settle(5.0)  # what is expected of the pair follows the verdict
    app_window.shoot(options.out, "models-pair", drafts.card)


def main() -> int:
    """Draw all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(PACELINE_HOME=home, HF_HUB_OFFLINE="1")
        app_window = AppWindow(make_application())
        try:
            draw(app_window, options)
        finally:
            app_window.controller.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
