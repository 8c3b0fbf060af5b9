"""A target and a draft judged before anything is downloaded: do they match, do they fit, and what can be done now."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.core.domain.models import Drafting, FitLevel, PairSide, PairView, Presence, VocabularyMatch
from ui.models.fit_view import FitView
from ui.models.parts import StatusMark, WrappingRow
from ui.models.requests import ModelsRequests
from ui.models.words import MATCH_ICONS, MATCH_TONES, MATCH_WORDS, bytes_or_unknown
from ui.text.formatting import as_written, size
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.widgets.building import button, empty_layout, grid, label, show_text, vbox
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.styling import rule

ALONE = mark("PairCard", "Only the target is offered: it needs no draft model, and n-gram mode works with it.")
_PLACES = {Presence.HERE: mark("PairCard", "on this computer"), Presence.DOWNLOADING: mark("PairCard", "downloading")}
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_TOP = Qt.AlignmentFlag.AlignTop


class PairCard(QFrame):
    """Values in by `set_pair`; actions go out by the shared requests."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._requests = theme, requests
        self.setObjectName("card")
        self.sides = grid(gaps=(16, 10))
        self.verdict = StatusMark(theme)
        self.words = label("", "", wrap=True)
        self.alone = label(translate("PairCard", ALONE), "muted", wrap=True)
        self.fit = FitView(theme)
        self.gain = StatusMark(theme, wrap=True)
        self.note = label("", "caption", wrap=True)
        self.note.setContentsMargins(22, 0, 0, 0)
        self.action_buttons = WrappingRow()
        for words in (self.words, self.alone):
            words.setContentsMargins(22, 0, 0, 0)
        judged = vbox(self.verdict, self.words, self.alone, spacing=4)
        self.line = rule()
        gained = vbox(self.gain, self.note, spacing=4)
        vbox(
            self.sides,
            rule(),
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
        self._add_side(0, translate("PairCard", "Target"), pair.target)
        if pair.draft is not None:
            is_head = pair.drafting is Drafting.SIDE_FILE
            role = translate("PairCard", "Draft head") if is_head else translate("PairCard", "Draft")
            self._add_side(1, role, pair.draft)
        self.sides.setColumnStretch(1, 1)
        self._show_verdict(pair)
        self.line.setVisible(pair.fit is not None)
        self.fit.setVisible(pair.fit is not None)
        if pair.fit is not None:
            self.fit.set_table(pair.fit)
        self._show_gain(pair)
        self._show_actions(pair)

    def _add_side(self, line: int, role: str, side: PairSide) -> None:
        name = ElidedLabel(side.name, "strong")
        detail = ElidedLabel(" · ".join(text for text in (side.detail, _place_words(side.presence)) if text), "caption")
        for shown in (name, detail):
            shown.setToolTip(as_written(side.ref.path or f"{side.ref.repo}\n{side.ref.file}"))
        words = vbox(name, detail, spacing=1)
        figure = label(bytes_or_unknown(side.size_bytes))
        figure.setFont(self._theme.font(0))
        self.sides.addWidget(label(role, "muted"), line, 0, _TOP)
        self.sides.addLayout(words, line, 1)
        self.sides.addWidget(figure, line, 2, _RIGHT | _TOP)

    def _show_verdict(self, pair: PairView) -> None:
        if pair.draft is None and pair.drafting is Drafting.HEADS_INSIDE:
            words = translate("PairCard", "Drafts for itself: heads inside (MTP)")
            is_known = pair.fit is not None  # its header was read
            self.verdict.show_mark(*(("circle-check", words, "good") if is_known else ("info", words, "muted")))
        elif pair.draft is None:
            self.verdict.show_mark("info", translate("PairCard", "No draft: plain decoding and n-grams"), "muted")
        else:
            self.verdict.show_mark(
                MATCH_ICONS[pair.match],
                translate("Words", MATCH_WORDS[pair.match]),
                MATCH_TONES.get(pair.match, "muted"),
            )
        show_text(self.words, pair.match_words)
        refused = _is_refused(pair)
        self.alone.setVisible(refused)
        said = (f"{self.verdict.text.text()}.", pair.match_words, self.alone.text() if refused else "")
        self.setAccessibleName(" ".join(filter(None, said)))

    def _show_gain(self, pair: PairView) -> None:
        """What the pair gave here, by a race or by answers; else what it may give."""
        speed_forecast = pair.speed_forecast
        is_measured = speed_forecast is not None and speed_forecast.is_measured
        is_gain = speed_forecast is not None and speed_forecast.is_gain
        tone = "muted" if not is_measured else "good" if is_gain else "warn"
        self.gain.show_mark("flag" if is_measured else "lightbulb", pair.gain_words, tone)
        self.gain.setVisible(bool(pair.gain_words))
        show_text(self.note, pair.note)

    def _show_actions(self, pair: PairView) -> None:
        """What can be done now; of a refused pair with the target alone, of one that is being checked nothing yet."""
        self.action_buttons.clear()
        self.action_buttons.add_gap()
        draft = None if _is_refused(pair) else pair.draft
        wanted = [side for side in (pair.target, draft) if side is not None]
        missing = [side for side in wanted if side.presence is Presence.ABSENT]
        if missing and not pair.can_have:
            self._offer(
                translate("PairCard", "Search for another"), lambda: self._requests.page_requested.emit("search")
            )
        elif missing:
            self._offer_download(pair, wanted, missing)
        elif all(side.presence is Presence.HERE for side in wanted):
            self._offer_chat(pair, draft)
        else:
            self._offer(
                translate("PairCard", "See the downloads"), lambda: self._requests.page_requested.emit("downloads")
            )

    def _offer_download(self, pair: PairView, wanted: list[PairSide], missing: list[PairSide]) -> None:
        refs = tuple(side.ref for side in wanted)
        what = _what(missing, pair.target, pair.draft is not None)
        sizes = [side.size_bytes for side in missing]
        weight = f" ({size(sum(one or 0 for one in sizes))})" if None not in sizes else ""
        download = self._offer(
            translate("PairCard", "Download {what}").format(what=what) + weight,
            lambda: self._requests.pull_requested.emit(refs, False),
            translate("PairCard", "Download {what}").format(what=what),
        )
        download.setEnabled(pair.match is not VocabularyMatch.CHECKING)
        if pair.fit is None or pair.fit.level is not FitLevel.TOO_LARGE:
            chat = self._offer(
                translate("PairCard", "Download the target and chat")
                if _is_refused(pair)
                else translate("PairCard", "Download and chat"),
                lambda: self._requests.pull_requested.emit(refs, True),
                primary=_is_certain(pair),
            )
            chat.setEnabled(pair.match is not VocabularyMatch.CHECKING)

    def _offer_chat(self, pair: PairView, draft: PairSide | None) -> None:
        other = draft.ref if draft else None
        text = (
            translate("PairCard", "Chat with this pair")
            if draft
            else translate("PairCard", "Chat with the target alone")
            if pair.draft
            else translate("PairCard", "Chat with it")
        )
        chat = self._offer(
            text, lambda: self._requests.chat_requested.emit(pair.target.ref, other), primary=_is_certain(pair)
        )
        chat.setEnabled(pair.match is not VocabularyMatch.CHECKING)

    def _offer(self, text: str, action: Callable[[], object], name: str = "", *, primary: bool = False) -> QPushButton:
        made = button(text, action, kind="primary" if primary else "", name=name)
        self.action_buttons.add(made)
        return made


def _is_refused(pair: PairView) -> bool:
    return pair.draft is not None and pair.match is VocabularyMatch.NO


def _is_certain(pair: PairView) -> bool:
    """Whether it is known that what is offered will work: a pair that nobody checked may still be refused."""
    return pair.draft is None or pair.match in (VocabularyMatch.YES, VocabularyMatch.TRANSLATED, VocabularyMatch.NO)


def _place_words(presence: Presence) -> str:
    words = _PLACES.get(presence, "")
    return translate("PairCard", words) if words else ""


def _what(missing: list[PairSide], target: PairSide, had_draft: bool) -> str:
    if len(missing) > 1:
        return translate("PairCard", "both")
    if missing[0] is not target:
        return translate("PairCard", "the draft")
    return translate("PairCard", "the target") if had_draft else translate("PairCard", "it")
