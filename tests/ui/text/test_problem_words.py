"""Errors of app and engine are shown in German with their fields and numbers; every error can be translated."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.core.domain.settings.table import FIELD_BY_KEY, value_problem
from app.core.hub.errors import HubUnreachableError
from app.core.storage.chats.database import as_storage_error
from engine.fit.fit import FitReport
from engine.gguf.source import damaged_error
from engine.records import Problem
from engine.sentences import i18n, joined
from tests.ui.conftest import ASSETS
from ui.text.language import ENGLISH, install_language
from ui.text.problem_words import explanation, in_language, in_words

ROOT = ASSETS.parent
NOT_SHOWN = {"cli", "benchmark", "server"}  # their errors are shown in a terminal or sent to programs, in English
SHOWN_TOO = {"app/core/benchmark/opened_lanes.py"}  # except these
NOT_FOR_PEOPLE = {"ValueError", "RuntimeError", "TypeError", "KeyError", "OSError", "AssertionError", "EOFError"}
NOT_FOR_PEOPLE |= {"CatalogError", "StoppedError"}  # caught before they reach the user
NOT_FOR_PEOPLE |= {"_WrongArgumentError", "CalculatorError"}  # sent to a model
TEMPLATE_AT = {"i18n": 0, "damaged_error": 0, "check": 1}


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    install_language(qapp, ASSETS / "translations", "de")
    yield
    install_language(qapp, ASSETS / "translations", ENGLISH)


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """File, name and call of all calls in the packages whose sentences the window shows."""
    for room in ("app", "engine"):
        for path in sorted((ROOT / room).rglob("*.py")):
            place = path.relative_to(ROOT)
            if not NOT_SHOWN & set(place.parts) or place.as_posix() in SHOWN_TOO:
                for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                    if isinstance(node, ast.Call):
                        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                        yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno}", name, node


def template_of(name: str, node: ast.Call) -> str | None:
    place = TEMPLATE_AT.get(name)
    given = node.args[place] if place is not None and len(node.args) > place else None
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None


def test_no_error_is_put_together_where_no_catalogue_can_follow() -> None:
    found = []
    for place, name, node in calls():
        if name.endswith(("Error", "Problem", "problem")) and name not in NOT_FOR_PEOPLE:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            found += [place for value in given for part in ast.walk(value) if isinstance(part, ast.JoinedStr)]
    assert found == [], "use engine.sentences.i18n"


def test_every_template_is_given_the_fields_that_it_names() -> None:
    num_found = 0
    for place, name, node in calls():
        template = template_of(name, node)
        if template is None:
            continue
        named = {field for _, field, _, _ in string.Formatter().parse(template) if field is not None}
        given = {keyword.arg for keyword in node.keywords}
        assert None in given or named == given, place  # None: a mapping is passed on
        num_found += 1
    assert num_found > 100


def test_a_composed_sentence_is_translated_before_it_is_filled(german: None) -> None:
    error = as_storage_error(UnicodeDecodeError("utf-8", b"x", 0, 1, "why"), Path("chats.db"))
    assert error.message == "chats.db cannot be read as a chats file."
    assert in_language(error.message) == "chats.db kann nicht als Chat-Datei gelesen werden."
    assert explanation(error.problem).startswith("chats.db kann nicht")
    assert in_words(error.problem).title == "Die Chat-Datei war beschädigt"


def test_reasons_within_sentences_and_numbers_follow_the_language(german: None) -> None:
    told = in_language(damaged_error("it claims {num_tensors:,} tensors", num_tensors=12345).message)
    assert told == "Die Datei ist beschädigt oder kein Modell: sie behauptet, 12.345 Tensoren zu haben."
    report = FitReport(6_100_000_000, 500_000_000, 0, 2_000_000_000)
    assert "6,6 GB (6,1 GB für Gewichte" in in_language(report.sentence)


def test_a_settings_name_comes_from_its_own_part_of_the_catalogue(german: None) -> None:
    assert in_language(value_problem(FIELD_BY_KEY["language"], 1)) == "Sprache muss Text sein."


def test_sentences_one_after_another_are_translated_each(german: None) -> None:
    first, last = i18n("Start a new chat, or choose another model."), i18n("Could not connect to {host}.", host="h")
    told = in_language(joined([first, "a plain text", last]))
    chat = "Beginnen Sie einen neuen Chat oder wählen Sie ein anderes Modell."
    assert told == f"{chat} a plain text Keine Verbindung zu h."


def test_what_no_catalogue_knows_stays(german: None) -> None:
    assert in_language("Something new.") == "Something new."
    assert in_language(i18n("Something {new}.", new="{odd}")) == "Something {odd}."
    assert in_words(Problem("", "", "")) == Problem("", "", "")


def test_english_is_as_it_was_made(qapp: QApplication) -> None:
    sentence = i18n("{name} has {number:,} bytes in {share:.1f} s.", name="1,2.gguf", number=1234, share=0.5)
    assert in_language(sentence) == sentence == "1,2.gguf has 1,234 bytes in 0.5 s."


@pytest.mark.usefixtures("german")
def test_the_message_of_a_failure_is_translated_within_another_sentence() -> None:
    error = HubUnreachableError("The connections were closed.")
    told = in_language(i18n("The hub could not be searched: {reason}", reason=error.message))
    assert told.endswith("Die Verbindungen wurden geschlossen.")
