"""The helper process that reads the text of a PDF: what it breaks harms nobody.

pypdf is imported here only. No word of the file goes anywhere but into the answer.
"""

from __future__ import annotations

import logging
from pathlib import Path

import pypdf

from engine.sandbox.limits import limit_memory, limit_time, write_no_files

_MEMORY_BYTES = 1_000_000_000  # beyond three times the file

_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (pypdf.errors.WrongPasswordError, "locked"),
    (pypdf.errors.DependencyError, "cipher"),  # AES without the library for it; most such files ask for no password
    (pypdf.errors.LimitReachedError, "memory"),  # a stream that unpacks to more than any page has
    (MemoryError, "memory"),
    (OSError, "gone"),
)


def main(words: list[str]) -> dict[str, object]:
    """Read the file that ``words`` name; then come the longest text in characters, and seconds of computing."""
    path, max_chars, seconds = Path(words[0]), int(words[1]), int(words[2])
    limit_time(seconds)
    write_no_files()
    logging.disable(logging.CRITICAL)
    return answer(path, max_chars)


def answer(path: Path, max_chars: int) -> dict[str, object]:
    """Give the text, or the kind of what went wrong."""
    try:
        limit_memory(3 * path.stat().st_size, _MEMORY_BYTES)
        with path.open("rb") as handle:
            reader = pypdf.PdfReader(handle)
            if reader.is_encrypted and not reader.decrypt(""):
                return {"error": "locked"}
            return _text(reader, max_chars)
    except Exception as error:  # noqa: BLE001  (whatever a strange file makes of a parser, it cannot be read)
        return {"error": next((kind for type_, kind in _KINDS if isinstance(error, type_)), "damaged")}


def _text(reader: pypdf.PdfReader, max_chars: int) -> dict[str, object]:
    pages: list[str] = []
    num_chars = num_damaged = 0
    for page in reader.pages:
        try:
            text = _clean(page.extract_text())
        except (MemoryError, OSError, pypdf.errors.LimitReachedError):
            raise
        except Exception:  # noqa: BLE001  (one damaged page; the others are read all the same)
            text, num_damaged = "", num_damaged + 1
        num_chars += len(text)
        if num_chars > max_chars:
            return {"error": "long"}
        pages.append(text)
    if num_damaged and num_damaged == len(pages):
        return {"error": "damaged"}
    kept = [text for text in pages if text]
    return {"text": "\n\n".join(kept), "pages": len(pages), "empty_pages": len(pages) - len(kept)}


def _clean(text: str) -> str:
    """Leave out what no text has: NULs, halves of characters, blanks at the ends of lines."""
    whole = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return "\n".join(line.rstrip() for line in whole.splitlines()).strip()
