"""What a terminal is given: text without control characters, which a model or a file name could steer it by.

Colours are our own, and only where a terminal shows them and nobody asked for none (NO_COLOR, https://no-color.org).
"""

from __future__ import annotations

import os
import re
from enum import StrEnum
from typing import Any, TextIO

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OWN = re.compile("\r(?:\x1b\\[K)?")  # how a line of progress begins


def harmless(text: str) -> str:
    """``text`` with signs in the place of control characters; line ends and tabs stay."""
    return _CONTROLS.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"


class Style(StrEnum):
    """How words stand out, by the parameters of the terminal's SGR sequence. What they mean they say as well."""

    STRONG = "1"
    FAINT = "2"
    BAD = "1;31"
    GOOD = "32"
    WARN = "33"
    NAME = "36"


def write_styled(stream: TextIO, text: str, style: Style) -> None:
    """Write words that stand out where the stream is a terminal that has colours, and plain ones elsewhere."""
    if isinstance(stream, TerminalStream):
        stream.write_styled(text, style)
    else:
        stream.write(text)


class TerminalStream:
    """A stream to a terminal that writes `harmless` text. Everything else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._has_colors = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def write_styled(self, text: str, style: Style) -> None:
        """Write it so that it stands out."""
        text = harmless(text)
        self._stream.write(f"\x1b[{style}m{text}\x1b[0m" if self._has_colors and text else text)

    def write(self, text: str) -> int:
        """Write it; a line of progress may begin at the start of its line."""
        own = _OWN.match(text)
        begin = own[0] if own else ""
        self._stream.write(begin + harmless(text[len(begin) :]))
        return len(text)

    def move_up(self, num_lines: int) -> None:
        """Move the cursor up ``count`` lines, to the first column, to overwrite them."""
        self._stream.write(f"\r\x1b[{num_lines}A")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the stream has)
        return getattr(self._stream, name)
