"""Devices of other machines over llama.cpp's RPC; ``rpc:host:port`` names a running ``rpc-server``.

llama.cpp aborts the process if it cannot connect, so this module contacts a server first, with llama.cpp's protocol
(`ggml-rpc.cpp`) and a timeout. A server handles one client at a time: other clients wait without an answer.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import logging
import re
import socket
import struct
import sys
from collections.abc import Iterable

from engine.errors import DeviceError
from engine.llama import library
from engine.sentences import Sentence, i18n

log = logging.getLogger(__name__)

PREFIX = "rpc:"
_ENDPOINT = re.compile(r"([A-Za-z0-9._-]+):([0-9]{1,5})")
_LIMIT_S = 5.0
_MAX_PORT = 65535
_HELLO, _CAPS_BYTES = 14, 24
_VERSION = (7, 0)  # RPC_PROTO_MAJOR_VERSION and _MINOR_VERSION of this llama.cpp
_ADVICE = "Check the address, and that “ggml-rpc-server” of the same llama.cpp runs there and serves no other program."
WARNING = i18n(
    "llama.cpp's RPC has no authentication and no encryption: anyone who reaches the port can read what is computed "
    "and use the machine. Keep it inside a network that you trust. If the connection breaks, llama.cpp ends the "
    "whole engine."
)

_CONNECTION_LOST = (
    "The connection to an RPC server broke, and llama.cpp ends the program with it; what was answered is stored."
)
_AbortCallback = ctypes.CFUNCTYPE(None, ctypes.c_char_p)

_devices: dict[str, tuple[int, ...]] = {}  # handles by endpoint, for the life of the process
_in_use: collections.Counter[str] = collections.Counter()  # number of models loaded on each endpoint


def is_remote(name: str) -> bool:
    return name.startswith(PREFIX)


def checked(name: str) -> str:
    """Validate the name of an RPC server and return it; raises `DeviceError`."""
    _endpoint(name)
    return name


def is_handle(handle: int) -> bool:
    return any(handle in handles for handles in _devices.values())


def is_supported() -> bool:
    return bool(library.start().llama_supports_rpc())


def connect(name: str) -> tuple[int, ...]:
    """Ggml's handles of the devices of the server ``name``.

    Raises:
        DeviceError: this build has no RPC, the name is invalid, or no server of this llama.cpp answers.
    """
    endpoint = _endpoint(name)
    ggml = library.ggml()
    if not is_supported() or ggml is None:
        raise DeviceError(
            i18n("This build of llama.cpp cannot use {name}: it has no RPC backend.", name=name),
            i18n("Compile it with CMAKE_ARGS=-DGGML_RPC=ON, or choose another device."),
        )
    if not _in_use[endpoint]:  # a server with our connection does not answer another
        _check_server(name, endpoint)
    if endpoint not in _devices:
        # Report aborts to the log and stderr, since ggml's own message is not visible in the window.
        with contextlib.suppress(AttributeError):
            ggml.ggml_set_abort_callback(_on_abort)
        address = ggml.ggml_backend_reg_get_proc_address(
            ggml.ggml_backend_reg_by_name(b"RPC"), b"ggml_backend_rpc_add_server"
        )
        server = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(address)(endpoint.encode("ascii"))
        if not server:
            raise DeviceError(i18n("The RPC server {name} has no devices.", name=name))
        number = ggml.ggml_backend_reg_dev_count(server)
        _devices[endpoint] = tuple(int(ggml.ggml_backend_reg_dev_get(server, index)) for index in range(number))
    return _devices[endpoint]


@_AbortCallback  # type: ignore[untyped-decorator]
def _on_abort(message: bytes) -> None:
    """Report why ggml is about to abort the program."""
    text = message.decode("utf-8", "replace")
    if "RPC" in text or "rpc" in text:
        text = f"{text}\n{_CONNECTION_LOST}"
    log.critical("%s", text)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"paceline: {text}\n")
        sys.stderr.flush()


def hold(names: Iterable[str]) -> None:
    """Record that a model was loaded on these devices, whose servers are then busy with this process."""
    _in_use.update(_endpoint(name) for name in names if is_remote(name))


def release(names: Iterable[str]) -> None:
    """Undo `hold`."""
    _in_use.subtract(_endpoint(name) for name in names if is_remote(name))


def _endpoint(name: str) -> str:
    found = _ENDPOINT.fullmatch(name.removeprefix(PREFIX)) if is_remote(name) else None
    if found is None or not 0 < int(found[2]) <= _MAX_PORT:
        raise DeviceError(
            i18n("{name} is not an RPC server: it has to be rpc:host:port.", name=name),
            i18n("An example is rpc:192.168.1.20:50052."),
        )
    return found[0]


def _check_server(name: str, endpoint: str) -> None:
    """Request the server's version; raises `DeviceError` if no compatible server answers."""
    host, _, port = endpoint.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=_LIMIT_S) as connection:
            connection.settimeout(_LIMIT_S)
            connection.sendall(struct.pack("<BQ", _HELLO, _CAPS_BYTES) + bytes(_CAPS_BYTES))
            # Receive ``num_bytes``, padded with zeros if the connection closes.
            num_bytes = 8 + 4 + _CAPS_BYTES
            parts = bytearray()
            while len(parts) < num_bytes:
                part = connection.recv(num_bytes - len(parts))
                if not part:
                    break
                parts += part
            answer = bytes(parts).ljust(num_bytes, b"\0")
    except TimeoutError as error:
        busy = i18n("The RPC server {name} does not answer; it may serve another program.", name=name)
        raise DeviceError(busy, i18n(_ADVICE)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise DeviceError(
            i18n("No RPC server answers at {name}: {reason}.", name=name, reason=reason), i18n(_ADVICE)
        ) from error
    size, major, minor = struct.unpack_from("<QBB", answer)
    if size != 4 + _CAPS_BYTES:
        raise DeviceError(i18n("The program at {name} is not an RPC server of llama.cpp.", name=name), i18n(_ADVICE))
    if major != _VERSION[0] or minor > _VERSION[1]:
        theirs, ours = f"{major}.{minor}", f"{_VERSION[0]}.{_VERSION[1]}"
        raise DeviceError(
            i18n(
                "The RPC server {name} speaks version {theirs}, and Paceline's llama.cpp {ours}.",
                name=name,
                theirs=theirs,
                ours=ours,
            ),
            i18n(_ADVICE),
        )


def warning(names: Iterable[str]) -> Sentence | None:
    """The security warning about RPC devices; None without such a device."""
    return WARNING if any(is_remote(name) for name in names) else None
