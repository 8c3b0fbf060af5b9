"""The servers of tools in the settings."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.domain.tools.servers import ToolServerView
from app.paths import assets_dir
from tests.app.fakes import keep_settings, open_app
from ui.settings.tool_server_requests import ToolServerRequests
from ui.settings.tool_servers import ToolServers
from ui.theme.theme import Theme

READY = ToolServerView("files", "npx files", True, "ready", "", ("read: <b>Reads</b>.",), ("a warning",))


def test_a_server_is_shown_as_it_is(qtbot: QtBot) -> None:
    requests = ToolServerRequests()
    page = ToolServers(Theme(assets_dir() / "icons"), requests)
    qtbot.addWidget(page)
    assert not page.empty.isHidden()
    requests.read = lambda: (READY,)
    page.refresh()
    row = page.rows["files"]
    assert (row.state.text(), row.place.text(), row.switch.isChecked()) == ("Ready · tools: 1", "npx files", True)
    assert row.place.textFormat() is Qt.TextFormat.PlainText
    row.more.click()
    assert row.details is not None
    assert "read: <b>Reads</b>." in row.details.toPlainText()
    assert "a warning" in row.details.toPlainText()
    asked = []
    requests.switched.connect(lambda name, on: asked.append((name, on)))
    requests.restart_requested.connect(asked.append)
    row.switch.click()
    row.restart.click()
    assert asked == [("files", False), "files"]


def test_servers_are_added_switched_off_imported_and_removed(qtbot: QtBot) -> None:
    keep_settings({})
    harness = open_app()
    other = harness.paths.config / "other.json"
    other.write_text(json.dumps({"mcpServers": {"notes": {"url": "https://example.com/mcp"}}}))
    page = ToolServers(harness.window.theme, harness.window.tool_servers)
    qtbot.addWidget(page)
    page.line.setText("uvx mcp-server-time --utc")
    page.add_button.click()
    harness.window.tool_servers.import_requested.emit(str(other))
    page.refresh()
    assert {name: row.switch.isChecked() for name, row in page.rows.items()} == {
        "mcp-server-time": False,
        "notes": False,
    }
    kept = json.loads(harness.paths.tool_servers_file.read_text())["mcpServers"]
    assert kept["mcp-server-time"]["command"] == "uvx"
    assert kept["mcp-server-time"]["args"] == ["mcp-server-time", "--utc"]
    page.rows["notes"].remove.click()
    assert list(page.rows) == ["mcp-server-time"]
    harness.close()
