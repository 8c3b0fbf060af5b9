"""What the engine says of itself is said in German, too; the shapes are those that the engine really makes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from engine.pacing.pace import choose_pace
from engine.records import Mode
from engine.sentences import said
from tests.ui.conftest import ASSETS
from ui.text.catalogues import ENGLISH, install_language
from ui.text.engine_words import SENTENCES, engine_sentence

FOLDER = ASSETS / "translations"


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    install_language(qapp, FOLDER, "de")
    yield
    install_language(qapp, FOLDER, ENGLISH)


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
    code = "".join(path.read_text("utf-8") for path in (ASSETS.parent / "engine").rglob("*.py"))
    for sentence in SENTENCES:
        longest = max(sentence.replace("}", "{").split("{"), key=len).strip(" ,:")
        assert longest in code, sentence


@pytest.mark.parametrize(
    ("english", "told"),
    [
        ("the 1 oldest messages are sent as a summary", "the oldest message is sent as a summary"),
        (
            "token 9: the 1 oldest messages are left out: the context holds 512 tokens",
            "token 9: the oldest message is left out: the context holds 512 tokens",
        ),
        (
            "1 questions without an answer are left out: the context holds 512 tokens",
            "a question without an answer is left out: the context holds 512 tokens",
        ),
        (
            "tie-safe: 1 near ties (margins under 0.02) decided as in plain decoding, 1 tokens decoded again in 1.0 ms",
            "tie-safe: 1 near tie (margin under 0.02) decided as in plain decoding, 1 token decoded again in 1.0 ms",
        ),
        (
            "tie-safe: 1 near ties (margins under 0.02) decided as in plain decoding, 4 tokens decoded again in 1.0 ms",
            "tie-safe: 1 near tie (margin under 0.02) decided as in plain decoding, 4 tokens decoded again in 1.0 ms",
        ),
        (
            "tie-safe: 2 near ties (margins under 0.02) decided as in plain decoding, 1 tokens decoded again in 1.0 ms",
            "tie-safe: 2 near ties (margins under 0.02) decided as in plain decoding, 1 token decoded again in 1.0 ms",
        ),
        (
            "kept 1 tokens of the target for the chat before in 2 ms",
            "kept 1 token of the target for the chat before in 2 ms",
        ),
        (
            "brought back 1 tokens of the draft from disk in 2 ms",
            "brought back 1 token of the draft from disk in 2 ms",
        ),
        (
            "1 tokens are decoded again (about 2 ms): bringing them back from memory would take about 3 ms",
            "1 token is decoded again (about 2 ms): bringing it back from memory would take about 3 ms",
        ),
    ],
)
def test_one_is_said_as_one(qapp: QApplication, english: str, told: str) -> None:
    assert engine_sentence(english) == told


def test_one_is_said_as_one_in_german(german: None) -> None:
    told = engine_sentence("the 1 oldest messages are sent as a summary")
    assert told == "die älteste Nachricht wird als Zusammenfassung gesendet"
    told = engine_sentence(
        "tie-safe: 1 near ties (margins under 0.02) decided as in plain decoding, 1 tokens decoded again in 1.0 ms"
    )
    assert "1 knapper Fall " in told
    assert "1 Token in 1,0 ms neu berechnet" in told


@pytest.mark.parametrize(
    ("english", "told"),
    [
        ("token 40: n-gram on: the text repeats", "Token 40: N-Gramm an: Der Text wiederholt sich"),
        (
            "token 90: text lookup paused: 31 % accepted, needs 45 % here",
            "Token 90: Textsuche pausiert: 31 % akzeptiert, nötig sind hier 45 %",
        ),
        ("text lookup paused: 31 % accepted, and cannot pay here at any acceptance", "31 % akzeptiert, und kann"),
        (
            "token 5: draft model: 2 threads to 1: another program uses the cores",
            "Token 5: Entwurfsmodell: 1 Threads statt 2 Threads: Ein anderes Programm",
        ),
        ("token 7: 1 thread to 3: that is faster here", "Token 7: 3 Threads statt 1 Thread: Das ist"),
        ("4 threads to 2: another program uses the cores", "2 Threads statt 4 Threads: Ein anderes Programm"),
        ("the 12 oldest messages are sent as a summary", "12 ältesten"),
        (
            "tie-safe: 3 near ties (margins under 0.0210) decided as in plain decoding, 5 tokens decoded again in 1 ms",
            "0,0210",
        ),
        ("kept 1,234 tokens of the target for the chat before in 3.5 ms", "1.234 Token des Zielmodells"),
        ("brought back 64 tokens of the draft from disk in 1.25 s", "64 Token des Entwurfs von der Platte in 1,25 s"),
        ("a kept cache could not be brought back; its tokens are decoded again", "aufgehobener Cache"),
        (
            "900 tokens are decoded again (about 0.50 s): bringing them back from memory would take about 2.00 s",
            "aus dem Speicher",
        ),
    ],
)
def test_every_note_of_an_answer_is_told_in_german(german: None, english: str, told: str) -> None:
    assert told in engine_sentence(english)


def test_why_an_answer_is_plain_is_told_in_german_from_the_engine_and_from_a_file(german: None) -> None:
    sentence = said("plain decoding instead: {reason}", reason=said("No draft model is chosen."))
    for text in (sentence, str(sentence)):
        assert engine_sentence(text).endswith(": Es ist kein Entwurfsmodell gewählt.")


def test_what_is_not_known_stays(german: None) -> None:
    assert engine_sentence("Something new.") == "Something new."


def test_english_is_as_the_engine_says_it(qapp: QApplication) -> None:
    assert engine_sentence("draft on: 83 % accepted at depth 1") == "draft on: 83 % accepted at depth 1"
