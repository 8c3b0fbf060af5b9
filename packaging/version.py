"""Computes the version of a build from the git tag `vX.Y.Z` and the commits since, else from app/__init__.py.

    python packaging/version.py           # 0.2.0 on the tag v0.2.0, 0.2.1.dev3+g1a2b3c4 three commits after it

hatchling runs this file for the package's version (pyproject.toml), and the bundle's build for file names. A build from
a source package without git has that package's version.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] if "__file__" in globals() else Path.cwd()
TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)((?:a|b|rc)\d+)?-(\d+)-g([0-9a-f]+)")


def version(root: Path = ROOT) -> str:
    """The PEP 440 version: git's, else the source package's, else the code's."""
    return from_git(root) or from_source_package(root) or in_code(root)


def in_code(root: Path = ROOT) -> str:
    """The version in app/__init__.py, which is the one in development."""
    text = (root / "app" / "__init__.py").read_text("utf-8")
    found = re.search(r'^VERSION_IN_CODE = "([^"]+)"', text, re.MULTILINE)
    assert found is not None, "app/__init__.py names no version"
    return found[1]


def from_source_package(root: Path = ROOT) -> str:
    """The version in the record of an unpacked source package; empty without one."""
    try:
        text = (root / "PKG-INFO").read_text("utf-8")
    except OSError:
        return ""
    found = re.search(r"^Version: (\S+)$", text, re.MULTILINE)
    return found[1] if found else ""


def from_git(root: Path = ROOT) -> str:
    """The version from git tags; empty without a checkout, without git, or without a version tag.

    The folder itself must have a `.git`: a repository around an unpacked source package does not count.
    """
    if not (root / ".git").exists():
        return ""
    command = ("git", "-C", str(root), "describe", "--tags", "--long", "--match", "v[0-9]*", "--abbrev=7")
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
    return of_description(said)


def of_description(said: str) -> str:
    """Convert the output of `git describe --long`: ``v0.2.0-3-g1a2b3c4`` is a development version of 0.2.1."""
    found = TAG.fullmatch(said)
    if found is None:
        return ""
    major, minor, patch, preview, commits, commit = found.groups()
    if commits == "0":
        return f"{major}.{minor}.{patch}{preview or ''}"
    coming = f"{major}.{minor}.{patch}{preview}" if preview else f"{major}.{minor}.{int(patch) + 1}"
    return f"{coming}.dev{commits}+g{commit}"


if __name__ == "__main__":
    print(version())
