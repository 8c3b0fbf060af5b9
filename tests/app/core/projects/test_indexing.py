"""Sources are read once, and again after a change; stopped reading resumes; each failure is one sentence."""

import os
import shutil
from pathlib import Path

import pytest

from app.core.domain.projects import FileState
from app.core.projects.index import DocumentIndex
from app.core.projects.indexing import Progress, files_of, update
from tests.app.core.attachments import office, pdfs


@pytest.fixture
def index(tmp_path: Path) -> DocumentIndex:
    return DocumentIndex(tmp_path / "documents.db")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("# Beans\nSown in May.")
    (folder / "sub" / "b.txt").write_text("Peas in March.")
    return folder


def names(index: DocumentIndex, source: Path) -> list[str]:
    return [one.name for one in index.files([str(source)]) if one.state is FileState.READ]


def test_files_of_a_folder_are_read_and_found(index: DocumentIndex, source: Path) -> None:
    seen: list[Progress] = []
    update(index, [str(source)], on_progress=seen.append)
    assert names(index, source) == ["a.md", "b.txt"]
    assert index.find([str(source)], "peas")[0].line == 1
    assert seen == [Progress(0, 2, "a.md"), Progress(1, 2, "b.txt"), Progress(2, 2)]


def test_only_what_has_changed_is_read_again(index: DocumentIndex, source: Path) -> None:
    update(index, [str(source)])
    (source / "a.md").write_text("Lentils.")
    (source / "sub" / "b.txt").unlink()
    seen: list[Progress] = []
    update(index, [str(source)], on_progress=seen.append)
    assert [one.name for one in seen] == ["a.md", ""]
    assert names(index, source) == ["a.md"]
    assert index.find([str(source)], "lentils")
    assert index.find([str(source)], "beans peas") == []


def test_reading_that_was_stopped_goes_on_there(index: DocumentIndex, source: Path) -> None:
    answers = iter([False, True])
    update(index, [str(source)], should_stop=lambda: next(answers))
    assert names(index, source) == ["a.md"]
    seen: list[Progress] = []
    update(index, [str(source)], on_progress=seen.append)
    assert seen[0] == Progress(0, 1, "b.txt")


def test_a_source_that_is_not_there_keeps_what_was_read(index: DocumentIndex, source: Path) -> None:
    update(index, [str(source)])
    shutil.move(source, source.with_name("elsewhere"))
    update(index, [str(source)])
    assert index.find([str(source)], "peas")
    assert {one.state for one in index.files([str(source)])} == {FileState.MISSING}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pdf", pdfs.with_text([""]), "scanned images"),
        ("a.docx", b"PK\x03\x04", "damaged"),
        ("a.txt", b"\x00\x01\x02", "NUL"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_is_not_tried_again(
    index: DocumentIndex, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    update(index, [str(tmp_path / name)])
    (listed,) = index.files([str(tmp_path / name)])
    assert words in listed.problem
    seen: list[Progress] = []
    update(index, [str(tmp_path / name)], on_progress=seen.append)
    assert seen == [Progress(0, 0)]


def test_an_office_document_is_read_with_its_headings(index: DocumentIndex, tmp_path: Path) -> None:
    path = tmp_path / "terms.docx"
    path.write_bytes(office.word("# Payment", "Pay in 30 days."))
    update(index, [str(path)])
    assert index.find([str(path)], "days")[0].place == "terms.docx, Payment"


def test_what_is_hidden_made_by_programs_or_no_text_is_passed_over(source: Path) -> None:
    for name in (".git/x.md", "node_modules/y.md", "~$a.docx", "p.png", "m.gguf", "empty.md"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_bytes(b"" if name == "empty.md" else b"x")
    (source / "loop").symlink_to(source)
    os.mkfifo(source / "pipe.txt")
    assert [Path(one.path).name for one in files_of(str(source))] == ["a.md", "b.txt"]


def test_a_file_that_vanishes_while_it_is_read_is_one_sentence(index: DocumentIndex, source: Path) -> None:
    def vanish(progress: Progress) -> None:
        (source / "a.md").unlink(missing_ok=True)

    update(index, [str(source)], on_progress=vanish)
    assert [(one.name, one.state) for one in index.files([str(source)])] == [
        ("a.md", FileState.FAILED),
        ("b.txt", FileState.READ),
    ]
