"""Tests whether a window can open, by platform and environment."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import window
from app.core.display import PACKAGES, has_display, missing_library


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", True),
        ({"QT_QPA_PLATFORM": "minimal:enable_fonts"}, "linux", True),
        ({"QT_QPA_PLATFORM": "xcb"}, "linux", False),
        ({}, "win32", True),
        ({}, "darwin", True),
    ],
)
def test_has_display(environ: dict[str, str], platform: str, expected: bool) -> None:
    assert has_display(environ, platform) is expected


LACKING = "libpaceline-lacks-this.so.0"
X11, WAYLAND = {"DISPLAY": ":0"}, {"WAYLAND_DISPLAY": "wayland-0"}


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Qt platform plugins: one with a missing library, and one that loads."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("makes libraries with a C compiler on Linux")
    (tmp_path / "empty.c").write_text("void paceline_nothing(void) {}\n")
    lacking = tmp_path / LACKING
    for made, more in ((lacking, []), (tmp_path / "libqxcb.so", [str(lacking)]), (tmp_path / "libqwayland.so", [])):
        command = [compiler, "-shared", "-fPIC", "-Wl,--no-as-needed", f"-Wl,-soname,{made.name}", "-o", str(made)]
        subprocess.run([*command, str(tmp_path / "empty.c"), *more], check=True)
    lacking.unlink()
    return tmp_path


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        (X11, "linux", LACKING),
        (WAYLAND, "linux", ""),
        ({**X11, **WAYLAND}, "linux", ""),  # Qt uses the other platform
        ({**X11, **WAYLAND, "QT_QPA_PLATFORM": "xcb"}, "linux", LACKING),
        ({**X11, "QT_QPA_PLATFORM": "offscreen"}, "linux", ""),
        (X11, "darwin", ""),
    ],
)
def test_a_library_that_qt_lacks_is_named(plugins: Path, environ: dict[str, str], platform: str, expected: str) -> None:
    assert missing_library(environ, platform, plugins) == expected


def test_it_is_named_in_a_bundle_too(plugins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = ctypes.CDLL

    def load_as_pyinstaller_does(name: str) -> ctypes.CDLL:
        try:
            return load(name)
        except OSError as error:
            raise OSError(f"Failed to load dynlib/dll {name!r}. Most likely it was not found.") from error

    monkeypatch.setattr(ctypes, "CDLL", load_as_pyinstaller_does)
    assert missing_library(X11, "linux", plugins) == LACKING


def test_what_is_missing_is_one_sentence_with_the_line_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(window, "has_display", lambda: True)
    monkeypatch.setattr(window, "missing_library", lambda: "libxcb-cursor.so.0")
    assert window.command() == 1
    told = capsys.readouterr().err
    assert "This system lacks libxcb-cursor.so.0, which Qt needs. Type: sudo apt install libxcb-cursor0" in told


def test_a_file_that_is_not_there_opens_no_window(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(window, "missing_library", lambda: "")
    assert window.command(file="no-such.gguf") == 1
    told = capsys.readouterr().err
    assert told == "paceline: This file cannot be opened: There is no file no-such.gguf. Check its name.\n"


def test_the_packages_are_those_that_the_set_up_installs() -> None:
    script = (Path(__file__).resolve().parents[3] / "packaging" / "setup" / "system.sh").read_text("utf-8")
    assert all(f"{library} {package}" in script for library, package in PACKAGES.items())
