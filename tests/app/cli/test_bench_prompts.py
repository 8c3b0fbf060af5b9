"""Tests the prompts of `paceline bench`: files, folders of files, or the bundled ones."""

import json
from pathlib import Path

import pytest

from app.cli.bench import _prompts
from app.cli.parser import main, make_parser
from app.core.paths import assets_dir

Capture = pytest.CaptureFixture[str]


def write(file: Path, *names: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    records = [{"id": name, "category": file.stem, "prompt": f"Say {name}."} for name in names]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def chosen(*words: str) -> list[str]:
    return [prompt.id for prompt in _prompts(make_parser().parse_args(["bench", *words]))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two prompt files and unrelated files."""
    place = tmp_path / "my prompts"
    write(place / "poems.jsonl", "p1", "p2")
    write(place / "letters.jsonl", "l1", "l2")
    write(place / "more" / "deeper.jsonl", "d1")
    (place / "folder.jsonl").mkdir()
    (place / "._poems.jsonl").write_bytes(b"\x00\x05\x16\x07")
    (place / "notes.txt").write_text("no prompts", encoding="utf-8")
    return place


def test_a_folder_stands_for_the_jsonl_files_right_in_it_by_name(folder: Path) -> None:
    assert chosen("--prompts", str(folder)) == ["l1", "l2", "p1", "p2"]


def test_folders_and_files_go_together_in_the_order_given(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "own.jsonl", "o1")
    words = ["--prompts", str(tmp_path / "own.jsonl"), "--prompts", str(folder), "--prompts", str(folder / "more")]
    assert chosen(*words) == ["o1", "l1", "l2", "p1", "p2", "d1"]


def test_what_is_chosen_of_a_folder(folder: Path) -> None:
    assert chosen("--prompts", str(folder), "--per-category", "1") == ["l1", "p1"]


def test_without_prompts_the_built_in_pairs_are_used() -> None:
    own = assets_dir() / "workloads"
    assert chosen() == chosen("--prompts", str(own))
    categories = {prompt.category for prompt in _prompts(make_parser().parse_args(["bench"]))}
    assert categories == {"chat", "code", "copying", "free", "maths", "summarising"}


def test_a_folder_without_prompts_is_one_sentence(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no prompts", encoding="utf-8")
    assert main(["bench", "--prompts", str(tmp_path)]) == 1
    said = f"The folder {tmp_path} holds no prompts: it has no file that ends in .jsonl. Change the option or the file."
    assert capsys.readouterr().err.strip() == f"paceline: This cannot be measured: {said}"
