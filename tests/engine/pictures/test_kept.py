"""Saved states of chats with pictures after a kill: a picture is identified by its pixels, not by its ids."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.cache.files import SUFFIX
from tests.engine.vision_factory import side_file, write_pair

RUN = "import sys; from tests.engine.pictures.kept import main; main(sys.argv[1:])"
WORDS = " is there, and there is more of it to be said" * 5  # more than a chunk: tie-safe answers keep whole chunks
Question = tuple[int, list[list[str | int]]]
OTHER: Question = (2, [["a chat of words alone, so that the one with the picture is left and kept"]])
FIRST: Question = (1, [["abc ", 0, WORDS]])
AGAIN: Question = (1, [["abc ", 0, WORDS], ["ab"], ["and?"]])
CHANGED: Question = (1, [["abc ", 7, WORDS], ["ab"], ["and?"]])
Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def run(python_command: Callable[..., list[str]]) -> Run:
    """A function that runs the program once, and returns the result of each question."""

    def once(folder: Path, states: Path, *questions: Question, ending: str = "end") -> list[dict[str, Any]]:
        command = python_command(RUN, str(folder), str(states), ending, json.dumps(questions))
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == (-signal.SIGKILL if ending == "kill" else 0), done.stderr.decode()
        return list(json.loads(done.stdout))

    return once


@pytest.mark.parametrize("family", ["llava", "gemma3", "qwen2vl", "idefics3"])
def test_a_chat_with_a_picture_goes_on_after_a_kill_without_the_encoder(tmp_path: Path, family: str, run: Run) -> None:
    """The answer equals that of an empty cache; the ids of the new run begin with another picture."""
    folder, states = tmp_path / "models", tmp_path / "states"
    folder.mkdir()
    write_pair(folder, family)
    before, _ = run(folder, states, FIRST, OTHER, ending="kill")
    assert before["encoded"] > 0
    # Another picture takes the ids that the first one had in the killed run.
    taken: Question = (3, [["abc ", 5, WORDS]])
    _, again, changed = run(folder, states, taken, AGAIN, CHANGED)
    assert (again["restored"] > 15, again["encoded"]) == (True, 0)
    assert changed["encoded"] > 0
    for question, found in ((AGAIN, again), (CHANGED, changed)):
        (fresh,) = run(folder, tmp_path / "no states", question)
        assert fresh["restored"] == 0
        assert fresh["ids"] == found["ids"]


def test_a_changed_picture_is_not_taken_for_the_kept_one(tmp_path: Path, run: Run) -> None:
    """Directly after the start, with the same ids, positions and text."""
    folder, states = tmp_path / "models", tmp_path / "states"
    folder.mkdir()
    write_pair(folder, "llava")
    run(folder, states, FIRST, OTHER, ending="kill")
    (changed,) = run(folder, states, CHANGED)
    assert (changed["restored"], changed["encoded"]) == (0, 1)
    (fresh,) = run(folder, tmp_path / "no states", CHANGED)
    assert changed["ids"] == fresh["ids"]


def test_another_encoder_reads_the_picture_again(tmp_path: Path, run: Run) -> None:
    """A projector with other weights gives other embeddings of the same picture."""
    folder, states = tmp_path / "models", tmp_path / "states"
    folder.mkdir()
    pair = write_pair(folder, "llava")
    run(folder, states, FIRST, OTHER, ending="kill")
    assert len(list(states.glob(f"*{SUFFIX}"))) >= 1
    pair.side.unlink()
    side_file("llava", seed=9).write(pair.side)
    (again,) = run(folder, states, AGAIN)
    assert (again["restored"], again["encoded"]) == (0, 1)
