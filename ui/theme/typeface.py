"""The typefaces that come along: Inter for words, JetBrains Mono for code. The system's own write what they lack.

Both are loaded from `assets/fonts` once for the application. They have no contextual alternates, which would draw
``->`` as an arrow: what is on the page is what was written.
"""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo
from PySide6.QtWidgets import QApplication

WORDS, CODE = "Inter", "JetBrains Mono"  # as the files call themselves
_log = logging.getLogger(__name__)


def use_typefaces(folder: Path) -> None:
    """Load the typefaces in ``folder`` and write the application's words with them, at the size of the system's font.

    What cannot be loaded is left out: the system's fonts are used then. A second call does nothing.
    """
    system = QApplication.font()
    if system.families()[:1] == [WORDS]:
        return
    for file in sorted(folder.glob("*.ttf")):
        if QFontDatabase.addApplicationFont(str(file)) < 0:
            _log.warning("The font %s could not be loaded.", file.name)
    if QFontDatabase.hasFamily(WORDS):
        font = QFont(system)
        font.setFamilies(
            [WORDS, *(system.families() or [system.family()])]
        )  # Chinese, for one, comes from the system's
        QApplication.setFont(font)


def code_font(pixels: int) -> QFont:
    """A fixed-width font of this size."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    if not QFontInfo(font).fixedPitch():
        font = QFont("monospace")
        font.setStyleHint(QFont.StyleHint.Monospace)
    if QFontDatabase.hasFamily(CODE):
        font.setFamilies([CODE, *(font.families() or [font.family()])])
    font.setPixelSize(pixels)
    return font
