"""The setting layers of the open chat: its own values, its model's, and the app's.

Values of a chat without a message are held here until the chat is stored.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from app.controllers.state import AppState
from app.core.domain.errors import StorageError
from app.core.domain.model_name import model_name, name_of_file
from app.core.domain.projects import Project
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import EDITABLE, LAYERED_FIELDS, Layer, Layers, LayersView, valid_values
from app.core.domain.settings.values import Settings
from app.core.projects.projects import ProjectError, Projects
from app.core.storage.chats.store import ChatStore
from app.core.storage.model_settings import ModelSettings
from engine.records import ModelInfo


class ChatLayers:
    """Changes values of a layer and saves them where the layer is stored."""

    def __init__(
        self, state: AppState, models: ModelSettings, store: ChatStore, projects: Projects, target: str
    ) -> None:
        self._state = state
        self._models = models
        self._store, self._projects = store, projects
        self._folder_id: int | None = None
        self.project: Project | None = None  # the project of the open or new chat
        self._conversation_id: int | None = None
        self._target = target
        self._target_name = name_of_file(target)
        self._file: dict[str, SettingValue] = {}  # values that the target's file recommends
        self._chat: Mapping[str, SettingValue] = {}
        self._model: Mapping[str, SettingValue] = models.values(target)

    @property
    def now(self) -> Layers:
        own = self.project.values if self.project is not None else {}
        return Layers(self._state.settings, self._model, self._chat, self._file, own)

    def effective(self) -> Settings:
        return self.now.effective()

    def of_model(self) -> Settings:
        """The effective settings of chats without own values."""
        return Layers(self._state.settings, self._model, model_file=self._file).effective()

    def of_model_file(self, target: str) -> Settings:
        """Like `of_model`, for another model file; callable on any thread."""
        from engine.loading.loading import sampling_of_file  # noqa: PLC0415  (the first paint does not wait for it)

        file = valid_values(sampling_of_file(target))
        return Layers(self._state.settings, self._models.values(target), model_file=file).effective()

    def view(self) -> LayersView:
        now = self.now
        values = {layer: now.values(layer) for layer in EDITABLE}
        return LayersView(LAYERED_FIELDS, values, self._target_name, self.project.name if self.project else "")

    def use_target(self, info: ModelInfo) -> None:
        self._target, self._target_name = info.path, model_name(info)
        self._model = self._models.values(info.path)
        self._file = valid_values(dict(info.recommended))

    def begin_model(self, target: str, values: Mapping[str, SettingValue]) -> None:
        """Set the first values of a newly installed model."""
        self._models.begin(target, values)
        if target == self._target:
            self._model = self._models.values(target)

    def open_new(self, folder_id: int | None = None) -> None:
        """Start a chat without own values. ``folder_id`` None: outside folders."""
        self._conversation_id, self._chat = None, {}
        self.move_to(folder_id)

    def open(self, conversation_id: int) -> None:
        """Load a stored chat's values; the previous chat's are dropped even if loading fails.

        Raises:
            StorageError: the chats cannot be read.
        """
        self._conversation_id, self._chat, self.project = conversation_id, {}, None
        self.move_to(self._store.library.folder_of(conversation_id))
        self._chat = valid_values(self._store.options(conversation_id))

    def move_to(self, folder_id: int | None) -> None:
        """Apply the project of the folder that the open chat was moved to."""
        self._folder_id = folder_id
        self.read_project()

    def read_project(self) -> None:
        """Read the stored project of the open chat again."""
        self.project = self._projects.of_folder(self._folder_id)

    def stored_as(self, conversation_id: int) -> None:
        """Save the new chat's values, now that it is stored.

        Raises:
            StorageError: the values could not be saved.
        """
        self._conversation_id = conversation_id
        self._write_chat()

    def change(self, layer: Layer, values: Mapping[str, SettingValue]) -> None:
        """Set values of the chat or its model.

        Raises:
            StorageError: the chat's values could not be saved; they apply until another chat is opened.
        """
        self._apply(self.now.with_own(layer, values), layer)

    def reset(self, layer: Layer, keys: Collection[str]) -> None:
        """Remove values of the chat or its model.

        Raises:
            StorageError: as with `change`.
        """
        self._apply(self.now.without_own(layer, keys), layer)

    def _apply(self, layers: Layers, layer: Layer) -> None:
        self._chat, self._model = layers.chat, layers.model
        if layer is Layer.PROJECT:
            values = layers.project
            if self.project is None:
                return
            self.project = replace(self.project, values=values)
            try:
                self._projects.update(self.project)
            except ProjectError as error:
                raise StorageError(error.message, error.advice) from error
        elif layer is Layer.MODEL:
            self._models.set_values(self._target, self._model)
        elif self._conversation_id is not None:
            self._write_chat()

    def _write_chat(self) -> None:
        if self._conversation_id is not None:
            self._store.set_options(self._conversation_id, self._chat)
