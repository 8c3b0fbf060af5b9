"""Judges a target and a draft before a download: whether they match, whether they fit, and possible actions."""

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from app.core.domain.models import Drafting, FitSummary, MemoryPlace, PairSide, PairView, Presence, VocabularyMatch
from engine.records import FitLevel
from engine.sentences import joined
from ui.models.parts import ModelsRequests, StatusMark, WrappingRow
from ui.models.words import MATCH, bytes_or_unknown
from ui.text.formatting import count, size, without_markup
from ui.text.language import Translator, translate
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, button, empty_layout, grid, label, separator, show_text, vbox

tr = Translator("PairCard")

ALONE_LABEL = tr.mark("Only the target is offered: it needs no draft model, and n-gram mode works with it.")
_PLACES = {Presence.HERE: tr.mark("on this computer"), Presence.DOWNLOADING: tr.mark("downloading")}
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_TOP = Qt.AlignmentFlag.AlignTop
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class MemoryBar(QWidget):
    """The used share of free memory; the text beside it has the numbers."""

    def __init__(self, theme: Theme, place: MemoryPlace) -> None:
        super().__init__()
        self._theme, self._place = theme, place
        self.setMinimumWidth(80)
        self.setFixedHeight(16)
        self.setAccessibleName(place.label)
        self.setAccessibleDescription(place_words(place))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(160, 16)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Paint a rounded bar, filled by the used share; hatched if the share exceeds the memory."""
        tokens, place = self._theme.tokens, self._place
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        box = QRectF(0, self.height() / 2 - 3, self.width(), 6)
        painter.setBrush(QColor(tokens.hover))
        painter.drawRoundedRect(box, 3, 3)
        if not place.free_bytes:
            return
        share = min(place.needed_bytes / place.free_bytes, 1.0)
        colors = {FitLevel.FITS: tokens.good, FitLevel.TIGHT: tokens.caution, FitLevel.TOO_LARGE: tokens.danger}
        painter.setBrush(QColor(colors.get(place.level, tokens.text_muted)))
        painter.drawRoundedRect(QRectF(box.left(), box.top(), max(box.width() * share, 6), box.height()), 3, 3)
        if place.level is FitLevel.TOO_LARGE:
            painter.setBrush(QBrush(QColor(tokens.page), Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(box, 3, 3)


def place_words(place: MemoryPlace) -> str:
    free = translate("FitView", "an unknown amount") if place.free_bytes is None else size(place.free_bytes)
    return translate("FitView", "{size} of {free} free").format(size=size(place.needed_bytes), free=free)


def _heading(table: FitSummary) -> str:
    size, number = count(table.n_ctx), count(table.parallel)
    if table.parallel == 1:
        return translate("FitView", "Needed with a context of {count} tokens").format(count=size)
    words = translate("FitView", "Needed with a context of {count} tokens for each of {number} answers at once")
    return words.format(count=size, number=number)


class FitView(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.heading = label("", "section")
        self.grid = grid(gaps=(20, 6))
        self.rooms = grid(gaps=(14, 6))
        self.advice = label("", "", wrap=True)
        vbox(self.heading, self.grid, self.rooms, self.advice, parent=self, margins=0, spacing=10)

    def set_table(self, table: FitSummary) -> None:
        self.heading.setText(_heading(table))
        self._fill_parts(table)
        empty_layout(self.rooms)
        for row, place in enumerate(table.places):
            mark = StatusMark(self._theme)
            mark.show_fit(place.level)
            self.rooms.addWidget(label(place.label), row, 0, _LEFT)
            self.rooms.addWidget(MemoryBar(self._theme, place), row, 1)
            self.rooms.addWidget(self._figure(place_words(place)), row, 2, _RIGHT)
            self.rooms.addWidget(mark, row, 3, _LEFT)
        self.rooms.setColumnStretch(1, 1)
        show_text(self.advice, "\n".join(f"•  {line}" for line in table.advice))

    def _fill_parts(self, table: FitSummary) -> None:
        empty_layout(self.grid)
        with_draft = any(part.draft_bytes is not None for part in table.parts)
        heads = (
            ("", translate("FitView", "Target"), translate("FitView", "Draft"), translate("FitView", "Together"))
            if with_draft
            else ("", translate("FitView", "Target"))
        )
        for column, text in enumerate(heads):
            self.grid.addWidget(label(text, "caption"), 0, column, _RIGHT if column else _LEFT)
        for row, part in enumerate(table.parts, 1):
            self.grid.addWidget(label(part.label), row, 0, _LEFT)
            cells = (part.target_bytes, part.draft_bytes, part.total_bytes) if with_draft else (part.target_bytes,)
            for column, value in enumerate(cells, 1):
                self.grid.addWidget(self._figure(bytes_or_unknown(value)), row, column, _RIGHT)
        last = len(table.parts) + 1
        self.grid.addWidget(separator(), last, 0, 1, len(heads))
        totals = [
            sum(part.target_bytes or 0 for part in table.parts),
            sum(part.draft_bytes or 0 for part in table.parts),
        ]
        sums = (*totals, sum(totals)) if with_draft else totals[:1]
        self.grid.addWidget(label(translate("FitView", "All"), "strong"), last + 1, 0, _LEFT)
        for column, value in enumerate(sums, 1):
            self.grid.addWidget(self._figure(size(value), "strong"), last + 1, column, _RIGHT)
        self.grid.setColumnStretch(0, 1)

    def _figure(self, text: str, kind: str = "") -> QLabel:
        made = label(text, kind)
        made.setFont(self._theme.font(0))
        return made


class PairCard(QFrame):
    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self.setObjectName("card")
        self.sides = grid(gaps=(16, 10))
        self.verdict = StatusMark(theme)
        self.words = label("", "", wrap=True)
        self.alone = label(tr(ALONE_LABEL), "muted", wrap=True)
        self.fit = FitView(theme)
        self.gain = StatusMark(theme, wrap=True)
        self.note = label("", "caption", wrap=True)
        self.note.setContentsMargins(22, 0, 0, 0)
        self.action_buttons = WrappingRow()
        for words in (self.words, self.alone):
            words.setContentsMargins(22, 0, 0, 0)
        judged = vbox(self.verdict, self.words, self.alone, spacing=4)
        self.line = separator()
        gained = vbox(self.gain, self.note, spacing=4)
        vbox(
            self.sides,
            separator(),
            judged,
            self.line,
            self.fit,
            gained,
            self.action_buttons,
            parent=self,
            margins=(16, 14, 16, 14),
            spacing=12,
        )

    def set_pair(self, pair: PairView) -> None:
        empty_layout(self.sides)
        self._add_side(0, tr("Target"), pair.target)
        if pair.draft is not None:
            is_head = pair.drafting is Drafting.SIDE_FILE
            role = tr("Draft head") if is_head else tr("Draft")
            self._add_side(1, role, pair.draft)
        self.sides.setColumnStretch(1, 1)
        self._show_verdict(pair)
        self.line.setVisible(pair.fit is not None)
        self.fit.setVisible(pair.fit is not None)
        if pair.fit is not None:
            self.fit.set_table(pair.fit)
        # Show the gain measured in a race or in answers, else the expected gain.
        forecast = pair.speed_forecast
        self.gain.setVisible(forecast is not None)
        show_text(self.note, in_language(joined(forecast.details)) if forecast is not None else "")
        if forecast is not None:
            tone = "muted" if not forecast.is_measured else "good" if forecast.is_gain else "warn"
            icon = "flag" if forecast.is_measured else "lightbulb"
            self.gain.show_mark(icon, in_language(forecast.headline), tone)
        self._show_actions(pair)

    def _add_side(self, line: int, role: str, side: PairSide) -> None:
        name = ElidedLabel(side.name, "strong")
        detail = ElidedLabel(" · ".join(text for text in (side.detail, _place_words(side.presence)) if text), "caption")
        for shown in (name, detail):
            shown.setToolTip(without_markup(side.ref.path or f"{side.ref.repo}\n{side.ref.file}"))
        words = vbox(name, detail, spacing=1)
        figure = label(bytes_or_unknown(side.size_bytes))
        figure.setFont(self._theme.font(0))
        self.sides.addWidget(label(role, "muted"), line, 0, _TOP)
        self.sides.addLayout(words, line, 1)
        self.sides.addWidget(figure, line, 2, _RIGHT | _TOP)

    def _show_verdict(self, pair: PairView) -> None:
        if pair.draft is None and pair.drafting is Drafting.HEADS_INSIDE:
            words = tr("Draft heads in its own file (MTP)")
            is_known = pair.fit is not None  # the header was read
            self.verdict.show_mark(*(("circle-check", words, "good") if is_known else ("info", words, "muted")))
        elif pair.draft is None:
            self.verdict.show_mark("info", tr("No draft model: only repeated text is drafted (n-gram)"), "muted")
        else:
            sign = MATCH[pair.match]
            self.verdict.show_mark(sign.icon, sign.words, sign.tone)
        show_text(self.words, pair.match_words)
        refused = _is_refused(pair)
        self.alone.setVisible(refused)
        said = (f"{self.verdict.text.text()}.", pair.match_words, self.alone.text() if refused else "")
        self.setAccessibleName(" ".join(filter(None, said)))

    def _show_actions(self, pair: PairView) -> None:
        """Show the possible actions, for a rejected pair those of the target alone; disabled during the check."""
        self.action_buttons.clear()
        self.action_buttons.add_gap()
        draft = None if _is_refused(pair) else pair.draft
        wanted = [side for side in (pair.target, draft) if side is not None]
        missing = [side for side in wanted if side.presence is Presence.ABSENT]
        if missing and not pair.can_have:
            self._offer(tr("Search for another"), lambda: self._requests.page_requested.emit("search"))
        elif missing:
            self._offer_download(pair, wanted, missing)
        elif all(side.presence is Presence.HERE for side in wanted):
            self._offer_chat(pair, draft)
        else:
            self._offer(tr("See the downloads"), lambda: self._requests.page_requested.emit("downloads"))

    def _offer_download(self, pair: PairView, wanted: list[PairSide], missing: list[PairSide]) -> None:
        refs = tuple(side.ref for side in wanted)
        sizes = [side.size_bytes for side in missing]
        weight = f" ({size(sum(one or 0 for one in sizes))})" if None not in sizes else ""
        words = tr("Download")
        download = self._offer(words + weight, lambda: self._requests.pull_requested.emit(refs, False), words)
        download.setEnabled(pair.match is not VocabularyMatch.CHECKING)
        if pair.fit is None or pair.fit.level is not FitLevel.TOO_LARGE:
            chat = self._offer(
                tr("Download and chat"),
                lambda: self._requests.pull_requested.emit(refs, True),
                primary=_is_checked(pair),
            )
            chat.setEnabled(pair.match is not VocabularyMatch.CHECKING)

    def _offer_chat(self, pair: PairView, draft: PairSide | None) -> None:
        other = draft.ref if draft else None
        chat = self._offer(
            tr("Chat"), lambda: self._requests.chat_requested.emit(pair.target.ref, other), primary=_is_checked(pair)
        )
        chat.setEnabled(pair.match is not VocabularyMatch.CHECKING)

    def _offer(self, text: str, action: Callable[[], object], name: str = "", *, primary: bool = False) -> QPushButton:
        made = button(text, action, kind="primary" if primary else "", name=name)
        self.action_buttons.add(made)
        return made


def _is_refused(pair: PairView) -> bool:
    return pair.draft is not None and pair.match is VocabularyMatch.NO


def _is_checked(pair: PairView) -> bool:
    """Whether the pair is known to work and to speed up answers; an unchecked pair may still be rejected."""
    if pair.speed_forecast is not None and pair.speed_forecast.would_lose and not _is_refused(pair):
        return False
    return pair.draft is None or pair.match in (VocabularyMatch.YES, VocabularyMatch.TRANSLATED, VocabularyMatch.NO)


def _place_words(presence: Presence) -> str:
    words = _PLACES.get(presence, "")
    return tr(words) if words else ""
