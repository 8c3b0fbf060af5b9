"""What an exported file is called: a title made into a name that every system takes."""

from __future__ import annotations

import re
import unicodedata

MARKDOWN, JSON = "markdown", "json"  # the forms of an export
MAX_NAME_CHARS = 80
MAX_NAME_BYTES = 200  # file systems take 255 bytes; a number, ".part" and an ending come on top
_FORBIDDEN = re.compile(r'[<>:"/\\|?*]+')
# Of Windows, with any ending: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE)
_JOINERS = "\u200c\u200d"  # of Persian words and of emoji; everything else that is not seen goes


def file_name(title: str, ending: str) -> str:
    """Make a file's name of a title, for every system: one part of a path, with nothing in it that is not seen."""
    seen = "".join(char if _is_visible(char) else " " for char in title[: 10 * MAX_NAME_CHARS])
    words = " ".join(_FORBIDDEN.sub(" ", seen).split()).strip(" .")[:MAX_NAME_CHARS]
    words = words.encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip(" .")
    if _RESERVED.fullmatch(words.split(".", 1)[0].strip()):
        words = f"Chat {words}"
    return f"{words or 'Chat'}.{ending}"


def _is_visible(char: str) -> bool:
    """Whether a character is no control, no mark of direction, no half of one and no separator of lines."""
    return char in _JOINERS or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
