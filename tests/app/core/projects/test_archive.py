"""Tests export of a project to a zip file and back; hostile files do no harm."""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.domain.messages import MessageState
from app.core.projects.archive import export_project, import_project, is_project
from app.core.projects.projects import ProjectError, Projects, with_sources
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore


class Machine:
    """The projects and chats of one computer."""

    def __init__(self, root: Path) -> None:
        self.files = root / "files"
        self.projects = Projects(root / "projects.toml")
        self.store = ChatStore(StoreLocation(root / "chats.db", root / "backups"), [].append)
        assert self.store.open() is None


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "mine")
    yield machine
    machine.store.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "other")
    yield machine
    machine.store.close()


def archive_of(path: Path, values: dict[str, Any] | None = None, **entries: str) -> Path:
    """A handmade project file; ``entries`` by name, with "/" written as "__"."""
    head = {"format": "paceline-project", "version": 1, "name": "Garden", "values": values or {}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.json", json.dumps(head))
        for name, text in entries.items():
            archive.writestr(name.replace("__", "/"), text)
    return path


def test_files_settings_and_chats_come_back(mine: Machine, other: Machine, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    (papers / "deep").mkdir(parents=True)
    (papers / "rent.md").write_text("The rent is 940 euros.")
    (papers / "deep" / "beans.txt").write_text("Beans are sown in May.")
    (single := tmp_path / "more" / "papers").mkdir(parents=True)
    (single / "note.txt").write_text("A note.")
    folder = mine.store.library.create_folder("Garden")
    turn = mine.store.begin_turn(None, "When are beans sown?")
    mine.store.append(turn.answer.id, "In May.")
    mine.store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    mine.store.library.move_to_folder(turn.conversation_id, folder)
    mine.store.begin_turn(None, "Another chat")
    project = with_sources(mine.projects.add("Garden", folder), [str(papers), str(single), str(tmp_path / "gone.txt")])
    project = replace(project, values={"system_prompt": "Be short.", "depth": None, "tools": True})
    file = tmp_path / "garden.zip"
    assert export_project(project, mine.store, file) == ()
    assert is_project(file)
    taken = import_project(other.projects, other.store, file, other.files)
    assert [other.projects.find("garden")] == [taken]
    assert taken.values == {"system_prompt": "Be short.", "depth": None}  # a file cannot enable tools
    assert {path.relative_to(other.files).as_posix(): path.read_text() for path in other.files.rglob("*.*")} == {
        "Garden/papers/rent.md": "The rent is 940 euros.",
        "Garden/papers/deep/beans.txt": "Beans are sown in May.",
        "Garden/2 papers/note.txt": "A note.",
    }
    assert taken.sources == (str(other.files / "Garden" / "2 papers"), str(other.files / "Garden" / "papers"))
    (row,) = other.store.conversations()
    assert (row.title, row.folder_id) == ("When are beans sown?", taken.folder_id)


def test_a_second_project_of_its_name_is_refused(other: Machine, tmp_path: Path) -> None:
    file = archive_of(tmp_path / "a.zip", files__a__b="x")
    import_project(other.projects, other.store, file, other.files)
    with pytest.raises(ProjectError, match="already"):
        import_project(other.projects, other.store, file, other.files)
    assert len(other.projects.all()) == 1


def test_a_strangers_file_stays_in_its_folder_and_allows_no_tool(other: Machine, tmp_path: Path) -> None:
    values = {"allowed_tools": "files/write", "tools": True, "temperature": 0.5, "mode": "nonsense"}
    odd = {"files__..__..__out.txt": "x", "files____etc__passwd": "y", "chats.json": "{"}
    file = archive_of(tmp_path / "a.zip", values, **odd)
    with pytest.raises(Exception, match="not a JSON file"):  # its chats are invalid, the project itself is not
        import_project(other.projects, other.store, file, other.files)
    assert other.projects.find("Garden").values == {"temperature": 0.5}
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.suffix == ".txt"}
    assert written == {"other/files/Garden/out.txt"}
    assert (other.files / "Garden" / "etc" / "passwd").read_text() == "y"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_project_is_refused_with_a_sentence(content: bytes, other: Machine, tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(content)
    assert not is_project(file)
    with pytest.raises(ProjectError, match=r"a\.zip cannot be read"):
        import_project(other.projects, other.store, file, other.files)
    assert not other.projects.all()


def test_a_newer_file_and_a_bomb_are_refused(other: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "new.zip", "w") as archive:
        archive.writestr("project.json", '{"format": "paceline-project", "version": 2, "name": "x"}')
    with pytest.raises(ProjectError, match="another version"):
        import_project(other.projects, other.store, tmp_path / "new.zip", other.files)
    monkeypatch.setattr("app.core.projects.archive.MAX_BYTES", 100)
    with pytest.raises(ProjectError, match="too many files"):
        import_project(other.projects, other.store, archive_of(tmp_path / "b.zip", files__a="x" * 101), other.files)
    with pytest.raises(ProjectError, match="too many files"):  # the chats count as well
        import_project(
            other.projects, other.store, archive_of(tmp_path / "c.zip", **{"chats.json": "x" * 101}), other.files
        )
    assert not other.files.exists()


def test_a_folder_that_cannot_be_written_is_told(mine: Machine, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="cannot be written"):
        export_project(mine.projects.add("A"), mine.store, tmp_path / "missing" / "a.zip")
