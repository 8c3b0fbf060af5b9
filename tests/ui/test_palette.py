"""Text can be read on every surface it stands on, in both palettes."""

from __future__ import annotations

import pytest

from engine.records import Source
from ui.palette import DARK, LIGHT, Palette, contrast

BOTH = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)
SURFACES = ("page", "pane", "raised", "tint", "hover", "selected")
CODE = ("code_keyword", "code_string", "code_number", "code_comment", "code_name", "code_type")
MARKS = ("ngram", "draft", "recovered", "bonus", "target", "verify", "sample", "rest")


def test_contrast_of_known_pairs() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#123456", "#123456") == 1.0


@BOTH
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("ink", ["text", "text_muted", "accent_text"])
def test_text_on_surfaces(palette: Palette, surface: str, ink: str) -> None:
    assert contrast(getattr(palette, ink), getattr(palette, surface)) >= 4.5


@BOTH
@pytest.mark.parametrize("fill", ["accent", "accent_hover", "accent_pressed"])
def test_text_on_filled_buttons(palette: Palette, fill: str) -> None:
    assert contrast(palette.on_accent, getattr(palette, fill)) >= 4.5


@BOTH
@pytest.mark.parametrize("ink", CODE)
def test_code_on_its_ground(palette: Palette, ink: str) -> None:
    assert contrast(getattr(palette, ink), palette.tint) >= 4.5


@BOTH
def test_warnings_errors_and_the_live_mark(palette: Palette) -> None:
    assert contrast(palette.warning_text, palette.warning_surface) >= 4.5
    assert contrast(palette.danger, palette.page) >= 4.5
    assert contrast(palette.good, palette.pane) >= 4.5
    assert min(contrast(getattr(palette, ink), palette.raised) for ink in ("good", "caution", "danger")) >= 4.5


@BOTH
def test_marks_and_focus_stand_out_from_the_pane(palette: Palette) -> None:
    assert min(contrast(getattr(palette, mark), palette.pane) for mark in MARKS) >= 3.0
    assert min(contrast(palette.focus, getattr(palette, surface)) for surface in SURFACES) >= 3.0


@BOTH
def test_each_source_has_a_color_of_its_own(palette: Palette) -> None:
    assert len({palette.source(source) for source in Source}) == len(Source)
