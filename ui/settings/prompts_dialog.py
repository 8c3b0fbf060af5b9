"""The dialog of reusable prompts: add, edit, delete."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QLineEdit, QListWidget, QSizePolicy, QWidget

from app.core.domain.settings.layers import MAX_PROMPT_CHARS, MAX_PROMPT_NAME_CHARS, SavedPrompt
from ui.text.formatting import count
from ui.text.language import Translator, translate
from ui.widgets.building import Stretch, button, hbox, label, show_text, vbox
from ui.widgets.dialogs import Dialog, within_screen
from ui.widgets.exact_text import VerbatimTextEdit

tr = Translator("PromptsPage")

LIST_PX = 148
SIZE = QSize(760, 520)


class PromptsDialog(Dialog):
    saved = Signal(object)  # all prompts, if they changed

    def __init__(self, prompts: Sequence[SavedPrompt], parent: QWidget) -> None:
        super().__init__(parent, tr("Prompts"))
        self.resize(within_screen(self, SIZE))
        self._saved_prompts = tuple(prompts)
        self._prompts = [(prompt.name, prompt.text) for prompt in prompts]
        self.list = QListWidget()
        self.name_edit = QLineEdit()
        self.text_edit = VerbatimTextEdit()
        self.add_button = button(tr("Add"), self._add, name=tr("Add a prompt"))
        self.delete_button = button(tr("Delete"), self._delete, name=tr("Delete the chosen prompt"))
        self.complaint = label("", "error", wrap=True)
        self.save_button = button(translate("SettingsDialog", "Save"), self._save, kind="primary")
        self.cancel_button = button(translate("SettingsDialog", "Cancel"), self.reject)
        self._make()
        self._arrange()
        for name, _text in self._prompts:
            self.list.addItem(f"/{name}")
        self.list.currentRowChanged.connect(self._show)
        self.list.setCurrentRow(0 if self._prompts else -1)
        self._show(self.list.currentRow())

    def _make(self) -> None:
        self.list.setObjectName("choices")
        self.list.setAccessibleName(tr("Prompts"))
        self.list.setMinimumWidth(LIST_PX)
        self.list.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.name_edit.setMaxLength(MAX_PROMPT_NAME_CHARS)
        self.name_edit.setAccessibleName(tr("Name"))
        self.name_edit.setPlaceholderText(tr("Name, typed after /"))
        self.name_edit.textEdited.connect(self._on_edited)
        self.text_edit.setProperty("kind", "field")
        self.text_edit.setTabChangesFocus(True)
        self.text_edit.setAccessibleName(tr("Text"))
        self.text_edit.textChanged.connect(self._on_edited)
        self.complaint.hide()

    def _arrange(self) -> None:
        words = tr("Type / in an empty message to insert one. Words in {braces} are filled in one by one.")
        explanation = label(words.format(braces="{" + tr("braces") + "}"), "caption", wrap=True)
        buttons = hbox(self.add_button, self.delete_button, spacing=8)
        left = vbox((self.list, 1), buttons, spacing=8)
        right = vbox(self.name_edit, (self.text_edit, 1), self.complaint, spacing=8)
        halves = hbox(left, (right, 1), spacing=16)
        foot = hbox(Stretch(), self.cancel_button, self.save_button, spacing=8)
        vbox(explanation, (halves, 1), foot, parent=self, margins=(24, 20, 24, 20), spacing=12)

    def prompts(self) -> tuple[SavedPrompt, ...]:
        return tuple(SavedPrompt(name, text) for name, text in self._prompts)

    def problem(self) -> str:
        names = [name.casefold() for name, _ in self._prompts]
        for name, text in self._prompts:
            shown = f"/{name}" if name else tr("A prompt")
            if not name:
                return tr("Give every prompt a name.")
            if names.count(name.casefold()) > 1:
                return tr("{name} appears twice.").format(name=shown)
            if not text.strip() or len(text) > MAX_PROMPT_CHARS:
                words = tr("{name} needs a text of at most {number} characters.")
                return words.format(name=shown, number=count(MAX_PROMPT_CHARS))
        return ""

    def _save(self) -> None:
        if self.prompts() != self._saved_prompts:
            self.saved.emit(self.prompts())
        self.accept()

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
        show_text(self.complaint, self.problem())
        self.save_button.setEnabled(not self.problem())
