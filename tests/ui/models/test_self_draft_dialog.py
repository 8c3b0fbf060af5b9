"""Tests the dialog that makes a draft from a model: its texts in each state, and the requests of clicks and keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.models import ModelRef
from tests.ui.models import records as r
from tests.ui.models.reading import asked, said
from ui.models.panel import ModelsPanel
from ui.models.self_draft_dialog import SelfDraftDialog

LEFT = Qt.MouseButton.LeftButton
MEASURED = "Without 4 of its 28 layers it agrees with the whole model on 86% of 144 tokens."


@pytest.fixture
def dialog(place: ModelsPanel, qtbot: QtBot) -> SelfDraftDialog:
    made = SelfDraftDialog(place, place._theme, "big-Q4_K_M", 1_100_000_000)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.open()
    qtbot.waitUntil(made.isVisible)
    return made


def buttons(dialog: SelfDraftDialog) -> list[str]:
    return [one.text() for one in dialog.findChildren(QPushButton) if one.isVisible()]


def test_the_menu_of_a_model_asks_for_it(place: ModelsPanel) -> None:
    place.open("library")
    place.library.set_library(r.library(), ())
    line = next(line for line in place.library.lines if not line.row.missing)
    wanted = asked(place.requests.self_draft_requested)
    line.self_draft_action.trigger()
    assert wanted == [(ModelRef(path=line.row.path),)]
    missing = next(line for line in place.library.lines if line.row.missing)
    assert not missing.self_draft_action.isEnabled()


def test_it_says_what_it_needs_before_anything_is_done(dialog: SelfDraftDialog, qtbot: QtBot) -> None:
    words = said(dialog)
    assert "copies of “big-Q4_K_M” without an eighth, a quarter and half of its layers" in words
    assert "With most models no copy is good enough" in words
    assert "up to 2.20 GB of disk space" in words
    assert buttons(dialog) == ["Cancel", "Make and measure"]
    started = asked(dialog.start_requested)
    qtbot.mouseClick(dialog.start_button, LEFT)
    assert len(started) == 1


def test_its_progress_is_reported_and_escape_ends_it(dialog: SelfDraftDialog) -> None:
    dialog.show_progress()
    assert dialog.doing.text() == "waiting for the engine"
    dialog.show_progress("measuring the copy", 0.45)
    assert dialog.doing.text() == "measuring the copy · 45%"
    assert dialog.bar.value() == 450
    assert dialog.bar.accessibleDescription() == dialog.doing.text()
    assert buttons(dialog) == ["Cancel"]
    assert dialog.focusWidget() is dialog.close_button
    stopped = asked(dialog.stop_requested)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert len(stopped) == 1
    assert not dialog.isVisible()


def test_where_none_can_pay_that_is_said_with_the_figures(dialog: SelfDraftDialog) -> None:
    dialog.show_result([MEASURED])
    words = said(dialog)
    assert "No copy was kept. A smaller model of the same family, or repeated text" in words
    assert MEASURED in words
    assert buttons(dialog) == ["Close"]


def test_one_that_can_pay_is_offered(dialog: SelfDraftDialog) -> None:
    dialog.show_result([MEASURED], "/cache/copy.gguf")
    assert "One copy can speed the model up. It was kept." in said(dialog)
    assert buttons(dialog) == ["Close", "Use as the draft"]
    taken = asked(dialog.draft_taken)
    QTest.keyClick(dialog.use_button, Qt.Key.Key_Return)
    assert taken == [("/cache/copy.gguf",)]
    assert not dialog.isVisible()


def test_a_failure_is_said_with_another_try(dialog: SelfDraftDialog) -> None:
    dialog.show_failure("There is not enough space.")
    assert "There is not enough space." in said(dialog)
    assert buttons(dialog) == ["Cancel", "Make and measure"]
