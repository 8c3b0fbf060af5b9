"""Decisions of the engine are also shown in German; the sentences are made as in the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from engine.cache.states import _decoding_sentence, _token_count_text
from engine.decoding.stats import StatsRecorder
from engine.pacing import reasons
from engine.pacing.draft_length import choose_draft_length
from engine.records import Mode, RunStats
from engine.sentences import Sentence, from_json, i18n, to_json
from engine.session.answer import _messages_left_out, _questions_left_out
from engine.session.summarising import _note
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
    text = reasons.draft_not_paying(0.41, as_asked=False, is_observed=True)
    assert text == "draft paused, since it would not pay off: 41% of its first tokens are accepted"
    german_words = in_language(text)
    assert german_words.startswith("Entwurf pausiert, weil er sich nicht lohnen würde: 41\N{NO-BREAK SPACE}% ")
    assert "(etwa 2,0 ms)" in in_language(_decoding_sentence(1900, 0.002, "memory", 0.003))


@pytest.mark.parametrize(
    ("sentence", "english"),
    [
        (_note(1), "the oldest message is sent as a summary"),
        (_messages_left_out(1, 512), "the oldest message is left out: the context holds 512 tokens"),
        (_questions_left_out(1, 512), "a question without an answer is left out: the context holds 512 tokens"),
        (_token_count_text(1), "1 token"),
        (
            _decoding_sentence(1, 0.002, "memory", 0.003),
            "1 token is decoded again (about 2.0 ms): restoring it from memory would take about 3.0 ms",
        ),
        (_changed(1, 3, i18n("that is faster here")), "threads from 1 to 3: that is faster here"),
    ],
)
def test_one_is_said_as_one(sentence: Sentence, english: str) -> None:
    assert sentence == english


def test_one_is_said_as_one_in_german(german: None) -> None:
    assert in_language(_note(1)) == "die älteste Nachricht wird als Zusammenfassung gesendet"


def noted(reason: Sentence, num_tokens: int) -> str:
    """A reason as the statistics contain it after this number of tokens."""
    stats = StatsRecorder(Mode.AUTO, 512)
    stats.tokens = num_tokens
    stats.add_decision(reason)
    return stats.decisions[-1]


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (noted(reasons.NGRAM_REASON, 40), "Token 40: nutzt wiederholten Text (N-Gramm)"),
        (
            noted(reasons.ngram_not_paying(0.31, is_observed=True), 90),
            "Token 90: wiederholter Text pausiert, weil er sich nicht lohnen würde: 31\N{NO-BREAK SPACE}% akzeptiert",
        ),
        (reasons.ngram_not_paying(0.31, is_observed=False), "31\N{NO-BREAK SPACE}% erwartet"),
        (
            reasons.drafting_sentence(0.83, is_observed=True),
            "Entwurf an: 83\N{NO-BREAK SPACE}% seiner ersten Token werden akzeptiert",
        ),
        (
            reasons.drafting_sentence(0.83, is_observed=False),
            "Entwurf an: 83\N{NO-BREAK SPACE}% seiner ersten Token werden voraussichtlich akzeptiert",
        ),
        (
            reasons.draft_not_paying(0.5, as_asked=True, is_observed=False),
            "Entwurf an wie gewählt, aber er lohnt sich nicht: 50\N{NO-BREAK SPACE}% seiner ersten Token werden "
            "voraussichtlich akzeptiert",
        ),
        (
            noted(i18n("draft model: {why}", why=_changed(2, 1, i18n("another program uses the cores"))), 5),
            "Token 5: Entwurfsmodell: Threads von 2 auf 1: Ein anderes Programm",
        ),
        (_changed(1, 3, i18n("that is faster here")), "Threads von 1 auf 3: Das ist"),
        (_note(12), "12 ältesten"),
        (_messages_left_out(2, 4096), "die 2 ältesten Nachrichten sind weggelassen: Der Kontext fasst 4.096 Token"),
        (_questions_left_out(2, 4096), "2 Fragen ohne Antwort sind weggelassen: Der Kontext fasst 4.096 Token"),
        (
            _decoding_sentence(1900, 0.5, "disk", 2.0),
            "1.900 Token werden neu berechnet (etwa 0,50 s): Sie von der Festplatte",
        ),
        (i18n("draft left out: {reason}", reason=i18n("No draft model is chosen.")), "Entwurfsmodell ausgelassen: Es"),
    ],
)
def test_every_note_of_an_answer_is_reported_in_german(german: None, sentence: Sentence, told: str) -> None:
    assert told in in_language(sentence)


def test_why_an_answer_is_plain_is_reported_in_german(german: None) -> None:
    sentence = i18n("without drafting: {reason}", reason=i18n("No draft model is chosen."))
    assert in_language(sentence).endswith(": Es ist kein Entwurfsmodell gewählt.")


def test_what_was_stored_as_plain_text_is_shown_as_it_is(german: None) -> None:
    old = "draft on: 83 % accepted at depth 1"  # as earlier versions stored it
    assert in_language(old) == old


def why_of(decisions: tuple[str, ...]) -> list[str]:
    return drafting_sentences(RunStats(decisions=decisions))


def test_the_newest_drafting_decision_is_found_as_sentence_and_text(german: None) -> None:
    decisions = (
        reasons.NGRAM_REASON,
        reasons.drafting_sentence(0.5, is_observed=True),
        _changed(2, 1, i18n("that is faster here")),
    )
    assert why_of(decisions) == ["Entwurf an: 50\N{NO-BREAK SPACE}% seiner ersten Token werden akzeptiert."]
    assert why_of(tuple(map(str, decisions))) == ["Draft on: 50% of its first tokens are accepted."]
    assert why_of(()) == why_of(("the oldest message is sent as a summary",)) == []
