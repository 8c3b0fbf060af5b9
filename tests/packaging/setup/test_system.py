"""Tests the system check of the set-up on fake systems. Nothing is installed here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "packaging" / "setup"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="make and its scripts are for POSIX systems")

LIBRARIES = (
    "libglib-2.0.so.0",
    "libGL.so.1",
    "libEGL.so.1",
    "libdbus-1.so.3",
    "libfontconfig.so.1",
    "libxkbcommon.so.0",
    "libgomp.so.1",
    "libxcb-cursor.so.0",
    "libxcb-icccm.so.4",
    "libxcb-keysyms.so.1",
    "libxcb-shape.so.0",
    "libxkbcommon-x11.so.0",
)


class Machine:
    """A fake system: a folder of small programs that is the whole PATH. apt-get records its arguments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder.parent / "calls"
        self.loader = folder.parent / "libraries"
        self.program("uname", "echo Linux")
        self.program("ldconfig", f"while read -r line; do echo \"$line\"; done < '{self.loader}'")
        self.program("id", "echo 1000")
        self.program("cc", "")
        self.program("c++", "")
        self.program("python3", f'exec "{sys.executable}" "$@"')
        self.has(*LIBRARIES)

    def program(self, name: str, body: str) -> None:
        """Put a program on the PATH; ``body`` is shell."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def has(self, *libraries: str) -> None:
        """Let the loader find exactly these libraries."""
        self.loader.write_text("".join(f"\t{name} (libc6,x86-64) => /lib/{name}\n" for name in libraries), "utf-8")

    def check(self, *needs: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the system check as `setup.sh` does."""
        code = f'. {SCRIPTS}/system.sh; set -eu; system_check "$@"; echo "python: $PYTHON_FOUND"'
        env = {"PATH": str(self.folder), **environ}
        return subprocess.run(
            ["/bin/sh", "-c", code, "sh", *needs], env=env, capture_output=True, text=True, cwd=ROOT, check=False
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    folder = tmp_path / "bin"
    folder.mkdir()
    return Machine(folder)


def with_apt(machine: Machine, *, brings: tuple[str, ...] = ()) -> None:
    lines = "".join(f"echo '{name} (x)' >> '{machine.loader}'; " for name in brings)
    machine.program(
        "apt-get", f'echo "$DEBIAN_FRONTEND $*" >> \'{machine.calls}\'; case "$*" in *install*) {lines}:;; esac'
    )


def test_a_complete_machine_is_asked_for_nothing(machine: Machine) -> None:
    with_apt(machine)
    result = machine.check("run", DISPLAY=":0")
    assert (result.returncode, result.stdout, result.stderr) == (0, "python: python3\n", "")
    assert not machine.calls.exists()


def test_a_user_gets_the_one_line_to_run(machine: Machine) -> None:
    with_apt(machine)
    machine.has(*(name for name in LIBRARIES if name not in {"libEGL.so.1", "libxcb-cursor.so.0"}))
    result = machine.check("run", DISPLAY=":0")
    assert result.returncode == 1
    assert "sudo apt-get install -y --no-install-recommends libegl1 libxcb-cursor0\n" in result.stderr
    assert not machine.calls.exists()


def test_the_libraries_of_the_window_are_not_asked_for_where_none_opens(machine: Machine) -> None:
    machine.has(*(name for name in LIBRARIES if "xcb" not in name and "x11" not in name))
    assert machine.check("test", DISPLAY=":0").returncode == 0
    assert machine.check("run").returncode == 0
    assert machine.check("run", DISPLAY=":0").returncode == 1


def test_root_gets_them_installed_with_one_update(machine: Machine) -> None:
    with_apt(machine, brings=("libGL.so.1",))
    machine.program("id", "echo 0")
    machine.has(*(name for name in LIBRARIES if name != "libGL.so.1"))
    result = machine.check("test")
    assert result.returncode == 0, result.stderr
    calls = machine.calls.read_text("utf-8").splitlines()
    assert len(calls) == 2
    assert calls[0].startswith("noninteractive")
    assert calls[0].endswith("update")
    assert calls[1].endswith("install -y --no-install-recommends libgl1")


def test_an_installation_that_did_not_help_is_reported(machine: Machine) -> None:
    with_apt(machine)
    machine.program("id", "echo 0")
    machine.has(*(name for name in LIBRARIES if name != "libGL.so.1"))
    result = machine.check("test")
    assert result.returncode == 1
    assert "Still missing after apt: libGL.so.1." in result.stderr


def test_other_systems_are_reported_in_one_sentence(machine: Machine) -> None:
    machine.has(*(name for name in LIBRARIES if name != "libGL.so.1"))
    (machine.folder / "c++").unlink()
    result = machine.check("test")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "needs libGL.so.1, a C++ compiler:" in result.stderr


def test_a_bare_debian_gets_python_too(machine: Machine) -> None:
    with_apt(machine)
    (machine.folder / "python3").unlink()
    result = machine.check("test", PYTHON="python3")
    assert result.returncode == 1
    assert "--no-install-recommends python3 python3-venv\n" in result.stderr


def test_an_old_python_is_reported(machine: Machine) -> None:
    machine.program("python3.9", 'case "$*" in -V) echo "Python 3.9.2";; *) exit 1;; esac')
    result = machine.check("test", PYTHON="python3.9")
    assert result.returncode == 1
    assert "needs Python 3.11 or newer (Python 3.9.2)" in result.stderr


def test_a_python_without_venv_names_its_package(machine: Machine) -> None:
    with_apt(machine)
    machine.program("python3", f'case "$*" in *ensurepip*) exit 1;; *) exec "{sys.executable}" "$@";; esac')
    result = machine.check("test")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"--no-install-recommends python{version}-venv\n" in result.stderr
