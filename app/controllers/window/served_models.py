"""The models that programs may request: the chats' model and, if the settings allow it, library models.

One is in memory at a time. A model loaded for a program stays until the window needs the engine; then the chats' model
is loaded again (`LoadedModels` in `engine.session.worker`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.controllers.parts import Parts
from app.controllers.state import Models
from app.core.domain.model_name import printable, shown_name
from app.core.domain.models import FileKind
from app.core.domain.requests import chat_request
from app.core.domain.settings.values import Settings
from app.core.hub.library.library import open_library
from app.core.load_requests import load_request
from app.core.server.errors import no_model_error
from app.core.server.library import LoadableModel, ModelSwitch
from engine.records import ChatRequest, EngineReady, LoadRequest, Mode, Overflow

if TYPE_CHECKING:  # imported by the server's thread
    from app.core.hub.records import LibraryModel
    from app.core.server.pictures import PictureSource
    from app.core.server.protocol import ServedModel


def defaults_of(settings: Settings, ready: EngineReady) -> ChatRequest:
    mode, _reason = Models(ready).runnable(Mode(settings.text("mode")))
    request = chat_request(settings, (), mode, settings.integer("depth"), 0)
    # Chats of other programs are not stored, and not shortened automatically.
    return replace(request, messages=(), overflow=Overflow.STOP, use_past=False)


class ServedModels(ModelSwitch):
    """The chats' model, and library models that programs may load; used on the server's threads.

    ``settings_of`` returns the settings of new chats for a model's file.

    ``on_change`` is called on any thread when `guest` changes.
    """

    def __init__(self, parts: Parts, settings_of: Callable[[str], Settings], on_change: Callable[[], None]) -> None:
        super().__init__()
        self._state, self._paths = parts.state, parts.paths
        self._settings_of = settings_of
        self._on_change = on_change
        self._own: tuple[EngineReady, Settings, LoadRequest | None] | None = None
        self._pictures: PictureSource | None = None  # caches decoded pictures; made late
        self.guest = ""  # the model that a program loaded in place of the chats' model; empty if none

    def serve(self, ready: EngineReady | None, settings: Settings, request: LoadRequest | None) -> None:
        """Set the chats' model and its load ``request``; None if no model is loaded."""
        with self._lock:
            if self._own is None or self._own[1] != settings:
                self._known.clear()  # the defaults of other models may have changed, too
            self._own = None if ready is None else (ready, settings, request)
        if ready is None:
            self.set_guest("")

    def set_guest(self, name: str) -> None:
        if name != self.guest:
            self.guest = name
            self._on_change()

    def current(self) -> ServedModel:
        if self._own is None:
            raise no_model_error()
        ready, settings, _request = self._own
        return self._served(printable(Path(ready.target.path).stem), settings, ready)

    def _served(self, name: str, settings: Settings, ready: EngineReady) -> ServedModel:
        from app.core.server.pictures import PictureSource  # noqa: PLC0415  (the first paint does not wait for it)
        from app.core.server.protocol import ServedModel  # noqa: PLC0415

        if self._pictures is None:
            self._pictures = PictureSource()  # data URLs only: no files of this computer
        return ServedModel(name, ready, defaults_of(settings, ready), settings.text("system_prompt"), self._pictures)

    def is_known(self, name: str) -> ServedModel | None:
        return super().is_known(name) if self._may_load else None

    def others(self) -> list[str]:
        """The names of library models besides the chats' model; reads the disk."""
        own_path = self._own[0].target.path if self._own is not None else ""
        return [one.name for one in self._models() if str(one.path) != own_path]

    def _find(self, name: str) -> LoadableModel | None:
        model = next((one for one in self._models() if one.name == name), None)
        if model is None:
            return None
        models = open_library(self._paths, self._state.settings).models()
        draft = next((str(one.path) for one in models if model.draft == one.name and not one.missing), "")
        target = str(model.path)
        settings, _complaints = self._settings_of(target).changed({"target_path": target, "draft_path": draft})
        return LoadableModel(load_request(settings), partial(self._served, name, settings))

    def load_for(self, target: str) -> LoadRequest | None:
        own = self._own
        if own is not None and own[2] is not None and own[2].target == target:
            return own[2]
        return super().load_for(target) if self._may_load else None

    def set_loaded(self, ready: EngineReady) -> None:
        is_own = self._own is not None and self._own[0].target.path == ready.target.path
        if is_own or ready.target.path not in self._choices:
            self.set_guest("")
            return
        super().set_loaded(ready)
        self.set_guest(shown_name(ready.target))

    @property
    def _may_load(self) -> bool:
        return bool(self._state.settings.values["server_loads"])

    def _models(self) -> list[LibraryModel]:
        if not self._may_load:
            return []
        models = open_library(self._paths, self._state.settings).models()
        return [model for model in models if model.kind is FileKind.MODEL and not model.missing]
