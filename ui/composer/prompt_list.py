"""The list of reusable prompts, opened by ``/`` at the start of a message and filtered while typing.

Its last row opens the dialog of prompts.

While the list is open, it handles keys of the text box. Tab moves between ``{placeholders}``.
"""

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from app.core.domain.settings.layers import SavedPrompt
from ui.text.language import Translator, translate
from ui.widgets.building import label, vbox

tr = Translator("Prompts")

MAX_ROWS = 9
FIRST_LINE_CHARS = 90
_NAME, _TEXT = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
_INSERT_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
_PLACEHOLDER = re.compile(r"\{\w[\w -]{0,40}\}")


def placeholders(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _PLACEHOLDER.finditer(text)]


def select_placeholder(edit: QPlainTextEdit, *, backwards: bool = False) -> bool:
    """Select the placeholder after the caret, or before it. Returns False if there is none."""
    text, cursor = edit.toPlainText(), edit.textCursor()
    here = cursor.selectionStart() if backwards else cursor.selectionEnd()
    spans = [(_units(text[:begin]), _units(text[:end])) for begin, end in placeholders(text)]
    found = [span for span in spans if (span[1] <= here if backwards else span[0] >= here)]
    if not found:
        return False
    begin, end = found[-1] if backwards else found[0]
    cursor.setPosition(begin)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    edit.setTextCursor(cursor)
    return True


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def builtin_prompts() -> tuple[SavedPrompt, ...]:
    """The built-in prompts; words in braces are placeholders."""
    return (
        SavedPrompt(tr("summarise"), tr("Summarise the following text in {number} sentences:\n\n{text}")),
        SavedPrompt(tr("translate"), tr("Translate the following text into {language}. Keep its tone:\n\n{text}")),
        SavedPrompt(
            tr("explain-code"), tr("Explain step by step what this code does, and name what could go wrong:\n\n{code}")
        ),
        SavedPrompt(tr("shorter"), tr("Rewrite this in half as many words without losing a fact:\n\n{text}")),
        SavedPrompt(
            tr("proofread"),
            tr("Correct spelling and grammar, change nothing else, and list what you changed:\n\n{text}"),
        ),
    )


class PromptList(QFrame):
    """Shown above the text box, which keeps the focus."""

    manage_requested = Signal()  # open the dialog of prompts

    def __init__(self, edit: QPlainTextEdit, above: QWidget) -> None:
        super().__init__(above)
        self.setObjectName("promptList")
        self._edit = edit
        self._above = above
        self._prompts: tuple[SavedPrompt, ...] = ()
        self._dismissed = ""
        self._filling = False
        self.list = QListWidget()
        self.list.setObjectName("prompts")
        self.list.setAccessibleName(translate("PromptList", "Prompts"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setUniformItemSizes(True)
        self.list.itemClicked.connect(self._insert_prompt)
        hint = label(translate("PromptList", "Up and Down choose, Enter inserts, Esc closes"), "caption")
        hint.setContentsMargins(8, 0, 4, 4)
        vbox(self.list, hint, parent=self, margins=4, spacing=4)
        self.hide()
        self._place_timer = QTimer(self, singleShot=True, interval=0)  # runs after the layout of the widgets around it
        self._place_timer.timeout.connect(self._place_again)
        edit.installEventFilter(self)
        above.installEventFilter(self)
        edit.textChanged.connect(self._follow_text)

    def set_prompts(self, prompts: Sequence[SavedPrompt]) -> None:
        self._prompts = tuple(prompts)

    @property
    def shown_prompts(self) -> list[str]:
        return [str(self.list.item(row).data(_NAME)) for row in range(self.list.count() - 1)]

    def _follow_text(self) -> None:
        text = self._edit.toPlainText()
        if not placeholders(text):
            self._filling = False
        wanted = text[1:] if text.startswith("/") and not any(char.isspace() for char in text) else None
        if wanted is None or text == self._dismissed:
            self.hide()
            return
        self._dismissed = ""
        found = self._matching(wanted.casefold())
        if wanted and not found:
            self.hide()
            return
        self._fill(found)
        self._place()
        self.show()
        self.raise_()

    def _matching(self, wanted: str) -> list[SavedPrompt]:
        begin = [prompt for prompt in self._prompts if prompt.name.casefold().startswith(wanted)]
        within = [prompt for prompt in self._prompts if wanted in prompt.name.casefold() and prompt not in begin]
        return [*begin, *within]

    def _fill(self, prompts: Sequence[SavedPrompt]) -> None:
        self.list.clear()
        for prompt in prompts:
            first_line = " ".join(prompt.text.split())[:FIRST_LINE_CHARS]
            item = QListWidgetItem(f"/{prompt.name}   {first_line}")
            item.setData(_NAME, prompt.name)
            item.setData(_TEXT, prompt.text)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{prompt.name}: {first_line}")
            self.list.addItem(item)
        self.list.addItem(translate("PromptList", "Edit prompts…"))
        self._go_to(0)

    def _place(self) -> None:
        window = self._edit.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        self.list.setFixedHeight(self.list.sizeHintForRow(0) * min(self.list.count(), MAX_ROWS))
        self.setFixedWidth(self._above.width())
        self.adjustSize()
        corner = self._above.mapTo(window, QPoint(0, 0))
        self.move(corner.x(), max(corner.y() - self.height() - 6, 0))

    def _place_again(self) -> None:
        if self.isVisible():
            self._place()

    def _go_to(self, row: int) -> None:
        count = self.list.count()
        self.list.setCurrentRow(row % count if count else -1)
        item = self.list.currentItem()
        if item is not None and self.isVisible():
            words = str(item.data(Qt.ItemDataRole.AccessibleTextRole) or item.text())
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._edit, words))

    def _insert_prompt(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        text = item.data(_TEXT)
        self.hide()
        if text is None:
            self.manage_requested.emit()
            return
        cursor = self._edit.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(text)  # a single undo step
        cursor.setPosition(0)
        self._edit.setTextCursor(cursor)
        self._edit.setFocus()
        self._filling = select_placeholder(self._edit)
        if not self._filling:
            self._edit.moveCursor(cursor.MoveOperation.End)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is not self._edit:
            if event.type() in (QEvent.Type.Move, QEvent.Type.Resize) and self.isVisible():
                self._place_timer.start()
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        if isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride:
                if self.isVisible() and event.key() == Qt.Key.Key_Escape:
                    event.accept()
                    return True
            elif event.type() == QEvent.Type.KeyPress and self._on_key(event):
                return True
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if not self.isVisible():
            tab = key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
            return tab and self._filling and select_placeholder(self._edit, backwards=key == Qt.Key.Key_Backtab)
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self._go_to(self.list.currentRow() + (1 if key == Qt.Key.Key_Down else -1))
        elif key in _INSERT_KEYS and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._insert_prompt(self.list.currentItem())
        elif key == Qt.Key.Key_Escape:
            self._dismissed = self._edit.toPlainText()
            self.hide()
        else:
            return False
        return True
