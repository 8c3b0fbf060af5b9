"""The legend of the marks above the conversation; each entry is a switch."""

from collections.abc import Iterable, Mapping
from math import ceil

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QGridLayout, QPushButton, QSizePolicy, QWidget

from app.core.domain.messages import MessageView
from engine.records import Source
from ui.text.formatting import tooltip
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.transcript.marks.marks import LINE_PX, paint_marks
from ui.widgets.building import Stretch, hbox
from ui.widgets.icon_button import IconButton
from ui.widgets.metrics import LegendRow

PAD_PX, LINE_GAP_PX, EDGE_PX = 8, 2, 5
OFF_OPACITY = 0.55


class SourceChip(QPushButton):
    """The name of a source, marked like its tokens. It switches the source together with its row of the statistics."""

    def __init__(self, theme: Theme, source: Source, row: LegendRow, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._source = theme, source
        self.name = row.name
        self.setProperty("kind", "mark")
        self.setCheckable(True)
        self.setChecked(row.isChecked())
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(translate("MarksLegend", "Mark {name} tokens").format(name=row.name))
        self.setAccessibleDescription(row.help_text)
        self.setToolTip(tooltip(row.help_text))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.clicked.connect(lambda on: row.setChecked(on))  # noqa: PLW0108 (a slot of Qt's own would get no argument)
        row.toggled.connect(self.setChecked)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        height = ceil(self._theme.text_height(-1)) + LINE_PX + 2 * EDGE_PX
        return QSize(ceil(self._theme.text_width(self.name, -1)) + 2 * PAD_PX, height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        cache, tokens, painter = self._theme.paint_cache, self._theme.tokens, QPainter(self)
        is_on = self.isChecked()
        text = QRectF(self.rect()).adjusted(PAD_PX, EDGE_PX, -PAD_PX, -EDGE_PX - LINE_PX)
        painter.setFont(cache.font(-1))
        painter.setPen(cache.color(tokens.text if is_on else tokens.text_muted))
        painter.drawText(text, Qt.AlignmentFlag.AlignCenter, self.name)
        painter.setOpacity(1.0 if is_on else OFF_OPACITY)  # only the mark fades; the name stays readable
        paint_marks(painter, [(text, text.bottom() + 1, self._source)], tokens, self.devicePixelRatioF())


class MarksLegend(QFrame):
    """The legend; hidden while nothing is marked."""

    def __init__(self, theme: Theme, rows: Mapping[Source, LegendRow]) -> None:
        super().__init__()
        self._rows = list(rows.values())
        self._is_wanted = True
        self._offered = self._occurred_sources = frozenset[Source]()
        self.setObjectName("marksLegend")
        self.setAccessibleName(translate("MarksLegend", "Marked tokens"))
        self.chips = {source: SourceChip(theme, source, row, self) for source, row in rows.items()}
        self.close_button = IconButton(theme, "x", translate("MarksLegend", "Hide all marks"), self._hide_all)
        self._grid = QGridLayout()
        self._grid.setSpacing(LINE_GAP_PX)
        self._num_columns = 0
        hbox(
            self._grid,
            Stretch(),
            (self.close_button, 0, Qt.AlignmentFlag.AlignTop),
            parent=self,
            margins=(16, 4, 12, 4),
        )
        self._show_sources()
        for button in self._rows:
            button.toggled.connect(self._on_chip_toggled)
        theme.changed.connect(self._fit_columns)
        self._on_chip_toggled()

    def set_offered(self, sources: frozenset[Source]) -> None:
        """Set the sources that the next answer can have."""
        self._offered = sources
        self._show_sources()

    def set_messages(self, messages: Iterable[MessageView]) -> None:
        """Set the messages of the open chat; `add_message` adds later ones."""
        self._occurred_sources = frozenset[Source]().union(*map(_sources_of, messages))
        self._show_sources()

    def add_message(self, message: MessageView) -> None:
        self._occurred_sources |= _sources_of(message)
        self._show_sources()

    def _show_sources(self) -> None:
        for source, chip in self.chips.items():
            chip.setVisible(source in self._offered | self._occurred_sources)
        self._num_columns = 0
        self._fit_columns()

    def set_wanted(self, wanted: bool) -> None:
        self._is_wanted = wanted
        self._on_chip_toggled()

    @property
    def _shown(self) -> list[SourceChip]:
        return [chip for chip in self.chips.values() if not chip.isHidden()]

    def _on_chip_toggled(self) -> None:
        marked = any(row.isChecked() for row in self._rows)
        self.setVisible(self._is_wanted and marked)

    def _hide_all(self) -> None:
        for button in self._rows:
            button.setChecked(False)

    def minimumSizeHint(self) -> QSize:
        """Wide enough for two names."""
        widest = max((chip.sizeHint().width() for chip in self._shown), default=0)
        return QSize(2 * widest + self._other_px(), super().minimumSizeHint().height())

    def _other_px(self) -> int:
        line = self.layout()
        margins = line.contentsMargins() if line is not None else self.contentsMargins()
        return margins.left() + margins.right() + self.close_button.sizeHint().width() + 2 * PAD_PX

    def _fit_columns(self) -> None:
        room, widths = self.width() - self._other_px(), [chip.sizeHint().width() for chip in self._shown]
        for num in range(len(widths), 0, -1):
            columns = [max(widths[column::num]) for column in range(num)]
            if num == 1 or sum(columns) + (num - 1) * LINE_GAP_PX <= room:
                self._place_chips(num)
                return

    def _place_chips(self, num_columns: int) -> None:
        if num_columns == self._num_columns:
            return
        self._num_columns = num_columns
        for chip in self.chips.values():
            self._grid.removeWidget(chip)
        for number, chip in enumerate(self._shown):
            self._grid.addWidget(chip, number // num_columns, number % num_columns)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()


def _sources_of(message: MessageView) -> frozenset[Source]:
    if message.stats is None:
        return frozenset(span.source for span in message.spans)
    return message.stats.sources


class SourceSwitch(IconButton):
    """Switches all rows of a legend together, and shows their state.

    The row of the target's own tokens is neither switched nor counted.
    """

    def __init__(self, theme: Theme, legend: Mapping[Source, QAbstractButton]) -> None:
        super().__init__(theme, "highlighter", translate("SourceSwitch", "Mark tokens by source"))
        self.setCheckable(True)
        self._rows = [row for source, row in legend.items() if source is not Source.TARGET]
        for row in self._rows:
            row.toggled.connect(self._on_wanted_changed)
        self.clicked.connect(self._switch)

    def _switch(self, wanted: bool) -> None:
        changed = [row for row in self._rows if row.isChecked() is not wanted]
        for row in changed[:-1]:
            with QSignalBlocker(row):  # the answers are marked once, not once per row
                row.setChecked(wanted)
        for row in changed[-1:]:
            row.setChecked(wanted)

    def _on_wanted_changed(self) -> None:
        is_any = any(row.isChecked() for row in self._rows)
        self.setChecked(is_any)
        self.set_marked(is_any)
