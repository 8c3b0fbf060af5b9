"""Condenses the output of pip's build of llama.cpp to a line with progress and time."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from typing import TextIO

START = "llama.cpp is compiled now, once, for this machine: about five minutes on two cores.\n"
GPU_HINT = "An NVIDIA GPU is here; to use it: CMAKE_ARGS=-DGGML_CUDA=on make run (needs the CUDA toolkit).\n"


class CompileProgress:
    """Parses the output of ``pip install -v``, and writes progress to ``out`` while the compiler runs."""

    STEP = re.compile(r"\[\s*(\d+)/(\d+)\]|\[\s*(\d+)%\]")

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.out = out
        self.clock = clock
        self.on_terminal = out.isatty()
        self.started: float | None = None
        self.shown_at = 0.0

    def feed(self, line: str) -> None:
        """Parse a line of pip's output."""
        if self.started is None:
            if "Building wheel for llama" in line:
                self.start()
        elif "Created wheel for llama" in line or "Failed building wheel" in line:
            self.stop()
        elif match := self.STEP.search(line):
            done, total, percent = match.groups()
            self.show(int(percent) if percent else 100 * int(done) // int(total))

    def start(self) -> None:
        """Announce the compilation, and the options for GPUs."""
        self.started = self.shown_at = self.clock()
        self.out.write(START)
        if shutil.which("nvidia-smi") and "CUDA" not in os.environ.get("CMAKE_ARGS", ""):
            self.out.write(GPU_HINT)
        self.out.flush()

    def show(self, percent: int) -> None:
        """Show the progress: once a second on a terminal, once a minute in a log."""
        now = self.clock()
        if self.started is None or now - self.shown_at < (1.0 if self.on_terminal else 60.0):
            return
        self.shown_at = now
        self.write_line(f"{percent:3d}%  {duration(now - self.started)}", last=not self.on_terminal)

    def stop(self) -> None:
        """Show the duration, after success or failure."""
        if self.started is not None:
            self.write_line(f"took {duration(self.clock() - self.started)}", last=True)
        self.started = None

    def write_line(self, text: str, *, last: bool) -> None:
        """Overwrite the previous line on a terminal; append a line to a log."""
        start, end = ("\r" if self.on_terminal else ""), ("\n" if last else "")
        self.out.write(f"{start}  compiling llama.cpp  {text:<20}{end}")
        self.out.flush()


def duration(seconds: float) -> str:
    """Format minutes and seconds, as in ``4:07``."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
