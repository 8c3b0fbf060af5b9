"""Tests the header of a code block: its language, and characters that cannot be drawn."""

from pytestqt.qtbot import QtBot

from ui.theme.theme import Theme
from ui.transcript.cards.code_block import CodeBlock


def test_a_diagram_is_said_not_to_be_drawn(theme: Theme, qtbot: QtBot) -> None:
    block = CodeBlock(theme)
    qtbot.addWidget(block)
    block.set_code("graph TD\n  A --> B\n", "mermaid", closed=True)
    assert block.label.text() == "mermaid: the diagram is not drawn, this is its text"
    block.set_code("print(1)\n", "python", closed=True)
    assert block.label.text() == "python"
