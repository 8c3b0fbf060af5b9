"""Tests the files on the page of a project."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.projects import MAX_FILES, FileState, Project, ProjectFile
from ui.projects.page import ProjectPage
from ui.theme.theme import Theme


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    widget.resize(1000, 800)
    qtbot.addWidget(widget)
    return widget


def file(path: str, state: FileState = FileState.READ) -> ProjectFile:
    return ProjectFile(path, Path(path).name, 100, state, 0, 1)


def test_a_folder_of_many_files_is_drawn_when_it_is_unfolded(qtbot: QtBot, theme: Theme, parent: QWidget) -> None:
    page = ProjectPage(theme, Project("a", "Garden", sources=("/d/many", "/d/one.txt", "/d/man")), parent)
    many = [file(f"/d/many/{number}.txt") for number in range(MAX_FILES - 1)]
    page.set_files([*many, file("/d/many/bad.pdf", FileState.FAILED), file("/d/one.txt")])
    folder, other = page.tree.topLevelItem(0), page.tree.topLevelItem(2)
    assert folder is not None
    assert other is not None
    assert (folder.childCount(), folder.text(3)) == (0, "10,000")
    assert other.text(3) == "", "its name only begins in the same way"
    folder.setExpanded(True)
    rows = [folder.child(row) for row in range(folder.childCount())]
    assert rows[0].text(0) == "bad.pdf"
    assert rows[-1].text(0) == "… and 9,500 more"
    page.set_files([file("/d/many/1.txt")])
    again = page.tree.topLevelItem(0)
    assert again is not None
    assert (again.isExpanded(), again.childCount()) == (True, 1)


def test_a_folder_with_too_many_files_says_how_to_add_the_rest(qtbot: QtBot, theme: Theme, parent: QWidget) -> None:
    page = ProjectPage(theme, Project("a", "Garden", sources=("/d",)), parent)
    page.set_files([file(f"/d/{number}.txt") for number in range(MAX_FILES)])
    assert page.summary.text().endswith("Only the first 10,000 files of a folder are read: add its folders instead")
