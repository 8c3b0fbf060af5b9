"""The text size: everything follows it, at once, and back again."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.conftest import STATS
from ui.main_window import MainWindow
from ui.records import MessageView
from ui.theme import TEXT_SIZES, Theme

ANSWER = "Some *prose* that wraps.\n\n```python\nprint('code')\n```\n"


def test_dressed_widgets_follow_the_text_size(theme: Theme, qtbot: QtBot) -> None:
    host, label = QWidget(), QLabel("text")
    qtbot.addWidget(host)
    qtbot.addWidget(label)
    theme.dress(label, -1)
    before = label.font().pixelSize()
    theme.set_text_size("larger", host)
    assert label.font().pixelSize() == before + TEXT_SIZES["larger"]
    theme.set_text_size("normal", host)
    assert label.font().pixelSize() == before


def test_a_larger_text_grows_answers_code_and_figures(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation(
        "Title", [MessageView(1, "user", "Question"), MessageView(2, "assistant", ANSWER, stats=STATS)]
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
