"""Judges a target and a draft before a download: whether they match, whether they fit, and possible actions."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton, QWidget

from app.core.domain.models import Drafting, FitSummary, MemoryPlace, PairSide, PairView, Presence, VocabularyMatch
from app.core.domain.speed.pair_speed import measured_words
from engine.records import FitLevel
from ui.models.parts import ModelsRequests, StatusMark, WrappingRow
from ui.models.words import MATCH, bytes_or_unknown
from ui.text.formatting import count, size, without_markup
from ui.text.language import Translator, translate
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, button, empty_layout, grid, label, progress_bar, separator, show_text, vbox

tr = Translator("PairCard")

ALONE_LABEL = tr.mark("Only the target is offered: it needs no draft model, and n-gram mode works with it.")
_PLACES = {Presence.HERE: tr.mark("on this computer"), Presence.DOWNLOADING: tr.mark("downloading")}
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_TOP = Qt.AlignmentFlag.AlignTop
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def _memory_bar(place: MemoryPlace) -> QProgressBar:
    """The used share of free memory; the text beside it has the numbers."""
    bar = progress_bar(place.label)
    bar.setAccessibleDescription(place_words(place))
    bar.setValue(min(round(1000 * place.needed_bytes / place.free_bytes), 1000) if place.free_bytes else 0)
    return bar


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
        self.rooms = grid(gaps=(14, 6))
        self.advice = label("", "", wrap=True)
        vbox(self.heading, self.rooms, self.advice, parent=self, margins=0, spacing=10)

    def set_table(self, table: FitSummary) -> None:
        self.heading.setText(_heading(table))
        empty_layout(self.rooms)
        for row, place in enumerate(table.places):
            mark = StatusMark(self._theme)
            mark.show_fit(place.level)
            self.rooms.addWidget(label(place.label), row, 0, _LEFT)
            self.rooms.addWidget(_memory_bar(place), row, 1)
            figure = label(place_words(place))
            figure.setFont(self._theme.font(0))
            self.rooms.addWidget(figure, row, 2, _RIGHT)
            self.rooms.addWidget(mark, row, 3, _LEFT)
        self.rooms.setColumnStretch(1, 1)
        show_text(self.advice, table.advice)


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
        self.action_buttons = WrappingRow()
        for words in (self.words, self.alone):
            words.setContentsMargins(22, 0, 0, 0)
        judged = vbox(self.verdict, self.words, self.alone, spacing=4)
        self.line = separator()
        vbox(
            self.sides,
            separator(),
            judged,
            self.line,
            self.fit,
            self.gain,
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
        words = measured_words(pair.measured) if pair.measured is not None else ""
        self.gain.setVisible(bool(words))
        self.gain.show_mark("flag", in_language(words), "warn" if _is_slower(pair) else "good")
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


def _is_slower(pair: PairView) -> bool:
    return pair.measured is not None and (pair.measured.gain or 1.0) < 1.0


def _is_checked(pair: PairView) -> bool:
    """Whether the pair is known to work and was not measured slower; an unchecked pair may still be rejected."""
    if _is_slower(pair) and not _is_refused(pair):
        return False
    return pair.draft is None or pair.match in (VocabularyMatch.YES, VocabularyMatch.TRANSLATED, VocabularyMatch.NO)


def _place_words(presence: Presence) -> str:
    words = _PLACES.get(presence, "")
    return tr(words) if words else ""
