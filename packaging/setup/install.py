"""Creates the project's virtual environment, and updates it after changes of pyproject.toml.

A record in the environment describes the installation. Uses the standard library only, because it runs before any
package is installed.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from first_model import FirstModel, say
from progress import CompileProgress

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.kernels.build_options import wanted_kernels, with_kernels, with_source_digest

ROOT = Path(__file__).resolve().parents[2]
RECORD_NAME = "paceline-setup.json"
LOG_NAME = "paceline-setup.log"
LLAMA = "llama-cpp-python"
EXTRAS = {"run": (), "screenshots": (), "test": ("test",)}
GIB = 1024**3


class SetupError(Exception):
    """The environment could not be created; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Record:
    """The content of an environment. llama.cpp was compiled with ``cmake_args`` and ``kernels``."""

    python: str
    project: str
    extras: tuple[str, ...]
    llama: str
    cmake_args: str
    kernels: str = ""


# ---- installed and required --------------------------------------------------------------------------------


def project_key(pyproject: Mapping[str, Any]) -> str:
    """Digest the parts of pyproject.toml that affect an installation."""
    tables = {name: pyproject.get(name) for name in ("build-system", "project")}
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()[:16]


def llama_requirement(pyproject: Mapping[str, Any]) -> str:
    """Return the pinned requirement of the llama.cpp binding in pyproject.toml."""
    lines: list[str] = pyproject["project"]["dependencies"]
    return next(line for line in lines if line.startswith(LLAMA))


def read_record(folder: Path) -> Record | None:
    """Read the record of ``folder``; None if the installation was not finished or the record is unreadable."""
    try:
        data = json.loads((folder / RECORD_NAME).read_text("utf-8"))
        return Record(**{**data, "extras": tuple(data["extras"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def wanted_record(
    needs: Iterable[str], pyproject: Mapping[str, Any], old: Record | None, environ: Mapping[str, str]
) -> Record:
    """Compute the wanted record. Installed extras stay; an unset CMAKE_ARGS keeps the compiled options."""
    kept = set(old.extras if old else ()) & pyproject["project"].get("optional-dependencies", {}).keys()
    extras = {extra for need in needs for extra in EXTRAS[need]} | kept
    cmake_args = environ.get("CMAKE_ARGS", old.cmake_args if old else "").strip()
    return Record(
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        project=project_key(pyproject),
        extras=tuple(sorted(extras)),
        llama=llama_requirement(pyproject),
        cmake_args=cmake_args,
        kernels=with_source_digest(wanted_kernels(cmake_args)),
    )


def must_build_llama(old: Record | None, new: Record) -> bool:
    """Whether llama.cpp must be compiled without pip's cache, which ignores build options."""
    if old is not None and (old.cmake_args, old.kernels) != (new.cmake_args, new.kernels):
        return True
    return bool(new.cmake_args or new.kernels) and (old is None or old.llama != new.llama)


# ---- pip ---------------------------------------------------------------------------------------------------


def build_environment(environ: Mapping[str, str], cmake_args: str) -> dict[str, str]:
    """Return pip's environment variables: this environment only, and a compiler job per core, at most one per GiB."""
    env = {key: value for key, value in environ.items() if key not in {"PYTHONPATH", "PYTHONHOME"}}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    env.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(max(1, min(os.cpu_count() or 1, memory // GIB))))
    env.update(CMAKE_ARGS=cmake_args, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    return env


def run_pip(folder: Path, arguments: list[str], env: Mapping[str, str]) -> None:
    """Run pip in the environment, with a log of everything and the compiler's progress on the screen.

    Raises:
        SetupError: pip failed; the message has the last lines of the log.
    """
    log = folder / LOG_NAME
    command = [str(folder / "bin" / "python"), "-u", "-m", "pip", "install", "-v", *arguments]
    progress = CompileProgress(sys.stdout)
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            file.write(line)
            progress.feed(line)
    progress.stop()
    if process.returncode != 0:
        raise SetupError(f"{pip_failure(log.read_text('utf-8'))}\nThe whole log: {log}")


def pip_failure(log: str) -> str:
    """The message after a failure of pip: the end of its log, then a sentence of advice."""
    text = "\n".join([line for line in log.splitlines() if line.strip()][-25:])
    lost = ("No matching distribution", "Could not find a version", "ConnectionError", "Connection broken")
    if "Failed building wheel for llama" in log:
        advice = "llama.cpp did not compile; the reason is above. A C and a C++ compiler of recent years are needed."
    elif any(words in text for words in lost):
        advice = "A package was not found: is the network there, and is this a 64-bit system of recent years?"
    else:
        advice = "pip failed; the reason is above. The same command again goes on where this one stopped."
    return f"{text}\n\n{advice}"


# ---- the steps ---------------------------------------------------------------------------------------------


def ensure_environment(folder: Path, python: str) -> None:
    """Create the virtual environment, or recreate it if its Python is missing or another one is requested.

    Raises:
        SetupError: the folder is something else, or Python's venv module failed.
    """
    if folder.exists():
        found = interpreter_version(folder)
        if found == python:
            return
        if not (folder / "pyvenv.cfg").exists():
            raise SetupError(f"{folder} is no virtual environment: move it, or say make VENV=another-folder ...")
        say(f"{folder.name} has {f'Python {found}' if found else 'no working Python'}: it is made anew.")
        shutil.rmtree(folder)
    say(f"Making {folder.name} with Python {python}.")
    try:
        venv.create(folder, with_pip=True, symlinks=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError(f"{folder} could not be made: {error}") from error


def interpreter_version(folder: Path) -> str | None:
    """Python version such as ``3.11`` of a working environment with pip; None if it does not work."""
    code = "import sys, pip; print('%d.%d' % sys.version_info[:2])"
    try:
        result = subprocess.run(
            [str(folder / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()


def check_imports(folder: Path) -> None:
    """Import the libraries with native parts, to detect missing system libraries before the window does.

    Raises:
        SetupError: a library does not load.
    """
    for module in ("PySide6.QtWidgets", "llama_cpp"):
        command = [str(folder / "bin" / "python"), "-c", f"import {module}"]
        result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        if result.returncode != 0:
            reason = result.stderr.strip().splitlines()[-1:] or [f"exit status {result.returncode}"]
            raise SetupError(f"{module} is installed but does not load: {reason[0]}")


def install(folder: Path, needs: Iterable[str], environ: Mapping[str, str]) -> bool:
    """Install ``needs`` in the environment. False if it was up to date."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    old = read_record(folder)
    new = wanted_record(needs, pyproject, old, environ)
    if old == new and (folder / "bin" / "python").exists():
        return False
    ensure_environment(folder, new.python)
    old = read_record(folder)  # None if the environment was recreated
    (folder / LOG_NAME).write_text("", encoding="utf-8")
    (folder / RECORD_NAME).unlink(missing_ok=True)
    env = build_environment(environ, with_kernels(new.cmake_args, new.kernels))
    say(f"Installing the libraries{' for ' + ', '.join(new.extras) if new.extras else ''}.")
    if must_build_llama(old, new):
        if new.kernels:
            say("llama.cpp is compiled with kernels for a few tokens at a time that suit this processor better.")
        past_cache = ["--no-cache-dir", "--force-reinstall", "--no-deps", "--no-binary", LLAMA]
        run_pip(folder, [*past_cache, new.llama], env)
    run_pip(folder, ["--editable", f".[{','.join(new.extras)}]" if new.extras else "."], env)
    check_imports(folder)
    (folder / RECORD_NAME).write_text(json.dumps(asdict(new), indent=2) + "\n", encoding="utf-8")
    return True


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let a second set-up of the same checkout wait for the first, since they would conflict."""
    handle = os.open(Path(__file__).parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def main() -> int:
    """Parse the command line and set up; return 1 and print a sentence after a failure."""
    parser = argparse.ArgumentParser(description="Make the project's virtual environment.")
    parser.add_argument("--venv", type=Path, default=Path(".venv"), help="the environment's folder")
    parser.add_argument("needs", nargs="+", choices=sorted(EXTRAS), help="what will be done with it")
    options = parser.parse_args()
    started = time.monotonic()
    try:
        folder = ROOT / options.venv
        first = FirstModel(folder, os.environ)
        with one_at_a_time():
            if "run" in options.needs:
                first.decide()
            if install(folder, options.needs, os.environ):
                say(f"The set-up is ready after {time.monotonic() - started:.0f} s.")
            first.finish()
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
