"""Makes file names of titles that are valid on every system."""

import re
import unicodedata

MARKDOWN, JSON = "markdown", "json"  # export formats
MAX_NAME_CHARS = 80
MAX_NAME_BYTES = 200  # file systems allow 255 bytes; a number, an extension and ".part" are appended
_FORBIDDEN = re.compile(r'[<>:"/\\|?*]+')
# Device names of Windows, with any extension: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE)
_JOINERS = "\u200c\u200d"  # kept for Persian words and emoji; other invisible characters are removed


def file_name(title: str, ending: str) -> str:
    """Make a file name of a title, without invisible characters."""
    seen = "".join(char if _is_visible(char) else " " for char in title[: 10 * MAX_NAME_CHARS])
    words = " ".join(_FORBIDDEN.sub(" ", seen).split()).strip(" .")[:MAX_NAME_CHARS]
    words = words.encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip(" .")
    if _RESERVED.fullmatch(words.split(".", 1)[0].strip()):
        words = f"Chat {words}"
    return f"{words or 'Chat'}.{ending}"


def _is_visible(char: str) -> bool:
    """False for control characters, direction marks, lone surrogates and line separators."""
    return char in _JOINERS or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
