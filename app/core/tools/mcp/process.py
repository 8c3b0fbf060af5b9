"""Runs an MCP server as a local program, connected by its standard streams, and ends it with all its child processes.

Unlike the MCP package's own transport it limits the size and rate of messages, keeps the last lines of stderr, and
passes only the needed environment. It also ends the program if this app is killed: on POSIX by a guard process
(`engine.sandbox.guard_child`), on Windows by the package's job object.
"""

import asyncio
import codecs
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from app.core.tools.interface import ToolServerError
from app.core.tools.mcp.entries import ServerEntry
from app.core.tools.mcp.limits import MESSAGE_BYTES, Limits, RateLimiter, ServerLog, has_too_many_values
from app.core.tools.mcp.results import repaired_message, too_many_values
from engine.sandbox.helper import child_command, child_environment
from engine.sentences import i18n, size_of

_CHUNK = 65_536
_STDERR_PAUSE_S = 0.01  # pause between chunks of stderr: at most 6 MB a second are read
# Variables that are passed besides the entry's own; none of them has a key, a password or a library path.
_INHERITED_ON_WINDOWS = (
    "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP"
    " TMP USERNAME USERPROFILE WINDIR"
)
_INHERITED_ELSEWHERE = "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER"
_INHERITED = frozenset((_INHERITED_ON_WINDOWS if sys.platform == "win32" else _INHERITED_ELSEWHERE).split())
_PACKAGES = {"npx": "Node.js", "npm": "Node.js", "node": "Node.js", "uvx": "uv", "uv": "uv", "docker": "Docker"}

Incoming = SessionMessage | Exception


def server_environment(entry: ServerEntry) -> dict[str, str]:
    """The entry's variables, plus the few that programs need to start."""
    kept = {name: value for name, value in os.environ.items() if name.upper() in _INHERITED}
    return {**kept, **dict(entry.env)}


def find_command(entry: ServerEntry) -> str:
    """The path of the entry's command.

    Raises:
        ToolServerError: the command or its folder does not exist.
    """
    if entry.cwd and not Path(entry.cwd).is_dir():
        words = i18n("Could not start “{name}”: there is no folder {folder}.", name=entry.name, folder=entry.cwd)
        raise ToolServerError(words, "Correct “cwd” in its entry.")
    path = shutil.which(entry.command, path=server_environment(entry).get("PATH"))
    if path is None and entry.cwd and os.sep in entry.command:
        path = shutil.which(str(Path(entry.cwd) / entry.command))
    if path is None:
        words = i18n(
            "Could not start “{name}”: the command “{command}” was not found.", name=entry.name, command=entry.command
        )
        package = _PACKAGES.get(Path(entry.command).stem.lower())
        advice = i18n("Install {package}, or correct the entry.", package=package) if package else None
        raise ToolServerError(words, advice or i18n("Install it or correct the entry."))
    return path


class ServerProcess:
    """A transport for the MCP package: entering it returns the message streams from and to the program."""

    def __init__(self, entry: ServerEntry, limits: Limits, log: ServerLog) -> None:
        self._entry, self._limits, self._log = entry, limits, log
        self._throttle = RateLimiter(limits.burst, limits.messages_per_s)
        self._process: Any = None  # a process of anyio, or on Windows of the package
        self._life: int | None = None  # our end of the pipe to the guard process
        self._tasks: list[asyncio.Task[None]] = []
        self._is_ending = False
        self.ended = asyncio.Event()  # set when the program has closed its output
        self.fault = ""  # why reading stopped
        self._begun = bytearray()  # the first lines of a message that spans several lines

    async def __aenter__(self) -> tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]:
        """Start the program.

        Raises:
            ToolServerError: the program cannot be started.
        """
        path = find_command(self._entry)
        try:
            await self._start(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            words = i18n("Could not start “{name}”: {reason}.", name=self._entry.name, reason=reason)
            raise ToolServerError(words, i18n("Correct its entry.")) from error
        incoming, self._received = anyio.create_memory_object_stream[Incoming](0)
        self._sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        for job in (self._read(incoming), self._write(outgoing), self._read_errors()):
            self._tasks.append(asyncio.create_task(job))
        return self._received, self._sent

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the program's input, then terminate it."""
        self._is_ending = True
        self._received.close()
        self._sent.close()
        try:
            with suppress(Exception):
                await self._process.stdin.aclose()
            await _wait_within(self._limits.kill_after_s, self._process.wait)
        finally:
            self._kill()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await _wait_within(self._limits.kill_after_s, self._process.wait)
            with suppress(Exception):
                await self._process.aclose()

    @property
    def status(self) -> int | None:
        """The exit status; None while the program runs."""
        status = self._process.returncode
        return None if status is None else int(status)

    async def last_status(self) -> int | None:
        """Wait briefly for the exit status; None if the program still runs."""
        await _wait_within(0.5, self._process.wait)
        return self.status

    async def _start(self, path: str) -> None:
        if sys.platform == "win32":
            from mcp.os.win32.utilities import create_windows_process  # noqa: PLC0415

            self._process = await create_windows_process(
                path,
                list(self._entry.args),
                server_environment(self._entry),
                cast("Any", subprocess.PIPE),
                self._entry.cwd or None,
            )
            return
        theirs, ours = os.pipe()
        try:
            self._process = await anyio.open_process(
                child_command("guard", str(theirs)),
                env=child_environment(bare=True),
                pass_fds=[theirs],
                start_new_session=True,  # the guard ends this process group
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._life = ours
        given = {
            "command": path,
            "args": self._entry.args,
            "env": server_environment(self._entry),
            "cwd": self._entry.cwd,
        }
        await asyncio.to_thread(_write_all, ours, json.dumps(given).encode() + b"\n")

    def _kill(self) -> None:
        if sys.platform == "win32":
            from mcp.os.win32.utilities import close_process_job  # noqa: PLC0415

            with suppress(ProcessLookupError, OSError):
                self._process.kill()
            close_process_job(self._process)
            return
        if self._life is not None:
            os.close(self._life)
            self._life = None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _read(self, incoming: MemoryObjectSendStream[Incoming]) -> None:
        """Forward messages until the program closes its output or sends a line that is too long."""
        try:
            async with incoming:
                await self._read_lines(lambda line: self._deliver(line, incoming))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            if not self._is_ending:
                self.ended.set()

    async def _read_lines(self, deliver: Callable[[bytes], Awaitable[None]]) -> None:
        parts, size = list[bytes](), 0
        while True:
            try:
                chunk = await self._process.stdout.receive(_CHUNK)
            except anyio.EndOfStream:
                return
            first, *more = chunk.split(b"\n")
            for next_part in more:
                line = b"".join((*parts, first))
                parts, size, first = [], 0, next_part
                if line.strip():
                    await deliver(line)
            parts.append(first)
            size += len(first)
            if size > MESSAGE_BYTES:
                self.fault = i18n("it wrote a message of more than {size}", size=size_of(MESSAGE_BYTES))
                return

    def _complete_message(self, line: bytes) -> bytes:
        """Collect the lines of a message; return the message at its last line, and nothing before."""
        bare = line.removeprefix(codecs.BOM_UTF8).rstrip()
        if bare == b"{":
            self._begun.clear()
        elif not self._begun or line.startswith((b"{", b"[")) or len(self._begun) > MESSAGE_BYTES:
            self._begun.clear()
            return line
        self._begun += line + b"\n"
        if bare != b"}":
            return b""
        whole = bytes(self._begun)
        self._begun.clear()
        return whole

    async def _deliver(self, line: bytes, incoming: MemoryObjectSendStream[Incoming]) -> None:
        await self._throttle.take(len(line))
        line = self._complete_message(line)
        if not line:
            return
        if await has_too_many_values(line):
            self.fault = too_many_values()
            raise anyio.BrokenResourceError
        try:
            message = jsonrpc_message_adapter.validate_json(repaired_message(line), by_name=False)
        except ValueError:
            self._log.add("(no message) " + line[:200].decode("utf-8", "replace"))
            return
        await incoming.send(SessionMessage(message))

    async def _write(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            async with outgoing:
                async for message in outgoing:
                    data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._process.stdin.send(data.encode() + b"\n")

    async def _read_errors(self) -> None:
        rest = b""
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            while self._process.stderr is not None:
                chunk = await self._process.stderr.receive(_CHUNK)
                *lines, rest = (rest[-_CHUNK:] + chunk).split(b"\n")
                for line in lines[-100:]:
                    self._log.add(line[:4096].decode("utf-8", "replace"))
                if len(chunk) == _CHUNK:
                    await asyncio.sleep(_STDERR_PAUSE_S)
        self._log.add(rest[:4096].decode("utf-8", "replace"))


async def _wait_within(seconds: float, wait: Callable[[], Awaitable[object]]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wait()


def _write_all(pipe: int, data: bytes) -> None:
    """Write all data: a pipe takes only 64 KiB at a time."""
    while data:
        data = data[os.write(pipe, data) :]
