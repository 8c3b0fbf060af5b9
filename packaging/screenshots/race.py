"""Draws a race in the real window: its setup, its lanes as they write, its verdict, and the picture that is exported.

    python packaging/screenshots/race.py [--out docs/screenshots] [--target T.gguf [--draft D.gguf]] [--language de]

Without a target the built-in pair races at real weight. The figures in the pictures are this machine's, which should
have nothing else to do. Everything is kept in a folder of its own that is removed afterwards.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from files import THEMES, at_each_scale, ending, save
from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication
from window import ROOT, AppWindow

from app.domain.settings.fields import SettingValue
from app.domain.speed.races import AUTO_LANE, PLAIN_LANE, LaneChoice, RaceSetup
from app.paths import assets_dir, find_paths
from app.storage.settings_file import read_settings, write_settings
from engine.records import Mode
from ui.race.picture import WIDTH, draw_picture, look_of
from ui.text.catalogues import install_language

QUESTION = "Write a short story about a fox."
NUM_LIVE = 40  # tokens of the slowest lane when the running race is drawn


def keep_settings(changes: Mapping[str, SettingValue]) -> None:
    """Have the window begin with these."""
    file = find_paths().settings_file
    file.parent.mkdir(parents=True, exist_ok=True)
    write_settings(file, read_settings(file).settings.changed(changes)[0])


def draw(app_window: AppWindow, options: argparse.Namespace) -> None:
    """Draw in both themes."""
    window = app_window.window
    begin = "" if options.language == "en" else f"{options.language}-"
    window.models.leave()
    app_window.wait(app_window.ready, "loading")
    if not options.target:
        window.builtin_pair_requested.emit(True)
        app_window.wait(lambda: "padded" in app_window.controller.models.names[0] and app_window.ready(), "padding")
    app_window.settle(4.0)  # the costs of a pass are measured while nothing is asked
    lanes = (PLAIN_LANE, LaneChoice(Mode.SUFFIX), AUTO_LANE)
    page = window.race.page
    for theme in THEMES:
        window.set_theme(theme)
        page.form.set_setup(RaceSetup(QUESTION, lanes, max_tokens=options.tokens))
        page.show_setup()
        window.race.open()
        app_window.settle()
        app_window.shoot(options.out, f"{begin}race-setup")
        page.form.start()
        app_window.wait(
            lambda: not page.is_racing or min(lane.num_tokens for lane in page.track.lanes) > NUM_LIVE, "a race"
        )
        app_window.shoot(options.out, f"{begin}race-running")
        app_window.wait(lambda: not page.is_racing, "a race")
        app_window.settle()
        app_window.shoot(options.out, f"{begin}race")
        if page.result is not None:
            picture = QPixmap.fromImage(draw_picture(page.result, look_of(window.theme)))
            if not ending():  # as large as it is exported at twice the scale, half of it at the other
                picture = picture.scaledToWidth(round(WIDTH), Qt.TransformationMode.SmoothTransformation)
            save(picture, options.out / f"{begin}race-picture-{theme}{ending()}.png")


def main() -> int:
    """Draw all pictures: a process for each scale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--target")
    parser.add_argument("--draft", default="")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--language", default="en")
    parser.add_argument("--one-scale", action="store_true", help="that of QT_SCALE_FACTOR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.one_scale:
        at_each_scale(__file__, sys.argv[1:])
        return 0
    with tempfile.TemporaryDirectory() as home:
        os.environ["PACELINE_HOME"] = home
        application = QApplication(["paceline"])
        install_language(application, assets_dir() / "translations", options.language)
        if options.target:
            keep_settings({"target_path": options.target, "draft_path": options.draft, "n_ctx": 4096})
        app_window = AppWindow(application)
        try:
            draw(app_window, options)
        finally:
            app_window.controller.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
