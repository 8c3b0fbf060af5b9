"""The pictures of the README: each part in both themes at both scales, each file named in the list, none left over."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtGui import QImageReader

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "screenshots"
ENDINGS = ("light", "dark", "light-2x", "dark-2x")
MOST_BYTES = 11_000_000  # together: a clone should stay small


def listed(text: str) -> set[str]:
    return set(re.findall(r"\(([\w-]+\.png)\)", text))


def test_every_picture_is_listed_and_every_listed_one_is_there() -> None:
    assert listed((FOLDER / "README.md").read_text("utf-8")) == {file.name for file in FOLDER.glob("*.png")}


def test_every_part_is_there_in_both_themes_at_both_scales() -> None:
    names = {file.stem for file in FOLDER.glob("*.png")}
    parts = {re.sub(r"-(light|dark)(-2x)?$", "", name) for name in names}
    assert len(parts) > 40
    assert names == {f"{part}-{ending}" for part in parts for ending in ENDINGS}


def test_double_pictures_are_about_twice_as_large() -> None:
    for file in FOLDER.glob("*-2x.png"):
        double, single = QImageReader(str(file)).size(), QImageReader(str(file).replace("-2x", "")).size()
        assert abs(double.width() - 2 * single.width()) <= 0.1 * double.width(), file.name


def test_the_pictures_are_small_and_the_readme_shows_some() -> None:
    assert sum(file.stat().st_size for file in FOLDER.glob("*.png")) < MOST_BYTES
    shown = set(re.findall(r"docs/screenshots/([\w-]+\.png)", (ROOT / "README.md").read_text("utf-8")))
    assert len(shown) >= 3
    assert shown <= {file.name for file in FOLDER.glob("*.png")}
