"""A property that the stylesheet selects by takes effect at once."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from ui.widgets.building import separator, set_style_property


def test_a_property_is_applied_at_once(qtbot: QtBot) -> None:
    label = QLabel("words")
    qtbot.addWidget(label)
    label.setStyleSheet('QLabel { font-size: 10px; } QLabel[kind="large"] { font-size: 40px; }')
    label.ensurePolished()
    assert label.font().pixelSize() == 10
    set_style_property(label, "kind", "large")
    assert label.font().pixelSize() == 40


def test_the_stylesheet_knows_a_rule_by_its_name(qtbot: QtBot) -> None:
    line = separator()
    qtbot.addWidget(line)
    assert line.objectName() == "rule"
