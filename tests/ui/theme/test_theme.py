"""Tests the text size: everything follows it at once, also back again."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import (
    QAccessibilityHints,
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QFontMetrics,
    QGuiApplication,
    QImage,
    QPalette,
    QPixmap,
    QRawFont,
    QTextLayout,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QRadioButton,
    QStyleOptionViewItem,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import SearchHit
from app.core.domain.messages import MessageView
from tests.ui.conftest import ASSETS, FIELDS, READY, STATS, rows
from tests.ui.filled_window import fill_models, make_window, opened
from ui.theme.palette import HIGH_DARK, HIGH_LIGHT, contrast
from ui.theme.theme import (
    APP_ICON_SIZES,
    CODE_FAMILIES,
    SEMIBOLD,
    TEXT_FAMILIES,
    TEXT_SIZES,
    IconSet,
    Theme,
)
from ui.window.main_window import MainWindow

ANSWER = "Some *prose* that wraps.\n\n```python\nprint('code')\n```\n"
ICONS = ASSETS / "icons"
UI = Path(__file__).parents[3] / "ui"


def test_dressed_widgets_follow_the_text_size(theme: Theme, qtbot: QtBot) -> None:
    host, label = QWidget(), QLabel("text")
    qtbot.addWidget(host)
    qtbot.addWidget(label)
    theme.set_font(label, -1)
    before = label.font().pixelSize()
    theme.set_text_size("larger", host)
    assert label.font().pixelSize() == before + TEXT_SIZES["larger"]
    theme.set_text_size("normal", host)
    assert label.font().pixelSize() == before


def test_a_larger_text_grows_answers_code_and_figures(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation(
        "Title", [MessageView(1, "user", "ConfirmDialog"), MessageView(2, "assistant", ANSWER, stats=STATS)]
    )
    window.show()
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    prose = next(view for view in window.transcript.findChildren(QWidget) if view.objectName() == "prose")
    before = prose.height()
    code = next(view for view in window.transcript.findChildren(QWidget) if view.objectName() == "code")
    code_before = code.height()
    window.set_text_size("larger")
    qtbot.waitUntil(lambda: prose.height() > before and code.height() > code_before, timeout=30_000)
    window.set_text_size("nonsense")
    qtbot.waitUntil(lambda: (prose.height(), code.height()) == (before, code_before), timeout=30_000)


@pytest.fixture
def huge_system_text() -> Iterator[None]:
    """A desktop with text scaled to nearly twice its size."""
    before = QApplication.font()
    larger = QFont(before)
    larger.setPointSizeF(before.pointSizeF() * 1.9)
    QApplication.setFont(larger)
    yield
    QApplication.setFont(before)


@pytest.mark.usefixtures("huge_system_text")
def test_no_row_is_lower_than_a_very_large_text(qtbot: QtBot) -> None:
    window = MainWindow(ASSETS, FIELDS)
    qtbot.addWidget(window)
    window.set_engine(READY)
    window.sidebar.set_rows(rows(), 1)
    window.show()
    window.sidebar.search.setText("trip")
    hit = SearchHit(3, "Trip notes", 31, "user", (("the ", False), ("trip", True)))
    window.sidebar.show_results((hit,))
    results, header = window.sidebar.results, window.header
    for size in ("normal", "larger"):
        window.set_text_size(size)
        line = QFontMetrics(window.theme.font()).height()
        qtbot.waitUntil(lambda line=line: results.visualRect(results.model().index(0, 0)).height() >= line + 7)
        qtbot.waitUntil(lambda: header.model_button.height() >= header.model_button.sizeHint().height())
        assert header.rect().contains(header.model_button.geometry())
    window.set_text_size("small")
    qtbot.waitUntil(lambda: header.height() < 61)


@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton])
@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_ring_of_the_focus_is_whole(
    window: MainWindow, qtbot: QtBot, kind: type[QCheckBox | QRadioButton], name: str
) -> None:
    window.set_theme(name)
    button = kind("On", window)
    button.show()
    button.resize(120, button.sizeHint().height())
    qtbot.waitExposed(window)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(button.hasFocus)
    picture, middle = button.grab().toImage(), button.height() // 2
    ring = QColor(window.theme.tokens.focus)
    for x, y in ((0, middle), (119, middle), (60, 0), (60, button.height() - 1)):
        assert picture.pixelColor(x, y) == ring, (x, y)


def glyphs(text: str, font: QFont) -> list[int]:
    """The glyph numbers of a text in this font."""
    layout = QTextLayout(text, font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return [index for run in layout.glyphRuns() for index in run.glyphIndexes()]


def test_words_are_written_with_the_bundled_typeface(theme: Theme) -> None:
    assert QFontInfo(theme.font()).family() == TEXT_FAMILIES
    assert QFontInfo(QApplication.font()).family() == TEXT_FAMILIES


@pytest.mark.parametrize(
    ("weight", "italic", "style"),
    [
        (QFont.Weight.Normal, False, "Regular"),
        (QFont.Weight.Normal, True, "Italic"),
        (SEMIBOLD, False, "SemiBold"),
        (QFont.Weight.Bold, False, "Bold"),
        (QFont.Weight.Bold, True, "Bold Italic"),
    ],
)
def test_each_style_that_answers_use_has_a_face_of_its_own(
    theme: Theme, weight: QFont.Weight, italic: bool, style: str
) -> None:
    font = theme.font(0, weight)
    font.setItalic(italic)
    assert QRawFont.fromFont(font).styleName() == style


def test_figures_are_tabular(theme: Theme) -> None:
    widths = {theme.text_width(digit * 8) for digit in "0123456789"}
    assert len(widths) == 1


@pytest.mark.parametrize("text", ["->", "=>", "!=", "<=", "www", "fi", "3x4", "--"])
def test_what_is_drawn_is_what_was_written(theme: Theme, text: str) -> None:
    for font in (theme.font(), theme.code_font()):
        assert glyphs(text, font) == [glyphs(letter, font)[0] for letter in text]


def test_code_is_written_with_the_bundled_fixed_width_typeface(theme: Theme) -> None:
    info = QFontInfo(theme.code_font())
    assert info.family() == CODE_FAMILIES
    assert info.fixedPitch()
    assert info.pixelSize() == theme.type.base


def test_the_systems_fonts_stand_in_for_scripts_that_the_typeface_lacks(theme: Theme) -> None:
    families = QApplication.font().families()
    assert families[0] == TEXT_FAMILIES
    assert len(families) > 1
    assert not QRawFont.fromFont(theme.font()).supportsCharacter("中")  # otherwise the test proves nothing
    has_cjk = any(
        QRawFont.fromFont(QFont(family)).supportsCharacter("中")
        for family in QFontDatabase.families()
        if family != TEXT_FAMILIES
    )
    assert (0 not in glyphs("中", theme.font())) == has_cjk


def test_its_licences_lie_beside_it() -> None:
    for name in ("Inter-OFL.txt", "JetBrainsMono-OFL.txt"):
        assert "SIL Open Font License, Version 1.1" in (ASSETS / "fonts" / name).read_text("utf-8")


def test_rows_of_lists_grow_with_the_text(window: MainWindow, qtbot: QtBot) -> None:
    window.sidebar.set_rows(rows(), 1)
    fill_models(window, "recommended")
    window.set_text_size("normal")
    choices = window.models.panel.recommended.list
    for listing in (window.sidebar.list, choices):
        delegate, index = listing.itemDelegate(), listing.model().index(1, 0)
        option = QStyleOptionViewItem()
        window.set_text_size("normal")
        usual = delegate.sizeHint(option, index).height()
        window.set_text_size("larger")
        num_lines = 1 if listing is window.sidebar.list else 2
        assert delegate.sizeHint(option, index).height() >= num_lines * window.theme.text_height() + 8
        assert delegate.sizeHint(option, index).height() > usual


def _used_names() -> set[str]:
    """All words in ui/ that are names of bundled icons."""
    words = re.findall(r'"([a-z0-9-]+)"', "".join(path.read_text("utf-8") for path in UI.rglob("*.py")))
    return set(words) & {path.stem for path in ICONS.glob("*.svg")}


def test_icons_are_used_and_licensed(qtbot: QtBot) -> None:
    own = {"paceline", "chevron-down-light", "chevron-down-dark", "check-on-accent"}
    bundled = {path.stem for path in ICONS.glob("*.svg")} - own
    assert bundled == _used_names()
    licence = (ICONS / "LICENSE").read_text("utf-8")
    assert "ISC License" in licence
    assert "Lucide" in licence


def _ink(pixmap: QPixmap) -> set[str]:
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_ARGB32)
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {color.name() for color in pixels if color.alpha() == 255}


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_an_icon_takes_the_color_and_the_pixels_of_the_screen(qtbot: QtBot, ratio: float) -> None:
    pixmap = IconSet(ICONS).pixmap("square", "#ff0000", 16, ratio)
    assert pixmap.width() == round(16 * ratio)
    assert pixmap.devicePixelRatio() == ratio
    assert _ink(pixmap) <= {"#ff0000", "#fe0000"}
    assert _ink(IconSet(ICONS).pixmap("square", "#ff0000", 16, 2.0))


def test_icons_are_drawn_for_the_screens_that_there_are(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    size = QSize(16, 16)
    assert theme.icon("square").pixmap(size, 1.0).width() == 16
    assert len(theme.icon("square").availableSizes()) == 1
    changes = []
    theme.changed.connect(lambda: changes.append("changed"))
    screen = QGuiApplication.screens()[0]
    screen.geometryChanged.emit(screen.geometry())
    assert changes == []  # the same pixels as before
    monkeypatch.setattr("ui.theme.theme.screen_ratios", lambda: (1.0, 2.0))
    screen.geometryChanged.emit(screen.geometry())
    assert changes == ["changed"]
    assert theme.icon("square").pixmap(size, 2.0).width() == 32
    assert theme.icon("square").pixmap(size, 1.0).width() == 16


def test_the_application_icon_comes_in_all_sizes(theme: Theme) -> None:
    sizes = {size.width() for size in theme.application_icon().availableSizes()}
    assert sizes == set(APP_ICON_SIZES)


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    result = QWidget()
    qtbot.addWidget(result)
    return result


@pytest.fixture
def own_font() -> Iterator[QFont]:
    before = QApplication.font()
    yield before
    QApplication.setFont(before)


def test_another_font_of_the_system_is_reported_and_taken(theme: Theme, own_font: QFont, qtbot: QtBot) -> None:
    other = QFont(own_font)
    other.setItalic(True)
    assert not theme.paint_cache.font().italic()
    with qtbot.waitSignal(theme.changed):
        QApplication.setFont(other)
    assert theme.paint_cache.font().italic()
    assert theme.font().italic()


def test_the_systems_size_of_text_is_followed_while_the_window_is_open(
    window: MainWindow, own_font: QFont, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.set_text_size("large")
    before, larger = window.theme.type.base, QFont(own_font)
    larger.setPixelSize(window.theme._system_base + 6)
    monkeypatch.setattr(QFontDatabase, "systemFont", lambda _which: larger)
    QApplication.sendEvent(window, QEvent(QEvent.Type.ActivationChange))
    assert window.theme.type.base == before + 6
    assert QApplication.font().families()[0] == TEXT_FAMILIES
    assert QFontInfo(window.composer.edit.font()).pixelSize() == before + 6 + 1


@pytest.mark.parametrize(("name", "factor"), [("150", 1.5), ("200", 2.0)])
def test_text_grows_to_twice_the_systems_size(window: MainWindow, name: str, factor: float) -> None:
    normal = window.theme.type.base
    window.set_text_size(name)
    assert window.theme.type.base == round(normal * factor)
    assert window.theme.adjacent_text_size(1) == "200"


@pytest.mark.parametrize("theme_name", ["light", "dark"])
def test_high_contrast_is_taken_from_the_system(
    window: MainWindow, theme_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.set_theme(theme_name)
    monkeypatch.setattr(QAccessibilityHints, "contrastPreference", lambda _hints: Qt.ContrastPreference.HighContrast)
    QApplication.styleHints().accessibility().contrastPreferenceChanged.emit(Qt.ContrastPreference.HighContrast)
    assert window.theme.tokens is (HIGH_LIGHT if theme_name == "light" else HIGH_DARK)
    assert window.theme.tokens.edge in window.styleSheet()


@pytest.mark.parametrize("theme_name", ["light", "dark"])
def test_what_is_said_in_empty_fields_can_be_read(window: MainWindow, theme_name: str) -> None:
    window.set_theme(theme_name)
    palette = window.theme.tokens
    for field, ground in ((window.composer.edit, palette.raised), (window.sidebar.search, palette.hover)):
        field.ensurePolished()
        ink = field.palette().color(QPalette.ColorRole.PlaceholderText)
        assert ink.alpha() == 255
        assert contrast(ink.name(), ground) >= 4.5


@pytest.mark.parametrize("place", ["window", "chat_settings", "library", "search", "recommended"])
def test_what_is_clicked_is_large_enough(qtbot: QtBot, place: str) -> None:
    window, small = make_window(qtbot), dict[str, tuple[int, int]]()
    with opened(window, place) as shown:
        for button in shown.findChildren(QAbstractButton):
            is_small = min(button.width(), button.height()) < 24
            if is_small and button.isVisible() and not isinstance(button.parent(), QLineEdit):  # Qt's own are in fields
                small[button.accessibleName() or button.text()] = (button.width(), button.height())
    assert small == {}
