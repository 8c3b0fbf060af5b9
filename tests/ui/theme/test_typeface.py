"""The typefaces that come along."""

import pytest
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QRawFont, QTextLayout
from PySide6.QtWidgets import QApplication

from tests.ui.conftest import ASSETS
from ui.theme.theme import CODE, SEMIBOLD, WORDS, Theme


def glyphs(text: str, font: QFont) -> list[int]:
    """The glyphs that are drawn for a text, as numbers of its font."""
    layout = QTextLayout(text, font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return [index for run in layout.glyphRuns() for index in run.glyphIndexes()]


def test_words_are_written_with_the_bundled_typeface(theme: Theme) -> None:
    assert QFontInfo(theme.font()).family() == WORDS
    assert QFontInfo(QApplication.font()).family() == WORDS


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
    assert info.family() == CODE
    assert info.fixedPitch()
    assert info.pixelSize() == theme.type.base


def test_the_systems_fonts_stand_in_for_scripts_that_the_typeface_lacks(theme: Theme) -> None:
    families = QApplication.font().families()
    assert families[0] == WORDS
    assert len(families) > 1
    assert not QRawFont.fromFont(theme.font()).supportsCharacter("中")  # else this says nothing
    has_cjk = any(
        QRawFont.fromFont(QFont(family)).supportsCharacter("中")
        for family in QFontDatabase.families()
        if family != WORDS
    )
    assert (0 not in glyphs("中", theme.font())) == has_cjk


def test_its_licences_lie_beside_it() -> None:
    for name in ("Inter-OFL.txt", "JetBrainsMono-OFL.txt"):
        assert "SIL Open Font License, Version 1.1" in (ASSETS / "fonts" / name).read_text("utf-8")
