"""The draft finder: what may draft for one target, what may not and why, and the verdict on the chosen pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.domain.models import DraftList, DraftRow, PairView, VocabularyMatch
from engine.records import Problem
from ui.models.columns import list_side, put_beside, verdict_side
from ui.models.pair_card import PairCard
from ui.models.parts import EmptyPagePlaceholder
from ui.models.requests import ModelsRequests
from ui.models.words import MATCH_ICONS, MATCH_TONES, MATCH_WORDS, bytes_or_unknown
from ui.text.language import translate
from ui.text.problem_words import explanation, in_words
from ui.theme.theme import Theme
from ui.widgets.building import button, label, show_text
from ui.widgets.choice_list import Choice, ChoiceList, grouped
from ui.widgets.elided_label import ElidedLabel


def draft_rows(rows: Sequence[DraftRow]) -> list[Choice]:
    """Matching ones first, then those not checked, then the rejected ones with their reasons."""
    groups = (
        (translate("DraftsPage", "Matching"), (VocabularyMatch.YES,)),
        (translate("DraftsPage", "With another vocabulary"), (VocabularyMatch.TRANSLATED,)),
        (translate("DraftsPage", "Could not be checked"), (VocabularyMatch.UNCHECKED, VocabularyMatch.CHECKING)),
        (translate("DraftsPage", "Not suitable"), (VocabularyMatch.NO,)),
    )
    return grouped((heading, [_choice(row) for row in rows if row.match in matches]) for heading, matches in groups)


def _key(row: DraftRow) -> str:
    ref = row.side.ref
    return f"{ref.repo}/{ref.file}:{ref.path}"


def _choice(row: DraftRow) -> Choice:
    second = " · ".join(piece for piece in (row.place, row.side.detail) if piece)
    return Choice(
        key=_key(row),
        title=row.side.name,
        lines=(second, row.reason) if row.reason else (second,),
        side=bytes_or_unknown(row.side.size_bytes),
        icon=MATCH_ICONS[row.match],
        tone=MATCH_TONES.get(row.match, "muted"),
        spoken=translate("Words", MATCH_WORDS[row.match]),
    )


class DraftsPage(QWidget):
    """For the target in use, or one that was chosen elsewhere."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._requests = theme, requests
        self.found_drafts = DraftList()
        self._focus_due = False
        self.heading = label(translate("DraftsPage", "Drafts for"), "caption")
        self.target = ElidedLabel("", "heading")
        self.words = label("", "caption", wrap=True)
        self.list = ChoiceList(theme, translate("DraftsPage", "Drafts"))
        self.nothing = EmptyPagePlaceholder(theme, "search")
        self.card = PairCard(theme, requests)
        self.empty = EmptyPagePlaceholder(theme, "puzzle")
        self.list.chosen.connect(self._on_chosen)
        self._arrange()
        self.set_drafts(DraftList())

    def _arrange(self) -> None:
        self.found = QStackedWidget()
        self.found.addWidget(self.list)
        self.found.addWidget(self.nothing)
        left, column = list_side(self._theme, 14, 4)
        for piece in (self.heading, self.target, self.words):
            piece.setContentsMargins(10, 0, 8, 0)
            column.addWidget(piece)
        column.addWidget(self.found, 1)
        self.right = verdict_side(self.empty, [self.card], translate("DraftsPage", "Verdict"))
        put_beside(self, left, self.right)

    def start(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        self._focus_due = not self.list.hasFocus()
        if self.found_drafts.target is None:
            self._requests.drafts_requested.emit(None)

    def set_drafts(self, found: DraftList) -> None:
        """Show what was found so far; never an empty list without words."""
        other = found.target != self.found_drafts.target
        self.found_drafts = found
        self.target.setText(found.target.name if found.target else translate("DraftsPage", "No target"))
        show_text(self.words, translate("DraftsPage", "Looking…") if found.busy else found.words)
        self.list.set_rows(draft_rows(found.rows))
        self.found.setCurrentWidget(self.list if found.rows else self.nothing)
        if not found.rows:
            self._say_nothing(found)
        elif self._focus_due and self.isVisible():
            self._focus_due = False
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        if other:
            self.right.setCurrentIndex(0)
        if found.rows or found.busy:
            self.empty.say(
                translate("DraftsPage", "Choose a draft"),
                translate("DraftsPage", "See here whether it matches and whether the pair fits this computer."),
            )
        else:
            self.empty.say(
                translate("DraftsPage", "No models to pair yet"),
                translate("DraftsPage", "A draft is a small model that proposes words for a large one."),
            )

    def _say_nothing(self, found: DraftList) -> None:
        search = button(translate("DraftsPage", "Search models"), lambda: self._requests.page_requested.emit("search"))
        library = button(
            translate("DraftsPage", "Choose from the library"), lambda: self._requests.page_requested.emit("library")
        )
        if found.target is None:
            self.nothing.say(
                translate("DraftsPage", "No target chosen"),
                translate("DraftsPage", "Choose a target model to find drafts for it."),
                library,
            )
        elif found.busy:
            self.nothing.say(
                translate("DraftsPage", "Looking for drafts"),
                translate("DraftsPage", "On this computer, among the recommendations, and on the hub."),
            )
        else:
            none = translate(
                "DraftsPage", "Nothing was found on this computer, among the recommendations or on the hub."
            )
            self.words.hide()
            self.nothing.say(
                translate("DraftsPage", "No drafts found"),
                found.words  # which says the same of n-grams
                or translate("DraftsPage", "{words} N-gram mode needs no draft and works with every model.").format(
                    words=none
                ),
                search,
            )

    def set_problem(self, problem: Problem) -> None:
        self.found_drafts = replace(self.found_drafts, busy=False)
        again = button(
            translate("DraftsPage", "Try again"), lambda: self._requests.drafts_requested.emit(self._target_ref())
        )
        self.nothing.say(in_words(problem).title, explanation(problem), again)
        self.found.setCurrentWidget(self.nothing)
        self.words.hide()

    def _target_ref(self) -> object:
        return self.found_drafts.target.ref if self.found_drafts.target else None

    def set_pair(self, pair: PairView) -> None:
        self.card.set_pair(pair)
        self.right.setCurrentIndex(1)

    def _on_chosen(self, key: str) -> None:
        row = next(row for row in self.found_drafts.rows if _key(row) == key)
        if self.found_drafts.target is None:
            return
        self.set_pair(PairView(self.found_drafts.target, row.side, row.match, row.reason))
        if row.side.ref.file or row.side.ref.path:  # else no file of it was looked at
            self._requests.pair_requested.emit(self.found_drafts.target.ref, row.side.ref)
