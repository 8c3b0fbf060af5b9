"""Models that requests may name beside the one that is loaded: found by name, loaded in turn, freed when idle."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from app.core.server.errors import ApiError
from app.core.server.protocol import ServedModel
from engine.records import EngineReady, LoadRequest

_ENDS_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class LoadableModel:
    """A model that can be loaded: what is asked of the engine, and how requests to it are read, once it is ready."""

    request: LoadRequest
    served: Callable[[EngineReady], ServedModel]


class ModelLibrary(Protocol):
    """Where models are found."""

    def names(self) -> list[str]:
        """All that may be named."""

    def find(self, name: str) -> LoadableModel | None:
        """The model of this name; None where there is none. May read the disk."""


class NamedModels(Protocol):
    """What requests may name. All methods may be called from any thread."""

    def current(self) -> ServedModel:
        """What answers where no model is named.

        Raises:
            ApiError: nothing is loaded.
        """

    def known(self, name: str) -> ServedModel | None:
        """A model that was loaded before: nothing has to be loaded to read a request for it."""

    def names(self) -> list[str]:
        """All that may be named, the current one first."""

    def find(self, name: str) -> str:
        """The file of a model by its name.

        Raises:
            ApiError: 404: there is none.
        """

    def load_for(self, target: str) -> LoadRequest | None:
        """Give what has to be loaded for requests that were read for this file; None where it is not to be."""

    def note_loaded(self, ready: EngineReady) -> None:
        """Note what was loaded for a request."""


class ModelSwitch:
    """Has the model loaded that a request was read for. One is in memory at a time: two might not fit.

    Methods may be called from any thread.
    """

    def __init__(self, first: LoadableModel, ready: EngineReady, library: ModelLibrary) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._current = first.served(ready)
        self._choices = {ready.target.path: first}
        self._known = {self._current.name: self._current}

    def current(self) -> ServedModel:
        """The model that was loaded last."""
        with self._lock:
            return self._current

    def known(self, name: str) -> ServedModel | None:
        """A model that was loaded before: nothing has to be loaded to read a request for it."""
        with self._lock:
            return self._known.get(name)

    def names(self) -> list[str]:
        """All models that a request may name, the current one first."""
        return list(dict.fromkeys([self.current().name, *self._library.names()]))

    def find(self, name: str) -> str:
        """The file of a model by its name; `load_for` knows it from now on.

        Raises:
            ApiError: 404: there is none.
        """
        choice = self._library.find(name)
        if choice is None:
            raise no_such_model(self.current().name)
        with self._lock:
            return self._choices.setdefault(choice.request.target, choice).request.target

    def load_for(self, target: str) -> LoadRequest | None:
        """Give what has to be loaded for requests that were read for this file."""
        with self._lock:
            choice = self._choices.get(target)
        return None if choice is None else choice.request

    def note_loaded(self, ready: EngineReady) -> None:
        """Note what was loaded for a request."""
        with self._lock:
            choice = self._choices[ready.target.path]
        model = choice.served(ready)
        with self._lock:
            self._current = model
            self._known[model.name] = model


def no_such_model(name: str) -> ApiError:
    """For a request that names another model."""
    message = f"There is no such model here; this server has `{name}`."
    return ApiError(404, message, param="model", code="model_not_found")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model's file: bytes, seconds since the epoch of its last change, and a digest that tells it from others."""

    size: int
    modified: float
    digest: str


def file_of(path: str) -> ModelFile | None:
    """What is known of a file without reading it whole; None where it is not there."""
    try:
        found = Path(path).stat()
        return ModelFile(found.st_size, found.st_mtime, _digest_of(path, found.st_size, found.st_mtime_ns))
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1024)
def _digest_of(path: str, size: int, _changed: int) -> str:
    """SHA-256 of its size and both ends: the whole file would take seconds for each gigabyte."""
    with Path(path).open("rb") as file:
        begin = file.read(_ENDS_BYTES)
        file.seek(max(0, size - _ENDS_BYTES))
        return sha256(b"%d " % size + begin + file.read(_ENDS_BYTES)).hexdigest()


class UnloadTimer:
    """Call ``on_idle`` on a thread of its own, ``seconds`` after the last restart."""

    def __init__(self, seconds: float, on_idle: Callable[[], None]) -> None:
        self._seconds = seconds
        self._on_idle = on_idle
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def restart(self) -> None:
        """Something happened: begin to wait anew."""
        with self._lock:
            self._cancel()
            self._timer = threading.Timer(self._seconds, self._on_idle)
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        """Wait no more."""
        with self._lock:
            self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
