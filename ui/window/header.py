"""The header: title, models with their menu, pane switches."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QSizePolicy,
    QStyle,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.engines import RemoteModel, ServerRecord, host_in, is_local_url, remote_model_id
from app.core.domain.model_name import shown_name
from app.core.domain.models import LibraryRow, PickerView
from engine.records import DeviceUse, Mode, ModelInfo
from ui.text.formatting import count, escape_mnemonics, parameters, percent, size, tooltip, without_markup
from ui.text.language import Translator, translate
from ui.text.model_titles import TINY_NOTE, title_of
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel
from ui.widgets.choice_list import Choice, grouped
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import ChoicePopup
from ui.widgets.tab_order import set_tab_order

tr = Translator("Header")

HEIGHT_PX, TEXT_MARGINS_PX = 48, 30  # minimum height of the header; height around a button's text
PROGRESS_PX = 4
BUTTON_CHROME_PX = 40  # width of the models button without its text
MIN_MODELS_PX = 80


UNUSED_WORDS = {"pictures": tr.mark("pictures")}
MAX_SERVER_MODELS = 30  # maximum models of one server; its page lists all
WIDTH_PX = 404
TARGET, DRAFT, ACTION = "target:", "draft:", "action:"  # prefixes of row keys


def target_choice(row: LibraryRow, used: str) -> Choice:
    """A target in the list: name, size, quantization, draft."""
    draft = title_of(row.paired_with)
    paired = translate("ModelPicker", "draft: {name}").format(name=draft) if draft else ""
    line = " · ".join(piece for piece in (row.quantization, paired) if piece)
    return _choice(TARGET + row.path, row, line or row.architecture, is_used=row.path == used)


def engine_choice(record: ServerRecord, model: RemoteModel, used: str, *, silent: bool = False) -> Choice:
    """A remote model in the list. It can be chosen even if its server is ``silent``, i.e. does not respond."""
    path = remote_model_id(record.url, model.name)
    if silent:
        line = " · ".join((record.host, translate("ModelPicker", "not reachable")))
        return Choice(TARGET + path, model.title, (line,), icon="triangle-alert", tone="warn")
    line = f"{record.host} · {record.facts.title}"
    icon = "server" if record.is_local else "upload"
    return _with_check_mark(Choice(TARGET + path, model.title, (line,), icon=icon), is_used=path == used)


def draft_choice(row: LibraryRow, used: str) -> Choice:
    return _choice(DRAFT + row.path, row, row.quantization or row.architecture, is_used=row.path == used)


def _choice(key: str, row: LibraryRow, line: str, *, is_used: bool) -> Choice:
    lines = (line,) if line else ()
    return _with_check_mark(Choice(key, row.name, lines, size(row.size_bytes)), is_used=is_used)


def _with_check_mark(choice: Choice, *, is_used: bool) -> Choice:
    if not is_used:
        return choice
    return replace(choice, icon="check", tone="accent", spoken=translate("ModelPicker", "in use"))


def file_row(path: str, name: str, size_bytes: int, quantization: str = "") -> LibraryRow:
    return LibraryRow(path, path, name, size_bytes, quantization=quantization)


class ModelPicker(ChoicePopup):
    """The popup list of models."""

    # a model's path; empty: no draft
    target_picked = Signal(str)
    draft_picked = Signal(str)

    def __init__(self, theme: Theme, actions: Sequence[tuple[QAction, str]], parent: QWidget) -> None:
        super().__init__(theme, translate("ModelPicker", "Models"), parent)
        self._actions = tuple(actions)
        self.picked.connect(self._on_picked)
        self.setFixedWidth(round(WIDTH_PX * theme.type.growth))

    def show_models(
        self,
        view: EngineView,
        models: PickerView,
        builtin: QAction | None,
        engines: Sequence[ServerRecord] = (),
        silent: frozenset[str] = frozenset(),
    ) -> None:
        """Fill the list; an open list keeps its rows in place.

        ``builtin``: the row of the built-in models if they are in use. ``engines``: the remote servers. ``silent``:
        URLs of the servers that do not respond.
        """
        target, draft = view.target, view.draft
        used = target.path if target else ""
        targets = list(models.targets)
        is_away = target is not None and bool(target.engine_url)
        if target is not None and not is_away and builtin is None and all(row.path != used for row in targets):
            targets.insert(0, file_row(used, shown_name(target), target.size_bytes))
        drafts = list(models.drafts) if builtin is None else []
        if draft is not None and builtin is None and all(row.path != draft.path for row in drafts):
            drafts.insert(0, file_row(draft.path, shown_name(draft), draft.size_bytes))
        draft_used = draft.path if draft else ""
        drafting = [draft_choice(row, draft_used) for row in drafts]
        if is_away:
            drafting = []  # the server chooses its own drafting
        if drafting:
            none = Choice(DRAFT, translate("ModelPicker", "No draft"))
            drafting.append(_with_check_mark(none, is_used=draft is None))
        heading = translate("ModelPicker", "Draft for {name}").format(name=shown_name(target)) if target else ""
        others = [
            (record, engine_choice(record, model, used, silent=record.url in silent))
            for record in engines
            for model in record.facts.models[:MAX_SERVER_MODELS]
        ]
        actions = [self._action_choice(number, builtin) for number in range(len(self._actions))]
        groups = (
            (translate("ModelPicker", "Models on this computer"), [target_choice(row, used) for row in targets]),
            (heading, drafting),
            (
                translate("ModelPicker", "Other programs on this computer"),
                [choice for record, choice in others if record.is_local],
            ),
            (
                translate("ModelPicker", "On remote servers (messages leave this computer)"),
                [choice for record, choice in others if not record.is_local],
            ),
            (translate("ModelPicker", "More"), [each for each in actions if each is not None]),
        )
        rows = grouped(groups)
        if self.isVisible():
            self.update_rows(rows)
            return
        self.list.set_rows(rows, TARGET + used)
        if not self.list.current_key():
            self.list.choose_first()
        self.fit_rows()

    def _action_choice(self, number: int, builtin: QAction | None) -> Choice | None:
        action, icon = self._actions[number]
        if not action.isVisible():
            return None
        choice = Choice(
            f"{ACTION}{number}", action.text(), icon=icon, spoken=action.toolTip(), enabled=action.isEnabled()
        )
        return _with_check_mark(choice, is_used=action is builtin)

    def _on_picked(self, key: str) -> None:
        if key.startswith(ACTION):
            self._actions[int(key.removeprefix(ACTION))][0].trigger()
        elif key.startswith(DRAFT):
            self.draft_picked.emit(key.removeprefix(DRAFT))
        else:
            self.target_picked.emit(key.removeprefix(TARGET))


def describe(model: ModelInfo) -> str:
    """A model in a few lines, for the tool tip."""
    if model.engine_url:
        words = (
            tr("{name}\nOn {host} ({engine}), another program on this computer.")
            if is_local_url(model.engine_url)
            else tr("{name}\nOn {host} ({engine}); your messages leave this computer.")
        )
        words = words.format(name=model.name, host=host_in(model.engine_url), engine=model.architecture)
        return f"{words} {in_language(model.inexact_reason)}".rstrip()
    words = tr(
        "{name}\n{architecture}, {parameters}, {size}\nContext {used} of {trained} tokens, "
        "{threads} threads, {where}\nChat template: {template_name}\n{path}"
    ).format(
        name=model.name,
        architecture=model.architecture,
        parameters=parameters(model.num_params),
        size=size(model.size_bytes),
        used=count(model.n_ctx),
        trained=count(model.n_ctx_train),
        threads=count(model.threads),
        where=_device_text(model),
        template_name=tr("from the model") if model.has_template else model.template_name,
        path=model.path,
    )
    words += f"\n{in_language(model.inexact_reason) or tr('Every mode gives exactly the same answer to a question.')}"
    unused = [tr(UNUSED_WORDS[part]) for part in model.unused_abilities if part in UNUSED_WORDS]
    if not unused:
        return words
    left_out = tr("Not available, because its mmproj file is not loaded: {parts}")
    return f"{words}\n{left_out.format(parts=', '.join(unused))}"


def _device_text(model: ModelInfo) -> str:
    number = model.gpu_layers
    if number == 0:
        return tr("CPU only")
    devices = [one for one in (model.memory.devices if model.memory else ()) if one.num_layers and one.name != "CPU"]
    if len(devices) > 1:
        where = ", ".join(_layers_text(one) for one in devices)
    else:
        where = tr("{number} layers on the GPU", None, number).format(number=count(number))
    experts = model.placement.cpu_moe_layers
    if experts:
        words = tr("experts of {number} layers in main memory", None, experts)
        where += ", " + words.format(number=count(experts))
    return where


def _layers_text(use: DeviceUse) -> str:
    words = tr("{number} layers on {device}", None, use.num_layers)
    return words.format(number=count(use.num_layers), device=use.name)


class ModelsButton(QToolButton):
    """A button whose text is elided if it is narrower."""

    def minimumSizeHint(self) -> QSize:
        return QSize(min(MIN_MODELS_PX, self.sizeHint().width()), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter, option = QStylePainter(self), QStyleOptionToolButton()
        self.initStyleOption(option)
        room = self.width() - BUTTON_CHROME_PX
        option.text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)


class Header(QFrame):
    models_opening = Signal()  # the model list opens; answer with `set_models`
    # a path from the model list
    target_picked = Signal(str)
    draft_picked = Signal(str)
    # other entries of the model list
    remove_draft = Signal()
    use_builtin = Signal()
    unload = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._view = EngineView()
        self._note_text = ""
        self._models = PickerView()
        self._engines: tuple[ServerRecord, ...] = ()
        self._silent: frozenset[str] = frozenset()
        self._picker: ModelPicker | None = None
        self.setObjectName("header")
        self.sidebar_button = IconButton(theme, "panel-left", tr("Show the sidebar"))
        self.stats_button = IconButton(theme, "panel-right", tr("Show or hide the statistics"))
        self.title = ElidedLabel(tr("New chat"))
        self.title.setProperty("kind", "strong")
        self.title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.model_button = ModelsButton()
        self.progress = QProgressBar(self)  # along the lower edge, so that it moves nothing
        self._make()
        self.bar = row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(self.sidebar_button)
        row.addWidget(self.title, 1)
        row.addWidget(self.model_button)
        row.addWidget(self.stats_button)
        self._fit_text()
        theme.changed.connect(self._show)
        theme.changed.connect(self._fit_text)
        self._show()

    def _make(self) -> None:
        self.model_button.setObjectName("modelButton")
        self.model_button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.model_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.model_button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.model_button.setIconSize(QSize(14, 14))
        self.model_button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.model_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Loading the model"))
        self.model_button.clicked.connect(self.open_models)
        self._make_actions()

    def _make_actions(self) -> None:
        self.browse_action = QAction(tr("Find and download models…"), self)
        words = tr("Recommended pairs, search, drafts, library, downloads")
        self.browse_action.setToolTip(tooltip(words))
        self.stop_action = QAction(tr("Stop loading"), self)
        self.target_action = QAction(tr("Open a GGUF file…"), self)
        self.draft_action = QAction(tr("Open a GGUF as draft…"), self)
        self.builtin_action = QAction(tr("Quick demo"), self)
        self.builtin_action.setToolTip(tooltip(tr(TINY_NOTE)))
        self.builtin_action.triggered.connect(self.use_builtin)
        self.unload_action = QAction(tr("Unload the model"), self)
        self.unload_action.setToolTip(tooltip(tr("Frees its memory until a model is chosen again.")))
        self.unload_action.triggered.connect(self.unload)

    @property
    def picker(self) -> ModelPicker:
        if self._picker is None:
            actions = (
                (self.stop_action, "square"),
                (self.unload_action, "x"),
                (self.target_action, "folder-open"),
                (self.draft_action, "file-box"),
                (self.browse_action, "search"),
                (self.builtin_action, "package"),
            )
            self._picker = ModelPicker(self._theme, actions, self)
            self._picker.target_picked.connect(self.target_picked)
            self._picker.draft_picked.connect(self._on_draft)
        return self._picker

    def open_models(self) -> None:
        """Open the model list with the keyboard focus."""
        if not self.model_button.isVisible():
            return
        self.models_opening.emit()
        self._fill_picker()
        self.picker.open_from(self.model_button, at_right=True)
        self.picker.list.setFocus(Qt.FocusReason.PopupFocusReason)

    def set_models(self, models: PickerView) -> None:
        if models != self._models:
            self._models = models
            if self._picker is not None and self._picker.isVisible():
                self._fill_picker()

    def set_engines(self, records: Sequence[ServerRecord], silent: frozenset[str] = frozenset()) -> None:
        """Set the remote servers. ``silent``: URLs of the servers that do not respond."""
        self._engines, self._silent = tuple(records), silent
        if self._picker is not None and self._picker.isVisible():
            self._fill_picker()

    def _fill_picker(self) -> None:
        builtin = self.builtin_action if self._note_text else None
        self.picker.show_models(self._view, self._models, builtin, self._engines, self._silent)

    def _on_draft(self, path: str) -> None:
        if path:
            self.draft_picked.emit(path)
        else:
            self.remove_draft.emit()

    def _fit_text(self) -> None:
        self.setFixedHeight(max(HEIGHT_PX, ceil(self._theme.text_height()) + TEXT_MARGINS_PX))

    def add_indicator(self, indicator: QWidget) -> None:
        """Add an indicator beside the models."""
        self.bar.insertWidget(self.bar.indexOf(self.model_button), indicator)
        set_tab_order((self,))

    def set_title(self, title: str) -> None:
        self.title.setText(title or tr("New chat"))
        self.title.setToolTip(without_markup(title))
        names = self.title.fontMetrics()
        least = min(names.horizontalAdvance(self.title.text()), names.horizontalAdvance(tr("New chat")))
        self.title.setMinimumWidth(least + 1)  # long model names leave a part of the title

    def set_engine(self, view: EngineView) -> None:
        state = view.state if view.state is EngineState.LOADING else EngineState.READY  # running answers count as ready
        shown = replace(view, state=state)  # with the same models
        if shown != self._view:
            self._view = shown
            self._show()

    def set_note(self, note: str) -> None:
        if note != self._note_text:
            self._note_text = note
            self._show()

    def _show(self) -> None:
        view = self._view
        if (text := escape_mnemonics(self._summary())) != self.model_button.text():
            self.model_button.setText(text)
        self.model_button.setToolTip(tooltip(self._details()))
        self.model_button.setAccessibleName(tr("Models: {names}").format(names=self._summary()))
        self.model_button.setAccessibleDescription(self._details())
        loading = view.state is EngineState.LOADING
        self.progress.setVisible(loading)
        self.progress.setRange(0, 0 if loading and view.progress is None else 1000)
        self.progress.setValue(round((view.progress or 0) * 1000))
        self.stop_action.setVisible(loading)
        is_own = view.target is not None and not view.target.engine_url
        self.draft_action.setEnabled(is_own)
        self.unload_action.setVisible(is_own and not loading)
        if self._picker is not None and self._picker.isVisible():
            self._fill_picker()
        self.model_button.setIcon(self._theme.icon("chevron-down", size=14))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.progress.setGeometry(0, self.height() - PROGRESS_PX, self.width(), PROGRESS_PX)

    def _summary(self) -> str:
        view = self._view
        if view.state is EngineState.LOADING:
            is_read = view.progress is not None and view.progress >= 1.0  # caches are made, the draft is tested
            if view.loading and is_read:
                return tr("Preparing {name}").format(name=title_of(view.loading))
            words = tr("Loading {name}").format(name=title_of(view.loading)) if view.loading else tr("Loading a model")
            return words if view.progress is None else f"{words}, {percent(view.progress)}"
        if view.target is None:
            return tr("No model")
        if view.target.engine_url:
            return f"{shown_name(view.target)} · {host_in(view.target.engine_url)}"
        draft = shown_name(view.draft) if view.draft else tr("no draft")
        if view.own_head:
            draft = tr("own head ({method})").format(method=view.own_head.head_method)
        return f"{shown_name(view.target)} · {draft}"

    def _details(self) -> str:
        view = self._view
        if view.target is None:
            return tr("No model is loaded. Open a GGUF file or start the quick demo.")
        parts = [self._note_text] if self._note_text else []
        parts.append(tr("Target: {words}").format(words=describe(view.target)))
        if view.target.engine_url:
            parts.append(tr("Its server decides how it drafts."))
        elif view.draft:
            parts.append(tr("Draft: {words}").format(words=describe(view.draft)))
            if view.draft.coverage is not None:
                speaks = tr("Its vocabulary differs and has {share} of the target's tokens.")
                parts[-1] += "\n" + speaks.format(share=percent(view.draft.coverage))
        elif view.own_head:
            words = tr("Draft: a head in the model's own file ({method}).")
            parts.append(words.format(method=view.own_head.head_method))
        else:
            parts.append(tr("No draft. {why}").format(why=view.unavailable.get(Mode.DRAFT, "")).strip())
        return "\n\n".join([*parts, *view.notices])
