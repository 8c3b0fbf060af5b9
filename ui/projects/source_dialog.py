"""Shows a cited passage, marked in its document; or only the passage, if the document has changed since."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QColor, QDesktopServices, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from app.core.domain.projects import CitedPassage, Passage
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, read_only_text, vbox
from ui.widgets.dialogs import Dialog, copy_with_feedback

TINT_ALPHA = 60
MAX_NEIGHBOURS = 40  # passages before and after the cited one: the layout of a whole book would block the window
_OMISSION = "\n\n"


class SourceDialog(Dialog):
    """A passage that was cited by its number; Esc closes it."""

    def __init__(
        self, theme: Theme, cited: CitedPassage, found: Passage | None, whole: Sequence[Passage], parent: QWidget
    ) -> None:
        """``found``: the passage in the index, None if it no longer exists. ``whole``: all passages of its document."""
        super().__init__(parent, translate("SourceDialog", "Source {number}").format(number=cited.number))
        self._path = found.path if found is not None else ""
        self.resize(QSize(760, 620).boundedTo(parent.size() * 0.9))
        self.text = read_only_text("", translate("SourceDialog", "Text of the document"))
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        place = label(cited.place, "strong", wrap=True)
        note = translate("SourceDialog", "The model was given this passage. It is marked in the text of its document.")
        if found is None:
            note = translate(
                "SourceDialog",
                "The model was given this passage. Its document has changed since, or is not in the project any more.",
            )
        self._show(theme, cited, found, whole)
        self.open_button = button(translate("SourceDialog", "Open the file"), self._open)
        self.open_button.setEnabled(bool(self._path))
        self.copy_button = button(
            translate("SourceDialog", "Copy the passage"), lambda: copy_with_feedback(self.copy_button, cited.text)
        )
        self.close_button = button(translate("SourceDialog", "Close"), self.accept)
        self.close_button.setDefault(True)
        buttons = hbox(self.open_button, Stretch(), self.copy_button, self.close_button, spacing=8)
        vbox(
            place,
            label(note, "caption", wrap=True),
            (self.text, 1),
            4,
            buttons,
            parent=self,
            margins=(24, 20, 24, 20),
            spacing=8,
        )

    def _show(self, theme: Theme, cited: CitedPassage, found: Passage | None, whole: Sequence[Passage]) -> None:
        at = next((number for number, one in enumerate(whole) if one == found), None)
        first = max(0, (at or 0) - MAX_NEIGHBOURS)
        end = (at or 0) + MAX_NEIGHBOURS + 1
        texts = [one.text for one in whole[first:end]] if at is not None else [cited.text]
        begin = sum(len(text) + len(_OMISSION) for text in texts[: (at or 0) - first]) if at is not None else 0
        self.text.setPlainText(_OMISSION.join(texts))
        marked = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(_utf16(_OMISSION.join(texts)[:begin]))  # Qt counts UTF-16 units
        cursor.setPosition(_utf16(_OMISSION.join(texts)[: begin + len(cited.text)]), QTextCursor.MoveMode.KeepAnchor)
        marked.cursor, marked.format = cursor, QTextCharFormat()
        color = QColor(theme.tokens.accent)
        color.setAlpha(TINT_ALPHA)
        marked.format.setBackground(color)
        self.text.setExtraSelections([marked])
        seen = QTextCursor(cursor)
        seen.setPosition(cursor.anchor())
        self.text.setTextCursor(seen)
        self.text.centerCursor()

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._path))


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
