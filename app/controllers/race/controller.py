"""Runs races: shows the setup, runs the race on the engine's thread, stores and exports the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QGuiApplication

from app.controllers.jobs import log_problem
from app.controllers.parts import Parts, PartsController
from app.core.domain.errors import RaceExportError
from app.core.domain.messages import MessageView
from app.core.domain.model_name import shown_name
from app.core.domain.requests import prompt_messages, sampling_params
from app.core.domain.speed.races import (
    LaneProgress,
    LaneText,
    RaceEnded,
    RaceRoundBegan,
    RaceRoundEnded,
    RaceSetup,
)
from app.core.storage.atomic import exported_file
from app.core.storage.pair_speeds import PairSpeeds
from engine.records import ChatRequest, EngineFailed, JobEvent, Message, Problem
from engine.requests import JobEnded, RunJob
from ui.text.language import Translator
from ui.text.problem_words import in_language
from ui.widgets.dialogs import ask_race_file

tr = Translator("Race")

if TYPE_CHECKING:  # imported late, to start faster
    from PySide6.QtGui import QImage

    from app.controllers.models.hub import HubController
    from ui.race.page import RacePage

RACING = tr.mark("A race is using the model. Wait until it is over, or stop it.")
NO_MODEL = tr.mark("No model is loaded. Open one first.")
LOADING = tr.mark("The model is loading.")
ANSWERING = tr.mark("An answer is being written. Wait for it, or stop it.")


class RaceController(PartsController):
    """One race at a time. It continues while the chat is shown, and ends when other models are loaded."""

    def __init__(self, parts: Parts, hub: HubController | None) -> None:
        super().__init__(parts)
        self._hub = hub
        self._speeds = PairSpeeds(parts.paths.pair_speeds_file)
        self._number = 0  # request number of the race
        self._drafts_of = ""  # the target whose drafts are listed
        self._is_exporting = False
        navigation = self._window.race
        navigation.page_created.connect(self._serve)
        navigation.opened_empty.connect(self.open)
        self._window.transcript.race_requested.connect(self.open_for)
        for changed in (self._state.engine_changed, self._state.answers_changed, self._state.race_changed):
            changed.connect(self.show_state)

    @property
    def _page(self) -> RacePage:
        return self._window.race.page

    def _serve(self, page: RacePage) -> None:
        page.start_requested.connect(self.start)
        page.stop_requested.connect(self.stop)
        page.export_requested.connect(self.ask_export)
        page.picture_copied.connect(self.copy_picture)
        self.show_state()

    def open(self) -> None:
        """Show the page with the composer's text, or the last question, or no text."""
        navigation = self._window.race
        self.show_state()
        unsent = None if self._state.is_racing else self._unsent()
        if unsent is not None:
            self._page.ask(unsent.content, self._system_messages(), unsent.pictures)
        elif not self._state.is_racing and (
            last := next((one.id for one in reversed(self._views()) if one.role == "user"), None)
        ):
            self.open_for(last)
            return
        elif not self._state.is_racing and not self._page.form.setup.question:
            self._page.ask("", self._system_messages())
        navigation.show_page()

    def _unsent(self) -> Message | None:
        """The composer's text with its attachments as a question; None if it is empty."""
        chat_id, typed = self._state.chat_id, self._window.composer.text.strip()
        attached = self._attempt(lambda: self._store.attachments.unsent(chat_id)) or ()
        view = MessageView(0, "user", typed, attachments=attached)
        message = next(iter(prompt_messages("", [view], self._parts.decode)), None)
        # If the model has no vision, pictures are sent as names only.
        only_names = not typed and all(one.picture for one in attached) and message is not None and not message.pictures
        return None if only_names else message

    def open_for(self, message_id: int) -> None:
        self.show_state()
        views = self._views()
        index = next((number for number, view in enumerate(views) if view.id == message_id), None)
        while index is not None and index >= 0 and views[index].role != "user":
            index -= 1
        if index is not None and index >= 0 and not self._state.is_racing:
            system = self._state.chat.settings.text("system_prompt")
            messages = prompt_messages(system, views[: index + 1], self._parts.decode)
            if messages and messages[-1].role == "user":
                self._page.ask(messages[-1].content, messages[:-1], messages[-1].pictures)
        self._window.race.show_page()

    def start(self, setup: RaceSetup) -> None:
        from app.core.benchmark.job import RaceJob  # noqa: PLC0415  (a start waits for nothing of a race)

        reason = self._blocked
        if reason:
            self._page.set_blocked(reason)
            return
        self._page.begin(setup)
        race = RunJob(RaceJob(setup, self._request(setup), self._speeds))
        self._number = race.request_id
        self._worker.submit(race)
        self._state.set_racing(is_racing=True)

    def stop(self) -> None:
        if self._state.is_racing:
            self._worker.cancel(self._number)

    @property
    def _blocked(self) -> str:
        """Why no race can start, in the user's language; empty if one can."""
        if self._state.is_racing:
            return tr(RACING)
        if self._state.models.is_loading:
            return tr(LOADING)
        if not self._state.models.usable:
            return tr(NO_MODEL)
        return tr(ANSWERING) if self._state.answers else ""

    def _request(self, setup: RaceSetup) -> ChatRequest:
        settings = self._state.chat.settings
        sampling = sampling_params(settings)
        sampling = replace(sampling, temperature=0.0 if setup.greedy else sampling.temperature, seed=sampling.seed or 0)
        # The question's text may have changed: keep the pictures' offsets within it.
        pictures = tuple((min(offset, len(setup.question)), picture) for offset, picture in setup.pictures)
        return ChatRequest(
            messages=(*setup.before, Message("user", setup.question, pictures=pictures)),
            sampling=sampling,
            max_tokens=setup.max_tokens,
        )

    def is_pending(self, number: int) -> bool:
        return self._state.is_racing and number == self._number

    def on_failed(self, event: EngineFailed) -> None:
        self._on_ended(RaceEnded(problem=event.problem))

    def on_event(self, event: JobEvent) -> None:
        if isinstance(event, JobEnded):
            return  # the event of another job
        page = self._page
        if isinstance(event, LaneText):
            page.track.add_text(event)
        elif isinstance(event, LaneProgress):
            page.track.show_progress(event)
        elif isinstance(event, RaceRoundBegan):
            page.begin_round(event.round)
        elif isinstance(event, RaceRoundEnded):
            page.track.end_round(event.num_rounds, event.verdicts)
        elif isinstance(event, RaceEnded):
            self._on_ended(event)

    def _on_ended(self, event: RaceEnded) -> None:
        page = self._page
        page.end(event.result, event.problem)
        if not self._window.race.is_open and event.result is not None:
            self._window.show_notice(tr("The race is over. The Race page shows the result."))
        self._state.set_racing(is_racing=False)
        if event.result is not None:
            self._state.model_answered.emit()

    def show_state(self) -> None:
        if not self._window.race.is_created:
            return
        from ui.race.words import pair_name  # noqa: PLC0415  (brought by the page)

        view = self._state.engine
        page = self._page
        page.form.set_unavailable({mode: in_language(reason) for mode, reason in view.unavailable.items()})
        page.models.setText(
            pair_name(shown_name(view.target), shown_name(view.draft)) if view.target is not None else ""
        )
        page.form.set_temperature(self._state.chat.settings.number("temperature"))
        page.set_blocked(self._blocked)
        if self._hub is not None and view.target is not None and view.target.path != self._drafts_of:
            service, target = self._hub.service, view.target.path
            self._drafts_of, loaded = target, view.draft.path if view.draft is not None else ""

            def find(stop: Callable[[], bool]) -> list[tuple[str, str]]:
                return [(row.path, row.name) for row in service.drafts_here(target, stop) if row.path != loaded]

            self._jobs.run("drafts to race", find, page.form.set_drafts, log_problem)

    def ask_export(self) -> None:
        if self._page.result is not None:
            ask_race_file(self._window, lambda path: self.export(Path(path)))

    def export(self, file: Path) -> None:
        """Write the picture of the shown race on its own thread."""
        if self._page.result is None or self._is_exporting:
            return
        picture = self._page.picture()

        def write(_stop: object) -> str:
            with exported_file(file, RaceExportError) as out:
                out.write(_png(picture))
            return file.name

        self._is_exporting = True
        self._jobs.run("race export", write, self._on_exported, self._on_exported, writes=True)

    def copy_picture(self) -> None:
        if self._page.result is not None:
            QGuiApplication.clipboard().setImage(self._page.picture())
            self._page.copy_button.confirm(tr("Copied"))

    def _on_exported(self, ended: str | Problem) -> None:
        self._is_exporting = False
        if isinstance(ended, Problem):
            self._page.problem.show_problem(ended)
        else:
            self._page.notice.show_notice(tr("Race exported to {name}.").format(name=ended))

    def _views(self) -> tuple[MessageView, ...]:
        current = self._state.chat_id
        if current is None:
            return ()
        return self._attempt(lambda: self._store.history(current)) or ()

    def _system_messages(self) -> tuple[Message, ...]:
        """The messages before a question outside of a chat: the system prompt."""
        return prompt_messages(self._state.chat.settings.text("system_prompt"), ())


def _png(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())
