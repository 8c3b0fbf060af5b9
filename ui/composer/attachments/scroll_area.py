"""A scroll area around the attachments: a few rows are seen, the others by scrolling."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QScrollArea

from ui.composer.attachments.chips import SPACING_PX, AttachmentRows
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
        """The rows have become more or fewer."""
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
