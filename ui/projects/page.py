"""The page of a project: its instructions, and its files with their states."""

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal, SignalInstance
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHeaderView,
    QPlainTextEdit,
    QProgressBar,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.core.domain.model_name import printable
from app.core.domain.projects import EMBEDDERS, MAX_FILES, EmbedderOffer, FileState, Project, ProjectFile
from engine.records import Problem
from ui.settings.rows import ask_model_file
from ui.text.formatting import count, size, tooltip, without_markup
from ui.text.language import mark, translate
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.banner import Banner
from ui.widgets.building import Stretch, button, hbox, label, show_text, vbox
from ui.widgets.dialogs import Dialog
from ui.widgets.popups import NoWheelComboBox

PAUSE_MS = 500  # a pause in typing ends a change
INSTRUCTION_LINES = 5
MAX_CHARS = 50_000  # the limit of a system prompt
MAX_ROWS = 500  # maximum rows of one folder: each row takes 20 microseconds at every refresh
_COLUMNS = (
    mark("ProjectPage", "File"),
    mark("ProjectPage", "State"),
    mark("ProjectPage", "Pages"),
    mark("ProjectPage", "Passages"),
    mark("ProjectPage", "Size"),
)
_STATES = {
    FileState.READ: ("circle-check", "good", mark("ProjectPage", "Read")),
    FileState.FAILED: ("triangle-alert", "warn", mark("ProjectPage", "Not read")),
    FileState.MISSING: ("circle-question-mark", "muted", mark("ProjectPage", "Not there now")),
}
_PATH = Qt.ItemDataRole.UserRole


class ProjectPage(Dialog):
    """Shows a project; files are added by drop or dialog.

    Signals:
        sources_added(object): paths of files and folders. source_removed(str): a path.
        instructions_changed(str): new instructions, after a pause in typing.
        model_changed(str), embedder_changed(str): path of a GGUF file; empty for none.
        reading_requested(bool): continue (True) or pause reading.
        embedder_offered(EmbedderOffer): the chosen offer.
        export_requested(): export the project to a file.
    """

    sources_added = Signal(object)
    source_removed = Signal(str)
    instructions_changed = Signal(str)
    model_changed = Signal(str)
    embedder_changed = Signal(str)
    reading_requested = Signal(bool)
    embedder_offer_chosen = Signal(object)
    export_requested = Signal()

    def __init__(
        self, theme: Theme, project: Project, parent: QWidget, loaded: tuple[str, str] | None = None, embedder: str = ""
    ) -> None:
        """``loaded``: path and name of the loaded target if it is a file. ``embedder``: path of the embedding model."""
        super().__init__(parent, project.name)
        self._theme, self.project = theme, project
        self.setAcceptDrops(True)
        self.resize(QSize(820, 680).boundedTo(parent.size() * 0.92))
        self.problem = Banner(theme, problem=True)
        self.problem.hide()
        self.instructions = QPlainTextEdit()
        self.model = NoWheelComboBox(translate("ProjectPage", "Model"))
        self.search = NoWheelComboBox(translate("ProjectPage", "Search"))
        self.summary = label("", "caption", wrap=True)
        self.progress, self.progress_words = QProgressBar(), label("", "caption")
        self.tree = QTreeWidget()
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._save_instructions)
        self._is_reading = False
        self._inner: dict[str, list[ProjectFile]] = {}  # the files of each source that is a folder
        self._make_instructions()
        kept = self.project.model_path
        self.model.addItem(translate("ProjectPage", "The loaded model"), "")
        if loaded is not None:
            self.model.addItem(printable(loaded[1]), loaded[0])
        if kept and self.model.findData(kept) < 0:
            self.model.addItem(printable(Path(kept).stem), kept)
        self.model.addItem(translate("ProjectPage", "Another file…"), None)
        self._show_choice(self.model, kept)
        self._fill_search(embedder)
        self.model.activated.connect(lambda _row: self._choose(self.model, self.model_changed))
        self.search.activated.connect(lambda _row: self._choose(self.search, self.embedder_changed))
        self._make_tree()
        self._make_buttons()
        self._arrange()
        self.set_project(project)
        self.end_progress()

    def _make_instructions(self) -> None:
        edit = self.instructions
        edit.setProperty("kind", "field")
        edit.setTabChangesFocus(True)
        edit.setAccessibleName(translate("ProjectPage", "Instructions"))
        edit.setPlaceholderText(
            translate("ProjectPage", "What the model should know and do in every chat of this project")
        )
        edit.setFixedHeight(edit.fontMetrics().lineSpacing() * INSTRUCTION_LINES + 16)
        edit.setPlainText(str(self.project.values.get("system_prompt") or ""))
        edit.textChanged.connect(self._pause.start)

    def _fill_search(self, embedder: str) -> None:
        self.search.addItem(translate("ProjectPage", "By words"), "")
        if embedder:
            words = translate("ProjectPage", "By words and meaning ({name})")
            self.search.addItem(words.format(name=printable(Path(embedder).stem)), embedder)
        for offer in EMBEDDERS:
            words = translate("ProjectPage", "By meaning too: download {name} ({size})")
            if offer.only_english:
                words = translate("ProjectPage", "By meaning too, English only: download {name} ({size})")
            self.search.addItem(words.format(name=offer.name, size=size(offer.num_bytes)), offer)
        self.search.addItem(translate("ProjectPage", "By meaning too: choose an embedding model…"), None)
        self._show_choice(self.search, embedder)

    def set_embedder(self, path: str) -> None:
        """Show the current embedding model."""
        if self.search.findData(path) < 0:
            self.search.insertItem(1, printable(Path(path).stem), path)
        self._show_choice(self.search, path)

    @staticmethod
    def _show_choice(box: NoWheelComboBox, path: str) -> None:
        box.setCurrentIndex(max(box.findData(path), 0))
        box.setProperty("kept", path)

    def _choose(self, box: NoWheelComboBox, signal: SignalInstance) -> None:
        """Report the path of the chosen row; the last row opens a file dialog."""

        def take(path: str) -> None:
            if box.findData(path) < 0:
                box.insertItem(1, printable(Path(path).stem), path)
            self._show_choice(box, path)
            signal.emit(path)

        path = box.currentData()
        if isinstance(path, EmbedderOffer):
            self._show_choice(box, box.property("kept"))  # the previous choice, until the model is downloaded
            self.embedder_offer_chosen.emit(path)
            return
        if path is not None:
            take(path)
            return
        self._show_choice(box, box.property("kept"))  # the previous choice, until a file is chosen
        ask_model_file(self, "", take)

    def _make_tree(self) -> None:
        tree = self.tree
        tree.setObjectName("projectFiles")
        tree.setColumnCount(len(_COLUMNS))
        tree.setHeaderLabels([translate("ProjectPage", words) for words in _COLUMNS])
        tree.setAccessibleName(translate("ProjectPage", "Files"))
        tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        tree.setUniformRowHeights(True)
        tree.setRootIsDecorated(True)
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in range(1, len(_COLUMNS)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        tree.itemActivated.connect(self._open)
        tree.itemExpanded.connect(self._add_inner_rows)
        tree.itemSelectionChanged.connect(self._show_buttons)

    def _make_buttons(self) -> None:
        self.files_button = button(translate("ProjectPage", "Add files…"), self._ask_files)
        self.folder_button = button(translate("ProjectPage", "Add a folder…"), self._ask_folder)
        self.remove_button = button(translate("ProjectPage", "Remove from the project"), self._remove)
        self.remove_button.setToolTip(translate("ProjectPage", "The files themselves stay where they are"))
        self.pause_button = button("", self._toggle_reading)
        self.export_button = button(translate("ProjectPage", "Export…"), self.export_requested.emit)
        self.export_button.setToolTip(
            translate("ProjectPage", "One zip file with the instructions, the files and the chats of this project")
        )
        self.close_button = button(translate("ProjectPage", "Close"), self.accept)
        self.buttons = (
            self.files_button,
            self.folder_button,
            self.remove_button,
            self.pause_button,
            self.export_button,
        )
        for each in (*self.buttons, self.close_button):
            each.setAutoDefault(False)

    def _arrange(self) -> None:
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(translate("ProjectPage", "Reading files"))
        explained = translate(
            "ProjectPage",
            "Every question in this project is answered with passages of these files. They are read on this computer, "
            "and stay where they are: a change in a folder is noticed. Drop files or folders here to add them.",
        )
        vbox(
            self.problem,
            label(translate("ProjectPage", "Instructions"), "strong"),
            self.instructions,
            8,
            hbox(
                label(translate("ProjectPage", "Model")),
                self.model,
                24,
                label(translate("ProjectPage", "Search")),
                self.search,
                Stretch(),
                spacing=8,
            ),
            8,
            label(translate("ProjectPage", "Files"), "strong"),
            label(explained, "caption", wrap=True),
            (self.tree, 1),
            self.summary,
            hbox((self.progress, 1), self.progress_words, spacing=8),
            4,
            hbox(*self.buttons, Stretch(), self.close_button, spacing=8),
            parent=self,
            margins=(24, 20, 24, 20),
            spacing=8,
        )

    # ---- values -----------------------------------------------------------------------------------------------------

    def set_project(self, project: Project) -> None:
        """Show the stored project; text that is being typed stays."""
        self.project = project

    def set_files(self, files: Sequence[ProjectFile]) -> None:
        """Show the sources, with the files of folders below them; the selection stays."""
        selected = {item.data(0, _PATH) for item in self.tree.selectedItems()}
        opened = {item.data(0, _PATH) for item in self._source_items() if item.isExpanded()}
        self.tree.clear()
        rows = {file.path: file for file in files}
        self._inner = {source: _files_inside(source, files) for source in self.project.sources}
        for source, inner in self._inner.items():
            item = self._row(rows[source]) if source in rows else self._folder_row(source, inner)
            self.tree.addTopLevelItem(item)
            if inner:
                item.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
                item.setExpanded(source in opened)
        for item in self._source_items():
            item.setSelected(item.data(0, _PATH) in selected)
        num_passages = sum(file.num_passages for file in files)
        failed = sum(file.state is FileState.FAILED for file in files)
        words = [
            translate("ProjectPage", "%Ln files", None, len(files)),
            translate("ProjectPage", "%Ln passages", None, num_passages),
        ]
        words += [translate("ProjectPage", "%Ln could not be read", None, failed)] if failed else []
        if any(len(inner) >= MAX_FILES for inner in self._inner.values()):
            cut = translate(
                "ProjectPage", "Only the first {number} files of a folder are read: add its folders instead"
            )
            words.append(cut.format(number=count(MAX_FILES)))
        show_text(self.summary, " · ".join(words) if files else "")
        self._show_buttons()

    def _add_inner_rows(self, item: QTreeWidgetItem) -> None:
        """Add the files of a folder that is unfolded; unreadable files come first."""
        if item.childCount() or item.parent() is not None:
            return
        inner = sorted(self._inner.get(item.data(0, _PATH), ()), key=lambda file: file.state is FileState.READ)
        item.addChildren([self._row(file) for file in inner[:MAX_ROWS]])
        if len(inner) > MAX_ROWS:
            more = translate("ProjectPage", "… and %Ln more", None, len(inner) - MAX_ROWS)
            item.addChild(QTreeWidgetItem([more]))

    def _source_items(self) -> list[QTreeWidgetItem]:
        items = map(self.tree.topLevelItem, range(self.tree.topLevelItemCount()))
        return [item for item in items if item is not None]

    def _row(self, file: ProjectFile) -> QTreeWidgetItem:
        icon, tone, words = _STATES[file.state]
        numbers = [count(number) if number else "" for number in (file.num_pages, file.num_passages)]
        state = translate("ProjectPage", words)
        item = self._item(file.path, [file.name, state, *numbers, size(file.num_bytes)])
        tokens = self._theme.tokens
        color = {"good": tokens.good, "warn": tokens.caution, "muted": tokens.text_muted}[tone]
        item.setIcon(1, self._theme.icon(icon, color))
        item.setToolTip(1, tooltip(in_language(file.problem)) if file.problem else state)
        return item

    @staticmethod
    def _item(path: str, texts: list[str]) -> QTreeWidgetItem:
        item = QTreeWidgetItem(texts)
        item.setToolTip(0, without_markup(path))
        item.setData(0, _PATH, path)
        for column in range(2, len(texts)):
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return item

    def _folder_row(self, source: str, files: Sequence[ProjectFile]) -> QTreeWidgetItem:
        words = "" if Path(source).exists() else translate("ProjectPage", "Not there now")
        passages = sum(file.num_passages for file in files)
        sums = (count(passages) if passages else "", size(sum(file.num_bytes for file in files)))
        item = self._item(source, [Path(source).name or source, words, "", *sums])
        item.setIcon(0, self._theme.icon("folder"))
        return item

    def show_progress(self, done: int, total: int, name: str) -> None:
        self._is_reading = done < total
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done)
        words = translate("ProjectPage", "{done} of {total}: {name}")
        self.progress_words.setText(words.format(done=count(done), total=count(total), name=name))
        self._show_reading()

    def end_progress(self) -> None:
        self._is_reading = False
        self._show_reading()

    def _show_reading(self) -> None:
        for each in (self.progress, self.progress_words):
            each.setVisible(self._is_reading)
        words = translate("ProjectPage", "Pause") if self._is_reading else translate("ProjectPage", "Look for changes")
        self.pause_button.setText(words)
        self.pause_button.setEnabled(bool(self.project.sources))

    def show_done(self, words: str) -> None:
        """Show what was done, until files are read again."""
        self.progress_words.setText(words)
        self.progress_words.show()

    def show_problem(self, problem: Problem) -> None:
        self.problem.show_problem(problem)

    # ---- requests ---------------------------------------------------------------------------------------------------

    def _show_buttons(self) -> None:
        self.remove_button.setEnabled(bool(self._selected_sources()))
        self._show_reading()

    def _selected_sources(self) -> list[str]:
        return [str(item.data(0, _PATH)) for item in self.tree.selectedItems() if item.parent() is None]

    def _remove(self) -> None:
        for source in self._selected_sources():
            self.source_removed.emit(source)

    def _ask_files(self) -> None:
        paths, _ = QFileDialog.getOpenFileNames(self, translate("ProjectPage", "Add files"))
        if paths:
            self.sources_added.emit(paths)

    def _ask_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, translate("ProjectPage", "Add a folder"))
        if path:
            self.sources_added.emit([path])

    def _toggle_reading(self) -> None:
        self.reading_requested.emit(not self._is_reading)

    def _open(self, item: QTreeWidgetItem) -> None:
        path = str(item.data(0, _PATH))
        if Path(path).is_file():
            QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    def _save_instructions(self) -> None:
        self._pause.stop()
        text = self.instructions.toPlainText()[:MAX_CHARS]
        if text != str(self.project.values.get("system_prompt") or ""):
            self.instructions_changed.emit(text)

    def done(self, result: int) -> None:
        """Save the typed instructions, also if the page closes before the pause."""
        self._save_instructions()
        super().done(result)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.sources_added.emit(paths)


def _files_inside(source: str, files: Sequence[ProjectFile]) -> list[ProjectFile]:
    """The files below a folder."""
    beginning = source.rstrip(os.sep) + os.sep
    return [file for file in files if file.path.startswith(beginning)]
