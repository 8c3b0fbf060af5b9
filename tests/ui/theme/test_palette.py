"""Text is readable on every surface it is used on, in all palettes."""

import re

import pytest

from engine.records import Source
from ui.theme.palette import DARK, HIGH_DARK, HIGH_LIGHT, LIGHT, Palette, contrast
from ui.theme.stylesheet import TypeScale, stylesheet

ALL = [LIGHT, DARK, HIGH_LIGHT, HIGH_DARK]
BOTH = pytest.mark.parametrize("palette", ALL, ids=["light", "dark", "high light", "high dark"])
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


@BOTH
def test_selected_text_and_text_on_selected_rows(palette: Palette) -> None:
    assert contrast(palette.on_accent, palette.accent) >= 4.5
    assert min(contrast(ink, palette.selected) for ink in (palette.text, palette.text_muted)) >= 4.5
    assert min(contrast(ink, palette.pressed) for ink in (palette.text, palette.text_muted)) >= 4.0


@BOTH
def test_provenance_stands_out_from_the_page_it_underlines(palette: Palette) -> None:
    for source in set(Source) - {Source.TARGET}:
        assert contrast(palette.source(source), palette.page) >= 4.5
        assert contrast(palette.text, palette.page) >= 4.5  # marked text keeps its colour


@BOTH
def test_disabled_text_is_weaker_but_there(palette: Palette) -> None:
    for surface in ("page", "pane", "raised"):
        found = contrast(palette.text_disabled, getattr(palette, surface))
        assert 2.3 <= found < contrast(palette.text_muted, getattr(palette, surface))


@BOTH
def test_edges_of_fields_and_cards_are_seen(palette: Palette) -> None:
    assert (
        min(contrast(palette.edge, getattr(palette, surface)) for surface in ("page", "pane", "raised", "tint")) >= 3.0
    )


@pytest.mark.parametrize("palette", [HIGH_LIGHT, HIGH_DARK], ids=["light", "dark"])
def test_high_contrast_is_seven_to_one(palette: Palette) -> None:
    inks = (*CODE, *MARKS, "text", "text_muted", "accent_text", "focus", "danger", "good", "caution", "edge")
    for surface in SURFACES:
        assert min(contrast(getattr(palette, ink), getattr(palette, surface)) for ink in inks) >= 7.0
    assert contrast(palette.on_accent, palette.accent) >= 7.0
    assert contrast(palette.warning_text, palette.warning_surface) >= 7.0


@BOTH
def test_every_pair_of_the_stylesheet(palette: Palette) -> None:
    ink, ground = re.compile(r"(?<![-\w])color: (#\w+)"), re.compile(r"(?<![-\w])background: (#\w+)")
    pairs = 0
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", stylesheet(palette, TypeScale(13))):
        paint_cache, grounds = ink.findall(body), ground.findall(body)
        if paint_cache and grounds and ":disabled" not in selector:
            pairs += 1
            assert contrast(paint_cache[0], grounds[0]) >= 4.5, selector.strip()
    assert pairs >= 8
