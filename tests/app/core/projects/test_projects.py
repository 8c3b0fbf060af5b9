"""Projects are stored in a file that several processes read and change."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.projects.projects import ProjectError, Projects, with_sources


def test_a_project_is_kept_with_its_sources_and_values(tmp_path: Path) -> None:
    projects = Projects(tmp_path / "projects.toml")
    made = projects.add("Garden\n2026", 7)
    odd = f"{tmp_path}/caf\udce9 100%"
    changed = replace(
        with_sources(made, [odd, odd, str(tmp_path)]), values={"system_prompt": "Be short.", "depth": None}
    )
    projects.update(changed)
    again = Projects(tmp_path / "projects.toml")
    assert again.all() == (replace(changed, name="Garden 2026", sources=(odd, str(tmp_path))),)
    assert again.find("garden 2026") == again.of_folder(7) == changed
    assert again.of_folder(None) is None


def test_two_of_them_see_what_the_other_keeps(tmp_path: Path) -> None:
    one, other = Projects(tmp_path / "projects.toml"), Projects(tmp_path / "projects.toml")
    made = one.add("A")
    other.add("B")
    one.remove(made.id)
    assert [project.name for project in one.all()] == ["B"]


def test_what_cannot_be_is_refused_with_a_sentence(tmp_path: Path) -> None:
    projects = Projects(tmp_path / "projects.toml")
    with pytest.raises(ProjectError, match="no project called x"):
        projects.find("x")
    with pytest.raises(ProjectError, match="needs a name"):
        projects.add(" \n")


def test_projects_that_cannot_be_stored_are_told_with_what_to_check(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ProjectError, match="could not be saved") as caught:
        Projects(tmp_path / "file" / "projects.toml").add("Garden")
    assert caught.value.advice == "Check the free space and the folder's permissions."


@pytest.mark.parametrize("entry", ["sources = 3", 'sources = ["http://x/y"]', 'folder = "x"', 'name = ""', "id = ''"])
def test_a_broken_entry_is_left_out(tmp_path: Path, entry: str) -> None:
    fields = {"id": "id = 'a'", "name": "name = 'b'", "folder": "folder = 1", "sources": "sources = []", "model": ""}
    fields[entry.split(maxsplit=1)[0]] = entry
    (tmp_path / "projects.toml").write_text("\n".join(("schema = 1", "[[projects]]", *fields.values())))
    assert Projects(tmp_path / "projects.toml").all() == ()
