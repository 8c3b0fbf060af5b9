"""Lets the commands take the names of the library where they take files."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from app.core.hub.errors import LibraryError
from app.core.hub.library.library import Library
from app.core.hub.opening import open_library
from app.core.hub.records import LibraryModel
from app.core.paths import find_paths


def resolve_names(options: argparse.Namespace) -> None:
    """Put files into ``options.model`` and ``options.draft`` where they name models of the library.

    A target that is named so brings the draft that it is paired with, unless another is given or none is to be used.

    Raises:
        LibraryError: a name that is neither a file nor in the library, or one whose files are gone.
    """
    names = (options.model, options.draft)
    if all(name is None or _is_file(name) for name in names):
        return
    library = open_library(find_paths())
    target = _found(library, options.model)
    draft = _found(library, options.draft)
    if target is not None:
        options.model = str(target.path)
        library.mark_used(target.path, datetime.now(UTC))
        if options.draft is None and target.draft:
            draft = library.find(target.draft)
            if draft.missing:
                print(f"paceline: its draft {draft.name} is missing, so it runs without.", file=sys.stderr)
                draft = None
            else:
                print(f"paceline: with its draft {draft.name}", file=sys.stderr)
    if draft is not None:
        options.draft = str(draft.path)


def _found(library: Library, name: str | None) -> LibraryModel | None:
    if name is None or _is_file(name):
        return None
    model = library.find(name)
    if model.missing:
        raise LibraryError(f"The files of {model.name} are not where they were: {model.path}.", "Download it again.")
    return model


def _is_file(name: str) -> bool:
    # What looks like a path is one: the engine says what is wrong with it.
    return Path(name).exists() or (name.lower().endswith(".gguf") and len(Path(name).parts) > 1)
