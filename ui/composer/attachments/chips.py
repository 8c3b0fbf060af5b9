"""Attachments as chips in rows: icon, name, kind, size and tokens; opened by Enter, removed by Delete or its cross."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QScrollArea, QWidget

from app.core.domain.attachments import Attachment, AttachmentKind
from ui.composer.message_edit import MessageEdit
from ui.text.formatting import count, size, without_markup
from ui.text.language import Translator
from ui.text.one_line import elided
from ui.theme.theme import Theme
from ui.widgets.building import hbox, label, vbox, wrap_viewport
from ui.widgets.icon_button import IconButton

tr = Translator("Attachments")

NAME_PX = 180
SPACING_PX = 8
CHIP_THUMBNAIL_PX, CARD_THUMBNAIL_PX = 40, 140  # heights of thumbnails: above the composer, and in a message
ICONS = {
    AttachmentKind.TEXT: "file-text",
    AttachmentKind.CODE: "file-code",
    AttachmentKind.MARKDOWN: "file-text",
    AttachmentKind.CSV: "file-spreadsheet",
    AttachmentKind.PDF: "file-type",
    AttachmentKind.DOCUMENT: "file-type",
    AttachmentKind.PASSAGES: "search",
    AttachmentKind.PICTURE: "image",
}
KINDS = {
    AttachmentKind.TEXT: tr.mark("Text"),
    AttachmentKind.CODE: tr.mark("Code"),
    AttachmentKind.MARKDOWN: tr.mark("Markdown"),
    AttachmentKind.CSV: tr.mark("CSV"),
    AttachmentKind.PDF: tr.mark("PDF"),
    AttachmentKind.DOCUMENT: tr.mark("Document"),
    AttachmentKind.PASSAGES: tr.mark("Found for this question"),
    AttachmentKind.PICTURE: tr.mark("Picture"),
}
VISIBLE_ROWS = 3.5  # the visible half row shows that there are more


def title_of(attachment: Attachment) -> str:
    """The file name of an attachment; passages found in project files have another title."""
    is_found = attachment.kind is AttachmentKind.PASSAGES
    return tr("Passages of your files") if is_found else attachment.name


def attachment_facts(attachment: Attachment) -> str:
    """Kind, size and tokens: ``Markdown · 1.2 kB · about 310 tokens``; for a picture its size in pixels."""
    parts = [tr(KINDS[attachment.kind])]
    if attachment.picture is not None:
        parts.append(f"{attachment.picture.width} × {attachment.picture.height}")
    if attachment.num_bytes:
        parts.append(size(attachment.num_bytes) if attachment.num_bytes >= 1000 else f"{attachment.num_bytes} B")
    number = attachment.num_tokens
    if number is not None:
        parts.append(tr("about {count} tokens", None, number).format(count=count(number)))
    return " · ".join(parts)


def _thumbnail(attachment: Attachment, most_px: int, ratio: float) -> QPixmap | None:
    """A picture scaled for a chip; None for other files."""
    pixmap = QPixmap()
    if attachment.picture is None or not pixmap.loadFromData(attachment.picture.thumbnail):
        return None
    room = QSize(round(most_px * 1.6 * ratio), round(most_px * ratio)).boundedTo(pixmap.size())
    scaled = pixmap.scaled(room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation)
    scaled.setDevicePixelRatio(ratio)
    return scaled


class AttachmentChip(QPushButton):
    # the attachment's id
    opened = Signal(int)
    removed = Signal(int)

    def __init__(self, theme: Theme, attachment: Attachment, *, removable: bool, note: str = "") -> None:
        """``note``: shown if the facts are unknown."""
        super().__init__()
        self._theme = theme
        self.attachment = attachment
        self.setProperty("kind", "chip")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._icon = QLabel()
        self._thumbnail = _thumbnail(
            attachment, CHIP_THUMBNAIL_PX if removable else CARD_THUMBNAIL_PX, self.devicePixelRatioF()
        )
        self.name = label()
        self.facts = label(" · ".join(part for part in (attachment_facts(attachment), note) if part), "caption")
        theme.set_font(self.facts, -1)
        words = vbox(self.name, self.facts, spacing=0)
        is_large = self._thumbnail is not None and not removable
        margins = (10, 10 if is_large else 5, 4 if removable else 10 if is_large else 12, 5)
        parts = (self._icon, words)
        row: QBoxLayout = (
            vbox(*parts, parent=self, margins=margins, spacing=4)
            if is_large
            else hbox(*parts, parent=self, margins=margins, spacing=8)
        )
        for each in (self._icon, self.name, self.facts):
            each.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.remove_button: IconButton | None = None
        if removable:
            name = tr("Remove {name}").format(name=title_of(attachment))
            self.remove_button = IconButton(theme, "x", name, lambda: self.removed.emit(attachment.id))
            self.remove_button.setIconSize(QSize(14, 14))
            row.addWidget(self.remove_button)
        self.setAccessibleName(f"{title_of(attachment)}, {self.facts.text()}")
        help_text = tr("Press Enter to open it.")
        if removable:
            help_text = tr("Press Enter to open it, Delete to remove it.")
        self.setAccessibleDescription(help_text)
        self.setToolTip(without_markup(f"{title_of(attachment)}\n{help_text}"))
        self.clicked.connect(lambda: self.opened.emit(attachment.id))
        theme.changed.connect(self._recolor)
        self._recolor()

    def _recolor(self) -> None:
        color = self._theme.tokens.text_muted
        icon = self._theme.pixmap(ICONS[self.attachment.kind], color, 18, self.devicePixelRatioF())
        self._icon.setPixmap(self._thumbnail or icon)
        metrics = QFontMetrics(self._theme.font())
        self.name.setText(elided(title_of(self.attachment), metrics, NAME_PX, Qt.TextElideMode.ElideMiddle))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        layout = self.layout()
        return layout.sizeHint() if layout is not None else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.remove_button is not None:
            self.removed.emit(self.attachment.id)
        else:
            super().keyPressEvent(event)


class AttachmentRows(QWidget):
    """Chips from left to right, in as many rows as they need."""

    # an attachment's id
    opened = Signal(int)
    removed = Signal(int)

    def __init__(self, theme: Theme, *, removable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._removable = removable
        self.chips: list[AttachmentChip] = []
        self.setAccessibleName(tr("Attachments"))
        theme.changed.connect(self._place)
        self.hide()

    def show_attachments(self, attachments: Sequence[Attachment], notes: Sequence[str] = ()) -> None:
        """Show these attachments with their notes. If a chip had the focus, the chip at its position gets it."""
        focused = next((i for i, chip in enumerate(self.chips) if chip.isAncestorOf(self.focusWidget() or self)), None)
        focused = next((i for i, chip in enumerate(self.chips) if chip.hasFocus()), focused)
        for chip in self.chips:
            chip.hide()
            chip.deleteLater()
        self.chips = []
        for index, attachment in enumerate(attachments):
            note = notes[index] if index < len(notes) else ""
            chip = AttachmentChip(self._theme, attachment, removable=self._removable, note=note)
            chip.setParent(self)
            chip.opened.connect(self.opened)
            chip.removed.connect(self.removed)
            chip.show()
            self.chips.append(chip)
        self.setVisible(bool(self.chips))
        self._place()
        if focused is not None and self.chips:
            self.chips[min(focused, len(self.chips) - 1)].setFocus()

    def _place(self) -> None:
        x = y = height = 0
        for chip in self.chips:
            for each in (chip, chip.name, chip.facts):
                each.ensurePolished()
            wanted = chip.sizeHint()
            if x and x + wanted.width() > self.width():
                x, y, height = 0, y + height + SPACING_PX, 0
            chip.setGeometry(x, y, min(wanted.width(), max(self.width(), 1)), wanted.height())
            x += wanted.width() + SPACING_PX
            height = max(height, wanted.height())
        self.setFixedHeight(y + height)

    def event(self, event: QEvent) -> bool:
        """Lay out again: a chip that changed its size may need another row."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Lay out again: chips get their style, and so their size, when first shown."""
        super().showEvent(event)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()


class AttachmentScrollArea(QScrollArea):
    """As high as its rows, up to `VISIBLE_ROWS` of them."""

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
        bar.rangeChanged.connect(self._follow_end)
        bar.actionTriggered.connect(lambda _action: self._stop_following())
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._rows and event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self.fit()
        return super().eventFilter(watched, event)

    def fit(self) -> None:
        chips = self._rows.chips
        self.setVisible(bool(chips))
        if not chips:
            self._num_chips = 0
            return
        most = round(VISIBLE_ROWS * chips[0].height() + (int(VISIBLE_ROWS)) * SPACING_PX)
        self.setFixedHeight(min(self._rows.height(), most))
        if len(chips) > self._num_chips:
            self._is_at_end = True
            self._follow_end()
        self._num_chips = len(chips)
        focused = next(
            (chip for chip in chips if chip.hasFocus() or chip.isAncestorOf(self.focusWidget() or self)), None
        )
        if focused is not None:
            self._stop_following()
            self.ensureWidgetVisible(focused, 0, SPACING_PX)

    def _follow_end(self) -> None:
        """Scroll to the newest row, unless the user has scrolled. Called again when rows get their heights."""
        if self._is_at_end:
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _stop_following(self) -> None:
        self._is_at_end = False


class AttachmentTray(QWidget):
    """The attachments above the text box; hidden while empty."""

    # an attachment's id
    removed = Signal(int)
    opened = Signal(int)
    text_offered = Signal(str)  # a pasted text that is too long for the box, to be attached

    def __init__(self, theme: Theme, edit: MessageEdit) -> None:
        super().__init__()
        self._edit = edit
        self.rows = AttachmentRows(theme, removable=True)
        self.room = AttachmentScrollArea(self.rows)
        self.rows.removed.connect(self._remove)
        self.rows.opened.connect(self.opened)
        self.vision_text = label("", "caption", wrap=True)
        self.vision_text.hide()
        vbox(self.room, self.vision_text, parent=self, margins=(0, 0, 4, 0), spacing=8)
        edit.huge_pasted.connect(self.text_offered)
        self._update()

    def show_attachments(self, attachments: Sequence[Attachment], notes: Sequence[str]) -> None:
        self.rows.show_attachments(attachments, notes)
        self.room.fit()
        if self.rows.chips:
            self._order_chips()
        self._update()

    def _order_chips(self) -> None:
        """Put the chips, which are created late, before the text box in the tab order."""
        before = self._edit.previousInFocusChain()
        while before is not None and (self.rows.isAncestorOf(before) or before.focusPolicy() is Qt.FocusPolicy.NoFocus):
            before = before.previousInFocusChain()
        for chip in self.rows.chips:
            for stop in (chip, chip.remove_button):
                if before is not None and stop is not None:
                    QWidget.setTabOrder(before, stop)
                before = stop

    def show_vision_note(self, words: str) -> None:
        """Show why the model cannot see the pictures; empty ``words`` hide the line."""
        self.vision_text.setText(words)
        self.vision_text.setVisible(bool(words))
        self._update()

    def _remove(self, attachment_id: int) -> None:
        self.removed.emit(attachment_id)
        if not self.rows.chips:
            self._edit.setFocus()

    def _update(self) -> None:
        self.setVisible(bool(self.rows.chips) or not self.vision_text.isHidden())
