"""Lets commands accept names of the library in place of files."""

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
    """Replace library names in ``options.model`` and ``options.draft`` by files.

    A target named so brings its paired draft, unless another draft is given or none is wanted.

    Raises:
        LibraryError: a name that is neither a file nor in the library, or its files are missing.
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
                print(f"paceline: the draft {draft.name} is missing, so the model runs without it.", file=sys.stderr)
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
    # A path stays a path: the engine says what is wrong with it.
    return Path(name).exists() or (name.lower().endswith(".gguf") and len(Path(name).parts) > 1)
