"""The models that requests may name: found by name, loaded one at a time, unloaded when idle."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.server.errors import ApiError, no_model_error
from engine.records import EngineReady, LoadRequest

if TYPE_CHECKING:  # the window's start does not wait for it
    from app.core.server.protocol import ServedModel


@dataclass(frozen=True, slots=True)
class LoadableModel:
    """A model that can be loaded: its load request, and a function for the defaults of its requests."""

    request: LoadRequest
    served: Callable[[EngineReady], ServedModel]


class ModelSwitch(ABC):
    """The models that requests may name. Only one is in memory at a time, since two may not fit.

    Methods are thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: ServedModel | None = None
        self._choices: dict[str, LoadableModel] = {}  # by file
        self._known: dict[str, ServedModel] = {}  # models that were loaded, by name

    def begin(self, first: LoadableModel, ready: EngineReady) -> None:
        """Set the model that was loaded first."""
        self._choices[ready.target.path] = first
        self.set_loaded(ready)

    def current(self) -> ServedModel:
        """The model for requests without a model name.

        Raises:
            ApiError: no model is loaded.
        """
        current = self._current
        if current is None:
            raise no_model_error()
        return current

    def is_known(self, name: str) -> ServedModel | None:
        """A model that was loaded before, so that its requests can be parsed without loading it; else None."""
        with self._lock:
            return self._known.get(name)

    def names(self) -> list[str]:
        """All names, the current model first; reads the disk."""
        return list(dict.fromkeys([self.current().name, *self.others()]))

    @abstractmethod
    def others(self) -> list[str]:
        """The names of the models that can be loaded."""

    @abstractmethod
    def _find(self, name: str) -> LoadableModel | None:
        """Find a model by name; None if there is none. May read the disk."""

    def find(self, name: str) -> str | None:
        """Find the file of a model by its name, and remember it for `load_for`; None if no model has this name."""
        choice = self._find(name)
        if choice is None:
            return None if (known := self.is_known(name)) is None else known.ready.target.path
        with self._lock:
            self._choices[choice.request.target] = choice
        return choice.request.target

    def load_for(self, target: str) -> LoadRequest | None:
        """The load request for a file; None if the file must not be loaded."""
        with self._lock:
            choice = self._choices.get(target)
        return None if choice is None else choice.request

    def set_loaded(self, ready: EngineReady) -> None:
        """Called after a model was loaded for a request."""
        with self._lock:
            choice = self._choices[ready.target.path]
        model = choice.served(ready)
        with self._lock:
            self._current = self._known[model.name] = model


def model_not_found_error(name: str) -> ApiError:
    message = f"There is no such model here; this server has `{name}`."
    return ApiError(404, message, param="model", code="model_not_found")
