"""Tests the page of a project: its model choices, and its signals."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.projects import EMBEDDERS, MAX_FILES, FileState, Project, ProjectFile
from ui.projects.page import ProjectPage
from ui.theme.theme import Theme


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    widget.resize(1000, 800)
    qtbot.addWidget(widget)
    return widget


def test_the_kept_model_is_shown_and_another_can_be_chosen(qtbot: QtBot, theme: Theme, parent: QWidget) -> None:
    page = ProjectPage(theme, Project("a", "Garden", model_path="/m/own.gguf"), parent, ("/m/loaded.gguf", "Loaded"))
    box = page.model
    assert [box.itemText(row) for row in range(box.count())] == [
        "The loaded model",
        "Loaded",
        "own",
        "Another file…",
    ]
    assert box.currentText() == "own"
    box.setCurrentIndex(1)
    with qtbot.waitSignal(page.model_changed) as changed:
        box.activated.emit(1)
    assert changed.args == ["/m/loaded.gguf"]


def test_a_file_for_the_search_by_meaning_is_asked_for(qtbot: QtBot, theme: Theme, parent: QWidget) -> None:
    page = ProjectPage(theme, Project("a", "Garden"), parent)
    last = page.search.count() - 1
    page.search.setCurrentIndex(last)
    page.search.activated.emit(last)
    dialog = page.findChild(QFileDialog)
    assert dialog is not None
    assert page.search.currentText() == "By words"  # no model is chosen yet
    with qtbot.waitSignal(page.embedder_changed) as changed:
        dialog.fileSelected.emit("/m/embed.gguf")
    assert changed.args == ["/m/embed.gguf"]
    assert page.search.currentText() == "embed"
    dialog.reject()


def test_an_embedding_model_of_the_hub_is_offered_with_its_size(qtbot: QtBot, theme: Theme, parent: QWidget) -> None:
    page = ProjectPage(theme, Project("a", "Garden"), parent)
    assert page.search.itemText(1) == "By meaning too: download EmbeddingGemma 300M (334 MB)"
    page.search.setCurrentIndex(1)
    with qtbot.waitSignal(page.embedder_offer_chosen) as offered:
        page.search.activated.emit(1)
    assert offered.args == [EMBEDDERS[0]]
    assert page.search.currentText() == "By words"  # until the model is downloaded
    page.set_embedder("/m/embed.gguf")
    assert page.search.currentText() == "embed"


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
