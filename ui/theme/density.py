"""Density: the spacing of layouts and the paddings of the stylesheet, as designed or compact.

A layout's own spacing is kept in a property of it, so that the density can be changed any number of times.
"""

from __future__ import annotations

import re

from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLayout, QWidget

DENSITIES = ("comfortable", "compact")
COMPACT_SHARE = 0.6  # of the comfortable spacing
PADDING_LESS_PX = 2
_SPACING = "comfortableSpacing"
_PADDING = re.compile(r"(?<!-)padding: ([^;}]+)")


def compacted(pixels: int) -> int:
    """The compact spacing for ``pixels`` of the comfortable one; what is there stays visible."""
    return pixels if pixels <= 2 else max(round(pixels * COMPACT_SHARE), 2)


def compacted_stylesheet(sheet: str) -> str:
    """A stylesheet with less padding above and below; a border that grows with the focus still fits in."""

    def shorter(match: re.Match[str]) -> str:
        parts = match.group(1).split()
        vertical = (0, 2) if len(parts) > 2 else (0,)
        for index in vertical:
            pixels = int(parts[index].removesuffix("px"))
            parts[index] = f"{max(pixels - PADDING_LESS_PX, 0)}px"
        if len(parts) == 1:  # one number for all four sides: the sides keep theirs
            parts.append(match.group(1).strip())
        return "padding: " + " ".join(parts)

    return _PADDING.sub(shorter, sheet)


def apply_density(root: QWidget, density: str) -> None:
    """Give all layouts below ``root`` the spacing of ``density``; those that were never compact keep theirs."""
    layouts = root.findChildren(QLayout)
    compact = density == "compact"
    if compact:
        for layout in layouts:  # all before the first is changed: a layout without a spacing takes its parent's
            _note(layout)
    for layout in layouts:
        _fit(layout, compact=compact)


def _note(layout: QLayout) -> None:
    if layout.property(_SPACING) is None:
        margins = layout.contentsMargins()
        room = [margins.left(), margins.top(), margins.right(), margins.bottom(), *_spacings(layout)]
        layout.setProperty(_SPACING, room)


def _fit(layout: QLayout, *, compact: bool) -> None:
    made = layout.property(_SPACING)
    if made is None:
        return
    numbers = [int(number) for number in made]
    left, top, right, bottom, *spacings = [compacted(number) for number in numbers] if compact else numbers
    layout.setContentsMargins(left, top, right, bottom)
    if isinstance(layout, QGridLayout):
        layout.setHorizontalSpacing(numbers[4])  # columns that stand close are hard to tell apart
        layout.setVerticalSpacing(spacings[1])
    elif isinstance(layout, QBoxLayout):
        layout.setSpacing(spacings[0])


def _spacings(layout: QLayout) -> list[int]:
    if isinstance(layout, QGridLayout):
        return [layout.horizontalSpacing(), layout.verticalSpacing()]
    return [layout.spacing()]
