"""The race set-up: question, lanes, length."""

from collections.abc import Mapping, Sequence
from math import ceil

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QWidget

from app.core.domain.model_name import name_of_file
from app.core.domain.speed.races import (
    AUTO_LANE,
    MAX_LANES,
    MIN_LANES,
    PLAIN_LANE,
    LaneChoice,
    RaceSetup,
)
from engine.records import MODES_WITH_DRAFT, Message, Mode, Picture
from ui.race.words import lane_name
from ui.text.formatting import number_text
from ui.text.language import Translator
from ui.text.mode_words import MODE_ORDER, unavailable_text
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, grid, hbox, label, show_text, vbox
from ui.widgets.exact_text import VerbatimTextEdit
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import NoWheelComboBox

tr = Translator("Race")

MAX_DEPTH = 16
QUESTION_LINES = 4
LENGTHS = (64, 128, 256, 512, 1024)
USUAL_LENGTH = 256
ROUNDS = (1, 3, 5, 10, 20)
USUAL_ROUNDS = 3
HELP_TEXT = tr.mark(
    "Lanes take turns every quarter of a second, so that all run under the same conditions. "
    "Each has a cache of its own. Chats are answered when the race is over."
)


class QuestionEdit(VerbatimTextEdit):
    """The question; Tab leaves the field, Ctrl+Enter starts the race."""

    start = Signal()  # Ctrl+Enter

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("kind", "field")
        self.setTabChangesFocus(True)
        self.setAccessibleName(tr("Question"))
        self.setPlaceholderText(tr("What should the lanes answer?"))
        theme.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(round(self._theme.text_height() * QUESTION_LINES) + 24)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.start.emit()
        else:
            super().keyPressEvent(event)


class LaneRow(QWidget):
    # mode, depth or model changed; remove the lane
    changed = Signal()
    removed = Signal()

    def __init__(self, theme: Theme, choice: LaneChoice) -> None:
        super().__init__()
        self._theme = theme
        self.number = label("", "muted")
        self.mode_box = NoWheelComboBox(choices=[(lane_name(LaneChoice(mode)), mode) for mode in MODE_ORDER])
        length = tr("Draft length {depth}")
        depths = [(length.format(depth=depth), depth) for depth in range(1, MAX_DEPTH + 1)]
        self.depth_box = NoWheelComboBox(
            choices=[(tr("Draft length: auto"), None), *depths],
            tip=tr("How many tokens are proposed for a pass of the target."),
        )
        self.draft_box = NoWheelComboBox(
            choices=[(tr("Loaded draft, if any"), "")], tip=tr("Another draft is loaded for this lane alone.")
        )
        self.draft_box.hide()
        self.remove = IconButton(theme, "x", tr("Remove this lane"), self.removed.emit)
        self.reason = label("", "warning", wrap=True)
        self.reason.hide()
        row = hbox(self.number, (self.mode_box, 2), (self.depth_box, 1), self.remove, spacing=8)
        self._draft_line = hbox((self.draft_box, 1))
        vbox(row, self._draft_line, self.reason, parent=self, margins=0, spacing=4)
        self.mode_box.setCurrentIndex(self.mode_box.findData(choice.mode))
        self.depth_box.setCurrentIndex(max(self.depth_box.findData(choice.depth), 0))
        self._choose_draft(choice.draft, choice.draft_name)
        self._show_mode_fields()
        self.mode_box.activated.connect(self._on_mode)
        for box in (self.depth_box, self.draft_box):
            box.activated.connect(lambda _index: self.changed.emit())

    @property
    def choice(self) -> LaneChoice:
        mode = Mode(self.mode_box.currentData())
        draft = self.draft_box.currentData() if mode in MODES_WITH_DRAFT else ""
        depth = self.depth_box.currentData() if _has_depth(mode) else None
        return LaneChoice(mode, depth, draft, self.draft_box.currentText() if draft else "")

    def set_drafts(self, drafts: Sequence[tuple[str, str]]) -> None:
        """Set the other available drafts: file and name. A chosen draft stays."""
        chosen, name = self.draft_box.currentData(), self.draft_box.currentText()
        self.draft_box.clear()
        for file, title in (("", tr("Loaded draft, if any")), *drafts):
            self.draft_box.addItem(title, file)
        self._choose_draft(chosen, name)
        self._show_mode_fields()

    def _choose_draft(self, file: str, name: str) -> None:
        """Select a draft, adding it if needed; an empty file selects the loaded one."""
        if file and self.draft_box.findData(file) < 0:
            self.draft_box.addItem(name or name_of_file(file), file)
        self.draft_box.setCurrentIndex(max(self.draft_box.findData(file), 0))

    def _show_mode_fields(self) -> None:
        mode = Mode(self.mode_box.currentData())
        self.depth_box.setEnabled(_has_depth(mode))
        self.draft_box.setVisible(self.draft_box.count() > 1 and mode in MODES_WITH_DRAFT)

    def show_number(self, number: int, *, removable: bool) -> None:
        name = tr("Lane {number}").format(number=number)
        self.number.setText(name)
        self.number.setMinimumWidth(ceil(self._theme.text_width(name)) + 4)
        self.mode_box.setAccessibleName(tr("Mode of lane {number}").format(number=number))
        self.depth_box.setAccessibleName(tr("Draft length of lane {number}").format(number=number))
        self.draft_box.setAccessibleName(tr("Draft model of lane {number}").format(number=number))
        self._draft_line.setContentsMargins(self.number.minimumWidth() + 8, 0, 0, 4)
        self.remove.setAccessibleName(tr("Remove lane {number}").format(number=number))
        self.remove.setVisible(removable)

    def show_reason(self, reason: str) -> None:
        show_text(self.reason, reason)

    def _on_mode(self, _index: int) -> None:
        self._show_mode_fields()
        self.changed.emit()


def _has_depth(mode: Mode) -> bool:
    return mode not in (Mode.OFF, Mode.AUTO)


class SetupForm(QFrame):
    start_requested = Signal(object)  # the `RaceSetup`

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._unavailable: Mapping[Mode, str] = {}
        self._blocked = ""
        self._before: tuple[Message, ...] = ()
        self._pictures: tuple[tuple[int, Picture], ...] = ()

        self._drafts: Sequence[tuple[str, str]] = ()
        self._temperature = 0.8
        self.rows: list[LaneRow] = []
        self.setObjectName("card")
        self.question = QuestionEdit(theme)
        self.includes_before = QCheckBox()
        self.includes_before.setChecked(True)
        self.includes_before.hide()
        self.includes_pictures = label("", "caption")
        self.includes_pictures.hide()
        self.add_button = button(tr("Add a lane"), self._add)
        self.rounds = NoWheelComboBox(
            tr("Rounds"),
            [(tr("%n rounds", None, each), each) for each in ROUNDS],
            tip=tr("More rounds make the result more certain."),
        )
        tokens = tr("{number} tokens")
        lengths = [(tokens.format(number=number_text(each)), each) for each in LENGTHS]
        self.length = NoWheelComboBox(tr("Longest answer"), lengths)
        self.temperature = NoWheelComboBox(tr("Temperature"))
        self.start_button = button(
            tr("Start the race"), self.start, kind="primary", tip=tr("Start the race (Ctrl+Enter)")
        )
        self.problem = label("", "warning", wrap=True)
        self._lanes = vbox(spacing=6)
        self.rounds.setCurrentIndex(self.rounds.findData(USUAL_ROUNDS))
        self.length.setCurrentIndex(self.length.findData(USUAL_LENGTH))
        self.set_temperature(self._temperature)
        self._arrange()
        self.question.start.connect(self.start)
        self.question.textChanged.connect(self._update)
        self.set_lanes((PLAIN_LANE, AUTO_LANE))

    def _arrange(self) -> None:
        options = grid(gaps=(12, 4))
        for column, box in enumerate((self.rounds, self.length, self.temperature)):
            name = label(box.accessibleName(), "section")
            name.setBuddy(box)
            options.addWidget(name, 0, column)
            options.addWidget(box, 1, column)
            options.setColumnStretch(column, 1)
        how = label(tr(HELP_TEXT), "caption", wrap=True)
        add = hbox(self.add_button, Stretch())
        end = hbox((self.problem, 1), (self.start_button, 0, Qt.AlignmentFlag.AlignRight))
        vbox(
            label(tr("Question"), "section"),
            self.question,
            self.includes_pictures,
            self.includes_before,
            4,
            label(tr("Lanes"), "section"),
            self._lanes,
            add,
            4,
            options,
            4,
            how,
            end,
            parent=self,
            margins=(20, 18, 20, 18),
            spacing=10,
        )

    def set_question(
        self,
        text: str,
        before: tuple[Message, ...] = (),
        pictures: tuple[tuple[int, Picture], ...] = (),
    ) -> None:
        """Show a question. ``before``: the system prompt and the earlier messages, which the user may include.

        ``pictures`` are included.
        """
        self.question.setPlainText(text)
        self._before, self._pictures = before, pictures
        self.includes_pictures.setText(tr("With %n pictures", None, len(pictures)))
        self.includes_pictures.setVisible(bool(pictures))
        number = sum(message.role != "system" for message in before)
        self.includes_before.setVisible(number > 0)
        self.includes_before.setText(tr("With the %n earlier messages of the chat", None, number))
        self.includes_before.setChecked(True)
        self._update()

    def set_temperature(self, temperature: float) -> None:
        self._temperature = temperature
        greedy = self.temperature.currentIndex() <= 0
        self.temperature.clear()
        self.temperature.addItem(number_text(0.0), True)
        if temperature > 0.0:
            words = tr("{number}, as in the settings").format(number=number_text(temperature))
            self.temperature.addItem(words, False)
        self.temperature.setCurrentIndex(0 if greedy or temperature <= 0.0 else 1)

    def set_unavailable(self, reasons: Mapping[Mode, str]) -> None:
        self._unavailable = reasons
        self._update()

    def set_drafts(self, drafts: Sequence[tuple[str, str]]) -> None:
        """Set the other available drafts: file and name."""
        self._drafts = drafts
        for row in self.rows:
            row.set_drafts(drafts)
        self._update()

    def set_blocked(self, reason: str) -> None:
        self._blocked = reason
        self._update()

    def set_lanes(self, choices: tuple[LaneChoice, ...]) -> None:
        while self.rows:
            self._delete_row(self.rows[0])
        for choice in choices:
            self._append(choice)
        self._renumber()

    def set_setup(self, setup: RaceSetup) -> None:
        self.set_question(setup.question, setup.before, setup.pictures)
        self.set_lanes(setup.lanes)
        for box, value in (
            (self.rounds, setup.rounds),
            (self.length, setup.max_tokens),
            (self.temperature, setup.greedy),
        ):
            box.setCurrentIndex(max(box.findData(value), 0))

    @property
    def setup(self) -> RaceSetup:
        keeps = self.includes_before.isChecked()
        before = self._before if keeps else tuple(one for one in self._before if one.role == "system")
        return RaceSetup(
            self.question.exact_text().strip(),
            tuple(row.choice for row in self.rows),
            self.rounds.currentData(),
            int(self.length.currentData()),
            bool(self.temperature.currentData()),
            before,
            self._pictures,
        )

    def start(self) -> None:
        if self.start_button.isEnabled():
            self.start_requested.emit(self.setup)

    def _add(self) -> None:
        taken = {row.choice for row in self.rows}
        possible = (Mode.SUFFIX, Mode.DRAFT, Mode.NGRAM, *MODE_ORDER)
        mode = next(mode for mode in possible if LaneChoice(mode) not in taken and mode not in self._unavailable)
        self._append(LaneChoice(mode))
        self._renumber()
        self.rows[-1].mode_box.setFocus(Qt.FocusReason.OtherFocusReason)

    def _append(self, choice: LaneChoice) -> None:
        row = LaneRow(self._theme, choice)
        row.set_drafts(self._drafts)
        row.changed.connect(self._update)
        row.removed.connect(lambda: self._remove(row))
        self.rows.append(row)
        self._lanes.addWidget(row)

    def _remove(self, row: LaneRow) -> None:
        self._delete_row(row)
        self._renumber()
        self.add_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _delete_row(self, row: LaneRow) -> None:
        self.rows.remove(row)
        self._lanes.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _renumber(self) -> None:
        before: QWidget = self.includes_before
        for number, row in enumerate(self.rows, start=1):
            row.show_number(number, removable=len(self.rows) > MIN_LANES)
            for stop in (row.mode_box, row.depth_box, row.remove, row.draft_box):
                QWidget.setTabOrder(before, stop)
                before = stop
        QWidget.setTabOrder(before, self.add_button)
        self.add_button.setVisible(len(self.rows) < MAX_LANES)
        self._update()

    def _update(self) -> None:
        choices = [row.choice for row in self.rows]
        for row in self.rows:
            row.show_reason(unavailable_text(self._reason(row.choice)))
        words = self._blocked
        if not words and len(set(choices)) < len(choices):
            words = tr("Two lanes are the same. Choose another mode, draft length or draft for one of them.")
        runs = not any(self._reason(choice) for choice in choices)
        self.problem.setText(words)
        self.start_button.setEnabled(not words and runs and bool(self.question.exact_text().strip()))

    def _reason(self, choice: LaneChoice) -> str:
        """Why a lane cannot run; empty if it can. A lane may have its own draft although the target has none."""
        lacking = Mode.SUFFIX if choice.draft else choice.mode
        return self._unavailable.get(lacking, "")
