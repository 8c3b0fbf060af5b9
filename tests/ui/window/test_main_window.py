"""Tests the whole window: banners, models, dropping, layout, theme, empty states, shortcuts."""

from types import SimpleNamespace

import PySide6
import pytest
from PySide6.QtCore import (
    QEvent,
    QMimeData,
    QObject,
    QPoint,
    QPointF,
    QRect,
    Qt,
    QTimer,
    QUrl,
)
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.messages import MessageView
from engine.records import Mode, Problem
from tests.ui.conftest import ASSETS, FIELDS, NO_DRAFT, READY, STATS, rows
from tests.ui.filled_window import fill_models, make_window
from ui.theme.palette import DARK, LIGHT
from ui.widgets.dialogs import ConfirmDialog
from ui.window.main_window import MainWindow

CTRL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


class ShownWindows(QObject):
    """Records every widget that is shown as a separate window."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.seen.append(type(watched).__name__)
        return False


def test_no_part_is_ever_shown_as_a_window_of_its_own(qtbot: QtBot) -> None:
    """A widget that is shown before it has a parent flashes up and takes the keyboard focus."""
    shown, app = ShownWindows(), QApplication.instance()
    assert app is not None
    app.installEventFilter(shown)
    try:
        made = MainWindow(ASSETS, FIELDS)
        qtbot.addWidget(made)
        made.set_theme("light")
        made.set_engine(READY)
        made.show()
        qtbot.waitExposed(made)
        made.stats.now.begin()
        made.stats.now.show_stats(STATS)
    finally:
        app.removeEventFilter(shown)
    assert shown.seen == ["MainWindow"]


def test_a_problem_is_calm_and_can_be_dismissed(window: MainWindow, qtbot: QtBot) -> None:
    window.show_problem(Problem("It failed", "The file is broken.", "Choose another."))
    banner = window.problem_banner
    assert banner.isVisible()
    assert QApplication.activeModalWidget() is None
    assert banner.title.text() == "It failed"
    assert banner.message.text() == "The file is broken. Choose another."
    assert banner.accessibleName() == "It failed"
    assert "Choose another." in banner.accessibleDescription()
    assert banner.mapTo(window, QPoint()).y() < window.composer.mapTo(window, QPoint()).y()
    qtbot.mouseClick(banner.close_button, Qt.MouseButton.LeftButton)
    assert not banner.isVisible()


def test_notices_gather_until_they_are_dismissed(window: MainWindow) -> None:
    for text in ("one", "two", "one", "three", "four"):
        window.show_notice(text)
    assert window.notice_banner.message.text() == "one\nthree\nfour"
    window.notice_banner.close_button.click()
    window.show_notice("five")
    assert window.notice_banner.message.text() == "five"


def test_the_header_names_the_models(window: MainWindow) -> None:
    button = window.header.model_button
    assert button.text() == "tiny · little"
    assert "8.10 M parameters" in button.toolTip()
    window.set_engine(NO_DRAFT)
    assert button.text() == "tiny · no draft"
    assert "No draft model is loaded." in button.toolTip()
    window.set_engine(EngineView())
    assert button.text() == "No model"
    window.set_engine(EngineView(EngineState.LOADING, progress=0.25))
    assert button.text() == "Loading a model, 25%"
    window.set_engine(EngineView(EngineState.LOADING, progress=0.25, loading="big-q4"))
    assert button.text() == "Loading big-q4, 25%"
    window.set_engine(EngineView(EngineState.LOADING, progress=1.0, loading="big-q4"))
    assert button.text() == "Preparing big-q4"
    assert window.header.progress.isVisible()


def test_the_menu_of_models(window: MainWindow, qtbot: QtBot) -> None:
    header = window.header
    with qtbot.waitSignal(window.header.use_builtin):
        header.builtin_action.trigger()
    for action, role in ((header.target_action, "target"), (header.draft_action, "draft")):
        action.trigger()
        chooser = window.findChildren(QFileDialog)[-1]
        with qtbot.waitSignal(window.dialogs.file_chosen) as caught:
            chooser.fileSelected.emit("/models/x.gguf")
        chooser.reject()
        assert caught.args == ["/models/x.gguf", role]


def test_layout_is_remembered(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_B, CTRL)
    qtbot.keyClick(window, Qt.Key.Key_B, CTRL | Qt.KeyboardModifier.ShiftModifier)
    saved = window.layout_state.save()
    other = MainWindow(ASSETS, FIELDS)
    qtbot.addWidget(other)
    other.show()
    assert not other.sidebar.isHidden()
    other.layout_state.restore(saved)
    assert other.sidebar.isHidden()
    assert other.stats.isHidden()
    assert other.header.sidebar_button.isVisible()


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"\xff\x00", b"[]", b'{"geometry": "!", "sizes": "x", "sidebar": 1, "stats": 1}']
)
def test_an_unreadable_layout_changes_nothing(window: MainWindow, data: bytes) -> None:
    before = window.splitter.sizes()
    window.layout_state.restore(data)
    assert window.splitter.sizes() == before
    assert window.sidebar.isVisible()


def test_a_window_can_be_made_narrow_at_once(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1280, 800)
    qtbot.waitUntil(window.stats.isVisible)
    window.resize(640, 600)
    qtbot.waitUntil(lambda: not window.stats.isVisible())
    assert window.width() == 640
    qtbot.waitUntil(lambda: window.splitter.width() <= 640)
    right = window.composer.mapTo(window, window.composer.rect().topRight()).x()
    assert right < 640


@pytest.mark.parametrize(("screen", "width", "sidebar"), [(1400, 700, True), (800, 640, False)])
def test_the_statistics_come_at_once_in_a_narrow_window(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, screen: int, width: int, sidebar: bool
) -> None:
    monkeypatch.setattr(window, "screen", lambda: SimpleNamespace(availableGeometry=lambda: QRect(0, 0, screen, 900)))
    window.resize(1280, 800)
    window.resize(width, 600)
    qtbot.waitUntil(lambda: not window.stats.isVisible())
    window.layout_state.toggle_stats()
    QApplication.processEvents()
    assert window.stats.isVisible()
    assert window.sidebar.isVisible() is sidebar
    assert window.header.sidebar_button.isVisible() is not sidebar
    assert window.width() <= screen
    assert window.stats.mapTo(window, window.stats.rect().topRight()).x() < window.width()
    window.layout_state.toggle_stats()
    assert not window.stats.isVisible()


def test_themes_change_everything_at_once(window: MainWindow) -> None:
    window.show_conversation("t", [MessageView(1, "assistant", "some `code`", stats=STATS)])
    window.set_theme("dark")
    assert window.theme.tokens is DARK
    assert DARK.page in window.styleSheet()
    image = window.grab().toImage()
    assert image.pixelColor(image.width() // 2, 80).lightness() < 60
    window.set_theme("light")
    assert window.theme.tokens is LIGHT
    assert window.grab().toImage().pixelColor(image.width() // 2, 80).lightness() > 200


def test_without_a_model_the_page_offers_two(window: MainWindow, qtbot: QtBot) -> None:
    window.set_engine(EngineView())
    window.show_conversation("", [])
    with qtbot.waitSignal(window.header.use_builtin):
        qtbot.mouseClick(window.empty.builtin_button, Qt.MouseButton.LeftButton)
    assert window.empty.open_button.isVisible()
    assert not window.empty.prompts.isVisible()


def test_ctrl_shift_c_copies_the_last_answer(window: MainWindow, qtbot: QtBot) -> None:
    views = [MessageView(1, "assistant", "first"), MessageView(2, "user", "q"), MessageView(3, "assistant", "*last*")]
    window.show_conversation("t", views)
    qtbot.keyClick(window, Qt.Key.Key_C, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert QApplication.clipboard().text() == "*last*"


def test_an_old_conversation_shows_its_last_figures(window: MainWindow) -> None:
    window.sidebar.set_rows(rows(), 1)
    views = [MessageView(1, "user", "q"), MessageView(2, "assistant", "a", stats=STATS)]
    window.show_conversation("Weekend plans", views)
    assert window.header.title.text() == "Weekend plans"
    assert window.stats.now.speed.now.value == "41.2 tok/s"
    window.show_conversation("", [])
    assert window.stats.now.speed.now.value == "-"
    assert window.header.title.text() == "New chat"


def test_no_timer_runs_while_idle(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(number, "user", "x") for number in range(50)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)

    def nothing_runs() -> None:
        assert [timer for timer in window.findChildren(QTimer) if timer.isActive()] == []

    qtbot.waitUntil(nothing_runs, timeout=30_000)


def test_the_system_theme_follows_the_system(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    schemes = {"now": Qt.ColorScheme.Light}
    real = QApplication.styleHints()
    kept = {"colorScheme": lambda _self: schemes["now"], "accessibility": lambda _self: real.accessibility()}
    hints = type("Hints", (), kept)()
    monkeypatch.setattr(QApplication, "styleHints", lambda: hints)
    window.set_theme("system")
    assert window.theme.tokens is LIGHT
    schemes["now"] = Qt.ColorScheme.Dark
    window.theme._follow_system()
    assert window.theme.tokens is DARK
    window.set_theme("light")
    window.theme._follow_system()
    assert window.theme.tokens is LIGHT


def test_the_focus_goes_to_the_composer_when_what_had_it_is_replaced(window: MainWindow) -> None:
    views = [MessageView(1, "user", "q"), MessageView(2, "assistant", "a", stats=STATS)]
    window.show_conversation("t", views)
    card = window.transcript.last_answer()
    assert card is not None
    card.regenerate_button.setFocus()
    assert card.regenerate_button.hasFocus()
    window.show_conversation("t", views[:1])
    assert window.composer.edit.hasFocus()


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    return make_window(qtbot)


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def focus(widget: QWidget) -> QWidget:
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    assert widget.hasFocus()
    return widget


def test_a_click_on_a_mode_leaves_the_caret_in_the_message(window: MainWindow, qtbot: QtBot) -> None:
    window.composer.edit.setFocus()
    modes = window.composer.modes
    QTest.mouseClick(modes, LEFT)
    rows = modes.popup.list
    QTest.keyClick(rows, Qt.Key.Key_End)
    QTest.keyClick(rows, Qt.Key.Key_Return)
    assert modes.mode is Mode.DRAFT
    qtbot.waitUntil(lambda: not modes.popup.isVisible(), timeout=30_000)
    QTest.keyClicks(focused(), "words")
    assert (window.composer.text, modes.mode) == ("words", Mode.DRAFT)


def test_space_presses_and_enter_is_no_letter(window: MainWindow, qtbot: QtBot) -> None:
    button = focus(window.sidebar.new_button)
    sent: list[str] = []
    window.composer.submitted.connect(sent.append)
    QTest.keyClick(button, Qt.Key.Key_Return)  # the desktop decides whether Return presses a button
    with qtbot.waitSignal(window.sidebar.new_chat):
        QTest.keyClick(focus(button), Qt.Key.Key_Space)
    assert (window.composer.text, sent) == ("", [])


@pytest.fixture
def told(qtbot: QtBot) -> tuple[MainWindow, list[str]]:
    """A window with its models panel open, and the recorded requests of its chat."""
    window, asked = make_window(qtbot), []
    window.composer.set_mode(Mode.AUTO)
    fill_models(window, "search")
    page = window.transcript
    for name, signal in (
        ("regenerate", window.transcript.regenerate_requested),
        ("mode", window.composer.mode_chosen),
        ("continue", page.continue_requested),
    ):
        signal.connect(lambda *_arguments, name=name: asked.append(name))
    return window, asked


def press(window: MainWindow, qtbot: QtBot, key: Qt.Key, keys: Qt.KeyboardModifier) -> None:
    qtbot.keyClick(QApplication.focusWidget() or window, key, keys)


def test_keys_of_the_chat_rest_while_it_is_not_seen(told: tuple[MainWindow, list[str]], qtbot: QtBot) -> None:
    window, asked = told
    keys = [
        (Qt.Key.Key_R, CTRL),
        (Qt.Key.Key_D, CTRL),
        (Qt.Key.Key_Return, CTRL | SHIFT),
        (Qt.Key.Key_Left, ALT),
    ]
    window.models.panel.search.field.setFocus()
    for key, modifiers in keys:
        press(window, qtbot, key, modifiers)
    assert asked == []
    window.models.leave()
    window.composer.edit.setFocus()
    press(window, qtbot, Qt.Key.Key_R, CTRL)
    press(window, qtbot, Qt.Key.Key_D, CTRL)
    assert asked == ["regenerate", "mode"]


def test_the_window_is_named_after_what_is_seen(told: tuple[MainWindow, list[str]], qtbot: QtBot) -> None:
    window, _ = told
    assert window.windowTitle() == "Models"
    window.name_conversation("Another name")
    assert window.windowTitle() == "Models"
    window.models.leave()
    assert window.windowTitle() == "Another name"
    window.show_conversation("", ())
    assert window.windowTitle() == "Paceline"


BUTTONS, KEYS, COPY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, Qt.DropAction.CopyAction


def data(*paths: str) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return mime


def enter(over: QWidget, mime: QMimeData) -> QDragEnterEvent:
    # PySide 6.12 deprecated the constructor with integers and added the other one.
    place = QPointF(9, 9) if PySide6.__version_info__ >= (6, 12) else QPoint(9, 9)
    event = QDragEnterEvent(place, COPY, mime, BUTTONS, KEYS)
    event.ignore()
    QApplication.sendEvent(over, event)
    return event


def drop(window: MainWindow, mime: QMimeData) -> QDropEvent:
    event = QDropEvent(QPointF(9, 9), COPY, mime, BUTTONS, KEYS)
    event.ignore()
    QApplication.sendEvent(window, event)
    return event


def test_files_count_also_where_their_program_ends_with_the_drag(window: MainWindow, qtbot: QtBot) -> None:
    offered = data("/files/a.txt", "/files/b.py")
    enter(window, offered)
    with qtbot.waitSignal(window.drop_zone.files_dropped) as caught:
        drop(window, QMimeData())  # the system asks the source program once more, but it has exited
    assert caught.args == [["/files/a.txt", "/files/b.py"]]


def test_what_left_the_window_again_is_not_dropped_later(window: MainWindow) -> None:
    told: list[object] = []
    window.drop_zone.files_dropped.connect(told.append)
    offered = data("/files/a.txt")
    enter(window, offered)
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not drop(window, QMimeData()).isAccepted()
    assert told == []


def test_files_dragged_over_the_box_are_the_windows_and_words_the_boxs(window: MainWindow) -> None:
    box = window.composer.edit.viewport()
    assert enter(box, data("/files/a.txt")).isAccepted()
    QApplication.sendEvent(window, QDragLeaveEvent())
    words = QMimeData()
    words.setText("words")
    assert enter(box, words).isAccepted()


@pytest.mark.parametrize("role", ["target", "draft", ""])
def test_the_role_of_a_dropped_model_is_asked_and_the_keyboard_goes_back(
    window: MainWindow, role: str, qtbot: QtBot
) -> None:
    qtbot.keyClicks(window.composer.edit, "half a mess")
    model = data("/files/model.GGUF")
    assert enter(window, model).isAccepted()
    told: list[tuple[str, str]] = []
    window.dialogs.file_chosen.connect(lambda *chosen: told.append(chosen))
    drop(window, model)
    question = window.findChild(ConfirmDialog)
    assert question is not None
    assert question.windowTitle() == "model.GGUF"
    buttons = {"target": "Use as target", "draft": "Use as draft", "": "Cancel"}
    chosen = next(each for each in question.findChildren(QPushButton) if each.text() == buttons[role])
    qtbot.keyClick(chosen, Qt.Key.Key_Space if role else Qt.Key.Key_Escape)
    assert told == ([("/files/model.GGUF", role)] if role else [])
    qtbot.waitUntil(window.composer.edit.hasFocus)
    qtbot.keyClicks(window.composer.edit, "age")
    assert window.composer.text == "half a message"


def test_words_that_were_dropped_are_gone_on_with(window: MainWindow, qtbot: QtBot) -> None:
    window.sidebar.new_button.setFocus(Qt.FocusReason.TabFocusReason)
    box = window.composer.edit.viewport()
    words = QMimeData()
    words.setText("Why is ")
    enter(box, words)
    QApplication.sendEvent(box, QDropEvent(QPointF(5, 5), COPY, words, BUTTONS, KEYS))
    assert window.composer.edit.hasFocus()
    qtbot.keyClicks(QApplication.focusWidget(), "that so?")
    assert window.composer.text == "Why is that so?"


def test_a_drag_may_leave_and_other_content_is_the_windows(window: MainWindow) -> None:
    offered = data("/files/a.txt")
    enter(window, offered)
    place = QPointF(20, 20) if PySide6.__version_info__ >= (6, 12) else QPoint(20, 20)
    move = QDragMoveEvent(place, COPY, offered, BUTTONS, KEYS)
    move.ignore()
    QApplication.sendEvent(window, move)
    assert move.isAccepted()
    QApplication.sendEvent(window, QDragLeaveEvent())
    words = QMimeData()
    words.setText("words")
    assert not enter(window, words).isAccepted()
