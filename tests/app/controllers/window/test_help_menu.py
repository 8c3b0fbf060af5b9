"""Tests the help menu: copied diagnostics are useful and contain nothing of the chats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication
from pytestqt.qtbot import QtBot

import app
from app.controllers.window.diagnostics import diagnostics
from app.core.domain.settings.values import Settings
from engine.records import DeviceUse, MemoryUse, Placement
from tests.app.fakes import AppHarness, info, open_app

LIBRARY: dict[str, Any] = {"libraries": [], "gpus": []}


def action(harness: AppHarness, text: str) -> QAction:
    return next(item for item in harness.window.sidebar.help_button.popup_menu.actions() if item.text() == text)


def test_diagnostics_are_copied_without_what_was_said(qtbot: QtBot) -> None:
    harness = open_app()
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)
    harness.window.composer.submitted.emit("a secret of mine")
    QGuiApplication.clipboard().clear()
    action(harness, "Copy diagnostics").trigger()
    qtbot.waitUntil(lambda: bool(QGuiApplication.clipboard().text()))
    text = QGuiApplication.clipboard().text()
    assert f"Paceline {app.__version__}" in text
    assert "target: target.gguf, llama" in text
    assert "draft: draft.gguf" in text
    assert "temperature=0.8" in text
    assert "secret" not in text
    assert "copied" in harness.window.notices[-1]
    harness.close()


def test_the_log_folder_is_opened_or_named(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = open_app()
    opened: list[QUrl] = []

    def refuse(url: QUrl) -> bool:
        opened.append(url)
        return False

    monkeypatch.setattr(QDesktopServices, "openUrl", refuse)
    action(harness, "Open the log folder").trigger()
    assert Path(opened[0].toLocalFile()).name in harness.window.notices[-1]
    harness.close()


def test_private_words_tokens_and_home_are_blotted_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    log = tmp_path / "paceline.log"
    log.write_text(f"opened {tmp_path}/models/x.gguf with hf_abcdefghijkl\n", encoding="utf-8")
    settings = Settings().changed({"system_prompt": "You are my private cook.", "seed": 7})[0]
    text = diagnostics(settings, (info(str(tmp_path / "t.gguf")), None), log, LIBRARY)
    assert "cook" not in text
    assert "system_prompt=(24 characters)" in text
    assert "hf_abc" not in text
    assert "~/models/x.gguf" in text
    assert "draft: none" in text


def test_the_libraries_in_use_are_named(tmp_path: Path) -> None:
    libraries = ["ANOTHER library: libggml-cpu.so.0 (build 0123456789ab)", "the package’s libllama.so (build ba98)"]
    text = diagnostics(Settings(), (None, None), tmp_path / "none.log", LIBRARY | {"libraries": libraries})
    assert f"llama.cpp's libraries: {libraries[0]}, {libraries[1]}\n" in text
    text = diagnostics(Settings(), (None, None), tmp_path / "none.log", LIBRARY)
    assert "llama.cpp's libraries: not known on this system\n" in text


def test_a_llama_cpp_that_does_not_load_is_reported(tmp_path: Path) -> None:
    text = diagnostics(Settings(), (None, None), tmp_path / "none.log", {"error": "no such symbol"})
    assert "llama.cpp's libraries: cannot be loaded: no such symbol\ndevices: not known\n" in text


def test_a_missing_log_is_said(tmp_path: Path) -> None:
    assert "not readable" in diagnostics(Settings(), (None, None), tmp_path / "none.log", LIBRARY)


def test_devices_are_named_and_addresses_are_not(tmp_path: Path) -> None:
    gpus = [
        {"name": "CUDA0, NVIDIA RTX 4090", "total_bytes": 24 * 10**9, "free_bytes": 20 * 10**9},
        {"name": "Vulkan0, Radeon", "total_bytes": None, "free_bytes": None},
    ]
    away = "engine:http://attic.lan:8000#org/model"
    settings = Settings().changed({"device": "rpc:attic.lan:50052, CUDA0", "target_path": away})[0]
    uses = (DeviceUse("CUDA0", 20, 5, 6, 7), DeviceUse("RPC0", 8, 1, 1, 1), DeviceUse("CPU", 0, 2, 0, 0))
    memory = MemoryUse(8, 7, 8, uses)
    target = replace(info("t.gguf"), memory=memory, placement=Placement(cpu_moe_layers=3))
    text = diagnostics(settings, (target, None), tmp_path / "none.log", LIBRARY | {"gpus": gpus})
    told = "devices: CUDA0, NVIDIA RTX 4090 (20.0 of 24.0 GB free); Vulkan0, Radeon (memory not known)\n"
    assert told in text
    assert ", 20 layers and 18 bytes on CUDA0, 8 layers and 3 bytes on RPC0, experts of 3 layers in main memory" in text
    assert "attic" not in text
    assert "device=rpc:(a server), CUDA0" in text
    assert "target_path=engine:(a server)#org/model" in text
    text = diagnostics(settings, (None, None), tmp_path / "none.log", LIBRARY)
    assert "devices: the processor alone\n" in text
