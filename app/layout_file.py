"""The window's layout between two starts: a few bytes that only the window understands. Losing it costs nothing."""

from __future__ import annotations

import logging
from pathlib import Path

log = logging.getLogger(__name__)

MAX_BYTES = 1 << 20


def read_layout(path: Path) -> bytes:
    """Read the bytes; empty where there are none or too many."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        log.warning("The window's layout could not be read: %s", error)
        return b""
    return data if len(data) <= MAX_BYTES else b""


def write_layout(path: Path, data: bytes) -> bool:
    """Keep the bytes, all of them or none; False where that failed, and the next start has those kept before."""
    part = path.with_suffix(".part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        log.warning("The window's layout could not be kept: %s", error)
        return False
    return True
