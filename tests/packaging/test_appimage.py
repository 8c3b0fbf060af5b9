"""Tests the AppImage: a runtime followed by the packed folder."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.scripts import load_script

script = load_script("bundle/build.py")


@pytest.mark.skipif(shutil.which("mksquashfs") is None, reason="mksquashfs is not installed (squashfs-tools)")
def test_the_file_is_the_runtime_and_then_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dist" / "paceline" / "paceline"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    runtime = tmp_path / "runtime"
    runtime.write_bytes(os.urandom(4096))
    monkeypatch.setattr(script, "DIST", tmp_path / "dist")
    monkeypatch.setattr(script, "BUILD", tmp_path)
    monkeypatch.setenv("APPIMAGE_RUNTIME", str(runtime))
    script.make_appimage()
    (made,) = (tmp_path / "dist").glob("*.AppImage")
    assert made.read_bytes()[:4096] == runtime.read_bytes()
    assert os.access(made, os.X_OK)
    listed = subprocess.run(["unsquashfs", "-l", "-o", "4096", made], check=True, capture_output=True, text=True).stdout
    names = {line.removeprefix("squashfs-root/") for line in listed.splitlines()}
    assert {"AppRun", "paceline", "paceline.desktop", "paceline.png"} <= names


def test_without_a_runtime_none_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "DIST", tmp_path)
    monkeypatch.delenv("APPIMAGE_RUNTIME", raising=False)
    script.make_appimage()
    assert not list(tmp_path.iterdir())
