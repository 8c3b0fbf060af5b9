"""Files dragged over the window: shows the effect of dropping, and asks for a GGUF file's role. Opens no file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import QEvent, QFileInfo, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget
from shiboken6 import isValid

from ui.composer.message_edit import local_paths
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, vbox

tr = Translator("DropZone")

MARGIN_PX = 16
_NAMES_SHOWN = 4
_EXPORT_EXTENSIONS = (".json", ".zip")
CHOICE_PX = 240


class DropOverlay(QFrame):
    """Asks whether a dropped model is to be the target or the draft."""

    chosen = Signal(str, str)  # path and "target" or "draft"

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._focus: QWidget | None = None  # the previously focused widget
        self.path = ""
        self.setObjectName("dropOverlay")
        self.setAccessibleName(translate("DropOverlay", "Use the dropped file as"))
        self.name = label("", "title", wrap=True)
        self.target_button = self._choice(translate("DropOverlay", "Use as target"), "target")
        self.draft_button = self._choice(translate("DropOverlay", "Use as draft"), "draft")
        self.cancel_button = button(translate("DropOverlay", "Cancel"), self.close_overlay)
        for stop in (self.target_button, self.draft_button, self.cancel_button):
            stop.installEventFilter(self)
        words = translate(
            "DropOverlay",
            "The target writes the answers. A draft is a smaller model, best with the same vocabulary, that "
            "proposes tokens for it.",
        )
        hint, centre = label(words, "muted", wrap=True), Qt.AlignmentFlag.AlignCenter
        for each in (self.name, hint):
            each.setAlignment(centre)
        row = hbox(Stretch(), self.target_button, self.draft_button, Stretch(), spacing=16)
        parts = (self.name, hint, row, (self.cancel_button, 0, centre))
        vbox(Stretch(), *parts, Stretch(), parent=self, margins=48, spacing=16)
        self.hide()

    def _choice(self, text: str, role: str) -> QPushButton:
        made = button(text, lambda: self._choose_role(role))
        made.setObjectName("dropChoice")
        made.setMinimumWidth(CHOICE_PX)
        return made

    def ask(self, path: str) -> None:
        focus = self._window.focusWidget()
        if focus is None or not self.isAncestorOf(focus):
            self._focus = focus
        self.path = path
        self.name.setText(PurePath(path).name)
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()
        self.target_button.setFocus()

    def close_overlay(self) -> None:
        focus, self._focus = self._focus, None
        self.hide()
        if focus is not None and isValid(focus):
            focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tab cycles among the three buttons, since the rest of the window is covered."""
        is_tab = isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        if not is_tab or not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        by = -1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or event.key() == Qt.Key.Key_Backtab else 1
        stops = [self.target_button, self.draft_button, self.cancel_button]
        at = next((number for number, stop in enumerate(stops) if stop is watched), 0)
        reason = Qt.FocusReason.TabFocusReason if by > 0 else Qt.FocusReason.BacktabFocusReason
        stops[(at + by) % len(stops)].setFocus(reason)
        return True

    def _choose_role(self, role: str) -> None:
        self.close_overlay()
        self.chosen.emit(self.path, role)


def is_model(path: str) -> bool:
    return path.lower().endswith(".gguf")


def drop_effect(paths: Sequence[str]) -> tuple[str, str]:
    """The effect of dropping these files, as a title and an icon."""
    models = [path for path in paths if is_model(path)]
    if models:
        return tr("Open as a model"), "file-box"
    if all(QFileInfo(path).isDir() for path in paths):
        return tr("Folders cannot be attached: drop the files in it"), "folder"
    if all(path.lower().endswith(".zip") for path in paths):
        return tr("Import the chats in it"), "download"
    if any(path.lower().endswith(_EXPORT_EXTENSIONS) for path in paths):
        return tr("Import it if it contains chats, otherwise attach it to the message"), "paperclip"
    if len(paths) == 1:
        return tr("Attach it to the message"), "paperclip"
    return tr("Attach %n files to the message", None, len(paths)), "paperclip"


class DropHint(QFrame):
    """A frame over the window while files are dragged; it ignores the pointer."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._window = parent
        self.setObjectName("dropHint")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._icon, self.title, self.names = label(), label("", "title"), label("", "muted")
        frame = QFrame()
        frame.setObjectName("dropHintFrame")
        vbox(frame, parent=self, margins=MARGIN_PX)
        parts = (self._icon, self.title, self.names)
        for each in parts:
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
            each.setWordWrap(True)
        vbox(Stretch(), *parts, Stretch(), parent=frame, margins=32, spacing=12)
        self.hide()

    def show_for(self, paths: Sequence[str]) -> None:
        title, icon = drop_effect(paths)
        self.title.setText(title)
        names = [PurePath(path).name for path in paths]
        rest = len(names) - _NAMES_SHOWN
        more = [tr("and {count} more").format(count=rest)] if rest > 0 else []
        self.names.setText("\n".join([*names[:_NAMES_SHOWN], *more]))
        color = self._theme.tokens.accent_text
        self._icon.setPixmap(self._theme.pixmap(icon, color, 40, self.devicePixelRatioF()))
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()


class DropZone(QObject):
    model_dropped = Signal(str)  # a GGUF file
    files_dropped = Signal(list)  # other files, to attach or import

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self.hint = DropHint(theme, window)
        self._offered: list[str] = []
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QDropEvent | QDragLeaveEvent):  # most events; faster than their `type()`
            return False
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            return self._drop(event)
        if isinstance(event, QDragEnterEvent):
            return self._enter(event)
        if isinstance(event, QDragMoveEvent) and event.type() == QEvent.Type.DragMove:
            event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._offered = []
            self.hint.hide()
        return super().eventFilter(watched, event)

    def _enter(self, event: QDragEnterEvent) -> bool:
        paths = local_paths(event.mimeData())
        if not paths:
            return False
        event.acceptProposedAction()
        self._offered = paths
        self.hint.show_for(paths)
        return True

    def _drop(self, event: QDropEvent) -> bool:
        self.hint.hide()
        # A program that exits during its drag sends no data with the drop: use the files that it offered before.
        paths, self._offered = local_paths(event.mimeData()) or self._offered, []
        if not paths:
            return False
        event.acceptProposedAction()
        model = next((path for path in paths if is_model(path)), "")
        others = [path for path in paths if not is_model(path)]
        if model:
            self.model_dropped.emit(model)
        if others:
            self.files_dropped.emit(others)
        return True
