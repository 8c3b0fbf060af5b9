"""No text is cut off at the largest text size: in the window, in every dialog, on every page."""

import contextlib
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QListWidget,
    QWidget,
)
from pytestqt.exceptions import TimeoutError as NotInTimeError
from pytestqt.qtbot import QtBot

from tests.conftest import PatientBot
from tests.ui.conftest import ASSETS
from tests.ui.filled_window import PLACES, make_window, opened
from ui.text.language import ENGLISH, install_language
from ui.widgets.building import ElidedLabel
from ui.widgets.metrics import MetricWidget
from ui.window.main_window import MainWindow

SLACK_PX = 1  # rounding
LAID_OUT_MS = 5_000


def cut_off(root: QWidget) -> list[str]:
    """The texts below ``root`` that have less space than they need."""
    found = []
    for widget in (
        each for each in root.findChildren(QWidget) if each.isVisible() and each.visibleRegion().isEmpty() is False
    ):
        if _is_cut(widget):
            found.append(f"{type(widget).__name__} {_words(widget)!r}: {widget.size().toTuple()}")
    return found


def _words(widget: QWidget) -> str:
    return str(widget.text() if isinstance(widget, QLabel | QAbstractButton) else widget.accessibleName())[:40]


def _is_cut(widget: QWidget) -> bool:
    if isinstance(widget, QListWidget):
        return widget.sizeHintForColumn(0) > widget.viewport().width() + SLACK_PX
    if isinstance(widget, QAbstractButton) and widget.text().strip():
        needed = widget.minimumSizeHint()
        return needed.width() > widget.width() + SLACK_PX or needed.height() > widget.height() + SLACK_PX
    if not isinstance(widget, QLabel) or isinstance(widget, ElidedLabel | MetricWidget) or not widget.text():
        return False
    if widget.wordWrap():
        return widget.heightForWidth(widget.width()) > widget.height() + SLACK_PX or _beyond(widget)
    return widget.sizeHint().width() > widget.width() + SLACK_PX or _beyond(widget)


def _beyond(widget: QWidget) -> bool:
    """Whether a part of it is outside the visible area of its parent or window."""
    parent = widget.parentWidget()
    if parent is None or isinstance(parent.parentWidget(), QAbstractScrollArea):
        return False
    return not parent.rect().contains(
        QRect(QPoint(widget.x(), parent.rect().y()), QPoint(widget.geometry().right(), 0))
    )


def larger(qtbot: QtBot) -> MainWindow:
    window = make_window(qtbot)
    window.set_text_size("larger")
    return window


def settle(root: QWidget, qtbot: QtBot) -> list[str]:
    """The cut texts after all layouts have run."""
    qtbot.waitUntil(root.isVisible, timeout=30_000)
    with contextlib.suppress(NotInTimeError):  # texts that are cut until the end are reported
        qtbot.waitUntil(lambda: not cut_off(root), timeout=LAID_OUT_MS)
    return cut_off(root)


@pytest.fixture
def spoken(qapp: QApplication) -> Iterator[Callable[[str], None]]:
    """Sets the language of windows that are created afterwards."""
    yield lambda language: install_language(qapp, ASSETS / "translations", language)
    install_language(qapp, ASSETS / "translations", ENGLISH)


@pytest.fixture(scope="module", params=[(ENGLISH, 13), (ENGLISH, 24), ("de", 18)])
def at_the_largest_text(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[MainWindow]:
    """A window for all pages, with a language and a height of the system's text in pixels."""
    language, system_px = request.param
    before, font = qapp.font(), QFont(qapp.font())
    font.setPixelSize(system_px)
    install_language(qapp, ASSETS / "translations", language)
    qapp.setFont(font)
    window = larger(PatientBot(request))
    yield window
    window.close()
    window.deleteLater()
    qapp.setFont(before)
    install_language(qapp, ASSETS / "translations", ENGLISH)


@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_cut_off_at_the_largest_text(at_the_largest_text: MainWindow, place: str, qtbot: QtBot) -> None:
    with opened(at_the_largest_text, place) as root:
        assert settle(root, qtbot) == []


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("size", [(1000, 700), (800, 600)])
def test_the_composer_keeps_its_right_edge_beside_open_statistics(
    size: tuple[int, int], language: str, spoken: Callable[[str], None], qtbot: QtBot
) -> None:
    spoken(language)
    window = make_window(qtbot)
    window.resize(*size)
    if window.stats.isHidden():
        window.layout_state.toggle_stats()
    qtbot.waitUntil(window.stats.isVisible, timeout=30_000)
    middle = window.splitter.widget(1)

    def edge(widget: QWidget) -> int:
        return widget.mapTo(middle, widget.rect().topRight()).x()

    card, send = window.composer.card, window.composer.send_button
    qtbot.waitUntil(lambda: edge(card) < middle.width(), timeout=30_000)
    assert edge(send) < edge(card)
    assert window.width() <= max(size[0], window.minimumSizeHint().width())
    assert middle.mapTo(window, middle.rect().topRight()).x() < window.width()


def test_the_modes_are_read_at_the_largest_text(qtbot: QtBot) -> None:
    window = make_window(qtbot)
    for size in ("normal", "larger", "large"):
        window.set_text_size(size)
        window.composer.modes.open_menu()
        menu = window.composer.modes.popup
        assert settle(menu, qtbot) == []
        menu.close()


def test_the_look_itself_finds_what_is_cut(spoken: Callable[[str], None], qtbot: QtBot) -> None:
    spoken("en")  # the window for all pages may still be open in German
    window = make_window(qtbot)
    window.sidebar.settings_button.setFixedWidth(40)
    qtbot.waitUntil(lambda: any("Settings" in found for found in cut_off(window)), timeout=30_000)
