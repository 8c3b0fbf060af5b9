"""The page of the settings on which reusable prompts are added, edited and deleted."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
)

from app.core.domain.settings.layers import MAX_PROMPT_CHARS, MAX_PROMPT_NAME_CHARS, SavedPrompt
from ui.settings.page import SettingsPage
from ui.text.formatting import count
from ui.text.language import translate
from ui.widgets.exact_text import ExactTextEdit

LIST_PX = 148


class PromptsPage(SettingsPage):
    """Edits a copy.

    Signals:
        saved(object): all prompts, where they differ from those that came in.
    """

    saved = Signal(object)

    def __init__(self, prompts: Sequence[SavedPrompt]) -> None:
        super().__init__()
        self.title = translate("PromptsPage", "Prompts")
        self.setObjectName("page")
        self._before = tuple(prompts)
        self._prompts = [(prompt.name, prompt.text) for prompt in prompts]
        self.list = QListWidget()
        self.name_edit = QLineEdit()
        self.text_edit = ExactTextEdit()
        self.add_button = QPushButton(translate("PromptsPage", "Add"))
        self.delete_button = QPushButton(translate("PromptsPage", "Delete"))
        self.complaint = QLabel()
        self._make()
        self._arrange()
        for name, _text in self._prompts:
            self.list.addItem(f"/{name}")
        self.list.currentRowChanged.connect(self._show)
        self.list.setCurrentRow(0 if self._prompts else -1)
        self._show(self.list.currentRow())

    def _make(self) -> None:
        self.list.setObjectName("choices")
        self.list.setAccessibleName(translate("PromptsPage", "Prompts"))
        self.list.setMinimumWidth(LIST_PX)
        self.list.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.name_edit.setMaxLength(MAX_PROMPT_NAME_CHARS)
        self.name_edit.setAccessibleName(translate("PromptsPage", "Name"))
        self.name_edit.setPlaceholderText(translate("PromptsPage", "Name, typed after /"))
        self.name_edit.textEdited.connect(self._on_edited)
        self.text_edit.setProperty("kind", "field")
        self.text_edit.setTabChangesFocus(True)
        self.text_edit.setAccessibleName(translate("PromptsPage", "Text"))
        self.text_edit.textChanged.connect(self._on_edited)
        self.complaint.setProperty("kind", "error")
        self.complaint.setTextFormat(Qt.TextFormat.PlainText)  # it quotes names that were typed
        self.complaint.setWordWrap(True)
        self.complaint.hide()
        for button in (self.add_button, self.delete_button):
            button.setAutoDefault(False)
        self.add_button.setAccessibleName(translate("PromptsPage", "Add a prompt"))
        self.delete_button.setAccessibleName(translate("PromptsPage", "Delete the chosen prompt"))
        self.add_button.clicked.connect(self._add)
        self.delete_button.clicked.connect(self._delete)

    def _arrange(self) -> None:
        heading = QLabel(self.title)
        heading.setProperty("kind", "heading")
        words = translate(
            "PromptsPage", "Type / in an empty message to insert one. Words in {braces} are filled in one by one."
        )
        explanation = QLabel(words.format(braces="{" + translate("PromptsPage", "braces") + "}"))
        explanation.setProperty("kind", "caption")
        explanation.setWordWrap(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.add_button)
        buttons.addWidget(self.delete_button)
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self.list, 1)
        left.addLayout(buttons)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(self.name_edit)
        right.addWidget(self.text_edit, 1)
        right.addWidget(self.complaint)
        halves = QHBoxLayout()
        halves.setSpacing(16)
        halves.addLayout(left)
        halves.addLayout(right, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 24)
        layout.setSpacing(12)
        layout.addWidget(heading)
        layout.addWidget(explanation)
        layout.addLayout(halves, 1)

    # ---- values -----------------------------------------------------------------------------------------------------

    def prompts(self) -> tuple[SavedPrompt, ...]:
        """The prompts as edited."""
        return tuple(SavedPrompt(name, text) for name, text in self._prompts)

    def problem(self) -> str:
        """Why they cannot be saved."""
        names = [name.casefold() for name, _ in self._prompts]
        for name, text in self._prompts:
            shown = f"/{name}" if name else translate("PromptsPage", "A prompt")
            if not name:
                return translate("PromptsPage", "Give every prompt a name.")
            if names.count(name.casefold()) > 1:
                return translate("PromptsPage", "{name} appears twice.").format(name=shown)
            if not text.strip() or len(text) > MAX_PROMPT_CHARS:
                words = translate("PromptsPage", "{name} needs a text of at most {number} characters.")
                return words.format(name=shown, number=count(MAX_PROMPT_CHARS))
        return ""

    def save(self) -> None:
        """Emit the prompts, if they were edited."""
        if self.prompts() != self._before:
            self.saved.emit(self.prompts())

    # ---- editing ----------------------------------------------------------------------------------------------------

    def _show(self, row: int) -> None:
        chosen = 0 <= row < len(self._prompts)
        name, text = self._prompts[row] if chosen else ("", "")
        for edit in (self.name_edit, self.text_edit):
            edit.blockSignals(True)
            edit.setEnabled(chosen)
        self.name_edit.setText(name)
        self.text_edit.setPlainText(text)
        for edit in (self.name_edit, self.text_edit):
            edit.blockSignals(False)
        self.delete_button.setEnabled(chosen)

    def _on_edited(self) -> None:
        row = self.list.currentRow()
        if not 0 <= row < len(self._prompts):
            return
        name = "-".join(self.name_edit.text().strip().strip("/").split())
        self._prompts[row] = (name, self.text_edit.exact_text())
        self.list.item(row).setText(f"/{name}")
        self._changed()

    def _add(self) -> None:
        self._prompts.append(("", ""))
        self.list.addItem("/")
        self.list.setCurrentRow(len(self._prompts) - 1)
        self.name_edit.setFocus()
        self._changed()

    def _delete(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._prompts):
            del self._prompts[row]
            self.list.takeItem(row)
            self._show(self.list.currentRow())
            self._changed()

    def _changed(self) -> None:
        self.complaint.setText(self.problem())
        self.complaint.setVisible(bool(self.complaint.text()))
        self.changed.emit()
