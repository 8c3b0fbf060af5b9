"""Reads and writes servers in an `mcp.json`, the format of Claude Desktop, LM Studio and others; their states.

    {"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server"], "env": {"KEY": "value"}, "cwd": "..."},
                    "notes": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ..."}}}}

``disabled`` prevents the start of a server; ``enabled``, Paceline's own key, allows the window to start it. ``timeout``
is the maximum time of a call without a progress message. Texts may contain ``${NAME}``, ``${env:NAME}`` and
``${NAME:-default}`` for environment variables, and begin with ``~`` for the home folder.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.core.storage.atomic import atomic_file
from app.core.tools.interface import ToolFileError
from app.core.tools.mcp.words import one_line
from app.core.tools.policy import BUILT_IN
from engine.sentences import Sentence, i18n

MAX_FILE_BYTES = 1_000_000
MAX_SERVERS = 100
_SERVER_KEYS = ("mcpServers", "servers")  # "servers" is VS Code's key
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(\s*[}\]])')
_VARIABLE = re.compile(r"\$\{(?:env:)?([\w/]+(?::(?!-)[\w-]+)?)(?::-([^{}]*))?\}")
_MAX_SECONDS = 3_600  # larger values of a timeout are milliseconds
# Programs that start other programs: the words before the started program, and options that have a value.
_RUNNER_NAMES = re.compile(r"env|npx|npm|pnpm|yarn|bunx|bun|deno|node|uvx|uv|pipx|python[\d.]*|py|docker|podman|cmd")
_RUNNER_SUBCOMMANDS = re.compile(r"tool|run|exec|dlx|x|/c|\w+=.*")
_OPTIONS_WITH_VALUE = re.compile(
    r"-[evpXW]|--(env|volume|mount|name|network|directory|project|with|from|package|python)"
)
_OTHER_TRANSPORTS = ("sse", "websocket", "ws")


@dataclass(frozen=True)
class ServerEntry:
    """A server: a ``command`` to start here, or a ``url``. ``enabled`` None: the file does not specify it.

    ``problem``: why the entry cannot be used. ``extra``: unknown keys, which are written back.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str = ""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    enabled: bool | None = None
    problem: str = ""
    extra: tuple[tuple[str, object], ...] = ()

    @property
    def timeout_s(self) -> float | None:
        """The maximum time of a call: ``timeout``, which some programs write in seconds and others in milliseconds."""
        given = dict(self.extra).get("timeout")
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < float("inf"):
            return None
        return max(1.0, given if given <= _MAX_SECONDS else given / 1000)

    @property
    def place(self) -> str:
        """The command, or the host of the address."""
        return one_line(" ".join((self.command, *self.args)) if self.command else (urlsplit(self.url).netloc), 200)


def read_entries_file(path: Path) -> tuple[ServerEntry, ...]:
    """Read the servers of a file; empty if the file does not exist.

    Raises:
        ToolFileError: the file cannot be read or has another format.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return ()
    except OSError as error:
        reason = error.strerror or error
        raise ToolFileError(i18n("{path} cannot be read: {reason}.", path=path, reason=reason)) from error
    if len(raw) > MAX_FILE_BYTES:
        raise ToolFileError(i18n("{path} has more than {most:,} bytes.", path=path, most=MAX_FILE_BYTES))
    try:
        return read_entries(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ToolFileError(i18n("{path} is not UTF-8 text.", path=path)) from error
    except ToolFileError as error:
        raise ToolFileError(i18n("{path}: {reason}", path=path, reason=error.message), error.advice) from error


def read_entries(text: str) -> tuple[ServerEntry, ...]:
    """Read the servers of a text, in order. Unusable entries have a `ServerEntry.problem`.

    Raises:
        ToolFileError: the text is no JSON or has no ``mcpServers``.
    """
    try:
        data = _parse_json(text)
    except (ValueError, RecursionError) as error:
        where = (
            i18n("line {line}", line=error.lineno) if isinstance(error, json.JSONDecodeError) else i18n("its nesting")
        )
        raise ToolFileError(i18n("It is not JSON: see {where}.", where=where)) from error
    servers = next((data[key] for key in _SERVER_KEYS if key in data), None) if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        raise ToolFileError(i18n("It has no object “mcpServers”."))
    if len(servers) > MAX_SERVERS:
        raise ToolFileError(i18n("It names more than {most} servers.", most=MAX_SERVERS))
    found: dict[str, ServerEntry] = {}
    for key, value in servers.items():
        name = _free_name(one_line(key) or "server", found)
        found[name] = _entry(name, value)
    return tuple(found.values())


def _parse_json(text: str) -> Any:  # noqa: ANN401  (JSON)
    """Parse JSON with comments and trailing commas, as many editors allow."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        bare = _COMMENT.sub(lambda found: found[1] or " ", text)
        try:
            return json.loads(_COMMA.sub(lambda found: found[1] or found[2], bare))
        except json.JSONDecodeError:
            pass
        raise


def entries_of_line(line: str) -> tuple[ServerEntry, ...]:
    """Make the entry for a command or an address that the user typed; or read the entries of a pasted ``mcp.json``.

    Raises:
        ToolFileError: as for `read_entries`.
    """
    if line.startswith("{"):
        return read_entries(line)
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if line.startswith(("http://", "https://")):
        return read_entries(json.dumps({_SERVER_KEYS[0]: {urlsplit(line).hostname or line: {"url": line}}}))
    config = {"command": words[0], "args": words[1:]} if words else {}
    return read_entries(json.dumps({_SERVER_KEYS[0]: {_name_of(words or [line]): config}}))


def _name_of(words: list[str]) -> str:
    """A name for a command: its program, or the program that it starts through a runner such as ``npx``."""
    named, is_value = words[0], False
    for word in words:
        is_runner = _RUNNER_NAMES.fullmatch(Path(word).name.removesuffix(".exe")) or _RUNNER_SUBCOMMANDS.fullmatch(word)
        if not (is_value or is_runner or word.startswith("-")):
            named = word
            break
        is_value = not is_value and _OPTIONS_WITH_VALUE.fullmatch(word) is not None
    name = Path(named).name
    return name[:1] + name[1:].partition("@")[0]  # remove the version


def written_entries(entries: Iterable[ServerEntry]) -> str:
    return json.dumps({"mcpServers": {one.name: _data_of(one) for one in entries}}, ensure_ascii=False, indent=2) + "\n"


def write_entries_file(path: Path, entries: Iterable[ServerEntry]) -> None:
    """Write the file, readable only by its owner, since entries may contain keys.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic_file(path, private=True) as file:
        file.write(written_entries(entries).encode())


def merge_imported(own: Iterable[ServerEntry], others: Iterable[ServerEntry]) -> tuple[ServerEntry, ...]:
    """Add the servers of another program's file, disabled, unless they are already in the list."""
    kept = {one.name: one for one in own}
    known = {identity_of(one) for one in kept.values()}
    for other in others:
        if identity_of(other) not in known:
            name = _free_name(other.name, kept)
            kept[name] = replace(other, name=name, enabled=False)
            known.add(identity_of(other))
    return tuple(kept.values())


def identity_of(entry: ServerEntry) -> tuple[object, ...]:
    """What identifies a server besides its name: its command or address."""
    return entry.command, entry.args, entry.env, entry.cwd, entry.url, entry.headers


def with_variables(entry: ServerEntry) -> tuple[ServerEntry, str]:
    """Fill in environment variables; returns the entry and the names of unset variables."""
    own = {name: value for name, value in entry.env if "${" not in value}
    known = {"userHome": str(Path.home()), "pathSeparator": os.sep, "/": os.sep, **os.environ, **own}
    not_set = list[str]()

    def value_of(found: re.Match[str]) -> str:
        if (value := known.get(found[1]) or found[2]) is None:
            not_set.append(found[0])
        return value or ""

    def filled(text: str) -> str:
        home = str(Path.home()) if text == "~" or text.startswith(("~/", f"~{os.sep}")) else ""
        return _VARIABLE.sub(value_of, home + text[1:] if home else text)

    def pairs(given: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((name, filled(one)) for name, one in given)

    made = replace(
        entry,
        command=filled(entry.command),
        args=tuple(map(filled, entry.args)),
        env=pairs(entry.env),
        cwd=filled(entry.cwd),
        url=filled(entry.url),
        headers=pairs(entry.headers),
    )
    complaint = made.problem or (_url_problem(made, "") if made.url else "")
    return replace(made, problem=complaint), one_line(", ".join(dict.fromkeys(not_set)), 200)


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    number, found = 1, name
    while found in taken or found.casefold() == BUILT_IN.casefold():
        number += 1
        found = f"{name} {number}"
    return found


def _entry(name: str, value: object) -> ServerEntry:
    if not isinstance(value, dict):
        return ServerEntry(name, problem=i18n("The entry is not an object."))
    flags = [value[key] is (key == "enabled") for key in ("disabled", "enabled") if isinstance(value.get(key), bool)]
    args = value["args"] if isinstance(value.get("args"), list) else []
    known = {"command", "args", "env", "cwd", "url", "headers", "disabled", "enabled"}
    entry = ServerEntry(
        name,
        command=_text(value, "command"),
        args=tuple(str(one) for one in args if isinstance(one, str | int | float)),
        env=_pairs(value, "env"),
        cwd=_text(value, "cwd"),
        url=_text(value, "url"),
        headers=_pairs(value, "headers"),
        enabled=flags[0] if flags else None,
        extra=tuple((key, one) for key, one in value.items() if key not in known),
    )
    return replace(entry, problem=_entry_problem(entry, value))


def _text(value: Mapping[str, object], key: str) -> str:
    found = value.get(key)
    return found.strip() if isinstance(found, str) else ""


def _pairs(value: Mapping[str, object], key: str) -> tuple[tuple[str, str], ...]:
    found = value.get(key)
    pairs = found.items() if isinstance(found, dict) else ()
    return tuple((str(name), str(one)) for name, one in pairs if isinstance(one, str | int | float))


def _entry_problem(entry: ServerEntry, value: Mapping[str, object]) -> Sentence | str:
    if bool(entry.command) == bool(entry.url):
        return i18n("The entry needs either a “command” or a “url”.")
    if not all(isinstance(value.get(key, kind()), kind) for key, kind in (("args", list), ("env", dict))):
        return i18n("“args” must be a list, and “env” an object.")
    if any(
        "\0" in text for text in (entry.command, entry.cwd, *entry.args, *(part for pair in entry.env for part in pair))
    ):
        return i18n("The entry contains a NUL character.")
    return _url_problem(entry, str(value.get("type", value.get("transport", "")))) if entry.url else ""


def _url_problem(entry: ServerEntry, transport: str) -> Sentence | str:
    try:
        parts = urlsplit(entry.url)
        host = parts.hostname
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        host = None
    if _VARIABLE.search(entry.url):  # checked again after the variables are filled in
        host, parts = "", urlsplit("https://filled")
    if host is None or parts.scheme not in ("http", "https"):
        return i18n("The address must begin with http:// or https://.")
    if parts.username is not None or parts.password is not None:
        return i18n("The address contains a user name or password. Put it into “headers”.")
    if transport.lower() in _OTHER_TRANSPORTS:
        return i18n(
            "The transport {name} is not supported: use the server's address for streamable HTTP.", name=transport
        )
    if any(not _HEADER.fullmatch(name) or not one.isprintable() or not one.isascii() for name, one in entry.headers):
        return i18n("A header contains characters that HTTP does not allow.")
    return ""


def _data_of(entry: ServerEntry) -> dict[str, object]:
    data: dict[str, object] = {"command": entry.command, "args": list(entry.args)} if entry.command else {}
    if entry.url:
        data["url"] = entry.url
    for key, pairs in (("env", entry.env), ("headers", entry.headers)):
        if pairs:
            data[key] = dict(pairs)
    if entry.cwd:
        data["cwd"] = entry.cwd
    if entry.enabled is not None:
        data["enabled"] = entry.enabled
    return {**data, **dict(entry.extra)}
