"""What stands above the composer's text: the attachments, and offers: to make one of a long text, a model that sees."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QWidget

from app.core.domain.attachments import Attachment
from ui.composer.attachments.chips import SPACING_PX, AttachmentRows
from ui.composer.message_edit import MessageEdit
from ui.text.formatting import count
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import button, hbox, label, vbox
from ui.widgets.exact_text import exact_selection
from ui.widgets.pyside_wrappers import wrap_viewport

ROWS_SEEN = 3.5  # half a row says that there are more


class AttachmentScrollArea(QScrollArea):
    """As high as its rows, up to `ROWS_SEEN` of them."""

    def __init__(self, rows: AttachmentRows) -> None:
        super().__init__()
        wrap_viewport(self)
        self._rows = rows
        self._num_chips = 0
        self.setObjectName("attachmentRoom")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the chips take the focus
        self.setWidget(rows)
        self.setWidgetResizable(True)
        self.viewport().setAutoFillBackground(False)
        rows.setAutoFillBackground(False)
        rows.installEventFilter(self)
        self._is_at_end = False
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._follow)
        bar.actionTriggered.connect(lambda _action: self._leave_end())
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._rows and event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self.fit()
        return super().eventFilter(watched, event)

    def fit(self) -> None:
        """Take the height of the rows, or of those that may be seen; the newest come into sight, and the focus."""
        chips = self._rows.chips
        self.setVisible(bool(chips))
        if not chips:
            self._num_chips = 0
            return
        most = round(ROWS_SEEN * chips[0].height() + (int(ROWS_SEEN)) * SPACING_PX)
        self.setFixedHeight(min(self._rows.height(), most))
        if len(chips) > self._num_chips:
            self._is_at_end = True
            self._follow()
        self._num_chips = len(chips)
        focused = next(
            (chip for chip in chips if chip.hasFocus() or chip.isAncestorOf(self.focusWidget() or self)), None
        )
        if focused is not None:
            self._leave_end()
            self.ensureWidgetVisible(focused, 0, SPACING_PX)

    def _follow(self) -> None:
        """The rows get their height after they were filled; until somebody scrolls, the newest stay in sight."""
        if self._is_at_end:
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _leave_end(self) -> None:
        self._is_at_end = False


class AttachmentTray(QWidget):
    """Out of sight while there is nothing to show.

    Signals:
        removed(int), opened(int): an attachment's id.
        text_offered(str): a pasted text is to become an attachment; it stands in the box no more.
        model_wanted(str): the file of a model that sees.
    """

    removed = Signal(int)
    opened = Signal(int)
    text_offered = Signal(str)
    model_wanted = Signal(str)

    def __init__(self, theme: Theme, edit: MessageEdit) -> None:
        super().__init__()
        self._edit = edit
        self._pasted: QTextCursor | None = None
        self.rows = AttachmentRows(theme, removable=True)
        self.room = AttachmentScrollArea(self.rows)
        self.rows.removed.connect(self._remove)
        self.rows.opened.connect(self.opened)
        self.offer_text, self.sight_text = label("", "caption", wrap=True), label("", "caption", wrap=True)
        self.attach_button = button(translate("AttachmentTray", "Attach as a file"), self._take_offer)
        self.keep_button = button(translate("AttachmentTray", "Keep as text"), self._leave_offer)
        self.load_button = button(translate("AttachmentTray", "Load"), lambda: self.model_wanted.emit(self._seeing))
        self.offer = _row(self.offer_text, self.attach_button, self.keep_button)
        self.sight = _row(self.sight_text, self.load_button)
        self._seeing = ""  # the file of the model that is offered
        self.sight.hide()
        vbox(self.room, self.sight, self.offer, parent=self, margins=(0, 0, 4, 0), spacing=8)
        edit.long_pasted.connect(self._offer)
        edit.huge_pasted.connect(self.text_offered)
        edit.textChanged.connect(self._check_offer)
        self._leave_offer()

    def show_attachments(self, attachments: Sequence[Attachment], notes: Sequence[str]) -> None:
        """Show these, each with a note of what is not known yet."""
        self.rows.show_attachments(attachments, notes)
        self.room.fit()
        self._put_in_tab_order()
        self._update()

    def show_sight(self, words: str, path: str = "", name: str = "") -> None:
        """Say that the model cannot see the pictures, and offer one that can, where there is one; no words: it can."""
        had_focus = self.load_button.hasFocus()
        self._seeing = path
        self.sight_text.setText(words)
        self.load_button.setText(translate("AttachmentTray", "Load {name}").format(name=name).replace("&", "&&"))
        self.load_button.setAccessibleName(self.load_button.text())
        self.load_button.setVisible(bool(path))
        self.sight.setVisible(bool(words))
        if had_focus and not (words and path):
            self._edit.setFocus()
        self._update()

    def _put_in_tab_order(self) -> None:
        """Chips are made when they are shown; Tab reaches them where they stand: before the text."""
        before = self._edit.previousInFocusChain()
        while before is not None and self.rows.isAncestorOf(before):
            before = before.previousInFocusChain()
        for chip in self.rows.chips:
            for stop in (chip, chip.remove_button):
                if before is not None and stop is not None:
                    QWidget.setTabOrder(before, stop)
                before = stop

    def _remove(self, attachment_id: int) -> None:
        self.removed.emit(attachment_id)
        if not self.rows.chips:
            self._edit.setFocus()

    def _offer(self, pasted: QTextCursor) -> None:
        self._pasted = pasted
        words = translate("AttachmentTray", "That is a long text ({count} characters).")
        self.offer_text.setText(words.format(count=count(len(pasted.selectedText()))))
        self.offer.show()
        self._update()

    def _check_offer(self) -> None:
        if self._pasted is not None and not self._pasted.hasSelection():
            self._leave_offer()

    def _take_offer(self) -> None:
        pasted = self._pasted
        if pasted is not None:
            text = exact_selection(pasted)
            pasted.removeSelectedText()
            self._leave_offer()
            self.text_offered.emit(text)

    def _leave_offer(self) -> None:
        had_focus = self.attach_button.hasFocus() or self.keep_button.hasFocus()
        self._pasted = None
        self.offer.hide()
        self._update()
        if had_focus:
            self._edit.setFocus()

    def _update(self) -> None:
        self.setVisible(bool(self.rows.chips) or not (self.offer.isHidden() and self.sight.isHidden()))


def _row(words: QLabel, *buttons: QPushButton) -> QWidget:
    made = QWidget()
    hbox((words, 1), *buttons, parent=made, margins=(0, 0, 4, 0), spacing=8)
    return made
