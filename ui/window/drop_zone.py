"""Files dropped on the window; asks for a GGUF file's role. Opens no file."""

from collections.abc import Callable
from pathlib import PurePath

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from ui.composer.message_edit import local_paths
from ui.text.language import translate
from ui.widgets.building import button
from ui.widgets.dialogs import ConfirmDialog


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


class DropZone(QObject):
    model_dropped = Signal(str)  # a GGUF file
    files_dropped = Signal(list)  # other files, to attach or import

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
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
            return True
        if isinstance(event, QDragMoveEvent) and event.type() == QEvent.Type.DragMove:
            event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._offered = []
        return super().eventFilter(watched, event)

    def _drop(self, event: QDropEvent) -> bool:
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
