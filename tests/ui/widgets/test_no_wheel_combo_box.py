"""A wheel over a control never changes its value."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QAbstractSpinBox, QComboBox, QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from engine.records import Mode
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


def test_the_wheel_over_the_depth_changes_nothing(window: MainWindow) -> None:
    window.composer.set_mode(Mode.AUTO)
    window.composer.set_depth(4)
    window.composer.modes.open_menu()
    menu = window.composer.modes.popup
    seen: list[int | None] = []
    window.composer.depth_chosen.connect(seen.append)
    for focused in (menu.list, menu.depth_box):
        focused.setFocus()
        turn_wheel_over(menu.depth_box)
        assert (menu.depth_box.currentData(), seen) == (4, [])
    menu.close()


def test_the_wheel_over_a_slider_changes_nothing(qtbot: QtBot) -> None:
    slider = NoWheelSlider(Qt.Orientation.Horizontal)
    qtbot.addWidget(slider)
    slider.setValue(40)
    slider.show()
    qtbot.waitExposed(slider)
    turn_wheel_over(slider)
    assert slider.value() == 40


def test_nothing_of_the_settings_is_changed_by_the_wheel(shared_window: MainWindow) -> None:
    with opened(shared_window, "settings 0") as dialog:
        assert dialog.findChildren(NoWheelComboBox)
        assert restless(dialog) == []


def test_its_list_has_round_corners_in_the_colours_of_popups(window: MainWindow, qtbot: QtBot) -> None:
    box = NoWheelComboBox(choices=[(words, None) for words in ("one", "two", "three")])
    box.setParent(window)
    box.resize(200, 32)
    box.show()
    for _each in range(2):  # the second time it must not be made round again
        box.showPopup()
        popup = box.view().window()
        qtbot.waitUntil(popup.isVisible)
        picture = popup.grab().toImage()
        corner, edge = picture.pixelColor(0, 0), picture.pixelColor(picture.width() // 2, 0)
        assert corner.alpha() == 0
        assert edge.alpha() == 255
        assert edge.name() == popup.palette().dark().color().name()
        box.hidePopup()
