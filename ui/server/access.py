"""What programs need to use the local server: address, model and key to copy, and examples to paste."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QStyledItemDelegate, QWidget

from app.core.domain.local_server import LOOPBACK, Example, base_url, examples
from app.core.domain.model_name import printable
from engine.records import ModelInfo
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, grid, hbox, label, show_text, vbox
from ui.widgets.icon_button import IconButton
from ui.widgets.no_wheel_combo_box import NoWheelComboBox

EXAMPLE_LINES = 9
MASK = "•" * 12
DEFAULT_CTX = 4096


class ServerAccess(QWidget):
    """Values in by methods.

    Signals:
        renewal_requested: another key is to be made.
    """

    renewal_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._model, self._n_ctx = "", DEFAULT_CTX
        self._url = base_url(LOOPBACK, 0)
        self._key = ""
        self.url = self._field(translate("ServerAccess", "Base URL"))
        self.model = self._field(translate("ServerAccess", "Model"))
        self.key = self._field(translate("ServerAccess", "Key"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.complaint = label("", "error", wrap=True)
        self.hint = label(
            translate("ServerAccess", "Programs on this computer do not need the key."), "caption", wrap=True
        )
        self.hint.hide()
        self.show_button = IconButton(self._theme, "eye", translate("ServerAccess", "Show the key"))
        self.show_button.setCheckable(True)
        self.show_button.toggled.connect(self._show_key)
        self.renew_button = IconButton(
            self._theme,
            "refresh-cw",
            translate("ServerAccess", "Make another key; programs with the old one are disconnected"),
            self.renewal_requested.emit,
        )
        self.program = NoWheelComboBox()
        self.program.setItemDelegate(QStyledItemDelegate(self.program))  # draws as the stylesheet says
        self.program.setAccessibleName(translate("ServerAccess", "Example for"))
        self.program.currentIndexChanged.connect(self._show_example)
        self.example = QPlainTextEdit()
        self._make_example()
        self._arrange()
        self._show()

    def _make_example(self) -> None:
        edit = self.example
        edit.setReadOnly(True)
        edit.setProperty("kind", "field")
        edit.setTabChangesFocus(True)
        edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        edit.setFont(self._theme.code_font())
        edit.setFixedHeight(QFontMetrics(edit.font()).lineSpacing() * EXAMPLE_LINES + 20)
        edit.setAccessibleName(translate("ServerAccess", "Example"))

    def _arrange(self) -> None:
        heading = label(translate("ServerAccess", "Use it from other programs"), "strong", wrap=True)
        words = translate(
            "ServerAccess",
            "In the program, choose an “OpenAI-compatible” provider and enter these.",
        )
        fields = grid(gaps=(8, 8))
        fields.setColumnStretch(1, 1)
        rows = ((self.url, ()), (self.model, ()), (self.key, (self.show_button, self.renew_button)))
        for place, (field, others) in enumerate(rows):
            name = label(field.accessibleName())
            name.setBuddy(field)
            buttons = hbox(self._copy_button(field), *others, Stretch(), spacing=2)
            fields.addWidget(name, place, 0)
            fields.addWidget(field, place, 1)
            fields.addLayout(buttons, place, 2)
        above = hbox(
            label(translate("ServerAccess", "Example for")),
            self.program,
            Stretch(),
            self._copy_example_button(),
            spacing=8,
        )
        vbox(
            heading,
            label(words, "caption", wrap=True),
            fields,
            self.hint,
            self.complaint,
            above,
            self.example,
            parent=self,
            margins=0,
            spacing=8,
        )

    # ---- values -----------------------------------------------------------------------------------------------------

    def set_target(self, target: ModelInfo | None) -> None:
        """The model that answers where none is named."""
        self._model = printable(Path(target.path).stem) if target else ""
        self._n_ctx = target.n_ctx if target else DEFAULT_CTX
        self._show()

    def set_address(self, host: str, port: int, *, needs_key: bool = True) -> None:
        """Where it listens, or will, and whether programs must show the key there."""
        self._url = base_url(host, port)
        self.hint.setVisible(not needs_key)
        self._show()

    def set_key(self, key: str, problem: str) -> None:
        """The key; empty, and why, where there is none."""
        self._key = key
        show_text(self.complaint, problem)
        self._show()

    def _show(self) -> None:
        for field, text in ((self.url, self._url), (self.model, self._model), (self.key, self._key)):
            field.setText(text)
            field.setCursorPosition(0)  # a long one is seen from its beginning
        chosen = max(self.program.currentIndex(), 0)
        self.program.blockSignals(True)
        self.program.clear()
        for example in self._examples(self._key):
            self.program.addItem(example.program)
        self.program.setCurrentIndex(chosen)
        self.program.blockSignals(False)
        self._show_example()

    def _show_key(self, shown: bool) -> None:
        self.key.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self.show_button.set_icon_name("eye-off" if shown else "eye")
        name = translate("ServerAccess", "Hide the key") if shown else translate("ServerAccess", "Show the key")
        self.show_button.setAccessibleName(name)
        self.show_button.setToolTip(name)
        self._show_example()

    def _show_example(self) -> None:
        example = self._examples(self._key if self.show_button.isChecked() else MASK)[self.program.currentIndex()]
        self.example.setPlainText(example.text)
        self.example.setToolTip(example.place)

    def _examples(self, key: str) -> tuple[Example, ...]:
        return examples(self._url, self._model, key, self._n_ctx)

    # ---- parts ------------------------------------------------------------------------------------------------------

    def _field(self, name: str) -> QLineEdit:
        field = QLineEdit()
        field.setReadOnly(True)
        field.setAccessibleName(name)
        return field

    def _copy_button(self, field: QLineEdit) -> IconButton:
        name = translate("ServerAccess", "Copy: {what}").format(what=field.accessibleName())
        return self._copies(name, field.text)

    def _copy_example_button(self) -> IconButton:
        self.copy_example = self._copies(
            translate("ServerAccess", "Copy the example, with the key"),
            lambda: self._examples(self._key)[self.program.currentIndex()].text,
        )
        return self.copy_example

    def _copies(self, name: str, text: Callable[[], str]) -> IconButton:
        pressed = IconButton(self._theme, "copy", name)

        def copy() -> None:
            QGuiApplication.clipboard().setText(text())
            pressed.confirm(translate("ServerAccess", "Copied"))

        pressed.clicked.connect(copy)
        return pressed
