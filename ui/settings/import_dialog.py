"""What the file of another app has of servers of tools, and which of them are to be added: nothing is started."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from app.core.domain.tools.servers import ImportView
from ui.text.formatting import on_button
from ui.text.language import translate
from ui.widgets.building import hbox, label, scrolled, vbox
from ui.widgets.dialogs import ConfirmDialog

LIST_PX = 240  # at most


class ImportDialog(ConfirmDialog):
    """Each server with its command or address, ticked unless it cannot be used.

    Signals:
        chosen(object): the names of those that are to be added.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget, view: ImportView) -> None:
        text = translate("ImportDialog", "They are added switched off: nothing is started before you switch it on.")
        super().__init__(
            parent,
            translate("ImportDialog", "Import servers from {source}").format(source=view.source),
            text if view.servers else translate("ImportDialog", "All of its servers are there already."),
            translate("ImportDialog", "Add"),
        )
        self.boxes: dict[str, QCheckBox] = {}
        rows = QWidget()
        column = vbox(parent=rows, margins=(0, 0, 8, 0), spacing=10)
        for server in view.servers:
            self.boxes[server.name] = box = QCheckBox(on_button(server.name))
            box.setChecked(not server.problem)
            box.setAccessibleDescription(server.place)
            box.toggled.connect(self._update)
            group = vbox(box, spacing=2)
            for words, kind in ((server.place, "caption"), (server.problem, "error")):
                if words:
                    group.addLayout(hbox(label(words, kind, wrap=True), margins=(24, 0, 0, 0)))
            column.addLayout(group)
        column.addStretch(1)
        if view.servers:
            scroll = scrolled(rows, self.windowTitle(), sideways=False)
            scroll.setFixedHeight(min(LIST_PX, rows.sizeHint().height() + 8))
            self.column.addWidget(scroll)
        if view.num_known and view.servers:
            known = translate("ImportDialog", "%n more are there already.", None, view.num_known)
            self.column.addWidget(label(known, "caption", wrap=True))
        self.accepted.connect(lambda: self.chosen.emit(self.names))
        self._update()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, box in self.boxes.items() if box.isChecked())

    def _update(self) -> None:
        self.accept_button.setEnabled(bool(self.names))
