"""The API key of the server: given by the user, or generated at the first start and stored in a private file."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from app.core.domain.errors import AppError
from app.core.storage.atomic import atomic_file
from engine.sentences import i18n

VARIABLE = "PACELINE_API_KEY"
MAX_KEY_CHARS = 512
_NUM_BYTES = 32


def find_key(option: str | None, environ: Mapping[str, str], file: Path) -> tuple[str, bool]:
    """Returns the key, and True if it was generated now and written to ``file``.

    Raises:
        AppError: the key is invalid, or its file cannot be used or is readable by others.
    """
    if given := option if option is not None else environ.get(VARIABLE, ""):
        return _checked(given, "It"), False
    if option is not None:
        raise AppError("The key is empty.", "Give another one, or leave --key out.")
    try:
        if file.exists():
            if os.name == "posix" and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                message = i18n("Others may read the key in {file}.", file=file)
                raise AppError(message, "Delete the file: the next start makes a new key.")
            with file.open("rb") as handle:
                text = handle.read(MAX_KEY_CHARS + 2).decode("ascii", "replace").strip()
            return _checked(text, f"What stands in {file}"), False
    except OSError as error:
        raise _write_error(file, error) from error
    return new_key(file), True


def new_key(file: Path) -> str:
    """Generate a key and replace the key in ``file``.

    Raises:
        AppError: the file cannot be written.
    """
    import secrets  # noqa: PLC0415  (it brings hashlib, which the window's start has no use for)

    key = secrets.token_urlsafe(_NUM_BYTES)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic_file(file, private=True) as handle:
            handle.write(f"{key}\n".encode())
    except OSError as error:
        raise _write_error(file, error) from error
    return key


def _write_error(file: Path, error: OSError) -> AppError:
    message = i18n("The key cannot be kept in {file}: {reason}.", file=file, reason=error.strerror or error)
    return AppError(message, i18n("Give one in {variable}.", variable=VARIABLE))


def _checked(key: str, what: str) -> str:
    """Return the key if it is valid in a header; else raise an error."""
    if not key or len(key) > MAX_KEY_CHARS or not all("!" <= char <= "~" for char in key):
        message = f"{what} is no key: 1 to {MAX_KEY_CHARS} letters, digits and signs of ASCII, no spaces."
        raise AppError(message, "Give another one.")
    return key
