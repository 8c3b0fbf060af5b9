"""What the engine says of itself is said in German, too; the shapes are those that the engine really makes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from engine.pacing import choose_pace
from engine.records import Mode
from tests.ui.conftest import ASSETS
from ui.catalogues import ENGLISH, speak
from ui.engine_words import SENTENCES, engine_sentence

FOLDER = ASSETS / "translations"


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    speak(qapp, FOLDER, "de")
    yield
    speak(qapp, FOLDER, ENGLISH)


@pytest.mark.parametrize(("depth", "can_pace"), [(None, True), (None, False), (3, True)])
@pytest.mark.parametrize("mode", list(Mode))
def test_every_pace_is_told_in_german(german: None, mode: Mode, depth: int | None, can_pace: bool) -> None:
    english = choose_pace(mode, depth, can_pace=can_pace).reason
    said = engine_sentence(english)
    assert said != english
    assert "at depth" not in said
    assert "paced" not in said


def test_sentences_within_sentences_and_their_numbers(german: None) -> None:
    text = "draft paused: 41 % accepted at depth 1, needs 63 % here, where a rejection costs 12.5 ms"
    said = engine_sentence(text)
    assert said.startswith("Entwurf pausiert: 41 % ")
    assert "63 %" in said
    assert "12,5 ms" in said


def test_the_engines_files_hold_the_beginnings_of_all_shapes() -> None:
    code = "".join(path.read_text("utf-8") for path in (ASSETS.parent / "engine").glob("*.py"))
    for sentence in SENTENCES:
        longest = max(sentence.replace("}", "{").split("{"), key=len).strip(" ,:")
        assert longest in code, sentence


def test_what_is_not_known_stays(german: None) -> None:
    assert engine_sentence("Something new.") == "Something new."


def test_english_is_as_the_engine_says_it(qapp: QApplication) -> None:
    assert engine_sentence("draft on: 83 % accepted at depth 1") == "draft on: 83 % accepted at depth 1"
