"""The README's screenshots: each in both themes, every listed file exists, no file is unused."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "screenshots"
LIST = ROOT / "docs" / "README.md"
MOST_PICTURES = 24
MOST_BYTES = 1_500_000  # together: a clone should stay small


def listed(text: str) -> set[str]:
    return set(re.findall(r"\(screenshots/([\w-]+\.png)\)", text))


def test_every_picture_is_listed_and_every_listed_one_is_there() -> None:
    assert listed(LIST.read_text("utf-8")) == {file.name for file in FOLDER.glob("*.png")}


def test_every_part_is_there_in_both_themes() -> None:
    names = {file.stem for file in FOLDER.glob("*.png")}
    parts = {re.sub(r"-(light|dark)$", "", name) for name in names}
    assert names == {f"{part}-{theme}" for part in parts for theme in ("light", "dark")}


def test_the_pictures_are_few_and_small_and_the_readme_shows_some() -> None:
    files = list(FOLDER.glob("*.png"))
    assert len(files) <= MOST_PICTURES
    assert sum(file.stat().st_size for file in files) < MOST_BYTES
    shown = set(re.findall(r"docs/screenshots/([\w-]+\.png)", (ROOT / "README.md").read_text("utf-8")))
    assert len(shown) >= 3
    assert shown <= {file.name for file in files}
