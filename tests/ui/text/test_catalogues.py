"""The German catalogue has every text of the code with the same fields, and the window shows no other text."""

import ast
import importlib.util
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from app.core.domain.settings.fields import FieldKind
from app.core.domain.settings.table import FIELDS
from tests.ui.conftest import ASSETS, READY, STATS, rows
from tests.ui.filled_window import PLACES, opened
from ui.settings.dialog import SettingsDialog
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
    places += [SettingsDialog([each for each in FIELDS if each.kind is not FieldKind.SERVERS], {}, german_window)]
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


def test_the_walk_finds_an_english_text(german_window: MainWindow, known_english: set[str]) -> None:
    label = QLabel("The speed of the answers", german_window)
    assert "The speed of the answers" in english_texts(german_window, known_english)
    label.setText("Show or hide the sidebar")
    assert "Show or hide the sidebar" in english_texts(german_window, known_english)
