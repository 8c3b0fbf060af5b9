"""Files dragged over the window: shows the effect of dropping, and asks for a GGUF file's role. Opens no file."""

from collections.abc import Callable, Sequence
from pathlib import PurePath

from PySide6.QtCore import QEvent, QFileInfo, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QWidget

from ui.composer.message_edit import local_paths
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, label, vbox
from ui.widgets.dialogs import ConfirmDialog

tr = Translator("DropZone")

MARGIN_PX = 16
_NAMES_SHOWN = 4
_EXPORT_EXTENSIONS = (".json", ".zip")
CHOICE_PX = 240


def ask_model_role(parent: QWidget, path: str, take: Callable[[str, str], object]) -> ConfirmDialog:
    """A question whether a dropped model is to be the target or the draft; ``take`` gets the path and the role."""
    words = translate(
        "DropOverlay",
        "The target writes the answers. A draft is a smaller model, best with the same vocabulary, that "
        "proposes tokens for it.",
    )
    question = ConfirmDialog(parent, PurePath(path).name, words, translate("DropOverlay", "Use as target"))
    question.accepted.connect(lambda: take(path, "target"))
    draft = button(translate("DropOverlay", "Use as draft"), question.reject)
    draft.clicked.connect(lambda: take(path, "draft"))
    question.buttons.insertWidget(question.buttons.count() - 1, draft)
    return question


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
            paths = local_paths(event.mimeData())
            if not paths:
                return False
            event.acceptProposedAction()
            self._offered = paths
            self.hint.show_for(paths)
            return True
        if isinstance(event, QDragMoveEvent) and event.type() == QEvent.Type.DragMove:
            event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._offered = []
            self.hint.hide()
        return super().eventFilter(watched, event)

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
