"""Tests the focus ring around a message's text, in both palettes; nothing of it stays behind."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from tests.ui.conftest import STATS
from ui.theme.palette import contrast
from ui.transcript.cards.prose_view import ProseView
from ui.widgets.focus_ring import FocusRing
from ui.window.main_window import MainWindow

TEXT = "An answer.\n\n- one\n- two\n\n```python\nprint(1)\n```\n\nThe end of it."


def shown(window: MainWindow, qtbot: QtBot) -> ProseView:
    """The first text of an answer, focused by keyboard."""
    views = [MessageView(1, "user", "A question"), MessageView(2, "assistant", TEXT, stats=STATS)]
    window.show_conversation("t", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.last_answer()
    assert card is not None
    view = card.body.segments[0]
    assert isinstance(view, ProseView)
    window.activateWindow()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(view.hasFocus)
    return view


def ring_of(view: ProseView) -> FocusRing:
    (ring,) = (one for one in view.window().findChildren(FocusRing) if one.isVisible())
    return ring


@pytest.mark.parametrize("palette", ["light", "dark"])
def test_all_four_sides_are_seen_and_stand_out(window: MainWindow, qtbot: QtBot, palette: str) -> None:
    window.set_theme(palette)
    view = shown(window, qtbot)
    ring = ring_of(view)
    assert ring.visibleRegion().boundingRect() == ring.rect()
    text = QRect(view.mapTo(window, QPoint(0, 0)), view.size())
    around = QRect(ring.mapTo(window, QPoint(0, 0)), ring.size())
    assert around.contains(text)
    assert around != text
    tokens = window.theme.tokens
    assert contrast(tokens.focus, tokens.page) >= 3.0
    image = window.grab().toImage()
    middle = around.center()
    for place in (
        QPoint(around.left(), middle.y()),
        QPoint(around.right() - 1, middle.y()),
        QPoint(middle.x(), around.top()),
        QPoint(middle.x(), around.bottom() - 1),
    ):
        assert image.pixelColor(place) == QColor(tokens.focus)


def test_it_follows_its_text_and_goes_with_the_focus(window: MainWindow, qtbot: QtBot) -> None:
    view = shown(window, qtbot)
    ring = ring_of(view)
    card = window.transcript.last_answer()
    assert card is not None
    before = ring.geometry()
    above = QLabel("Something\nhigh\nabove")
    card._column.insertWidget(0, above)
    qtbot.waitUntil(lambda: ring.y() > before.y())
    window.resize(window.width() - 300, window.height())
    gap = view.mapTo(window, QPoint(0, 0)).x() - ring.mapTo(window, QPoint(0, 0)).x()
    qtbot.waitUntil(lambda: ring.width() == view.width() + 2 * gap)
    window.composer.edit.setFocus(Qt.FocusReason.TabFocusReason)
    assert not ring.isVisible()
    assert ring.parentWidget() is view  # the view may show another message later
    view.setFocus(Qt.FocusReason.MouseFocusReason)
    QApplication.processEvents()
    assert not ring.isVisible()


def test_it_is_there_again_when_the_window_is(window: MainWindow, qtbot: QtBot) -> None:
    view = shown(window, qtbot)
    ring = ring_of(view)
    other = QLabel("another window")
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: not view.hasFocus())
    assert not ring.isVisible()
    window.activateWindow()
    qtbot.waitUntil(view.hasFocus)
    assert ring.isVisible()
