"""The recommended pairs: what each is good for at the left, its verdicts and its download at the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.core.domain.models import CatalogRow, Drawback, FitLevel, PairView, Suitability
from app.core.domain.speed.speed_forecast import SpeedRange
from engine.records import Problem
from ui.models.columns import list_side, put_beside, verdict_side
from ui.models.pair_card import PairCard
from ui.models.parts import EmptyPagePlaceholder
from ui.models.requests import ModelsRequests
from ui.models.words import DRAFTING_WORDS, FIT_ICONS, FIT_TONES, FIT_WORDS, bytes_or_unknown
from ui.text.formatting import number_text
from ui.text.language import mark, translate
from ui.text.problem_words import explanation, in_words
from ui.theme.theme import Theme
from ui.widgets.building import button, empty_layout, grid, label
from ui.widgets.choice_list import Choice, ChoiceList, grouped

DRAWBACKS = {
    Drawback.THINKS: mark("RecommendedPage", "Think before they answer, so you wait longer"),
    Drawback.MEMORY: mark("RecommendedPage", "Leave little memory for other programs"),
    Drawback.UNKNOWN: mark("RecommendedPage", "Fit this computer; how fast is not known"),
    Drawback.SLOW: mark("RecommendedPage", "Slow on this computer"),
}
_TOP = Qt.AlignmentFlag.AlignTop


def catalog_rows(rows: Sequence[CatalogRow]) -> list[Choice]:
    """What runs well here first, as it is offered elsewhere; then the rest by what is against it, smallest first."""
    well = sorted((row for row in rows if row.suits >= Suitability.WELL), key=lambda row: row.preference, reverse=True)
    rest = sorted((row for row in rows if row.suits < Suitability.WELL), key=_num_bytes)
    fitting = _of(rest, FitLevel.FITS)
    groups = (
        (translate("RecommendedPage", "Run well on this computer"), well),
        *(
            ((translate("RecommendedPage", words), [row for row in fitting if row.drawback is drawback]))
            for drawback, words in DRAWBACKS.items()
            if well
        ),
        (translate("RecommendedPage", "Fit this computer"), [] if well else fitting),
        (translate("RecommendedPage", "A tight fit"), _of(rest, FitLevel.TIGHT)),
        (translate("RecommendedPage", "Not checked yet"), _of(rest, FitLevel.UNKNOWN)),
        (translate("RecommendedPage", "Too large for this computer"), _of(rest, FitLevel.TOO_LARGE)),
    )
    return grouped((heading, [_choice(row) for row in found]) for heading, found in groups)


def _of(rows: Sequence[CatalogRow], level: FitLevel) -> list[CatalogRow]:
    return [row for row in rows if row.fit is level]


def _num_bytes(row: CatalogRow) -> int:
    draft = row.pair.draft
    return (row.pair.target.size_bytes or 0) + ((draft.size_bytes or 0) if draft else 0)


def _choice(row: CatalogRow) -> Choice:
    return Choice(
        key=row.key,
        title=row.name,
        lines=(row.good_for,) if row.plain is None else (row.good_for, _speed(row.plain, thinks=row.thinks)),
        side=bytes_or_unknown(row.pair.missing_bytes)
        if not row.pair.is_here
        else translate("RecommendedPage", "downloaded"),
        icon=FIT_ICONS[row.fit],
        tone=FIT_TONES.get(row.fit, "muted"),
        spoken=translate("Words", FIT_WORDS[row.fit]),
        wraps=True,
    )


def _speed(plain: SpeedRange, *, thinks: bool) -> str:
    words = (
        translate("RecommendedPage", "{low}–{high} tokens per second, and it thinks first")
        if thinks
        else translate("RecommendedPage", "{low}–{high} tokens per second")
    )
    low, high = plain.told
    return words.format(low=number_text(low), high=number_text(high))


class RecommendedPage(QWidget):
    """Pairs in, requests out."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._requests = theme, requests
        self._rows: dict[str, CatalogRow] = {}
        self.heading = label(translate("RecommendedPage", "Recommended pairs"), "heading")
        self.words = label(
            translate("RecommendedPage", "Each comes with a way to draft: a small model, heads, or repeated text."),
            "caption",
            wrap=True,
        )
        self.list = ChoiceList(theme, translate("RecommendedPage", "Recommended pairs"))
        self.list.chosen.connect(self._on_chosen)
        self.empty = EmptyPagePlaceholder(theme, "sparkles")
        self.title = label("", "heading", wrap=True)
        self.good_for = label("", "", wrap=True)
        self.facts_box = QWidget()
        self.facts = grid(gaps=(16, 6), parent=self.facts_box, margins=0)
        self.card = PairCard(theme, requests)
        self._arrange()
        self.empty.say(
            translate("RecommendedPage", "Choose a pair"),
            translate("RecommendedPage", "See here what it is good for and whether it fits."),
        )

    def _arrange(self) -> None:
        left, column = list_side(self._theme, 14, 4)
        for words in (self.heading, self.words):
            words.setContentsMargins(10, 0, 8, 0)
            column.addWidget(words)
        column.addWidget(self.list, 1)
        pieces = [self.title, self.good_for, self.facts_box, self.card]
        self.right = verdict_side(self.empty, pieces, translate("RecommendedPage", "Pair"))
        put_beside(self, left, self.right)

    def start(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        if not self._rows:
            self._requests.recommendations_requested.emit()

    def set_rows(self, rows: Sequence[CatalogRow]) -> None:
        self._rows = {row.key: row for row in rows}
        self.list.set_rows(catalog_rows(rows))
        current = self._rows.get(self.list.current_key())
        if current is not None and self.right.currentIndex() == 1:
            self._show(current)
        if current is None:
            self.list.choose_first()
        if not rows:
            search = button(
                translate("RecommendedPage", "Search models"),
                lambda: self._requests.page_requested.emit("search"),
                kind="primary",
            )
            text = translate("RecommendedPage", "The list of recommended pairs is empty. Search for models yourself.")
            self.empty.say(translate("RecommendedPage", "No recommendations"), text, search)
            self.right.setCurrentIndex(0)

    def set_problem(self, problem: Problem) -> None:
        again = button(
            translate("RecommendedPage", "Try again"), self._requests.recommendations_requested.emit, kind="primary"
        )
        self.empty.say(in_words(problem).title, explanation(problem), again)
        self.right.setCurrentIndex(0)

    def set_pair(self, key: str, pair: PairView) -> None:
        """The verdicts on one pair; another may be shown by now."""
        if key == self.list.current_key():
            self.card.set_pair(pair)

    def _on_chosen(self, key: str) -> None:
        self._show(self._rows[key])
        self._requests.catalog_requested.emit(key)

    def _show(self, row: CatalogRow) -> None:
        self.title.setText(row.name)
        self.good_for.setText(row.good_for)
        empty_layout(self.facts)
        lines = (
            (translate("RecommendedPage", "Drafting"), translate("Words", DRAFTING_WORDS[row.pair.drafting])),
            (translate("RecommendedPage", "Licence"), row.licence),
            (translate("RecommendedPage", "On this computer"), "" if row.pair.gain_words else row.expected),
            (translate("RecommendedPage", "Speed-up elsewhere"), row.speedup),
            (translate("RecommendedPage", "Source"), row.source),
            (translate("RecommendedPage", "Hub"), row.checked),
        )
        for line, (name, text) in enumerate(pair for pair in lines if pair[1]):
            words = label(text, "", wrap=True)
            self.facts.addWidget(label(name, "muted"), line, 0, _TOP)
            self.facts.addWidget(words, line, 1)
        self.facts.setColumnStretch(1, 1)
        self.card.set_pair(row.pair)
        self.right.setCurrentIndex(1)
