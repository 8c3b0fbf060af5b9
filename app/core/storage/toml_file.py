"""A small TOML file of the user: limited in size, written atomically, renamed if damaged."""

import errno
import logging
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.core.domain.errors import SettingsWriteError
from app.core.storage.atomic import atomic_file, sync
from engine.records import Problem
from engine.sentences import i18n

log = logging.getLogger(__name__)

MAX_BYTES = 16_000_000
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The document (empty without a file), and a problem to show."""

    document: dict[str, Any] = field(default_factory=dict)
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file. ``what``: its name in messages ("settings"). ``without``: says what is used without it."""

    path: Path
    what: str
    without: str

    def read(self) -> ReadResult:
        """Read the document. A damaged file is renamed, an unreadable file stays; both give a problem."""
        import tomllib  # noqa: PLC0415  (a start without settings has none to read)

        try:
            if _size_of(self.path) > MAX_BYTES:
                return ReadResult(
                    problem=self._set_aside(i18n("it has more than {limit} MB", limit=MAX_BYTES // 1_000_000))
                )
            return ReadResult(tomllib.loads(self.path.read_bytes().decode("utf-8-sig")))
        except FileNotFoundError:
            return ReadResult()
        except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or a number with thousands of digits
            return ReadResult(problem=self._set_aside(str(error).partition("\n")[0][:200]))
        except OSError as error:
            advice = i18n("Paceline continues with {without}; check the file's permissions.", without=self.without)
            message = i18n("{path}: {reason}.", path=self.path, reason=error.strerror or error)
            return ReadResult(problem=Problem(i18n("The {what} could not be read", what=self.what), message, advice))

    def write(self, document: Mapping[str, Any]) -> None:
        """Write the file atomically; a link is followed.

        An unreadable file is renamed and not overwritten, since its contents are unknown.

        Raises:
            SettingsWriteError: it cannot be written; the old file is unchanged.
        """
        import tomli_w  # noqa: PLC0415  (most starts write none)

        text = tomli_w.dumps(document).encode("utf-8", "replace")  # lone surrogates become question marks
        try:
            place = Path(os.path.realpath(self.path))  # the path may be a link to a user's settings
            place.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(place, private=True) as file:
                file.write(text)
                sync(file)  # before the old file is replaced
                _set_unreadable_aside(place)
        except OSError as error:
            raise SettingsWriteError(
                i18n("{path}: {reason}.", path=self.path, reason=error.strerror or error)
            ) from error

    def _set_aside(self, why: str) -> Problem:
        path = self.path
        aside = _backup_path(path, "broken")
        try:
            path.rename(aside)
        except OSError as error:
            kept = i18n(
                "It could not be renamed ({reason}) and is overwritten at the next change.",
                reason=error.strerror or error,
            )
        else:
            kept = i18n("It is kept as {aside}.", aside=aside.name)
        return Problem(
            i18n("The {what} file is damaged", what=self.what),
            i18n("{path} could not be read: {reason}. {kept}", path=path.name, reason=why, kept=kept),
            i18n("Paceline continues with {without}; set yours again, or repair the kept file.", without=self.without),
        )


def _backup_path(path: Path, why: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return path.with_name(f"{path.stem}.{why}-{stamp}{path.suffix}")


def _set_unreadable_aside(place: Path) -> None:
    """Rename a regular file that may not be read.

    Raises:
        OSError: the folder is not writable.
    """
    if not place.is_file():
        return
    try:
        with place.open("rb"):
            return
    except PermissionError:
        aside = _backup_path(place, "unread")
        place.rename(aside)
    log.warning("%s may not be read and was kept as %s.", place.name, aside.name)


def _size_of(path: Path) -> int:
    """The size of a file.

    Raises:
        OSError: the file is missing, or is a pipe or device, which could block.
    """
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, i18n("it is not a regular file"))
    return facts.st_size


class DocumentSaver:
    """Writes one file repeatedly; reports a failure only once."""

    def __init__(self, file: TomlFile, on_problem: Callable[[Problem], None]) -> None:
        self._file = file
        self._on_problem = on_problem
        self._failed = False

    def save(self, document: Mapping[str, Any]) -> None:
        try:
            self._file.write(document)
        except SettingsWriteError as error:
            log.warning("%s could not be saved: %s", self._file.path.name, error)
            if not self._failed:
                self._on_problem(error.problem)
            self._failed = True
        else:
            self._failed = False


class TableFile:
    """A file with a list of tables under ``key``. ``tables``: None without the list."""

    def __init__(self, file: TomlFile, key: str, on_problem: Callable[[Problem], None]) -> None:
        self._saver, self._key = DocumentSaver(file, on_problem), key
        read = file.read()
        self.problem = read.problem
        found = read.document.get(key)
        self.tables = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else None

    def save_tables(self, tables: list[dict[str, Any]]) -> None:
        self.tables = tables
        self._saver.save({"schema": SCHEMA, self._key: tables})
