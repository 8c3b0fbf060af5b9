"""A wheel over a control never changes its value."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QAbstractSpinBox, QComboBox, QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.filled_window import opened
from ui.widgets.popups import NoWheelComboBox, NoWheelSlider
from ui.window.main_window import MainWindow

NOTCH = QPoint(0, -120)


def turn_wheel_over(widget: QWidget) -> None:
    """Send one notch downwards through the window, like a mouse."""
    window = widget.window()
    handle = window.windowHandle()
    assert handle is not None
    QTest.wheelEvent(handle, QPointF(widget.mapTo(window, widget.rect().center())), NOTCH)


def restless(root: QWidget) -> list[str]:
    """The controls that a wheel would change."""
    kinds = QComboBox | QAbstractSpinBox | QAbstractSlider
    held = [each for each in root.findChildren(QWidget) if isinstance(each, kinds)]
    return [str(each) for each in held if not isinstance(each, NoWheelComboBox | NoWheelSlider | QScrollBar)]


def test_the_wheel_over_a_slider_or_a_box_changes_nothing(qtbot: QtBot) -> None:
    slider, box = NoWheelSlider(Qt.Orientation.Horizontal), NoWheelComboBox(choices=[("one", 1), ("two", 2)])
    for each in (slider, box):
        qtbot.addWidget(each)
        each.show()
        qtbot.waitExposed(each)
    slider.setValue(40)
    turn_wheel_over(slider)
    turn_wheel_over(box)
    assert (slider.value(), box.currentData()) == (40, 1)


def test_nothing_of_the_settings_is_changed_by_the_wheel(shared_window: MainWindow) -> None:
    with opened(shared_window, "settings 0") as dialog:
        assert dialog.findChildren(NoWheelComboBox)
        assert restless(dialog) == []
