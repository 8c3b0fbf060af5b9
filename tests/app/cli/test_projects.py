"""Tests `paceline projects`: created, read, asked and removed in the terminal."""

import json
from pathlib import Path

import pytest

from app.cli.parser import main
from app.core.paths import find_paths
from app.core.projects.projects import ProjectError
from app.core.projects.search import passages_for

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "rent.md").write_text("The rent is 940 euros.")
    (folder / "bad.docx").write_bytes(b"PK\x03\x04")
    return folder


def test_files_are_read_found_and_listed(capsys: Capture, papers: Path) -> None:
    assert main(["projects", "list"]) == 0
    assert "No projects yet" in capsys.readouterr().out
    assert main(["projects", "add", "House", str(papers)]) == 0
    told = capsys.readouterr()
    assert "House: 2 files, 1 passage." in told.out
    assert "“bad.docx” is damaged" in told.err
    assert main(["projects", "find", "house", "How much is the rent?"]) == 0
    assert "rent.md, line 1\nThe rent is 940 euros." in capsys.readouterr().out
    assert main(["projects", "list"]) == 0
    assert str(papers) in capsys.readouterr().out


def test_progress_is_told_as_lines_of_json(capsys: Capture, papers: Path) -> None:
    main(["projects", "add", "House", str(papers)])
    (papers / "new.txt").write_text("More.")
    capsys.readouterr()
    assert main(["projects", "update", "House", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [{"done": 0, "total": 1, "name": "new.txt"}, {"done": 1, "total": 1, "name": ""}]


def test_what_is_removed_is_found_no_more(capsys: Capture, papers: Path) -> None:
    main(["projects", "add", "House", str(papers)])
    assert main(["projects", "remove", "House", str(papers)]) == 0
    with pytest.raises(ProjectError, match="has no files"):
        passages_for(find_paths(), "House", "rent")
    assert main(["projects", "remove", "House"]) == 0
    capsys.readouterr()
    assert main(["projects", "find", "House", "rent"]) == 1
    assert "There is no project called House." in capsys.readouterr().err


@pytest.mark.usefixtures("tried")
def test_an_answer_names_its_sources(capsys: Capture, papers: Path) -> None:
    main(["projects", "add", "House", str(papers)])
    capsys.readouterr()
    options = ["--max-tokens", "4", "--temperature", "0"]
    assert main(["projects", "ask", "House", "How much is the rent?", *options]) == 0
    assert "[1] rent.md, line 1" in capsys.readouterr().err


def test_a_path_that_is_not_there_is_refused(capsys: Capture, tmp_path: Path) -> None:
    assert main(["projects", "add", "House", str(tmp_path / "gone")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_files_beyond_the_limit_of_a_folder_are_told(
    capsys: Capture, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("app.cli.projects", "app.core.projects.indexing"):
        monkeypatch.setattr(f"{module}.MAX_FILES", 2)
    (papers / "third.txt").write_text("More.")
    assert main(["projects", "add", "House", str(papers)]) == 0
    told = capsys.readouterr()
    assert "House: 2 files" in told.out
    assert f"{papers}: only the first 2 files are read. Add its folders instead." in told.err
