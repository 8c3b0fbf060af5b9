"""The German catalogue has every text of the code with the same fields, and the window shows no other text."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from app.core.domain.settings.layers import SavedPrompt
from app.core.domain.settings.table import FIELDS
from engine.sentences import i18n
from tests.ui.conftest import ASSETS, READY, STATS, rows
from tests.ui.filled_window import PLACES, make_window, open_settings, opened
from ui.composer.prompt_list import builtin_prompts, placeholders
from ui.settings.dialog import SettingsDialog
from ui.settings.prompts_page import PromptsPage
from ui.text.answer_metrics import footer
from ui.text.formatting import count, decimal_text, number_text, percent, speed, times_plain
from ui.text.language import ENGLISH, install_language, system_language, translate
from ui.window.dialogs import ShortcutsDialog
from ui.window.main_window import MainWindow

FOLDER = ASSETS / "translations"
ROOT = ASSETS.parent
FIELD = re.compile(r"\{[^{}]*\}|%L?n")
ENGLISH_WORDS = re.compile(
    r"\b(the|of|and|with|is|are|not|this|no|your|from|for|to|how|what|open|close|show|hide|copy|new|chats?|search|"
    r"settings|message|send|stop|answers?|models?|keyboard|sections|speed|time|tokens)\b",
    re.IGNORECASE,
)
SAME_IN_BOTH = {"chat", "chats", "stop", "tokens"}
# The suggested messages are for the built-in pair, which only knows English.
PROMPTS = re.compile(r"Repeat this text|Make a Markdown|speculative decoding|about a fox")


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "catalogues_tool", ROOT / "packaging" / "translations" / "catalogues.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _has_tools() -> bool:
    return (Path(sys.executable).parent / "pyside6-lupdate").exists() or shutil.which("pyside6-lupdate") is not None


needs_tools = pytest.mark.skipif(not _has_tools(), reason="Qt's lupdate and lrelease are not beside this Python")


@pytest.fixture(scope="module")
def updated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the catalogues, updated from the code."""
    folder = tmp_path_factory.mktemp("translations")
    for path in FOLDER.glob("*.ts"):
        shutil.copy(path, folder)
    _tool().update(folder)
    return folder


def messages(path: Path, *, written: bool = True) -> Iterator[tuple[str, str, list[str], bool]]:
    """Context, source, translations (two for a plural) and whether they are finished; by default only existing ones."""
    for context in ET.parse(path).getroot().iter("context"):  # noqa: S314 (our own file)
        name = context.findtext("name", "")
        for message in context.findall("message"):
            node = message.find("translation")
            assert node is not None
            forms = [form.text or "" for form in node.findall("numerusform")] or [node.text or ""]
            if written and not all(forms):
                continue
            yield name, message.findtext("source", ""), forms, node.get("type") != "unfinished"


@needs_tools
@pytest.mark.parametrize("code", ["de", "en"])
def test_every_text_of_the_code_is_translated(updated: Path, code: str) -> None:
    found = list(messages(updated / f"paceline_{code}.ts", written=False))
    missing = [f"{name}: {source}" for name, source, forms, done in found if not done or not all(forms)]
    assert found
    assert missing == [], "translate them in assets/translations, then run `make translations`"


def _literal_texts() -> Iterator[tuple[str, str, str]]:
    """File, context and source of each text that the code translates or marks."""
    tool = _tool()
    for path in (path for room in ("app", "engine", "ui") for path in sorted((ROOT / room).rglob("*.py"))):
        for context, source, node in tool.texts_of_calls(ast.parse(path.read_text(encoding="utf-8"))):
            yield f"{path.name}:{node.lineno}", context, source


def test_no_text_stands_where_the_tool_does_not_look() -> None:
    """For example within an f-string: it would never be translated, without any warning."""
    known = {(name, source) for name, source, *_ in messages(FOLDER / "paceline_de.ts")}
    texts = list(_literal_texts())
    assert len(texts) > 1000
    assert [one for one in texts if one[1:] not in known] == []


@needs_tools
def test_the_compiled_catalogues_are_those_of_the_texts(tmp_path: Path) -> None:
    for path in FOLDER.glob("*.ts"):
        shutil.copy(path, tmp_path)
    _tool().release(tmp_path)
    for path in sorted(tmp_path.glob("*.qm")):
        assert path.read_bytes() == (FOLDER / path.name).read_bytes(), "run `make translations`"


@pytest.mark.parametrize("code", ["de", "en"])
def test_the_fields_of_both_languages_are_the_same(code: str) -> None:
    for name, source, forms, _ in messages(FOLDER / f"paceline_{code}.ts"):
        if name == "Prompts":
            continue  # a translator fills these
        wanted = set(FIELD.findall(source))
        for form in forms:
            may_lack = {"%n", "%Ln"} if len(forms) > 1 else set()
            assert wanted - may_lack <= set(FIELD.findall(form)) <= wanted, f"{name}: {source!r} became {form!r}"


def test_what_a_person_fills_in_a_prompt_has_german_names(german: str) -> None:
    texts = {prompt.name: prompt.text for prompt in builtin_prompts()}
    assert FIELD.findall(texts["zusammenfassen"]) == ["{Anzahl}", "{Text}"]
    assert FIELD.findall(texts["übersetzen"]) == ["{Sprache}", "{Text}"]
    fields = {field for text in texts.values() for field in FIELD.findall(text)}
    assert fields == {"{Anzahl}", "{Text}", "{Sprache}", "{Code}"}
    assert all(placeholders(text) for text in texts.values())


def test_the_page_of_prompts_shows_braces_in_german(german: str, qtbot: QtBot) -> None:
    told = " ".join(shown_texts(open_settings(make_window(qtbot), 6)))
    assert "Wörter in {Klammern} werden" in told


def test_every_choice_of_the_settings_has_room_in_german(german: str, qtbot: QtBot) -> None:
    dialog = open_settings(make_window(qtbot), 3)
    combos = [combo for combo in dialog.findChildren(QComboBox) if combo.isVisible()]
    qtbot.waitUntil(lambda: all(combo.width() >= combo.sizeHint().width() for combo in combos))
    controls = [row.control for row in dialog.rows.values() if row.isVisible() and not row.is_wide]
    qtbot.waitUntil(lambda: len({control.mapTo(dialog, QPoint(0, 0)).x() for control in controls}) == 1)
    assert len(controls) > 1
    choices = {combo.itemText(row) for combo in combos for row in range(combo.count())}
    assert {"Älteste Nachrichten zusammenfassen", "Text: die Nachricht fortsetzen"} <= choices


def test_the_germans_typography_is_kept() -> None:
    for _, source, forms, _ in messages(FOLDER / "paceline_de.ts"):
        for form in forms:
            assert source[:1].isspace() == form[:1].isspace(), form
            assert source.endswith(".") == form.endswith((".", ".“")) or source == form or form.endswith(")."), form
            assert "“" not in form or "„" in form, form
            assert "Ctrl" not in form, form


@pytest.fixture
def german(qapp: QApplication) -> Iterator[str]:
    """Install German for one test."""
    yield install_language(qapp, FOLDER, "de")
    install_language(qapp, FOLDER, ENGLISH)


def test_numbers_and_plurals_follow_the_language(german: str) -> None:
    assert german == "de"
    assert (count(1234), decimal_text(12.53), speed(12.5)) == ("1.234", "12,5", "12,5 Tok/s")
    assert (percent(0.683), times_plain(1.62), number_text(0.8)) == ("68\N{NO-BREAK SPACE}%", "1,62×", "0,8")
    assert translate("Words", "%n days ago", None, 1) == "vor 1 Tag"
    assert translate("Words", "%n days ago", None, 3) == "vor 3 Tagen"
    assert "Token pro Durchlauf" in footer(STATS)


def test_english_knows_one_and_many(qapp: QApplication) -> None:
    assert translate("Words", "%n days ago", None, 1) == "1 day ago"
    assert translate("Words", "%n days ago", None, 3) == "3 days ago"


def test_what_a_prompt_lacks_is_reported_in_german(german: str, qtbot: QtBot) -> None:
    page = PromptsPage([SavedPrompt("kurz", "x")])
    qtbot.addWidget(page)
    page.text_edit.selectAll()
    qtbot.keyClick(page.text_edit, Qt.Key.Key_Delete)
    assert "50.000 Zeichen" in page.complaint.text()


@pytest.mark.parametrize("role", ["target", "draft"])
def test_the_file_dialog_names_the_model_in_german(german: str, role: str, qtbot: QtBot) -> None:
    window = MainWindow(ASSETS, FIELDS)
    qtbot.addWidget(window)
    window.show()
    action = window.header.target_action if role == "target" else window.header.draft_action
    action.setEnabled(True)
    action.trigger()
    title = next(iter(window.findChildren(QFileDialog))).windowTitle()
    assert title == {"target": "GGUF-Datei öffnen", "draft": "GGUF-Datei öffnen: Entwurfsmodell"}[role]


def test_qt_speaks_german_too(german: str) -> None:
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Abbrechen"


def test_the_system_may_choose(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QLocale, "uiLanguages", lambda _self: ["fr-FR", "de-AT", "en-GB"])
    assert system_language() == "de"
    assert install_language(qapp, FOLDER, "system") == "de"
    monkeypatch.setattr(QLocale, "uiLanguages", lambda _self: ["fr-FR"])
    assert system_language() == ENGLISH
    install_language(qapp, FOLDER, ENGLISH)


def shown_texts(root: QWidget) -> Iterator[str]:
    """All texts of the widgets below ``root``, visible or for screen readers."""
    for widget in (root, *root.findChildren(QWidget)):
        yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), widget.windowTitle())
        if isinstance(widget, QLabel | QAbstractButton):
            yield widget.text()
        elif isinstance(widget, QLineEdit):
            yield widget.placeholderText()
        elif isinstance(widget, QMenu):
            yield widget.title()
        elif isinstance(widget, QComboBox):
            yield from (widget.itemText(row) for row in range(widget.count()))
        elif isinstance(widget, QListWidget):
            yield from (widget.item(row).text() for row in range(widget.count()))
    for action in root.findChildren(QAction):
        yield from (action.text(), action.toolTip())


def english_texts(root: QWidget, known: set[str]) -> list[str]:
    """Texts that are a source of the catalogue, or look English."""
    found = []
    for text in dict.fromkeys(shown_texts(root)):
        words = {word.lower() for word in ENGLISH_WORDS.findall(text)} - SAME_IN_BOTH
        if (text in known or len(words) > 1) and not PROMPTS.search(text):
            found.append(text)
    return found


@pytest.fixture(scope="module")
def known_english() -> set[str]:
    """English texts that are also German words."""
    return {
        source
        for _, source, forms, _ in messages(FOLDER / "paceline_de.ts")
        if source not in forms and " " in source.strip()
    }


@pytest.fixture
def german_window(german: str, qtbot: QtBot) -> MainWindow:
    window = MainWindow(ASSETS, FIELDS)
    qtbot.addWidget(window)
    window.set_engine(READY)
    window.sidebar.set_rows(rows(), 1)
    views = [MessageView(1, "user", "Frage"), MessageView(2, "assistant", "Antwort", stats=STATS)]
    window.show_conversation("Titel", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    return window


def test_the_german_window_shows_no_english(german_window: MainWindow, known_english: set[str]) -> None:
    places = [german_window, german_window.models.panel]
    places += [SettingsDialog(FIELDS, {}, german_window)]
    places += [ShortcutsDialog(german_window, german_window.commands.rows())]
    found = [text for place in places for text in english_texts(place, known_english)]
    # Texts that the tests themselves fill in.
    assert sorted({text for text in found if text not in ("Weekend plans", "Regex help", "Trip notes")}) == []


@pytest.mark.parametrize("name", PLACES)
def test_every_place_and_dialog_is_german(
    german: str, shared_german_window: MainWindow, known_english: set[str], name: str
) -> None:
    told_by_the_test = "There is not enough space"
    with opened(shared_german_window, name) as root:
        assert [text for text in english_texts(root, known_english) if told_by_the_test not in text] == []


def test_what_the_engine_notes_of_a_model_is_german_in_the_header(german_window: MainWindow) -> None:
    notice = i18n("Flash attention is on, since a cache of type {kinds} needs it.", kinds="q8_0")
    german_window.set_engine(replace(READY, notices=(notice,)))
    shown = german_window.header.model_button.toolTip()
    assert "q8_0" in shown
    assert "Flash attention is on" not in shown


def test_the_walk_finds_an_english_text(german_window: MainWindow, known_english: set[str]) -> None:
    label = QLabel("The speed of the answers", german_window)
    assert "The speed of the answers" in english_texts(german_window, known_english)
    label.setText("Show or hide the sidebar")
    assert "Show or hide the sidebar" in english_texts(german_window, known_english)
