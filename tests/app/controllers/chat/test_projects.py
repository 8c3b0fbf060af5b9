"""Tests projects in the whole app: files read by a real process, passages with questions, and cited sources."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.controllers.chat.projects import ProjectController
from app.core.domain.attachments import AttachmentKind
from app.core.domain.projects import SEARCH_TOOL, SOURCE_LINK, Project
from app.core.projects.indexing import update
from app.core.projects.projects import Projects, with_sources
from engine.records import EngineReady, ToolFormat
from tests.app.fakes import AppHarness, info, keep_settings, open_app
from ui.projects.page import ProjectPage
from ui.projects.source_dialog import SourceDialog
from ui.transcript.cards.answer_card import AnswerCard

RENT = "The rent for the flat in Elm Street is 940 euros a month."
BEANS = "Beans are sown in May."


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "rent.md").write_text(f"# Rent\n{RENT}")
    (folder / "beans.txt").write_text(BEANS)
    return folder


def in_project(harness: AppHarness, papers: Path, **values: str) -> Project:
    """Begin a chat in a project whose files are read."""
    folder = harness.store.library.create_folder("House")
    projects = Projects(harness.paths.projects_file)
    project = replace(with_sources(projects.add("House", folder), [str(papers)]), values=values)
    projects.update(project)
    update(controller(harness)._index(), project.sources)
    harness.window.sidebar.library_signals.new_in_folder.emit(folder)
    return project


def controller(harness: AppHarness) -> ProjectController:
    return harness.controller.projects


def ask(harness: AppHarness, qtbot: QtBot, question: str, answer: str = "It is 940 euros [1].") -> str:
    """Ask a question and answer it; returns the messages that the engine got."""
    harness.window.composer.submitted.emit(question)
    told = harness.engine.requests[-1].messages[-1].content
    harness.engine.say(answer)
    harness.engine.finish()
    qtbot.waitUntil(lambda: harness.controller.state.answer is None)
    return str(told)


@pytest.fixture
def tooled(qtbot: QtBot) -> Iterator[AppHarness]:
    """The app with a model that can use tools."""
    keep_settings({"tools": True})
    harness = open_app()
    harness.engine.is_loaded = True
    harness.engine.tell(EngineReady(replace(info("models/target.gguf"), tool_format=ToolFormat.HERMES)))
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)
    yield harness
    harness.close()


def test_a_question_goes_along_with_the_passages_that_fit(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    in_project(harness, papers)
    told = ask(harness, qtbot, "How much is the rent?")
    assert told.index("[1] rent.md, line 1, Rent") < told.index(RENT) < told.index("How much is the rent?")
    question, answer = harness.messages()
    assert [one.kind for one in question.attachments] == [AttachmentKind.PASSAGES]
    assert answer.text == "It is 940 euros [1]."
    assert harness.store.library.folder_of(harness.controller.state.chat_id or 0) is not None


def test_that_nothing_fits_is_told_to_the_model(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    for number in range(4):
        (papers / f"{number}.md").write_text("Peas.")
    in_project(harness, papers)
    assert "Nothing in the user's files fits this question." in ask(harness, qtbot, "Zebra?", "No.")


def test_a_chat_outside_of_projects_gets_no_passages(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    in_project(harness, papers)
    harness.window.sidebar.new_chat.emit()
    assert ask(harness, qtbot, "How much is the rent?") == "How much is the rent?"


def test_an_edited_question_has_passages_of_its_own(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    in_project(harness, papers)
    ask(harness, qtbot, "How much is the rent?")
    harness.window.transcript.edited.emit(harness.messages()[0].id, "When are beans sown?")
    told = harness.engine.requests[-1].messages[-1].content
    assert BEANS in told
    assert RENT not in told
    harness.engine.say("In May [1].")
    harness.engine.finish()


def test_instructions_of_the_project_hold_in_its_chats(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    in_project(harness, papers, system_prompt="Answer like a lawyer.")
    ask(harness, qtbot, "How much is the rent?")
    assert harness.engine.requests[-1].messages[0].content == "Answer like a lawyer."
    harness.window.sidebar.new_chat.emit()
    ask(harness, qtbot, "hello")
    assert harness.engine.requests[-1].messages[0].role == "user"


def test_a_number_in_the_answer_shows_the_passage_in_its_document(
    harness: AppHarness, qtbot: QtBot, papers: Path
) -> None:
    in_project(harness, papers)
    ask(harness, qtbot, "How much is the rent?")
    card = harness.window.transcript.last_answer()
    assert isinstance(card, AnswerCard)
    link = f"{SOURCE_LINK}{card.message_id}/1"
    assert f'href="{link}"' in card.body.segments[0].toHtml()
    card.link_activated.emit(link)
    dialog = harness.window.findChild(SourceDialog)
    assert dialog is not None
    (selection,) = dialog.text.extraSelections()
    assert RENT in selection.cursor.selectedText()
    dialog.accept()


def test_a_passage_whose_document_has_changed_is_shown_alone(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    project = in_project(harness, papers)
    ask(harness, qtbot, "How much is the rent?")
    (papers / "rent.md").write_text("# Rent\nNobody knows.")
    update(controller(harness)._index(), project.sources)
    answer = harness.messages()[-1]
    harness.window.transcript.link_activated.emit(f"{SOURCE_LINK}{answer.id}/1")
    dialog = harness.window.findChild(SourceDialog)
    assert dialog is not None
    assert RENT in dialog.text.toPlainText()
    assert not dialog.open_button.isEnabled()
    dialog.accept()


def test_a_model_with_tools_searches_by_itself(tooled: AppHarness, qtbot: QtBot, papers: Path) -> None:
    in_project(tooled, papers)
    assert ask(tooled, qtbot, "hello", "Hi.") == "hello"
    names = [tool["function"]["name"] for tool in tooled.engine.requests[-1].tools]
    assert SEARCH_TOOL in names
    found = controller(tooled).search(tooled.controller.state.chat_id or 0, "rent")
    assert [one.name for one in found] == ["rent.md"]


def test_the_page_reads_what_is_added_and_lists_it(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    (papers / "bad.pdf").write_bytes(b"%PDF-1.7 no more")
    folder = harness.store.library.create_folder("House")
    harness.window.sidebar.library_signals.page_requested.emit(folder)
    page = harness.window.findChild(ProjectPage)
    assert page is not None
    page.sources_added.emit([str(papers)])
    qtbot.waitUntil(lambda: page.summary.text().startswith("3 files"))
    assert page.summary.text() == "3 files · 2 passages · 1 could not be read"
    page.instructions.setPlainText("Be short.")
    page.accept()
    project = Projects(harness.paths.projects_file).of_folder(folder)
    assert project is not None
    assert (project.sources, project.values["system_prompt"]) == ((str(papers),), "Be short.")


def test_a_source_is_removed_and_found_no_more(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    project = in_project(harness, papers)
    harness.window.sidebar.library_signals.page_requested.emit(project.folder_id)
    page = harness.window.findChild(ProjectPage)
    assert page is not None
    page.source_removed.emit(str(papers))
    page.accept()
    assert controller(harness)._index().files([str(papers)]) == ()
    assert ask(harness, qtbot, "How much is the rent?") == "How much is the rent?"


def test_a_project_of_the_command_line_gets_its_folder_of_chats(qtbot: QtBot) -> None:
    paths = keep_settings({})
    Projects(paths.projects_file).add("Garden")
    harness = open_app()
    assert [folder.name for folder in harness.store.library.folders()] == ["Garden"]
    assert Projects(paths.projects_file).all()[0].folder_id
    harness.close()


def test_a_renamed_folder_renames_its_project(harness: AppHarness, papers: Path) -> None:
    project = in_project(harness, papers)
    harness.window.sidebar.library_signals.folder_renamed.emit(project.folder_id, "Flat")
    assert [one.name for one in Projects(harness.paths.projects_file).all()] == ["Flat"]


def test_a_chat_that_is_moved_into_a_project_has_its_files(harness: AppHarness, qtbot: QtBot, papers: Path) -> None:
    project = in_project(harness, papers)
    harness.window.sidebar.new_chat.emit()
    ask(harness, qtbot, "hello")
    harness.window.sidebar.library_signals.moved_to_folder.emit(harness.controller.state.chat_id, project.folder_id)
    assert RENT in ask(harness, qtbot, "How much is the rent?")


def test_a_project_is_exported_from_its_page_and_imported(
    harness: AppHarness, qtbot: QtBot, papers: Path, tmp_path: Path
) -> None:
    project = in_project(harness, papers)
    controller(harness).open_page(project.folder_id)
    page = harness.window.findChild(ProjectPage)
    assert page is not None
    qtbot.mouseClick(page.export_button, Qt.MouseButton.LeftButton)
    dialog = harness.window.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "house.zip"))
    qtbot.waitUntil(lambda: page.progress_words.text() == "The project was exported.")
    page.close()
    Projects(harness.paths.projects_file).remove(project.id)
    with qtbot.waitSignal(harness.controller.transfer.ended):
        harness.controller.transfer.import_files([tmp_path / "house.zip"])
    qtbot.waitUntil(lambda: "The project House was imported." in harness.window.notices)
    assert Projects(harness.paths.projects_file).find("House").folder_id == project.folder_id


def test_an_export_ends_in_the_window_once_its_page_is_closed(
    harness: AppHarness, qtbot: QtBot, papers: Path, tmp_path: Path
) -> None:
    project = in_project(harness, papers)
    for name, words in (("house.zip", "The project was exported."), ("missing/house.zip", "cannot be written")):
        controller(harness).open_page(project.folder_id)
        page = harness.window.findChild(ProjectPage)
        assert page is not None
        page.export_button.click()
        dialog = harness.window.findChild(QFileDialog)
        assert dialog is not None
        page.close()
        dialog.fileSelected.emit(str(tmp_path / name))
        dialog.close()
        qtbot.waitUntil(
            lambda words=words: any(  # type: ignore[misc]
                words in text for text in (*harness.window.notices, *(one.message for one in harness.window.problems))
            ),
        )
