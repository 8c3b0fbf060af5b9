"""Text for a terminal, without control characters of models or file names.

Colours are used on a terminal that shows them, unless the user disabled them (NO_COLOR, https://no-color.org).
"""

import os
import re
import sys
from enum import StrEnum
from typing import Any, TextIO

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PROGRESS_START = re.compile("\r(?:\x1b\\[K)?")  # how this program starts a progress line


def replace_controls(text: str) -> str:
    """Replace control characters by visible symbols; line ends and tabs stay."""
    return _CONTROLS.sub(_symbol, text)


def _symbol(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"


class Style(StrEnum):
    """SGR parameters of the terminal. Text must be understandable without colours."""

    STRONG = "1"
    FAINT = "2"
    BAD = "1;31"
    GOOD = "32"
    WARN = "33"


def write_styled(stream: TextIO, text: str, style: Style) -> None:
    """Write highlighted text on a terminal with colours, plain text elsewhere."""
    if isinstance(stream, TerminalStream):
        stream.write_styled(text, style)
    else:
        stream.write(text)


def print_styled(line: str, style: Style) -> None:
    write_styled(sys.stderr, line, style)
    print(file=sys.stderr)


class TerminalStream:
    """A terminal stream that replaces control characters with `replace_controls`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._has_colors = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def write_styled(self, text: str, style: Style) -> None:
        text = replace_controls(text)
        self._stream.write(f"\x1b[{style}m{text}\x1b[0m" if self._has_colors and text else text)

    def write(self, text: str) -> int:
        """Write text; the carriage return of a progress line is allowed."""
        own = _PROGRESS_START.match(text)
        begin = own[0] if own else ""
        self._stream.write(begin + replace_controls(text[len(begin) :]))
        return len(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the stream has)
        return getattr(self._stream, name)
