"""Connects the Models panel with the hub: searches, repositories, tokens, chats, the first run.

The pages of downloads, library, pairs and the first model have their own controllers, which share these jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.controllers.jobs import log_problem
from app.controllers.layers import ChatLayers
from app.controllers.models.library import HubDownloadsController, HubLibraryController, ModelPickerController
from app.controllers.models.models import ModelController
from app.controllers.parts import Parts, PartsController
from app.core.domain.lazy import Lazy
from app.core.domain.models import ModelRef
from app.core.paths import assets_dir
from app.core.storage.window_state import note_welcomed
from engine.records import EngineReady, Problem
from ui.models.parts import WELCOME
from ui.text.language import Translator, translate
from ui.text.problem_words import explanation, in_words

tr = Translator("HubController")

if TYPE_CHECKING:  # imported after the first paint
    from app.controllers.models.hub_service import HubService
    from app.controllers.models.pair_judge import PairJudge
    from app.controllers.models.pairs import HubPairsController
    from app.core.domain.models import RepoView
    from app.core.hub.tokens import TokenStore
    from ui.models.panel import ModelsPanel


class HubController(PartsController):
    def __init__(self, parts: Parts, models: ModelController, layers: ChatLayers) -> None:
        super().__init__(parts)
        self._models, self._layers = models, layers
        self._closed = self._has_closed_service = False
        self._ready: EngineReady | None = None  # the local models; also read by jobs
        self._judge = Lazy(self._make_judge)
        self._repo: RepoView | None = None  # the shown repository
        self._wanted_repo = ""  # id of the last requested repository
        self._waiting: dict[ModelRef, Callable[[str], None]] = {}  # called with the path after the download
        self._service = Lazy(self._open_service)
        self._navigation = self._window.models
        self._library = HubLibraryController(parts, self._service)
        self._downloads = HubDownloadsController(parts, self._service, layers)
        self._downloads.arrived.connect(self._library.show)
        self._downloads.complete.connect(self._open_chat)
        self._downloads.complete.connect(models.load_pair)
        self._picker = ModelPickerController(parts, self._service, models)
        self._library.noted.connect(self._picker.prepare)
        for part in (self._downloads, self._library):
            part.changed.connect(self._models_changed)
        self._pairs: HubPairsController | None = None  # None until the panel is opened
        self._navigation.page_created.connect(self._attach)

    @property
    def service(self) -> HubService:
        """Hub, library and downloads. Created by the first caller, in a job: the import is large."""
        return self._service()

    @property
    def _panel(self) -> ModelsPanel:
        return self._window.models.panel

    def _open_service(self) -> HubService:
        from app.controllers.models.hub_service import open_hub_service  # noqa: PLC0415  (the start does not wait for it)

        return open_hub_service(self._parts.paths, self._state.settings, lambda: self._jobs.post(self._downloads.show))

    def _make_judge(self) -> PairJudge:
        # Imported late: they load NumPy and llama.cpp.
        from app.controllers.models.pair_judge import PairJudge  # noqa: PLC0415
        from app.core.hub.pairs.device_list import DeviceList  # noqa: PLC0415
        from app.core.storage.pair_speeds import PairSpeeds  # noqa: PLC0415

        paths = self._parts.paths
        devices = DeviceList(paths.cache, lambda: self._ready)
        return PairJudge(self.service, lambda: self._state.settings, devices, PairSpeeds(paths.pair_speeds_file))

    def _attach(self, panel: ModelsPanel) -> None:
        from app.controllers.models.pairs import HubPairsController  # noqa: PLC0415

        self._pairs = HubPairsController(self._parts, self._judge, self._service)
        self._pairs.attach(panel)
        self._downloads.attach(panel)
        self._library.attach(panel)
        requests = panel.requests
        requests.page_shown.connect(self._on_page)
        requests.search_requested.connect(self._search)
        requests.repo_requested.connect(self._open_repo)
        requests.token_entered.connect(lambda token: self._change_token(lambda tokens: tokens.save(token)))
        requests.token_removed.connect(lambda: self._change_token(lambda tokens: tokens.forget()))
        requests.chat_requested.connect(self._start_chat)
        requests.draft_requested.connect(self._use_draft)
        requests.builtin_requested.connect(self._end_welcome)
        requests.builtin_requested.connect(self._models.use_builtin)
        requests.welcome_done.connect(self._end_welcome)
        requests.link_requested.connect(self._window.dialogs.ask_link)

    def start(self) -> None:
        if not self._closed:
            self._downloads.start()

    def close(self) -> None:
        """End requests that jobs wait for. Call it again after the jobs: one may have opened the service meanwhile."""
        self._closed = True
        service = self._service.value
        if service is not None and not self._has_closed_service:
            self._has_closed_service = True
            service.downloads.close()
            service.client.close()

    def models_loaded(self, ready: EngineReady | None) -> None:
        """Called when the engine has loaded models; None: a remote model."""
        self._ready = ready
        models = (ready.target, ready.draft) if ready else (None, None)
        paths = (model.path if model is not None else "" for model in models)
        self._library.use(*("" if Path(path).is_relative_to(assets_dir()) else path for path in paths))

    def _on_page(self, page: str) -> None:
        if page == "library":
            self._library.on_page()
        elif page == "downloads":
            self._downloads.show()
        elif page == WELCOME:
            self._library.on_page()  # that page also offers models of other apps

    def _search(self, text: str) -> None:
        search = self._panel.search
        show = partial(search.set_results, text)
        self._jobs.run("search", lambda _stop: self.service.search(text), show, search.set_problem)

    def _open_repo(self, repo: str) -> None:
        def failed(problem: Problem) -> None:
            self._panel.search.pane.show_text(in_words(problem).title, explanation(problem))

        self._repo = None  # the previous repository is no longer shown
        self._wanted_repo = repo
        self._jobs.run("repo", lambda _stop: self.service.repo(repo), self._show_repo, failed)

    def _show_repo(self, answer: RepoView) -> None:
        self._repo = answer
        self._panel.search.pane.show_details(answer)

    def _refresh_repo(self) -> None:
        answer = self._repo
        if answer is None:
            return

        def done(now: RepoView) -> None:
            if self._repo is answer:
                self._show_repo(now)

        self._jobs.run("refresh", lambda _stop: self.service.refreshed(answer), done, log_problem)

    def download(self, ref: ModelRef, done: Callable[[str], None], failed: Callable[[Problem], None]) -> None:
        """Download a model unless it is in the library; ``done`` gets its path."""
        self._waiting[ref] = done
        self._jobs.run("fetch", lambda _stop: self.service.pull((ref,)), lambda _none: self._call_waiting(), failed)

    def _call_waiting(self) -> None:
        for ref in list(self._waiting):
            if path := self.service.path_of(ref):
                self._waiting.pop(ref)(path)

    def _models_changed(self) -> None:
        """A model was added or removed: refresh the pages that show what is here."""
        self._call_waiting()
        self._refresh_repo()
        if self._pairs is not None:
            self._pairs.models_changed()

    def _change_token(self, change: Callable[[TokenStore], object]) -> None:
        def changed(_result: object) -> None:
            self.service.client.token_changed()
            if self._wanted_repo:
                self._open_repo(self._wanted_repo)

        self._jobs.run("token", lambda _stop: change(self.service.client.tokens), changed)

    def _start_chat(self, target: ModelRef, draft: ModelRef | None) -> None:
        self._open_chat()  # before the models are loaded, so that the user can type

        def find(_stop: object) -> tuple[str, str]:
            path = self.service.path_of(target)
            return path, self.service.path_of(draft) if draft else self.service.draft_of(path)

        def done(paths: tuple[str, str]) -> None:
            if paths[0]:
                self._models.load_pair(*paths)
            else:
                words = translate("Problems", "{name} is missing.").format(name=target.name)
                self._parts.report(Problem("Model not found", words, "Download it again."))

        self._jobs.run("chat", find, done)

    def _open_chat(self) -> None:
        self._end_welcome()
        self._window.sidebar.new_chat.emit()

    def _use_draft(self, ref: ModelRef) -> None:
        self._navigation.leave()
        self._window.composer.setFocus()  # so that the user can type a question
        self._models.choose_file(ref.path, "draft")

    def _end_welcome(self) -> None:
        note_welcomed(self._parts.paths)
        self._navigation.leave()
        self._window.composer.setFocus()
