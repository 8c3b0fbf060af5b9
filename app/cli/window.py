"""`paceline` without a command: opens the window, or prints one line if there is no display."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.output import fail, prepare_streams
from app.core.display import PACKAGES, has_display, missing_library
from engine.records import Problem

if TYPE_CHECKING:
    import argparse

NO_DISPLAY = Problem(
    "There is no display", "The window needs one.", 'In a terminal, use: paceline run --prompt "..." or paceline demo.'
)


def command(_options: argparse.Namespace | None = None, file: str = "") -> int:
    """Open the window, with the model ``file`` if one is given, and return when it closes."""
    prepare_streams()
    if not has_display():
        return fail(NO_DISPLAY)
    missing = missing_library()
    if missing:
        package = PACKAGES.get(missing)
        advice = f"Type: sudo apt install {package}" if package else "Install it with your system's package manager."
        return fail(Problem("The window cannot open", f"This system lacks {missing}, which Qt needs.", advice))
    if file and not Path(file).is_file():
        return fail(Problem("This file cannot be opened", f"There is no file {file}.", "Check its name."))
    gc.disable()  # importing makes no garbage; the window enables collection later
    from app.startup.window import open_window  # noqa: PLC0415  (Qt is loaded only where a window opens)

    return open_window([], file=str(Path(file).absolute()) if file else "")
