"""Connects the Models place with the hub, the downloads and the library: intentions become jobs, results are shown.

Knows how to start and cancel; what is asked of whom is `app.hub_shelf`'s, what may draft for what `app.hub_pairs`'s.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from app.first_run import is_first_run, note_welcomed
from app.hub_jobs import Jobs
from app.hub_words import arrived, freed
from app.late import Late
from app.parts import Parts
from app.requests import load_request
from engine.records import ModelInfo, Problem
from ui.dialogs import link_question
from ui.hub.doors import WELCOME, HubDoors
from ui.language import translate
from ui.problem_words import explanation, in_words

if TYPE_CHECKING:  # the first paint waits for none of it
    from app.hub_pairs import PairJudge
    from app.hub_pairs_controller import HubPairsController
    from app.hub_shelf import LibraryAnswer, RepoAnswer, Shelf
    from ui.hub.place import HubPlace
    from ui.hub_records import DownloadRow, ModelRef, RepoRow, SearchQuery

log = logging.getLogger(__name__)

Chat = Callable[[str, str], None]
JOBS_END_S = 2.0


class HubController(QObject):
    """Owns the jobs of the place. ``chat`` loads a target and a draft (or an empty text).

    Signals:
        posted(object): a function to be called on the thread of the window; emitted by any thread.
    """

    posted = Signal(object)

    def __init__(self, parts: Parts, make_shelf: Callable[[Callable[[], None]], Shelf], chat: Chat) -> None:
        super().__init__()
        self._parts = parts
        self._window = parts.window
        self._chat = chat
        self._closed = False
        self._target, self._draft = "", ""
        self._loaded: ModelInfo | None = None
        self._repo: RepoAnswer | None = None
        self._rows: tuple[DownloadRow, ...] = ()
        self._looked_elsewhere = False
        self._looking = self._look_again = False
        self._chat_after: tuple[ModelRef, ...] = ()
        self.posted.connect(self._call, Qt.ConnectionType.QueuedConnection)
        self.jobs = Jobs(self.posted.emit)
        self._shelf = Late(lambda: make_shelf(lambda: self.posted.emit(self._show_downloads)))
        self._pairs: HubPairsController | None = None  # until there is a place
        self._doors.when_made(self._attach)
        parts.window.rebuilt.connect(self._on_rebuilt)

    @property
    def shelf(self) -> Shelf:
        """Hub, library and downloads. Made by the first who asks, which is a job: it brings much code with it."""
        return self._shelf()

    @property
    def _doors(self) -> HubDoors:
        return self._window.hub

    @property
    def _place(self) -> HubPlace:
        return self._window.hub.place

    def _make_judge(self) -> PairJudge:
        # NumPy and llama.cpp: the start does not wait for them.
        from app.draft_places import DraftPlaces  # noqa: PLC0415
        from app.hub_pairs import PairJudge  # noqa: PLC0415

        keeper, paths = self._parts.keeper, self._parts.paths
        places = DraftPlaces(lambda: load_request(keeper.current, paths), paths.cache)
        return PairJudge(self.shelf, lambda: keeper.current, places.is_processor_faster)

    def _attach(self, place: HubPlace) -> None:
        if self._pairs is None:
            from app.hub_pairs_controller import HubPairsController  # noqa: PLC0415

            self._pairs = HubPairsController(self._window, self.jobs, Late(self._make_judge), self.tell)
            self._pairs.set_target(self._loaded)
        wants = place.wants
        wants.page_shown.connect(self._on_page)
        wants.search_wanted.connect(self._search)
        wants.repo_wanted.connect(self._open_repo)
        wants.token_given.connect(self._give_token)
        wants.token_removed.connect(self._remove_token)
        wants.pull_wanted.connect(self.pull)
        wants.download_deed.connect(self._on_deed)
        wants.chat_wanted.connect(self._start_chat)
        wants.draft_wanted.connect(self._use_draft)
        wants.reveal_wanted.connect(self._reveal)
        wants.remove_wanted.connect(self._remove)
        wants.add_wanted.connect(self._add)
        wants.offer_taken.connect(self._add)
        wants.look_again.connect(lambda: self.show_library(look_elsewhere=True))
        wants.builtin_wanted.connect(self._use_builtin)
        wants.welcome_done.connect(self._end_welcome)
        wants.link_wanted.connect(self._ask_link)
        if self._repo is not None:  # the place was there before, in another language
            self._show_repo(self._repo)

    def _on_rebuilt(self) -> None:
        """Follow the place that is built anew, and fill it."""
        self._doors.when_made(self._attach)
        self._doors.set_downloads(self._rows)

    def start(self) -> None:
        """Go on with the downloads of last time."""

        def begin(should_stop: Callable[[], bool]) -> None:
            shelf = self.shelf
            if not should_stop():
                shelf.downloads.start()

        if not self._closed:
            self.jobs.run("start", begin, lambda _none: self._show_downloads(), self._log)

    def greet(self) -> None:
        """Show the first steps to who is here for the first time."""
        if is_first_run(self._parts.paths):
            self._doors.open(WELCOME)

    def close(self) -> None:
        """End jobs and downloads; parts stay on the disk."""
        self._closed = True
        was_open = self._close_shelf()  # first: it ends what jobs are waiting for
        if not self.jobs.close(JOBS_END_S):
            log.info("a question to the hub was left without its answer")  # it only reads, and ends with the process
        if not was_open:  # a job may have opened it meanwhile
            self._close_shelf()

    def _close_shelf(self) -> bool:
        shelf = self._shelf.made
        if shelf is not None:
            shelf.downloads.close()
            shelf.client.close()
        return shelf is not None

    def _call(self, function: Callable[[], None]) -> None:
        if not self._closed:
            function()

    def models_loaded(self, target: ModelInfo | None, draft: ModelInfo | None) -> None:
        """The engine has other models now."""
        self._target, self._draft = (target.path if target else ""), (draft.path if draft else "")
        self._loaded = target
        if self._pairs is not None:
            self._pairs.set_target(target)
        used = (self._target, self._draft)
        self.jobs.run("use", lambda _stop: self.shelf.note_use(*used), lambda _none: None, self._log)
        if self._doors.is_open:
            self.show_library()

    # ---- the hub ----------------------------------------------------------------------------------------------------

    def _on_page(self, page: str) -> None:
        if page == "library":
            self.show_library(look_elsewhere=not self._looked_elsewhere)
        elif page == "downloads":
            self._show_downloads()

    def _search(self, query: SearchQuery) -> None:
        def done(rows: list[RepoRow]) -> None:
            self._place.search.set_results(query, rows)

        def failed(problem: Problem) -> None:
            self._place.search.set_problem(problem)

        self.jobs.run("search", lambda _stop: self.shelf.search(query), done, failed)

    def _open_repo(self, repo: str) -> None:
        def failed(problem: Problem) -> None:
            self._place.search.pane.say(in_words(problem).title, explanation(problem))

        self.jobs.run("repo", lambda _stop: self.shelf.repo(repo), self._show_repo, failed)

    def _show_repo(self, answer: RepoAnswer) -> None:
        self._repo = answer
        self._place.search.pane.show_details(answer.details, answer.page_url)

    def _refresh_repo(self) -> None:
        answer = self._repo
        if answer is not None:
            self.jobs.run("repo", lambda _stop: self.shelf.again(answer), self._show_repo, self._log)

    def _give_token(self, token: str) -> None:
        tokens = self.shelf.client.tokens
        self.jobs.run("token", lambda _stop: tokens.save(token), lambda _none: self._token_changed(), self.tell)

    def _remove_token(self) -> None:
        tokens = self.shelf.client.tokens
        self.jobs.run("token", lambda _stop: tokens.forget(), lambda _none: self._token_changed(), self.tell)

    def _token_changed(self) -> None:
        self.shelf.client.token_changed()
        if self._repo is not None:
            self._open_repo(self._repo.details.row.repo)

    # ---- downloads --------------------------------------------------------------------------------------------------

    def pull(self, refs: tuple[ModelRef, ...], then_chat: bool) -> None:
        """Download what is missing; chat with it when all is here."""
        self._chat_after = refs if then_chat else ()
        if self._doors.page == WELCOME:
            note_welcomed(self._parts.paths)

        def done(_none: None) -> None:
            self._show_downloads()
            self._chat_if_complete()
            if self._chat_after:
                self._doors.open("downloads")

        self.jobs.run("pull", lambda _stop: self.shelf.pull(refs), done, self.tell)

    def _on_deed(self, key: str, deed: str) -> None:
        downloads = self.shelf.downloads
        deeds: dict[str, Callable[[str], None]] = {
            "pause": downloads.pause,
            "resume": downloads.resume,
            "retry": downloads.retry,
            "cancel": downloads.cancel,
            "forget": downloads.remove,
        }
        if deed == "cancel":
            self._chat_after = ()
        # Off this thread: cancelling deletes files.
        self.jobs.run(f"{deed} {key}", lambda _stop: deeds[deed](key), lambda _none: self._show_downloads(), self.tell)

    def _show_downloads(self) -> None:
        # They change ten times a second: one look at a time, and one more after it, so that none is cut off for ever.
        if self._looking:
            self._look_again = True
            return
        self._looking, self._look_again = True, False
        self.jobs.run("downloads", lambda _stop: self.shelf.download_rows(), self._on_rows, self._on_no_rows)

    def _on_no_rows(self, problem: Problem) -> None:
        self._looking = False
        self._log(problem)

    def _on_rows(self, rows: tuple[DownloadRow, ...]) -> None:
        from ui.hub_records import DownloadState  # noqa: PLC0415  (the job has loaded it)

        self._looking = False
        if self._look_again:
            self._show_downloads()
        before = {row.key: row.state for row in self._rows}
        self._rows = rows
        self._doors.set_downloads(rows)
        ended = [row for row in rows if row.state is DownloadState.DONE and before.get(row.key) is not row.state]
        if ended and before:
            self.show_library()
            self._window.show_notice(arrived(ended))
        if {row.key: row.state for row in rows} != before:
            self._refresh_repo()
            self._models_changed()
        self._chat_if_complete()

    def _models_changed(self) -> None:
        if self._pairs is not None:
            self._pairs.models_changed()

    def _chat_if_complete(self) -> None:
        refs = self._chat_after
        if not refs:
            return

        def done(paths: list[str]) -> None:
            if not all(paths) or refs != self._chat_after:
                return
            self._chat_after = ()
            if self._doors.is_open:  # whoever went back to a chat meanwhile is not torn out of it
                self._open_chat()
                self._chat(paths[0], paths[1] if len(paths) > 1 else "")

        self.jobs.run("complete", lambda _stop: [self.shelf.path_of(ref) for ref in refs], done, self._log)

    # ---- library ----------------------------------------------------------------------------------------------------

    def show_library(self, *, look_elsewhere: bool = False) -> None:
        """Read the library again where there is a place to show it; the folders of other apps when asked for."""
        if not self._doors.is_made:
            return
        self._looked_elsewhere = self._looked_elsewhere or look_elsewhere
        used, offers = (self._target, self._draft), self._looked_elsewhere

        def done(answer: LibraryAnswer) -> None:
            self._place.library.set_library(answer.rows, answer.offers)

        self.jobs.run("library", lambda _stop: self.shelf.library_views(*used, offers=offers), done, self.tell)

    def _add(self, path: str) -> None:
        self.jobs.run(
            f"add {path}",
            lambda _stop: self.shelf.add(path),
            lambda _name: self._changed(),
            self.tell,
        )

    def _remove(self, name: str) -> None:
        def done(num_bytes: int) -> None:
            self._place.show_notice(freed(num_bytes))
            self._changed()

        self.jobs.run(
            f"remove {name}",
            lambda _stop: self.shelf.library.remove(name),
            done,
            self.tell,
        )

    def _changed(self) -> None:
        self.show_library()
        self._refresh_repo()
        self._models_changed()

    def _reveal(self, path: str) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(path).parent))):
            advice = translate("HubController", "Open the folder with your file manager.")
            self.tell(
                Problem(
                    "The folder could not be opened",
                    translate("Problems", "It is {parent}.").format(parent=Path(path).parent),
                    advice,
                )
            )

    # ---- chat -------------------------------------------------------------------------------------------------------

    def _start_chat(self, target: ModelRef, draft: ModelRef | None) -> None:
        self._open_chat()  # before its models are found and loaded: whoever begins to type loses nothing

        def find(_stop: object) -> tuple[str, str]:
            path = self.shelf.path_of(target)
            return path, self.shelf.path_of(draft) if draft else self.shelf.draft_of(path)

        def done(paths: tuple[str, str]) -> None:
            if paths[0]:
                self._chat(*paths)
            else:
                self.tell(
                    Problem(
                        "This model is not here",
                        translate("Problems", "{name} is gone.").format(name=target.name),
                        "Download it again.",
                    )
                )

        self.jobs.run("chat", find, done, self.tell)

    def _open_chat(self) -> None:
        self._end_welcome()
        self._window.start_new_chat()

    def _use_draft(self, ref: ModelRef) -> None:
        self._doors.leave()
        self._window.model_file_chosen.emit(ref.path, "draft")

    def _use_builtin(self) -> None:
        self._end_welcome()
        self._window.builtin_pair_requested.emit(False)

    # ---- first run --------------------------------------------------------------------------------------------------

    def _end_welcome(self) -> None:
        note_welcomed(self._parts.paths)
        self._doors.leave()
        self._window.composer.setFocus()

    # ---- words ------------------------------------------------------------------------------------------------------

    def tell(self, problem: Problem) -> None:
        """Show a problem where the user looks."""
        (self._place if self._doors.is_open else self._window).show_problem(problem)

    def _log(self, problem: Problem) -> None:
        log.warning("%s: %s", problem.title, problem.message)

    def _ask_link(self, address: str) -> None:
        question = link_question(self._window, address)
        if question is not None:
            question.open()
