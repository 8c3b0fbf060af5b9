"""What the documents claim of the tree: links lead somewhere, commands exist, every library is named."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import app
from app.cli.parser import make_parser

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "assets").rglob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)|(?:src|srcset)=\"([^\"]+)\"")
# Named in the notices by other words than those of the package index.
OTHER_NAMES = {"pyside6-essentials": "PySide6", "shiboken6": "Shiboken6"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_within_the_tree_lead_somewhere(document: Path) -> None:
    targets = [one or other for one, other in LINK.findall(document.read_text("utf-8"))]
    local = [target for target in targets if not target.startswith(("http:", "https:", "mailto:"))]
    assert [target for target in local if not (document.parent / target).exists()] == []


def test_the_readme_shows_commands_that_exist() -> None:
    lines = re.findall(r"^paceline (.+)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        words = shlex.split(line, comments=True)
        make_parser().parse_args(words[: words.index("<")] if "<" in words else words)


def test_the_readme_names_targets_of_the_makefile() -> None:
    pattern = r"(?:^|`)(?:\w+=\S* )?make ([a-z-]+)"
    names = set(re.findall(pattern, (ROOT / "README.md").read_text("utf-8"), re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert {"run", "test"} <= names
    assert [name for name in names if f"\n{name}:" not in makefile] == []


def test_the_changelog_knows_the_version_or_what_comes_next() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{app.__version__}]" in text


def installed_libraries(name: str, seen: set[str]) -> Iterator[str]:
    """Every library that an installation of ``name`` brings, on this system."""
    for text in metadata.requires(name) or []:
        requirement = Requirement(text)
        key = canonicalize_name(requirement.name)
        if key not in seen and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            seen.add(key)
            yield key
            yield from installed_libraries(requirement.name, seen)


def test_every_library_is_named_with_its_licence() -> None:
    try:
        libraries = set(installed_libraries("paceline", set()))
    except metadata.PackageNotFoundError as error:
        pytest.skip(f"{error.name} is not installed here, so its metadata cannot be read")
    assert {"numpy", "jinja2", "llama-cpp-python"} <= libraries
    notices = (ROOT / "assets" / "THIRD_PARTY.md").read_text("utf-8")
    named = {
        canonicalize_name(word)
        for row in re.findall(r"^\| ([^|]+) \|", notices, re.MULTILINE)
        for word in re.split(r", | and ", row)
    }
    assert {key for key in libraries if canonicalize_name(OTHER_NAMES.get(key, key)) not in named} == set()
