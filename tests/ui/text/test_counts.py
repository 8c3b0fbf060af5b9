"""Texts with the number 1 use the singular: in English and German, in the window and in errors."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtWidgets import QApplication

from app.controllers.chat.attachments import _too_many
from app.core.domain.attachments import Attachment, AttachmentKind
from engine.sentences import Sentence
from tests.ui.conftest import ASSETS, model
from tests.ui.models.records import result
from ui.composer.attachments.chips import attachment_facts
from ui.composer.context_meter import ContextSum, parts_words, sum_words
from ui.models.repo_pane import facts as repo_facts
from ui.statistics.plots import LengthBars
from ui.text.language import ENGLISH, install_language
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.window.header import describe

ROOT = Path(__file__).parents[3]
# Counts in sentences of app and engine that are never 1, by field name.
NEVER_ONE = {
    "limit": "a bound of the app",
    "n_ctx": "a context",
    "length": "told where it is absurdly large",
    "longest": "told where it is absurdly large",
    "num_ids": "more than a context holds",
    "num_text": "more than an attachment may have",
    "num_tokens": "none, or absurdly many",
    "num_tensors": "absurdly many",
    "num_entries": "absurdly many",
    "num_dims": "none, or more than a tensor has",
    "pages": "a document of one page without text has no text at all",
    "file_size": "bytes of a file",
    "all_of_them": "what is said to be used of them was too much",
    "most": "some of the layers fit and some do not",
    "of_target": "a vocabulary",
    "target_params": "parameters of a model",
    "num_files": "one is told by its own words",
    "num_answers": "one is told by its own words",
    "num_messages": "one is told by its own words",
    "num_questions": "one is told by its own words",
    "num_passes": "one is told by its own words",
}
COUNTED = re.compile(r"\{(\w+)(?::,)?\} (?:(?!of |and |for )\w+ )?(?!is\b|was\b|has\b|does\b)[a-z]+s\b")


@pytest.fixture(params=[ENGLISH, "de"])
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    install_language(qapp, ASSETS / "translations", request.param)
    yield request.param
    install_language(qapp, ASSETS / "translations", ENGLISH)


def chip(number: int) -> str:
    return attachment_facts(Attachment(1, "a.txt", AttachmentKind.TEXT, 0, "a", number)).rsplit(" · ", 1)[1]


def downloads(number: int) -> str:
    return repo_facts(replace(result()[0], downloads=number, updated=datetime(2020, 1, 2, tzinfo=UTC))).split(" · ")[1]


def layers(number: int) -> str:
    return next(part for part in re.split(r"[,\n] ?", describe(model(gpu_layers=number))) if "GPU" in part)


WORDS: tuple[tuple[Callable[[int], str], str, str], ...] = (
    (chip, "1 token", "1 Token"),
    (chip, "2 tokens", "2 Token"),
    (downloads, "1 download", "1 Download"),
    (downloads, "2 downloads", "2 Downloads"),
    (layers, "1 layer on the GPU", "1 Schicht auf der GPU"),
    (layers, "2 layers on the GPU", "2 Schichten auf der GPU"),
    (lambda number: sum_words(ContextSum(0, 0, number, 0)), "1 token", "1 Token"),
    (
        lambda number: parts_words(ContextSum(7, 0, number, 0)).rsplit(", ", 1)[1][:-1],
        "this message 1 token",
        "diese Nachricht 1 Token",
    ),
    (lambda number: _said(_too_many(number)).split("; ")[1], "1 more was chosen.", "1 weiterer wurde gewählt."),
)


def _said(text: str) -> str:
    assert isinstance(text, Sentence)
    return in_language(text)


@pytest.mark.parametrize(("words", "english", "german"), WORDS)
def test_one_is_one(language: str, words: Callable[[int], str], english: str, german: str) -> None:
    number = 2 if re.search(r"\b2\b", english) else 1
    assert words(number) == (german if language == "de" else english)


def test_the_bars_tell_one_pass(language: str, theme: Theme) -> None:
    bars = LengthBars(theme, "bars", "help")
    bars.set_counts((3, 1))
    wanted = (
        "0 akzeptiert: 3 Durchläufe, 1 akzeptiert: 1 Durchlauf"
        if language == "de"
        else "0 accepted: 3 passes, 1 accepted: 1 pass"
    )
    assert bars.description == wanted


def test_what_app_and_engine_count_has_words_for_one() -> None:
    texts = {text for context, text in _catalogues().listed_words(ROOT) if context == "Problems"}
    missing = []
    for text in sorted(texts):
        found = COUNTED.search(text)
        if found is None or found[1] in NEVER_ONE or not _is_number(found[0], found[1]):
            continue
        if not any(other.startswith(f"{text[: found.start()]}1 ") for other in texts):
            missing.append(text)
    assert missing == ["the tensor {name!r} claims {number:,} values"]  # only for extremely large numbers


def _is_number(piece: str, field: str) -> bool:
    return ":," in piece or field.startswith("num") or field in ("empty", "used", "layers", "missing", "asked")


def _catalogues() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "catalogues_for_counts", ROOT / "packaging" / "translations" / "catalogues.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
