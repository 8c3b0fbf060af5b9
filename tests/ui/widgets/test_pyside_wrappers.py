"""Viewports are found by name; no wrapper is kept of layout items, which Qt deletes without notice."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QListView,
    QPushButton,
    QScrollArea,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
    QWidgetItem,
)
from pytestqt.qtbot import QtBot

from ui.widgets.building import VIEWPORT_NAME, invalidate_item, wrap_viewport


@pytest.mark.parametrize("kind", [QScrollArea, QListView, QTextBrowser])
def test_a_viewport_has_the_name_by_which_it_is_found(qtbot: QtBot, kind: type[QAbstractScrollArea]) -> None:
    area = kind()
    qtbot.addWidget(area)
    wrap_viewport(area)
    assert area.findChild(QWidget, VIEWPORT_NAME) is area.viewport()


def num_kept() -> int:
    return sum(isinstance(each, QWidgetItem) for each in shiboken6.getAllValidWrappers())


def test_a_look_at_an_item_leaves_nothing_and_the_item_where_it_is(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    button, inner = QPushButton(), QVBoxLayout()
    layout.addWidget(button)
    layout.addLayout(inner)
    before = num_kept()
    invalidate_item(layout.itemAt(0))
    invalidate_item(None)
    assert num_kept() == before
    invalidate_item(layout.itemAt(1))
    assert layout.itemAt(1) is inner, "a layout within is its own item, and stays"
    taken = layout.takeAt(0)
    assert taken is not None
    assert taken.widget() is button


ROOT = Path(__file__).parents[3]


def functions_that_look_at_items() -> Iterator[tuple[str, set[str]]]:
    """Functions of the window that get an item from a layout, and the names of their calls."""
    for file in sorted((ROOT / "ui").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            calls = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
            if any(isinstance(one, ast.Attribute) and one.attr == "itemAt" for one in calls):
                names = {one.id for one in calls if isinstance(one, ast.Name)}
                yield f"{file.relative_to(ROOT)}: {node.name}", names


def test_whoever_looks_at_an_item_has_it_forgotten() -> None:
    """Otherwise a new object at the same address is taken for the item, as happened with a viewport."""
    found = dict(functions_that_look_at_items())
    assert len(found) >= 3
    assert [place for place, names in found.items() if "invalidate_item" not in names] == []
