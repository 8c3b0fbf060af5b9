"""Tests the configuration file of tool servers, also files of other programs."""

import json
import os
import stat
from pathlib import Path

import pytest

from app.core.tools.interface import ToolFileError
from app.core.tools.mcp.entries import (
    MAX_FILE_BYTES,
    MAX_SERVERS,
    ServerEntry,
    entries_of_line,
    merge_imported,
    read_entries,
    read_entries_file,
    with_variables,
    write_entries_file,
    written_entries,
)

CLAUDE = """{"globalShortcut": "", "mcpServers": {
  "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/data"]},
  "weather": {"command": "uv", "args": ["run", "weather.py"], "env": {"KEY": "k", "PORT": 80}, "type": "stdio"}}}"""
LM_STUDIO = """{"mcpServers": {"hf": {"url": "https://huggingface.co/mcp", "headers": {"Authorization": "Bearer x"}
}}}"""


def test_the_usual_form_is_read() -> None:
    files, weather = read_entries(CLAUDE)
    expected = ServerEntry("filesystem", "npx", ("-y", "@modelcontextprotocol/server-filesystem", "/data"))
    assert files == expected
    assert (weather.env, weather.extra, weather.problem) == ((("KEY", "k"), ("PORT", "80")), (("type", "stdio"),), "")
    (remote,) = read_entries(LM_STUDIO)
    assert (remote.url, remote.headers) == ("https://huggingface.co/mcp", (("Authorization", "Bearer x"),))
    assert (remote.place, remote.problem) == ("huggingface.co", "")


def test_comments_and_commas_too_many_cost_no_server() -> None:
    text = """{ // my servers
      "servers": {"a": {"command": "x", "args": ["//no", "/*no*/", ",]", "\\"//"],}, /* and
        one more, */ "b": {"url": "https://a//b",},
      },
    }"""
    first, second = read_entries(text)
    assert (first.args, second.url) == (("//no", "/*no*/", ",]", '"//'), "https://a//b")


def test_what_is_written_is_read_again() -> None:
    entries = (*read_entries(CLAUDE), *read_entries(LM_STUDIO), ServerEntry("c", "x", cwd="/data", enabled=False))
    assert read_entries(written_entries(entries)) == entries


@pytest.mark.parametrize(
    ("flags", "enabled"),
    [
        ("", None),
        ('"disabled": true', False),
        ('"disabled": false', True),
        ('"enabled": true', True),
        ('"enabled": 1', None),
    ],
)
def test_it_says_whether_a_server_may_start(flags: str, enabled: bool | None) -> None:
    text = '{"mcpServers": {"a": {"command": "x"' + (", " + flags if flags else "") + "}}}"
    assert read_entries(text)[0].enabled is enabled


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{}", "either a “command” or a “url”"),
        ('{"command": "x", "url": "http://a"}', "either a “command” or a “url”"),
        ("3", "is not an object"),
        ('{"command": "x", "args": "y"}', "“args” must be a list"),
        ('{"command": "x\\u0000"}', "NUL character"),
        ('{"url": "ftp://a/b"}', "must begin with http"),
        ('{"url": "file:///etc/passwd"}', "must begin with http"),
        ('{"url": "http://"}', "must begin with http"),
        ('{"url": "http://a:b"}', "must begin with http"),
        ('{"url": "https://me:secret@a/mcp"}', "Put it into “headers”"),
        ('{"url": "https://a/sse", "type": "sse"}', "The transport sse is not supported"),
        ('{"url": "https://a", "headers": {"X": "a\\r\\nHost: b"}}', "A header contains characters"),
        ('{"url": "https://a", "headers": {"X Y": "a"}}', "A header contains characters"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_entry(entry: str, words: str) -> None:
    good, bad = read_entries('{"mcpServers": {"good": {"command": "x"}, "bad": ' + entry + "}}")
    assert good.problem == ""
    assert words in bad.problem


def test_variables_and_the_home_folder_are_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.setenv("HOST", "example.com")
    monkeypatch.delenv("GONE", raising=False)
    home = str(Path.home())
    text = """{"mcpServers": {"a": {"command": "~/bin/x", "cwd": "~", "env": {"KEY": "${env:TOKEN}", "N": "${GONE:-7}"},
        "args": ["${TOKEN}-${KEY2}", "a~", "${x + 1}", "$HOME", "${userHome}/d"]},
        "b": {"url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}"""
    first, second = read_entries(text)
    assert (first.problem, second.problem) == ("", "")
    assert "secret" not in written_entries((first, second)), "the file keeps the variables"
    made, not_set = with_variables(first)
    assert (made.command, made.cwd, made.env) == (f"{home}/bin/x", home, (("KEY", "secret"), ("N", "7")))
    assert made.args == ("secret-", "a~", "${x + 1}", "$HOME", f"{home}/d")
    assert not_set == "${KEY2}"
    made, not_set = with_variables(second)
    assert (made.url, made.headers, not_set) == ("https://example.com/mcp", (("Authorization", "Bearer secret"),), "")
    monkeypatch.setenv("HOST", "me:secret@a")
    assert "name or password" in with_variables(second)[0].problem


@pytest.mark.parametrize("variable", ["${GONE}", "${env:GONE}", "${input:key}", "${workspaceFolder}"])
def test_a_variable_that_is_not_set_is_named(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GONE", raising=False)
    assert with_variables(ServerEntry("x", "y", args=(f"a{variable}b",)))[1] == variable


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [("60", 60.0), ("600000", 600.0), ("0.2", 1.0), ("1e999", None), ("0", None), ("-5", None), ('"60"', None)],
)
def test_a_timeout_is_of_seconds_or_milliseconds(timeout: str, seconds: float | None) -> None:
    (entry,) = read_entries('{"mcpServers": {"a": {"command": "x", "timeout": ' + timeout + "}}}")
    assert (entry.timeout_s, entry.problem) == (seconds, "")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("uvx mcp-server-time --local-timezone UTC", "mcp-server-time"),
        ("npx -y @modelcontextprotocol/server-filesystem@1.2 /data /more", "server-filesystem"),
        ("npx -p x @scope/tool", "tool"),
        ("docker run -i --rm -e KEY mcp/fetch", "fetch"),
        ("uv --directory /x run weather.py", "weather.py"),
        ("python3.11 -m my_server --port 3", "my_server"),
        ("/opt/bin/server --name UTC", "server"),
        ("node", "node"),
        ("uvx --python 3.12 mcp-server-time", "mcp-server-time"),
        ("env TZ=UTC uvx mcp-server-time run UTC", "mcp-server-time"),
        ("python server.py run UTC", "server.py"),
        ("https://example.com/mcp", "example.com"),
    ],
)
def test_a_server_is_named_by_what_is_started(line: str, name: str) -> None:
    (entry,) = entries_of_line(line)
    assert (entry.name, entry.problem) == (name, "")
    assert entry.url == (line if "://" in line else "")


def test_a_pasted_file_is_read() -> None:
    assert entries_of_line(CLAUDE.replace("\n", " ")) == read_entries(CLAUDE)


def test_no_server_is_called_as_what_is_built_in_and_none_as_another() -> None:
    text = '{"mcpServers": {"Built in": {"command": "a"}, "x": {"command": "b"}, "x\\u202e": {"command": "c"}}}'
    assert [one.name for one in read_entries(text)] == ["Built in 2", "x", "x 2"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "It is not JSON: see line 1."),
        ("[" * 100_000, "It is not JSON"),
        ("[]", "It has no object “mcpServers”."),
        ('{"mcpServers": []}', "It has no object “mcpServers”."),
    ],
)
def test_a_file_that_is_none_is_told(text: str, words: str) -> None:
    with pytest.raises(ToolFileError) as caught:
        read_entries(text)
    assert words in caught.value.message


def test_files_are_bounded(tmp_path: Path) -> None:
    assert read_entries_file(tmp_path / "gone.json") == ()
    file = tmp_path / "mcp.json"
    file.write_bytes(b" " * (MAX_FILE_BYTES + 1))
    with pytest.raises(ToolFileError, match="more than"):
        read_entries_file(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ToolFileError, match="not UTF-8"):
        read_entries_file(file)
    many = {str(number): {"command": "x"} for number in range(MAX_SERVERS + 1)}
    file.write_text(json.dumps({"mcpServers": many}))
    with pytest.raises(ToolFileError, match="more than 100 servers"):
        read_entries_file(file)
    with pytest.raises(ToolFileError, match="cannot be read"):
        read_entries_file(tmp_path)


def test_the_own_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "config" / "mcp.json"
    write_entries_file(file, read_entries(LM_STUDIO))
    assert read_entries_file(file) == read_entries(LM_STUDIO)
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_imported_servers_are_off_and_come_once() -> None:
    own = read_entries('{"mcpServers": {"filesystem": {"command": "mine", "enabled": true}}}')
    both = merge_imported(own, read_entries(CLAUDE))
    assert [(one.name, one.enabled) for one in both] == [
        ("filesystem", True),
        ("filesystem 2", False),
        ("weather", False),
    ]
    assert merge_imported(both, read_entries(CLAUDE)) == both
