"""Tests the tool servers in the settings."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from app.core.domain.settings.table import FIELD_BY_KEY, value_problem
from app.core.domain.tools.servers import Phase, ToolServer
from app.core.paths import assets_dir
from tests.app.fakes import keep_settings, open_app
from ui.settings.rows import MultiChoiceRow
from ui.settings.tool_server_requests import ToolServerRequests
from ui.settings.tool_servers import ToolServers
from ui.theme.theme import Theme

READY = ToolServer("files", "npx files", Phase.READY, log=("a warning",), is_on=True, tools=("read: <b>Reads</b>.",))


def test_a_server_is_shown_as_it_is(qtbot: QtBot) -> None:
    requests = ToolServerRequests()
    page = ToolServers(Theme(assets_dir() / "icons"), requests)
    qtbot.addWidget(page)
    assert not page.empty.isHidden()
    requests.read = lambda: (READY,)
    page.refresh()
    row = page.rows["files"]
    assert (row.state.text(), row.place.text(), row.switch.isChecked()) == ("Ready · 1 tool", "npx files", True)
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


def test_a_long_name_leaves_room_for_the_buttons(qtbot: QtBot) -> None:
    requests, name = ToolServerRequests(), "a server & its very long name " * 5
    requests.read = lambda: (replace(READY, name=name, sign_in="wanted"), replace(READY, name="files"))
    page = ToolServers(Theme(assets_dir() / "icons"), requests)
    qtbot.addWidget(page)
    row = page.rows[name]
    assert row.minimumSizeHint().width() < 620  # the dialog's width without its section list
    assert row.switch.text().startswith("a server && its")
    assert row.switch.text().endswith("…")
    assert row.switch.accessibleName() == name
    assert "its very long name" in row.switch.toolTip()
    assert (page.rows["files"].switch.text(), page.rows["files"].switch.toolTip()) == ("files", "")


def test_a_typed_server_is_on_and_pasted_ones_are_off(qtbot: QtBot) -> None:
    keep_settings({})
    harness = open_app()
    page = ToolServers(harness.window.theme, harness.window.tool_servers)
    qtbot.addWidget(page)
    page.line.setText("no-such-server --utc")
    page.add_button.click()
    page.line.setText(json.dumps({"mcpServers": {"notes": {"url": "https://example.com/mcp"}}}, indent=2))
    page.add_button.click()
    assert {name: row.switch.isChecked() for name, row in page.rows.items()} == {
        "no-such-server": True,
        "notes": False,
    }
    kept = json.loads(harness.paths.tool_servers_file.read_text())["mcpServers"]
    assert kept["no-such-server"]["command"] == "no-such-server"
    assert kept["no-such-server"]["args"] == ["--utc"]
    page.rows["notes"].remove.click()
    assert list(page.rows) == ["no-such-server"]
    page.line.setText("{broken")
    page.add_button.click()
    assert "not JSON" in harness.window.problems[-1].message
    harness.close()


def test_built_in_tools_are_switches(qtbot: QtBot) -> None:
    row = MultiChoiceRow(FIELD_BY_KEY["built_in_tools"])
    qtbot.addWidget(row)
    row.set_value("current_time")
    assert [name for name, box in row.boxes.items() if box.isChecked()] == ["current_time"]
    with qtbot.waitSignal(row.changed):
        row.boxes["calculate"].click()
    row.boxes["current_time"].click()
    assert row.value() == "calculate"
    assert not row.problem()
    assert "some of" in value_problem(row.field, "current_time, delete_all")


def test_signing_in_is_asked_for_by_a_click_and_shows_the_address(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    requests = ToolServerRequests()
    view = ToolServer("notes", "example.com", Phase.FAILED, "It asks you to sign in.", sign_in="wanted", is_on=True)
    views = [view]
    requests.read = lambda: tuple(views)
    page = ToolServers(Theme(assets_dir() / "icons"), requests)
    qtbot.addWidget(page)
    asked: list[tuple[str, str]] = []
    for what in ("sign_in_requested", "sign_in_stopped", "sign_out_requested"):
        getattr(requests, what).connect(lambda name, what=what: asked.append((what, name)))
    row = page.rows["notes"]
    assert (row.sign.text(), row.sign.isHidden()) == ("Sign in…", False)
    row.sign.click()
    requests.sign_in_page.emit("notes", "https://auth.example.com/authorize?state=a")
    assert opened == []  # not before the user has seen the address
    assert page.question is not None
    page.question.accept_button.click()
    assert opened == ["https://auth.example.com/authorize?state=a"]
    requests.sign_in_page.emit("notes", "https://auth.example.com/authorize?state=b")
    page.question.cancel_button.click()
    requests.sign_in_page.emit("notes", "file:///etc/passwd")
    assert len(opened) == 1
    for state, words in (("under way", "Stop signing in"), ("done", "Sign out")):
        views[0] = replace(view, sign_in=state)
        page.refresh()
        assert row.sign.text() == words
        row.sign.click()
    assert asked == [
        ("sign_in_requested", "notes"),
        *[("sign_in_stopped", "notes")] * 3,
        ("sign_out_requested", "notes"),
    ]
    views[0] = replace(view, sign_in="")
    page.refresh()
    assert row.sign.isHidden()
    qtbot.wait(10)  # the questions close before the page
