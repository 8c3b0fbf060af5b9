"""The race page: set up a race, watch it, see its result."""

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.domain.speed.races import RaceResult, RaceSetup
from engine.records import Message, Picture, Problem
from ui.race.setup_form import SetupForm
from ui.race.track import RaceView
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.transcript.column import COLUMN_PX
from ui.widgets.banner import Banner
from ui.widgets.building import ElidedLabel, button, label, page_bar, page_column, scroll_area, vbox
from ui.widgets.dialogs import press_button
from ui.widgets.icon_button import IconButton

tr = Translator("Race")

PICTURE_SCALE = 2  # device pixels of a picture per pixel of the window


class RacePage(QWidget):
    # start a race (`RaceSetup`); stop the running one
    start_requested = Signal(object)
    stop_requested = Signal()
    # save the picture of the shown result; copy it
    export_requested = Signal()
    picture_copied = Signal()
    back = Signal()  # return to the chat

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.is_racing = False
        self.result: RaceResult | None = None
        self._begun = RaceSetup("")
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.back_button = IconButton(theme, "arrow-left", tr("Back to the chat (Esc)"), self.back.emit)
        self.title = label(tr("Race"), "strong")
        self.models = ElidedLabel()
        self.stop_button = button(
            tr(" Stop"), self.stop_requested.emit, name=tr("Stop the race"), tip=tr("Stop the race (Esc)")
        )
        copy = tr("Copy the picture")
        self.copy_button = IconButton(theme, "copy", copy, self.picture_copied.emit, text=tr("Copy picture"))
        save = tr("Save the picture")
        self.export_button = IconButton(theme, "upload", save, self.export_requested.emit, text=tr("Save picture"))
        self.new_button = button(tr("New race"), self.show_setup, tip=tr("The same race again, or another one"))
        self.form = SetupForm(theme)
        self.track = RaceView(theme)
        self.problem = Banner(theme, problem=True)
        self.notice = Banner(theme, problem=False)
        self.pages = QStackedWidget()
        self.models.setProperty("kind", "muted")
        self._arrange()
        self.form.start_requested.connect(self.start_requested)
        theme.changed.connect(self._recolor)
        self._recolor()
        self._update()

    def _arrange(self) -> None:
        buttons = (self.copy_button, self.export_button, self.new_button, self.stop_button)
        bar = page_bar(self.back_button, self.title, self.models, *buttons, wide=self.models)
        page = page_column(self.form, width_px=COLUMN_PX, spacing=12)
        self.pages.addWidget(scroll_area(page, tr("Set up the race")))
        self.pages.addWidget(self.track)
        foot = vbox(self.problem, self.notice, margins=(24, 0, 24, 12), spacing=8)
        vbox(bar, (self.pages, 1), foot, parent=self, margins=0, spacing=0)

    def set_blocked(self, reason: str) -> None:
        self.form.set_blocked(reason)

    def ask(
        self, question: str, before: tuple[Message, ...] = (), pictures: tuple[tuple[int, Picture], ...] = ()
    ) -> None:
        if self.is_racing:
            return
        self.form.set_question(question, before, pictures)
        self.show_setup()

    def show_setup(self) -> None:
        self._show(self.pages.widget(0))
        self.form.question.setFocus(Qt.FocusReason.OtherFocusReason)
        self.form.question.moveCursor(self.form.question.textCursor().MoveOperation.End)

    def begin(self, setup: RaceSetup) -> None:
        self.is_racing, self.result, self._begun = True, None, setup
        self.problem.hide()
        self.notice.hide()
        self.track.begin(setup)
        self._show(self.track)
        self.stop_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def begin_round(self, number: int) -> None:
        if number:
            self.track.begin_round(number)
        else:
            self.track.begin_lanes()

    def end(self, result: RaceResult | None, problem: Problem | None) -> None:
        self.is_racing = False
        if problem is not None:
            self.problem.show_problem(problem)
        if result is not None:
            self.show_result(replace(result, setup=self._begun))  # a result comes without pictures
        else:
            self.show_setup()

    def show_result(self, result: RaceResult) -> None:
        if self.is_racing:
            return
        self.result = result
        self.form.set_setup(result.setup)
        self.track.show_result(result)
        self._show(self.track)
        self.copy_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def picture(self) -> QImage:
        """The shown result with its lanes, at twice the size of the screen."""
        image = QImage(self.track.size() * PICTURE_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(PICTURE_SCALE)
        image.fill(QColor(self._theme.tokens.page))
        self.track.render(image)
        return image

    def close_page(self) -> None:
        """Esc: stop the race, else return to the set-up form, else to the chat."""
        if self.is_racing:
            self.stop_requested.emit()
        else:
            self.back.emit()

    def _show(self, page: QWidget | None) -> None:
        if page is not None:
            self.pages.setCurrentWidget(page)
        self._update()

    def _update(self) -> None:
        has_result = self.pages.currentWidget() is self.track and not self.is_racing and self.result is not None
        for each in (self.copy_button, self.export_button, self.new_button):
            each.setVisible(has_result)
        self.stop_button.setVisible(self.is_racing)

    def _recolor(self) -> None:
        self.stop_button.setIcon(self._theme.icon("square", self._theme.tokens.text, 14))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_button(event):
            super().keyPressEvent(event)
