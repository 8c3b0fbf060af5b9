"""The page of races: choose what is raced, watch it, read what came of it, and look at earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QLabel,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.core.domain.speed.races import LaneProgress, LaneText, RaceResult, RaceRoundEnded, RaceSetup, RaceSummary
from engine.records import Message, Mode, Picture, Problem
from ui.models.parts import centred, page_bar, page_column, scrolled
from ui.race.earlier import EarlierRaces
from ui.race.setup_form import SetupForm
from ui.race.track import RaceTrack
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.transcript.column import COLUMN_PX
from ui.widgets.banner import Banner
from ui.widgets.dialogs import ConfirmDialog
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.enter_key import press_button
from ui.widgets.icon_button import IconButton

EXPORTS = (  # by the file's extension
    ("png", mark("Race", "Picture (PNG)…")),
    ("md", mark("Race", "Markdown…")),
    ("json", mark("Race", "JSON…")),
)


class RacePage(QWidget):
    """Values in by methods.

    Signals:
        start_requested(object), stop_requested: a `RaceSetup`; the race that goes on.
        drafts_wanted(str): those of a target that a lane was given, by its file.
        result_requested(str), delete_requested(str): a kept race, by its id.
        export_requested(str), picture_copied: the shown result, as "png", "md" or "json"; its picture to the clipboard.
        back: the chat is wanted.
    """

    start_requested = Signal(object)
    stop_requested = Signal()
    drafts_wanted = Signal(str)
    result_requested = Signal(str)
    delete_requested = Signal(str)
    export_requested = Signal(str)
    picture_copied = Signal()
    back = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_racing = False
        self.result: RaceResult | None = None
        self._begun = RaceSetup("")
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.back_button = IconButton(theme, "arrow-left", translate("Race", "Back to the chat (Esc)"))
        self.title = QLabel(translate("Race", "Race"))
        self.models = ElidedLabel()
        self.stop_button = QPushButton(translate("Race", " Stop"))
        self.copy_button = IconButton(
            theme, "copy", translate("Race", "Copy the picture"), text=translate("Race", "Copy picture")
        )
        self.export_button = QToolButton()
        self.again_button = QPushButton(translate("Race", "Race again"))
        self.new_button = QPushButton(translate("Race", "New race"))
        self.form = SetupForm(theme)
        self.earlier = EarlierRaces(theme)
        self.earlier_title = QLabel(translate("Race", "Earlier races"))
        self.track = RaceTrack(theme)
        self.problem = Banner(theme, problem=True)
        self.notice = Banner(theme, problem=False)
        self.pages = QStackedWidget()
        self._make()
        self._arrange()
        self._connect()
        theme.changed.connect(self._recolor)
        self._recolor()
        self._update()

    def _make(self) -> None:
        self.title.setProperty("kind", "strong")
        self.models.setProperty("kind", "muted")
        self.earlier_title.setProperty("kind", "section")
        self.export_button.setText(translate("Race", " Export"))
        self.export_button.setAccessibleName(translate("Race", "Export the race"))
        self.export_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.export_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        menu = QMenu(self.export_button)
        for kind, words in EXPORTS:
            menu.addAction(translate("Race", words), partial(self.export_requested.emit, kind))
        self.export_button.setMenu(menu)
        self.stop_button.setToolTip(translate("Race", "Stop the race (Esc)"))
        self.stop_button.setAccessibleName(translate("Race", "Stop the race"))
        self.again_button.setToolTip(translate("Race", "The same race once more"))
        self.new_button.setToolTip(translate("Race", "Another question, or other lanes"))
        for button in (self.stop_button, self.again_button, self.new_button):
            button.setAutoDefault(False)
            button.setCursor(Qt.CursorShape.PointingHandCursor)

    def _arrange(self) -> None:
        buttons = (self.copy_button, self.export_button, self.again_button, self.new_button, self.stop_button)
        bar = page_bar(self.back_button, self.title, self.models, *buttons, wide=self.models)
        self.pages.addWidget(self._setup_page())
        self.pages.addWidget(self.track)
        foot = QVBoxLayout()
        foot.setContentsMargins(24, 0, 24, 12)
        foot.setSpacing(8)
        foot.addWidget(self.problem)
        foot.addWidget(self.notice)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(self.pages, 1)
        layout.addLayout(foot)

    def _setup_page(self) -> QWidget:
        column, inner = page_column(COLUMN_PX, 12)
        inner.addWidget(self.form)
        inner.addSpacing(8)
        inner.addWidget(self.earlier_title)
        inner.addWidget(self.earlier)
        inner.addStretch(1)
        return scrolled(centred(column), translate("Race", "Choose what is raced"))

    def _connect(self) -> None:
        self.back_button.clicked.connect(self.back)
        self.stop_button.clicked.connect(self.stop_requested)
        self.copy_button.clicked.connect(self.picture_copied)
        self.again_button.clicked.connect(self._again)
        self.new_button.clicked.connect(self.show_setup)
        self.form.start_requested.connect(self.start_requested)
        self.form.drafts_wanted.connect(self.drafts_wanted)
        self.earlier.chosen.connect(self.result_requested)
        self.earlier.delete_requested.connect(self._ask_delete)

    # ---- values -----------------------------------------------------------------------------------------------------

    @property
    def is_racing(self) -> bool:
        """Whether a race goes on."""
        return self._is_racing

    def set_models(self, name: str) -> None:
        """The loaded pair."""
        self.models.setText(name)

    def set_unavailable(self, reasons: Mapping[Mode, str]) -> None:
        """Which modes cannot run now, and why."""
        self.form.set_unavailable(reasons)

    def set_targets(self, targets: Sequence[tuple[str, str]]) -> None:
        """The other models that a lane may load for itself: file and name."""
        self.form.set_targets(targets)

    def set_drafts(self, drafts: Sequence[tuple[str, str]], target: str = "") -> None:
        """The other drafts that a lane with this target may load for itself: file and name; empty: the loaded one."""
        self.form.set_drafts(drafts, target)

    def set_blocked(self, reason: str) -> None:
        """Why no race can start now; empty where one can."""
        self.form.set_blocked(reason)
        self.again_button.setEnabled(not reason)
        self.again_button.setToolTip(reason or translate("Race", "The same race once more"))

    def set_earlier(self, rows: Sequence[RaceSummary]) -> None:
        """The races that were kept."""
        self.earlier.set_rows(rows)
        self.earlier_title.setVisible(bool(rows))
        self.earlier.setVisible(bool(rows))

    def ask(
        self, question: str, before: tuple[Message, ...] = (), pictures: tuple[tuple[int, Picture], ...] = ()
    ) -> None:
        """Offer to race a question; while a race goes on, that one stays in sight."""
        if self._is_racing:
            return
        self.form.set_question(question, before, pictures)
        self.show_setup()

    def show_setup(self) -> None:
        """Let something be chosen."""
        self._show(self.pages.widget(0))
        self.form.question.setFocus(Qt.FocusReason.OtherFocusReason)
        self.form.question.moveCursor(self.form.question.textCursor().MoveOperation.End)

    def begin(self, setup: RaceSetup) -> None:
        """A race begins."""
        self._is_racing, self.result, self._begun = True, None, setup
        self.problem.hide()
        self.notice.hide()
        self.track.begin(setup)
        self._show(self.track)
        self.stop_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def begin_round(self, number: int) -> None:
        """A round begins."""
        if number:
            self.track.begin_round(number)
        else:
            self.track.begin_lanes()

    def add_text(self, event: LaneText) -> None:
        """More of a lane's answer."""
        self.track.add_text(event)

    def show_progress(self, event: LaneProgress) -> None:
        """A slice of a lane is over."""
        self.track.show_progress(event)

    def end_round(self, event: RaceRoundEnded) -> None:
        """A round is complete."""
        self.track.end_round(event.num_rounds, event.verdicts)

    def end(self, result: RaceResult | None, problem: Problem | None) -> None:
        """The race is over."""
        self._is_racing = False
        if problem is not None:
            self.problem.show_problem(problem)
        if result is not None:
            # Its pictures, which are not kept with it, are here until another is shown.
            self.show_result(replace(result, setup=self._begun) if result.setup.lost_pictures else result)
        else:
            self.show_setup()

    def show_result(self, result: RaceResult) -> None:
        """Show a race that is over, this one or a kept one."""
        if self._is_racing:
            return
        self.result = result
        self.form.set_setup(result.setup)
        self.track.show_result(result)
        self._show(self.track)
        self.copy_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self) -> None:
        """What Esc does: stop the race, go back to the choice, go back to the chat."""
        if self._is_racing:
            self.stop_requested.emit()
        else:
            self.back.emit()

    # ---- intentions -------------------------------------------------------------------------------------------------

    def _again(self) -> None:
        if self.result is None:
            return
        if self.result.setup.lost_pictures:  # which the form says
            self.show_setup()
        else:
            self.start_requested.emit(self.result.setup)

    def _ask_delete(self, race_id: str) -> None:
        question = ConfirmDialog(
            self,
            translate("Race", "Delete this race?"),
            translate("Race", "Its figures and answers are removed from this computer."),
            translate("Race", "Delete"),
            danger=True,
        )
        question.accepted.connect(lambda: self.delete_requested.emit(race_id))
        question.open()

    def _show(self, page: QWidget | None) -> None:
        if page is not None:
            self.pages.setCurrentWidget(page)
        self._update()

    def _update(self) -> None:
        has_result = self.pages.currentWidget() is self.track and not self._is_racing and self.result is not None
        for button in (self.copy_button, self.export_button, self.again_button, self.new_button):
            button.setVisible(has_result)
        self.stop_button.setVisible(self._is_racing)

    def _recolor(self) -> None:
        tokens = self._theme.tokens
        self.stop_button.setIcon(self._theme.icon("square", tokens.text, 14))
        self.export_button.setIcon(self._theme.icon("upload", tokens.text_muted))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses a button."""
        if not press_button(event):
            super().keyPressEvent(event)
