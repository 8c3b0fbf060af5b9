"""What opens from the header's button: the models of the library, what can draft for the one in use, and more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app.core.domain.engine_view import EngineView
from app.core.domain.engines import EngineRecord, RemoteModel, remote_path
from app.core.domain.model_name import shown_name
from app.core.domain.models import LibraryRow, PickerView
from ui.text.formatting import size
from ui.text.language import translate
from ui.text.model_titles import title_of
from ui.theme.theme import Theme
from ui.widgets.choice_list import Choice, grouped
from ui.widgets.popups import ChoicePopup

MOST_EACH = 30  # of the models of one engine; its page has all
WIDTH_PX = 404
TARGET, DRAFT, ACTION = "target:", "draft:", "action:"  # how keys of rows begin


def target_choice(row: LibraryRow, used: str) -> Choice:
    """A model that can answer: its name and size, how it was quantized and what drafts for it."""
    draft = title_of(row.paired_with)
    paired = translate("ModelPicker", "draft: {name}").format(name=draft) if draft else ""
    line = " · ".join(piece for piece in (row.quantization, paired) if piece)
    return _choice(TARGET + row.path, row, line or row.architecture, is_used=row.path == used)


def engine_choice(record: EngineRecord, model: RemoteModel, used: str, *, silent: bool = False) -> Choice:
    """A model that an engine of others has, and whether that did not answer: it can be chosen all the same."""
    path = remote_path(record.url, model.name)
    if silent:
        line = " · ".join((record.host, translate("ModelPicker", "does not answer")))
        return Choice(TARGET + path, model.title, (line,), icon="triangle-alert", tone="warn")
    line = f"{record.host} · {record.facts.title}"
    icon = "server" if record.is_here else "upload"
    return _ticked(Choice(TARGET + path, model.title, (line,), icon=icon), is_used=path == used)


def draft_choice(row: LibraryRow, used: str) -> Choice:
    """A model that can draft for the target in use."""
    return _choice(DRAFT + row.path, row, row.quantization or row.architecture, is_used=row.path == used)


def _choice(key: str, row: LibraryRow, line: str, *, is_used: bool) -> Choice:
    lines = (line,) if line else ()
    return _ticked(Choice(key, row.name, lines, size(row.size_bytes)), is_used=is_used)


def _ticked(choice: Choice, *, is_used: bool) -> Choice:
    if not is_used:
        return choice
    return replace(choice, icon="check", tone="accent", spoken=translate("ModelPicker", "in use"))


def file_row(path: str, name: str, size_bytes: int, quantization: str = "") -> LibraryRow:
    """A loaded model that the library does not have."""
    return LibraryRow(path, path, name, size_bytes, quantization=quantization)


class ModelPicker(ChoicePopup):
    """Values in by `show_models`.

    Signals:
        target_picked(str), draft_picked(str): the path of a model; an empty one as the draft is none.
    """

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
        engines: Sequence[EngineRecord] = (),
        silent: frozenset[str] = frozenset(),
    ) -> None:
        """Fill the list; in one that is open nothing moves.

        ``builtin`` is what leads to the models in use where they came with the app.

        Of the ``engines`` those at the ``silent`` addresses do not answer.
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
            drafting = []  # it drafts as its engine has it
        if drafting:
            none = Choice(DRAFT, translate("ModelPicker", "No draft"))
            drafting.append(_ticked(none, is_used=draft is None))
        heading = translate("ModelPicker", "Draft for {name}").format(name=shown_name(target)) if target else ""
        others = [
            (record, engine_choice(record, model, used, silent=record.url in silent))
            for record in engines
            for model in record.facts.models[:MOST_EACH]
        ]
        actions = [self._action_choice(number, builtin) for number in range(len(self._actions))]
        groups = (
            (translate("ModelPicker", "Models on this computer"), [target_choice(row, used) for row in targets]),
            (heading, drafting),
            (
                translate("ModelPicker", "Other programs on this computer"),
                [choice for record, choice in others if record.is_here],
            ),
            (
                translate("ModelPicker", "On other engines (leaves this computer)"),
                [choice for record, choice in others if not record.is_here],
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
        return _ticked(choice, is_used=action is builtin)

    def _on_picked(self, key: str) -> None:
        if key.startswith(ACTION):
            self._actions[int(key.removeprefix(ACTION))][0].trigger()
        elif key.startswith(DRAFT):
            self.draft_picked.emit(key.removeprefix(DRAFT))
        else:
            self.target_picked.emit(key.removeprefix(TARGET))
