"""Tests the help menu: copied diagnostics are useful and contain nothing of the chats."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication
from pytestqt.qtbot import QtBot

import app
from app.controllers.window.help_menu import diagnostics
from app.core.domain.settings.values import Settings
from app.core.logs import LOG_NAME
from app.core.paths import find_paths
from engine.records import DeviceUse, MemoryUse, Placement
from tests.app.fakes import AppHarness, info, open_app


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


def test_the_page_of_new_versions_is_opened_on_request_only(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    harness = open_app()
    assert opened == []
    action(harness, "Open the page of new versions").trigger()
    assert opened == ["https://github.com/paceline/paceline/releases"]
    harness.close()


def test_private_words_tokens_and_home_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    paths = find_paths()
    paths.logs.mkdir(parents=True)
    (paths.logs / LOG_NAME).write_text(f"opened {tmp_path}/models/x.gguf with hf_abcdefghijkl\n", encoding="utf-8")
    away = "engine:http://attic.lan:8000#org/model"
    settings = Settings().changed({"system_prompt": "You are my private cook.", "seed": 7, "target_path": away})[0]
    text = diagnostics(settings, (info(str(tmp_path / "t.gguf")), None), paths)
    assert [word for word in ("cook", "hf_abc", "attic", str(tmp_path)) if word in text] == []
    assert "system_prompt=(24 characters)" in text
    assert "~/models/x.gguf" in text
    assert "target_path=engine:(a server)#org/model" in text
    assert "draft: none" in text


def test_a_missing_log_and_the_placement_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.doctor.examine", lambda _paths: ())
    uses = (DeviceUse("CUDA0", 20, 5, 6, 7), DeviceUse("CUDA1", 8, 1, 1, 1), DeviceUse("CPU", 0, 2, 0, 0))
    memory = MemoryUse(8, 7, 8, uses)
    target = replace(info("t.gguf"), memory=memory, placement=Placement(cpu_moe_layers=3))
    text = diagnostics(Settings(), (target, None), find_paths())
    assert (
        ", 20 layers and 18 bytes on CUDA0, 8 layers and 3 bytes on CUDA1, experts of 3 layers in main memory" in text
    )
    assert "not readable" in text
