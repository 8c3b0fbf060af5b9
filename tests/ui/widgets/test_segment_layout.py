"""The layout of an answer's widgets gives them the positions of a Qt layout with spacers."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QSpacerItem, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.widgets import segment_layout
from ui.widgets.segment_layout import SegmentLayout


class _Box(QWidget):
    """A widget with a given height, like a prose run."""

    def __init__(self, parent: QWidget, height: int) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(height)


class _Flowing(_Box):
    """A widget that becomes lower when it becomes wider, like prose."""

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.setFixedHeight(1000 - event.size().width())


def _by_qt(parent: QWidget, boxes: list[tuple[int, int]]) -> list[_Box]:
    layout = QVBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    made = []
    for number, (gap, height) in enumerate(boxes):
        policies = QSizePolicy.Policy
        layout.addItem(QSpacerItem(0, gap if number else 0, policies.Minimum, policies.Fixed))
        made.append(_Box(parent, height))
        layout.addWidget(made[-1])
    return made


def _by_column(parent: QWidget, boxes: list[tuple[int, int]]) -> tuple[SegmentLayout, list[_Box]]:
    column = SegmentLayout(parent)
    made = []
    for number, (gap, height) in enumerate(boxes):
        made.append(_Box(parent, height))
        column.insert_widget(number, made[-1])
        column.set_gap(number, gap)
    return column, made


def _lay_out(page: QWidget, width: int) -> None:
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)  # until then the page may not become lower
    page.resize(width, page.sizeHint().height())


BOXES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 300)), min_size=1, max_size=12)


@pytest.mark.usefixtures("qapp")
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BOXES, st.integers(100, 900), st.data())
def test_every_widget_is_where_qt_would_put_it(boxes: list[tuple[int, int]], width: int, data: st.DataObject) -> None:
    page, other = QWidget(), QWidget()
    column, ours = _by_column(page, boxes)
    theirs = _by_qt(other, boxes)
    for each in (page, other):
        each.resize(width, each.sizeHint().height())
        each.show()
    assert page.sizeHint().height() == other.sizeHint().height()
    assert [box.geometry() for box in ours] == [box.geometry() for box in theirs]

    changed, height = data.draw(st.integers(0, len(boxes) - 1)), data.draw(st.integers(1, 300))
    ours[changed].setFixedHeight(height)
    theirs[changed].setFixedHeight(height)
    for each in (page, other):
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        each.resize(width + 7, each.sizeHint().height())
    assert column.sizeHint().height() == page.height() == other.height()
    assert [box.geometry() for box in ours] == [box.geometry() for box in theirs]
    for each in (page, other):
        each.deleteLater()


@pytest.mark.usefixtures("qapp")
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BOXES, st.lists(st.tuples(st.integers(0, 40), st.integers(1, 300), st.booleans()), max_size=8), st.data())
def test_an_end_that_grows_is_as_if_all_were_looked_at(
    boxes: list[tuple[int, int]], more: list[tuple[int, int, bool]], data: st.DataObject
) -> None:
    page = QWidget()
    column, made = _by_column(page, boxes)
    made.insert(0, _Flowing(page, 50))
    column.insert_widget(0, made[0])
    page.resize(300, page.sizeHint().height())
    page.show()
    for gap, height, is_new in more:
        first = data.draw(st.integers(0, len(made) - (0 if is_new else 1)))
        with column.only_end_changes(first):
            if is_new:
                made.append(_Box(page, height))
                column.insert_widget(len(made) - 1, made[-1])
                made[-1].show()
            else:
                made[-1].setFixedHeight(height)
            column.set_gap(len(made) - 1, gap)
            width = page.width() + data.draw(st.integers(-3, 3))
            _lay_out(page, width)
            _lay_out(page, width)
        if data.draw(st.booleans()):  # another event at another time
            made[data.draw(st.integers(1, len(made) - 1))].setFixedHeight(data.draw(st.integers(1, 300)))
            _lay_out(page, page.width())
        bottom = 0
        for item, box in zip(column.gaps, made, strict=True):
            assert box.geometry().getRect() == (0, bottom + item, page.width(), box.minimumHeight())
            bottom += item + box.minimumHeight()
        assert page.sizeHint().height() == page.height() == bottom
    page.deleteLater()


def test_what_is_above_the_end_that_grows_is_not_asked(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column, boxes = _by_column(page, [(0, 20), (10, 30), (5, 40), (5, 50)])
    page.resize(200, page.sizeHint().height())
    page.show()
    for height in (51, 52):
        with column.only_end_changes(3):
            boxes[3].setFixedHeight(height)
            page.resize(200, page.sizeHint().height())
    asked: list[QWidget] = []
    known = segment_layout._height_of

    def height_of(widget: QWidget) -> int:
        asked.append(widget)
        return known(widget)

    monkeypatch.setattr(segment_layout, "_height_of", height_of)
    with column.only_end_changes(3):
        boxes[3].setFixedHeight(90)
        page.resize(200, page.sizeHint().height())
    assert set(asked) == {boxes[3]}
    boxes[0].setFixedHeight(70)
    assert page.sizeHint().height() == 70 + 10 + 30 + 5 + 40 + 5 + 90
