"""Projects in the window: shows their page, indexes their files in a process, and finds passages for questions."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QProcess

from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts, PartsController
from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.errors import AppError
from app.core.domain.lazy import Lazy
from app.core.domain.model_name import printable
from app.core.domain.projects import (
    CHARS_PER_TOKEN,
    SEARCH_TOOL,
    SOURCE_LINK,
    CitedPassage,
    EmbedderOffer,
    Passage,
    Project,
    cited_passages,
    fitting_passages,
    passages_attachment,
)
from app.core.projects.projects import ProjectError, with_sources
from app.core.storage.exchange.file_names import file_name
from engine.errors import EngineError
from engine.records import Problem, RunStats
from ui.text.language import mark, translate
from ui.widgets.dialogs import ask_project_file

if TYPE_CHECKING:  # imported late, to start faster
    from app.controllers.models.hub import HubController
    from app.core.projects.index import DocumentIndex
    from app.core.projects.meaning import PassageEmbedder
    from ui.projects.page import ProjectPage

UPDATE_INTERVAL_S = 30.0  # seconds between two updates of the same project's index
SHOW_AGAIN_S = 1.0
MAX_READING_S = 6.0  # maximum time to read the passages of a prompt
MIN_PASSAGE_TOKENS = 750  # minimum for passages, if the context has the space: about three passages
CONTEXT_SHARE = 4  # passages take at most a quarter of the context
_MIN_MEASURED_TOKENS = 64  # minimum number of processed tokens to measure the prompt speed
UNREADABLE = mark("Projects", "The files of this project could not be read: {reason}")
MEANING_PROBLEM = mark("Projects", "by meaning")  # shown by the command while it computes vectors
NO_PASSAGE = mark("Projects", "The model was given no passage with this number.")


class ProjectController(PartsController):
    """Keeps the index of the projects' files up to date, and finds passages in it."""

    def __init__(self, parts: Parts, conversations: ConversationController, hub: HubController | None = None) -> None:
        super().__init__(parts)
        self._projects, self._conversations, self._hub = parts.projects, conversations, hub
        self._index = Lazy(partial(_open_index, parts.paths.documents_file))
        self._page: ProjectPage | None = None
        self._process: QProcess | None = None
        self._embedding_path = ""
        self._embedder: PassageEmbedder | None = None
        self.has_meaning = False  # the embedder is loaded
        self._updated: tuple[str, float] = ("", 0.0)  # the project whose index was updated last, and when
        self._shown_at = 0.0  # when the page showed the files last
        self._tokens_per_s = 0.0  # speed of prompt processing
        signals = self._window.sidebar.library_signals
        signals.page_requested.connect(self.open_page)

        def rename(folder_id: int, name: str) -> None:
            project = self._projects.of_folder(folder_id)
            if project is not None and name.strip():
                self._save(replace(project, name=name.strip()))

        def apply_project(conversation_id: int, folder_id: int | None) -> None:
            if conversation_id == self._state.chat_id:
                self._conversations.layers.move_to(folder_id)
                self._conversations.show_settings()

        signals.folder_renamed.connect(rename)
        signals.moved_to_folder.connect(apply_project)
        signals.folder_deleted.connect(lambda _folder_id: self.stop_reading())
        self._window.transcript.link_activated.connect(self._open_source)
        self._state.chat_shown.connect(self._on_chat_shown)

    def start(self) -> None:
        """Give projects that the command line made a folder of chats, and delete projects whose folder was deleted."""
        projects = self._projects.all()
        if not projects:
            return
        folders = {folder.id: folder.name for folder in self._attempt(self._store.library.folders) or ()}
        free = {name: key for key, name in folders.items() if all(one.folder_id != key for one in projects)}
        for project in projects:
            if not project.folder_id:
                made = free.get(project.name) or self._attempt(partial(self._store.library.create_folder, project.name))
                self._save(replace(project, folder_id=made or 0))
            elif folders and project.folder_id not in folders:  # without folders the chats file is new
                self._projects.remove(project.id)
                self._forget_unused()

    def _forget_unused(self) -> None:
        used = {source for project in self._projects.all() for source in project.sources}
        self._attempt(lambda: self._index().keep_only(used))

    # ---- passages ---------------------------------------------------------------------------------------------------

    def has_files(self, conversation_id: int) -> bool:
        """True if a stored chat is in a project with indexed files."""
        project = self._projects.of_folder(self._attempt(lambda: self._store.library.folder_of(conversation_id)))
        return project is not None and bool(project.sources)

    def search(self, conversation_id: int, question: str) -> Sequence[Passage]:
        """Find passages for the search tool of a stored chat; callable on any thread.

        Raises:
            StorageError: the index cannot be read.
        """
        project = self._projects.of_folder(self._store.library.folder_of(conversation_id))
        return self._find(project, question) if project is not None else ()

    def passages_for(self, question: str) -> tuple[Attachment, ...]:
        """Find passages for a question of the open chat. Empty outside projects, or if the model has a search tool."""
        project = self._conversations.layers.project
        if project is None or not project.sources or not question.strip() or self._state.chat.settings.values["tools"]:
            return ()
        try:
            return (passages_attachment(self._find(project, question)),)
        except AppError as error:
            self._window.show_notice(translate("Projects", UNREADABLE).format(reason=error.message))
            return ()

    def _find(self, project: Project, question: str) -> Sequence[Passage]:
        meaning = None
        if self._embedder is not None and self.has_meaning:
            with suppress(EngineError):  # search by words only
                meaning = self._embedder.embed_question(question)
        found = self._index().find(project.sources, question, meaning) or self._index().beginning(project.sources)
        # As many as fit the context and are processed soon.
        ready = self._state.models.ready
        n_ctx = ready.target.n_ctx if ready is not None else 0
        soon = round(self._tokens_per_s * MAX_READING_S) if self._tokens_per_s else 2 * MIN_PASSAGE_TOKENS
        most = max(MIN_PASSAGE_TOKENS, min(soon, n_ctx // CONTEXT_SHARE))
        return fitting_passages(found, round(most * CHARS_PER_TOKEN))

    def _load_embedder(self) -> None:
        """Load the embedding model of the settings on a thread; until then, search is by words only."""
        path = self._state.settings.text("embedding_path")
        if path == self._embedding_path:
            return
        self._embedding_path = path
        old, self._embedder, self.has_meaning = self._embedder, None, False
        if old is not None:
            old.close()
        if not path:
            return
        from app.core.projects.meaning import PassageEmbedder  # noqa: PLC0415  (few have one)

        embedder = self._embedder = PassageEmbedder(path)

        def ready(_: None) -> None:
            self.has_meaning = True

        self._jobs.run("embedding model", lambda _stop: embedder.load(), ready)

    def on_stats(self, stats: RunStats) -> None:
        read = stats.prompt_tokens - stats.prompt_cached_tokens
        if read >= _MIN_MEASURED_TOKENS and stats.prompt_s > 0.0:
            self._tokens_per_s = read / stats.prompt_s

    # ---- sources of an answer ---------------------------------------------------------------------------------------

    def _open_source(self, address: str) -> None:
        """Show the passage that a citation number in an answer refers to."""
        if not address.startswith(SOURCE_LINK):
            return
        answer_id, _, number = address.removeprefix(SOURCE_LINK).partition("/")
        cited = self._find_cited(int(answer_id), int(number)) if answer_id.isdecimal() and number.isdecimal() else None
        if cited is None:
            self._window.show_notice(translate("Projects", NO_PASSAGE))
            return
        from ui.projects.source_dialog import SourceDialog  # noqa: PLC0415

        project = self._conversations.layers.project
        sources = project.sources if project is not None else ()
        found = self._attempt(lambda: self._index().locate(sources, cited.place, cited.text))
        whole = self._attempt(partial(self._index().passages_of_file, found.path)) if found is not None else None
        SourceDialog(self._window.theme, cited, found, whole or (), self._window).open()

    def _find_cited(self, answer_id: int, number: int) -> CitedPassage | None:
        """Find the passage with this number that was given to the model last before an answer."""
        conversation_id = self._state.chat_id
        if conversation_id is None:
            return None
        views = self._attempt(lambda: self._store.history(conversation_id)) or ()
        place = next((at for at, view in enumerate(views) if view.id == answer_id), len(views))
        for view in reversed(views[:place]):
            texts = [one.text for one in view.attachments if one.kind is AttachmentKind.PASSAGES]
            if view.call is not None and view.call.name == SEARCH_TOOL:
                texts.append(view.text)
            for text in texts:
                found = next((one for one in cited_passages(text) if one.number == number), None)
                if found is not None:
                    return found
        return None

    # ---- the page ---------------------------------------------------------------------------------------------------

    def open_page(self, folder_id: int) -> None:
        """Show the files and instructions of a folder of chats, which makes it a project."""
        folders = self._attempt(self._store.library.folders) or ()
        name = next((folder.name for folder in folders if folder.id == folder_id), "")
        project = self._projects.of_folder(folder_id)
        try:
            project = project or self._projects.add(name, folder_id)
        except ProjectError as error:
            self._window.show_problem(error.problem)
            return
        from ui.projects.page import ProjectPage  # noqa: PLC0415

        def forget() -> None:
            self._page = None

        def remove_source(source: str) -> None:
            stored = self._stored(page)
            self.stop_reading()
            self._change(page, replace(stored, sources=tuple(one for one in stored.sources if one != source)))
            self._forget_unused()

        def set_instructions(text: str) -> None:
            stored = self._stored(page)
            own = {"system_prompt": text} if text.strip() else {}
            others = {key: value for key, value in stored.values.items() if key != "system_prompt"}
            self._change(page, replace(stored, values={**others, **own}))

        target = self._state.models.ready.target if self._state.models.ready is not None else None
        loaded = (target.path, target.name) if target is not None and not target.engine_url else None
        embedder = self._state.settings.text("embedding_path")
        page = self._page = ProjectPage(self._window.theme, project, self._window, loaded, embedder)
        page.sources_added.connect(lambda paths: self._change(page, with_sources(self._stored(page), list(paths))))
        page.source_removed.connect(remove_source)
        page.instructions_changed.connect(set_instructions)
        page.model_changed.connect(lambda path: self._change(page, replace(self._stored(page), model_path=path)))
        page.embedder_changed.connect(partial(self._set_embedder, page))
        page.reading_requested.connect(lambda wanted: self._read(self._stored(page)) if wanted else self.stop_reading())
        page.embedder_offer_chosen.connect(partial(self._download_embedder, page))
        page.export_requested.connect(partial(self._ask_export, page))
        page.finished.connect(forget)
        self._show_files()
        self._read(project)
        page.open()

    def _stored(self, page: ProjectPage) -> Project:
        return next((one for one in self._projects.all() if one.id == page.project.id), page.project)

    def _change(self, page: ProjectPage, project: Project) -> None:
        try:
            self._projects.update(project)
        except ProjectError as error:
            page.show_problem(error.problem)
            return
        page.set_project(project)
        self._conversations.layers.read_project()
        self._conversations.show_settings()
        self._show_files()
        self._read(project)

    def _set_embedder(self, page: ProjectPage, path: str) -> None:
        self._window.dialogs.save({"embedding_path": path})
        self._load_embedder()
        self._read(self._stored(page))

    def _download_embedder(self, page: ProjectPage, offer: EmbedderOffer) -> None:
        """Download an embedding model unless the library has it, and choose it in the settings."""

        def done(path: str) -> None:
            if page is self._page:
                page.set_embedder(path)
            self._set_embedder(page, path)

        if self._hub is not None:
            self._hub.download(offer.ref, done, partial(self._report, page))
            words = translate("Projects", "{name} is being downloaded. The page Downloads shows its progress.")
            page.show_done(words.format(name=offer.name))

    def _report(self, page: ProjectPage, problem: Problem) -> None:
        """Show a problem on the page, or in the window if the page was closed (and deleted) meanwhile."""
        (page if page is self._page else self._window).show_problem(problem)

    def _ask_export(self, page: ProjectPage) -> None:
        from app.core.projects.archive import export_project  # noqa: PLC0415  (few export one)

        def done(left_out: Sequence[str]) -> None:
            words = translate("Projects", "%Ln files could not be read, and were left out.", None, len(left_out))
            words = words if left_out else translate("Projects", "The project was exported.")
            (page.show_done if page is self._page else self._window.show_notice)(words)

        def start(path: str) -> None:
            project = self._stored(page)
            work = partial(export_project, project, self._store, Path(path))
            self._jobs.run("project export", lambda _stop: work(), done, partial(self._report, page), writes=True)

        ask_project_file(page, file_name(page.project.name, "zip"), start)

    def _show_files(self) -> None:
        self._shown_at = time.monotonic()
        if self._page is not None:
            project = self._page.project
            self._page.set_files(self._attempt(lambda: self._index().files(project.sources)) or ())

    def _save(self, project: Project) -> None:
        try:
            self._projects.update(project)
        except ProjectError as error:
            self._window.show_problem(error.problem)

    # ---- reading ----------------------------------------------------------------------------------------------------

    def _on_chat_shown(self) -> None:
        project = self._conversations.layers.project
        if project is not None:
            self._suggest_model(project)
        if project is None or not project.sources or self._process is not None:
            return
        self._load_embedder()
        last, at = self._updated
        if project.id != last or time.monotonic() - at > UPDATE_INTERVAL_S:
            self._read(project)

    def _suggest_model(self, project: Project) -> None:
        """If another model is loaded, offer to load the project's model, unless its file is missing."""
        models, path = self._state.models, project.model_path
        used = models.loaded.target.path if models.loaded is not None else ""
        if not path or path == used or models.is_loading or not Path(path).is_file():
            return
        name = printable(Path(path).stem)
        self._window.notice_banner.show_suggestion(
            translate("Projects", "{project} uses the model “{name}”.").format(project=project.name, name=name),
            translate("Projects", "Load it"),
            lambda: self._window.dialogs.file_chosen.emit(path, "target"),
        )

    def _read(self, project: Project) -> None:
        """Update the index in a process of lowest priority. If it is stopped, finished files stay in the index."""
        self.stop_reading()
        self._updated = (project.id, time.monotonic())
        if not project.sources:
            return
        process = self._process = QProcess(self)
        process.setProcessChannelMode(QProcess.ProcessChannelMode.ForwardedErrorChannel)
        process.readyReadStandardOutput.connect(partial(self._on_progress, process))
        process.finished.connect(partial(self._on_read, process))
        words = ["projects", "update", "--json", "--id", project.id]
        program = [] if getattr(sys, "frozen", False) else ["-P", "-m", "app"]
        process.start(sys.executable, [*program, *words])

    def _on_progress(self, process: QProcess) -> None:
        for line in bytes(process.readAllStandardOutput().data()).splitlines():
            try:
                told = json.loads(line)
                done, total, name = int(told["done"]), int(told["total"]), str(told["name"])
            except (ValueError, LookupError, TypeError):
                continue
            name = translate("Projects", MEANING_PROBLEM) if name == MEANING_PROBLEM else name
            if self._page is not None and process is self._process:
                self._page.show_progress(done, total, name)
                if time.monotonic() - self._shown_at > SHOW_AGAIN_S:
                    self._show_files()

    def _on_read(self, process: QProcess, *_ending: object) -> None:
        process.deleteLater()
        if process is self._process:
            self._process = None
            if self._page is not None:
                self._show_files()
                self._page.end_progress()

    def stop_reading(self) -> None:
        """End the indexing process; finished files stay in the index."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.waitForFinished(1000)
        if self._page is not None:
            self._page.end_progress()

    def close(self) -> None:
        self.stop_reading()
        if self._embedder is not None:
            self._embedder.close()
        index = self._index.value
        if index is not None:
            index.close()


def _open_index(file: Path) -> DocumentIndex:
    from app.core.projects.index import DocumentIndex  # noqa: PLC0415  (numpy: the first paint does not wait for it)

    return DocumentIndex(file)
