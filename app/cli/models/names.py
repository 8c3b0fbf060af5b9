"""Lets commands accept names of library models in place of files."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from app.core.hub.errors import LibraryError
from app.core.hub.library.library import Library, open_library
from app.core.hub.records import LibraryModel
from app.core.paths import find_paths


def resolve_names(options: argparse.Namespace) -> None:
    """Replace library names in ``options.model`` and ``options.draft`` by files.

    If the target is a library name, its paired draft is added, unless a draft is given or drafts are disabled.

    Raises:
        LibraryError: a name is neither a file nor in the library, or the model's files are missing.
    """
    names = (options.model, options.draft)
    if all(name is None or _is_file(name) for name in names):
        return
    library = open_library(find_paths())
    target = _library_model(library, options.model)
    draft = _library_model(library, options.draft)
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


def _library_model(library: Library, name: str | None) -> LibraryModel | None:
    if name is None or _is_file(name):
        return None
    model = library.find(name)
    if model.missing:
        raise LibraryError(f"The files of {model.name} are not where they were: {model.path}.", "Download it again.")
    return model


def _is_file(name: str) -> bool:
    # A path is kept even if it does not exist: the engine reports the error.
    return Path(name).exists() or (name.lower().endswith(".gguf") and len(Path(name).parts) > 1)
