"""Decisions of the engine are also shown in German; the sentences are made as in the engine."""

import json
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from engine.cache.states import _decoding_sentence
from engine.pacing import pacer
from engine.pacing.draft_length import choose_draft_length
from engine.records import Mode, RunStats
from engine.sentences import from_json, i18n, to_json
from engine.tuning.threads import _changed
from tests.ui.conftest import ASSETS
from ui.text.answer_metrics import drafting_sentences
from ui.text.language import ENGLISH, install_language
from ui.text.problem_words import in_language

FOLDER = ASSETS / "translations"


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    install_language(qapp, FOLDER, "de")
    yield
    install_language(qapp, FOLDER, ENGLISH)


@pytest.mark.parametrize(("depth", "can_pace"), [(None, True), (None, False), (3, True)])
@pytest.mark.parametrize("mode", list(Mode))
def test_every_pace_is_reported_in_german(german: None, mode: Mode, depth: int | None, can_pace: bool) -> None:
    english = choose_draft_length(mode, depth, can_pace=can_pace).reason
    german_words = in_language(english)
    assert german_words != english
    assert "at draft length" not in german_words
    assert "paced" not in german_words


def test_a_mode_is_called_in_the_window_as_everywhere_there(qapp: QApplication) -> None:
    reason = choose_draft_length(Mode.NGRAM, 3, can_pace=True).reason
    assert reason == "ngram at the chosen draft length of 3"
    assert in_language(reason) == "n-gram at the chosen draft length of 3"
    assert in_language(from_json(json.loads(json.dumps(to_json(reason))))) == "n-gram at the chosen draft length of 3"


def test_sentences_within_sentences_and_their_numbers(german: None) -> None:
    text = pacer.draft_sentence(0.41, pays=False)
    assert text == "draft paused, since it would not pay off: 41% of its first tokens are accepted"
    german_words = in_language(text)
    assert german_words.startswith("Entwurf pausiert, weil er sich nicht lohnen würde: 41\N{NO-BREAK SPACE}% ")
    assert "(etwa 2,0 ms)" in in_language(_decoding_sentence(1900, 0.002, "memory", 0.003))


def test_what_was_stored_as_plain_text_is_shown_as_it_is(german: None) -> None:
    old = "draft on: 83 % accepted at depth 1"  # as earlier versions stored it
    assert in_language(old) == old


def why_of(decisions: tuple[str, ...]) -> list[str]:
    return drafting_sentences(RunStats(decisions=decisions))


def test_the_newest_drafting_decision_is_found_as_sentence_and_text(german: None) -> None:
    decisions = (
        pacer.NGRAM_REASON,
        pacer.draft_sentence(0.5, pays=True),
        _changed(2, 1, i18n("that is faster here")),
    )
    assert why_of(decisions) == ["Entwurf an: 50\N{NO-BREAK SPACE}% seiner ersten Token werden akzeptiert."]
    assert why_of(tuple(map(str, decisions))) == ["Draft on: 50% of its first tokens are accepted."]
    assert why_of(()) == why_of(("oldest messages sent as a summary: 1",)) == []
