"""What the documents claim of the tree: links, commands, files and functions exist, every library is named."""

from __future__ import annotations

import ast
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
NAMES = [path.relative_to(ROOT).as_posix() for path in DOCUMENTS]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)|(?:src|srcset)=\"([^\"]+)\"")
ANCHOR = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
MAKE = re.compile(r"(?:^|`)(?:\w+=(?:\"[^\"]*\"|\S*) )?make ([a-z-]+)", re.MULTILINE)
PLACE = re.compile(r"`((?:app|ui|engine|tests|packaging|assets|docs)/[\w/.-]*)`")
FILE, FUNCTIONS = r"`(\w+/[\w/]+\.py)`", r"((?:`[\w.]+`(?:,\s+)?)+)"
NAMED = re.compile(rf"{FILE}\s+\({FUNCTIONS}\)|\({FILE},\s+{FUNCTIONS}\)")
# Named in the notices by other words than those of the package index.
OTHER_NAMES = {"pyside6-essentials": "PySide6", "shiboken6": "Shiboken6"}


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def commands_in(text: str) -> list[str]:
    return re.findall(r"^paceline (.+)$", text, re.MULTILINE)


def headings_of(document: Path) -> set[str]:
    """The anchors of a document's headings, as the usual renderers make them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", NAMES)
def test_links_within_the_tree_lead_somewhere(name: str) -> None:
    document = ROOT / name
    targets = [one or other for one, other in LINK.findall(text_of(name))]
    local = [target for target in targets if not target.startswith(("http:", "https:", "mailto:"))]
    assert [target for target in local if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("name", NAMES)
def test_links_to_a_heading_find_it(name: str) -> None:
    document = ROOT / name
    local = [(path, anchor) for path, anchor in ANCHOR.findall(text_of(name)) if not path.startswith("http")]
    assert [
        (path, anchor)
        for path, anchor in local
        if anchor not in headings_of(document.parent / path if path else document)
    ] == []


@pytest.mark.parametrize("name", NAMES)
def test_commands_that_are_shown_exist(name: str) -> None:
    for line in commands_in(text_of(name)):
        words = shlex.split(line, comments=True)
        make_parser().parse_args(words[: words.index("<")] if "<" in words else words)


def test_the_readme_shows_commands() -> None:
    assert len(commands_in(text_of("README.md"))) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_targets_of_the_makefile_exist(name: str) -> None:
    makefile = text_of("Makefile")
    assert [target for target in MAKE.findall(text_of(name)) if f"\n{target}:" not in makefile] == []


def test_the_readme_names_the_two_commands() -> None:
    assert {"run", "test"} <= set(MAKE.findall(text_of("README.md")))


@pytest.mark.parametrize("name", NAMES)
def test_files_and_folders_that_are_named_exist(name: str) -> None:
    assert [place for place in PLACE.findall(text_of(name)) if not (ROOT / place).exists()] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_named_in_a_file_is_there(name: str) -> None:
    """As in `engine/decoding/loop.py` (`Speculation.step`): the class, and the method or function below it."""
    missing = []
    for file, names, other_file, other_names in NAMED.findall(text_of(name)):
        code = text_of(file or other_file)
        for whole in re.findall(r"`([\w.]+)`", names or other_names):
            *owners, last = whole.split(".")
            found = [re.search(rf"^class {owner}\b", code, re.MULTILINE) for owner in owners]
            found.append(re.search(rf"^\s*(?:(?:async )?def|class) {last}\b|^{last}\b.* = ", code, re.MULTILINE))
            if not all(found):
                missing.append(f"{file or other_file}: {whole}")
    assert missing == []


def test_the_walk_of_a_message_names_functions() -> None:
    assert len(NAMED.findall(text_of("ARCHITECTURE.md"))) >= 20


def members_by_class() -> dict[str, set[str]]:
    """Methods and attributes of all classes of the product, by the class's name."""
    found: dict[str, set[str]] = {}
    for room in ("app", "ui", "engine"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    functions = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                    fields = {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)}
                    found.setdefault(node.name, set()).update(functions | fields)
    return found


def test_methods_in_the_walk_exist_where_no_file_is_named_with_them() -> None:
    members = members_by_class()
    named = re.findall(r"`([A-Z]\w+)\.(\w+)`", text_of("ARCHITECTURE.md"))
    assert len(named) >= 20
    assert [f"{owner}.{member}" for owner, member in named if member not in members.get(owner, ())] == []


def test_the_changelog_knows_the_version_or_what_comes_next() -> None:
    assert f"## [{app.__version__}]" in text_of("CHANGELOG.md")


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
