"""Tests folders: one root on request, else the platform's; one that cannot be created is a problem, no error."""

import sys
from pathlib import Path

import pytest

from app.core.paths import assets_dir, find_paths, make_folders


def test_everything_lies_under_paceline_home(tmp_path: Path) -> None:
    paths = find_paths({"PACELINE_HOME": str(tmp_path / "portable")})
    folders = (paths.config, paths.data, paths.cache, paths.logs, paths.models)
    assert all(folder.is_relative_to(tmp_path / "portable") for folder in folders)
    assert len(set(folders)) == 5
    assert make_folders(paths) == []
    assert all(folder.is_dir() and not any(folder.iterdir()) for folder in folders)
    if sys.platform != "win32":
        assert [folder.stat().st_mode & 0o077 for folder in folders] == [0] * 5


def test_a_relative_home_does_not_follow_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_paths({"PACELINE_HOME": "here"}).config == tmp_path / "here" / "config"


def test_without_it_the_folders_are_the_platforms_own() -> None:
    paths = find_paths({})
    assert all("paceline" in str(folder) for folder in (paths.config, paths.data, paths.cache, paths.logs))


def test_a_folder_that_cannot_be_made_is_reported_and_the_others_are_made(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "data").write_text("a file where the folder should be")
    problems = make_folders(find_paths({"PACELINE_HOME": str(home)}))
    assert len(problems) == 1
    assert str(home / "data") in problems[0].message
    assert (home / "config").is_dir()
    assert (home / "models").is_dir()


def test_assets_are_siblings_of_the_room() -> None:
    import app

    assert assets_dir() == Path(app.__file__).resolve().parent.parent / "assets"
    assert assets_dir().is_dir()


def test_assets_of_a_frozen_build_lie_in_its_bundle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert assets_dir() == tmp_path / "assets"
