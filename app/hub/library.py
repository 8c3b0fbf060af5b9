"""The models on this machine: those in the library folder and those used where they lie.

Knows no network. Only files inside the library folder are ever deleted.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from app.hub.records import LibraryModel, Offer


class Library:
    """The index of the models. Safe to use from several threads and several processes; every call touches the disk."""

    def __init__(self, folder: Path, index_file: Path) -> None:
        """``folder`` holds what was downloaded; ``index_file`` is JSON, in the app's data folder."""
        raise NotImplementedError

    def models(self) -> tuple[LibraryModel, ...]:
        """All models, by name; vanished ones are marked missing, files put into the folder by hand are found."""
        raise NotImplementedError

    def find(self, name: str) -> LibraryModel:
        """The model of this name, or of this file or repository/file.

        Raises:
            LibraryError: there is none.
        """
        raise NotImplementedError

    def add(self, path: Path) -> LibraryModel:
        """Add a GGUF file where it lies, with all its shards; nothing is copied.

        Raises:
            LibraryError: it is not there, or no GGUF file.
        """
        raise NotImplementedError

    def remove(self, name: str) -> int:
        """Delete a downloaded model's files, or forget one in place; the bytes that became free.

        Raises:
            LibraryError: there is none, or a file cannot be deleted.
        """
        raise NotImplementedError

    def set_draft(self, target: str, draft: str) -> None:
        """Pair two models; an empty ``draft`` ends the pair.

        Raises:
            LibraryError: one of them is not in the library.
        """
        raise NotImplementedError

    def mark_used(self, path: Path, when: datetime) -> None:
        """Note that the model with this file was loaded; files outside the library are ignored."""
        raise NotImplementedError

    def offers(self) -> tuple[Offer, ...]:
        """Models in the Hugging Face cache, LM Studio, Jan and llama.cpp that are not in the library yet."""
        raise NotImplementedError
