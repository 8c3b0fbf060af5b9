"""Tests the version of a build: from tags, a source package, or the code; ordered by PEP 440."""

import shutil
import subprocess
from pathlib import Path

import pytest

import app
from packaging.version import Version
from tests.scripts import load_script

script = load_script("version.py")


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("v0.2.0-0-g1a2b3c4", "0.2.0"),
        ("v0.2.0-3-g1a2b3c4", "0.2.1.dev3+g1a2b3c4"),
        ("v1.0.0rc1-0-g1a2b3c4", "1.0.0rc1"),
        ("v1.0.0rc1-2-g1a2b3c4", "1.0.0rc1.dev2+g1a2b3c4"),
        ("model-v2-0-g1a2b3c4", ""),
        ("v2-0-g1a2b3c4", ""),
        ("", ""),
    ],
)
def test_descriptions_of_git(said: str, made: str) -> None:
    assert script.of_description(said) == made
    if made:
        assert str(Version(made)) == made


def test_a_build_after_a_tag_is_newer_and_before_the_next() -> None:
    after = Version(script.of_description("v0.2.0-3-g1a2b3c4"))
    assert Version("0.2.0") < after < Version("0.2.1")


def copy_of_code(folder: Path) -> Path:
    (folder / "app").mkdir(parents=True)
    (folder / "app" / "__init__.py").write_text('VERSION_IN_CODE = "0.7.0"  # words\n', "utf-8")
    return folder


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *name, *words], check=True, capture_output=True)


def test_without_git_the_source_package_and_then_the_code_tell(tmp_path: Path) -> None:
    folder = copy_of_code(tmp_path / "unpacked")
    assert script.version(folder) == "0.7.0"
    (folder / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: paceline\nVersion: 0.6.1\n", "utf-8")
    assert script.version(folder) == "0.6.1"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_tags_of_the_checkout_itself_count(tmp_path: Path) -> None:
    folder = copy_of_code(tmp_path / "repo")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    assert script.version(folder) == "0.7.0"  # a clone without tags
    git(folder, "tag", "v0.8.0")
    assert script.version(folder) == "0.8.0"
    git(folder, "commit", "-q", "--allow-empty", "-m", "second")
    assert script.version(folder).startswith("0.8.1.dev1+g")
    inside = copy_of_code(folder / "vendor" / "paceline")  # unpacked within another repository
    assert script.version(inside) == "0.7.0"


def test_the_code_names_the_version_that_is_worked_on() -> None:
    assert script.in_code() == app.VERSION_IN_CODE == app.__version__
