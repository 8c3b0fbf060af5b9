"""Pictures in separate files of other programs' exports: found by name, limited, decoded in a child process.

A missing, damaged or excessive picture is None; the text keeps the word `records.PICTURE`.
"""

import logging
import lzma
import re
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath

from app.core.domain.attachment_errors import FileUnreadableError
from app.core.domain.attachments import Attachment
from app.core.storage.exchange.records import clean_title
from app.core.storage.pictures import is_picture, picture_attachment
from engine.sandbox.picture import MAX_BYTES

MAX_PICTURES = 1_000  # limit of one import; each picture is decoded separately
MAX_READ_BYTES, MAX_KEPT_BYTES = 2 << 30, 512 << 20  # limits for all pictures: unpacked, and as stored
_MAX_NAMES = 100_000
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{3,200}")
_ENDS_ID = "-."  # a file's id ends where its name (-) or its extension (.) begins
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)
_LM_STUDIO = "user-files"  # beside the folder of conversations

log = logging.getLogger(__name__)


class PictureFiles:
    """The files of one import. ``names`` include folders; ``read`` returns the first bytes of a file."""

    def __init__(self, names: Iterable[str] = (), read: Callable[[str, int], bytes] = lambda _name, _most: b"") -> None:
        self._read = read
        self._names: dict[str, str] = {}  # by file name
        for name in islice(names, _MAX_NAMES):
            self._names.setdefault(PurePosixPath(name).name, name)
        self._starts = sorted(self._names)
        self._found: dict[str, Attachment | None] = {}
        self._num_read_bytes = self._num_kept_bytes = 0

    def named(self, name: str, shown: str = "") -> Attachment | None:
        """The picture in a file of this name; ``shown`` is the display name."""
        return self._picture(name, shown) if name in self._names and _NAME.fullmatch(name) else None

    def with_id(self, file_id: str, shown: str = "") -> Attachment | None:
        """The picture in the file whose name begins with an id: ``file-AbC-photo.png``, ``file-AbC.png``."""
        if not _NAME.fullmatch(file_id):
            return None
        for end in _ENDS_ID:
            place = bisect_left(self._starts, file_id + end)
            if place < len(self._starts) and self._starts[place].startswith(file_id + end):
                name = self._starts[place]
                return self._picture(name, shown or (name if end == "." else name[len(file_id) + 1 :]))
        return self._picture(file_id, shown) if file_id in self._names else None

    def _picture(self, name: str, shown: str) -> Attachment | None:
        if name not in self._found:
            self._found[name] = self._decoded(name, clean_title(shown) or name)
        return self._found[name]

    def _decoded(self, name: str, shown: str) -> Attachment | None:
        is_over = len(self._found) >= MAX_PICTURES
        if is_over or self._num_read_bytes > MAX_READ_BYTES or self._num_kept_bytes > MAX_KEPT_BYTES:
            return None
        try:
            data = self._read(self._names[name], MAX_BYTES + 1)
            self._num_read_bytes += len(data)
            if not is_picture(data[:16]):
                return None
            found = picture_attachment(shown, data)
        except (OSError, ValueError, RuntimeError, EOFError, FileUnreadableError, *_ARCHIVE_ERRORS) as error:
            log.warning("a picture of an import is left out: %s", type(error).__name__)
            return None
        self._num_kept_bytes += found.num_bytes
        return found


NO_FILES = PictureFiles()


def pictures_in_archive(archive: zipfile.ZipFile, entries: Iterable[zipfile.ZipInfo]) -> PictureFiles:
    """The files of a zip; its reported sizes are not trusted."""
    known: Mapping[str, zipfile.ZipInfo] = {entry.filename: entry for entry in entries if not entry.is_dir()}

    def read(name: str, most: int) -> bytes:
        with archive.open(known[name]) as handle:
            return handle.read(most)

    return PictureFiles(known, read)


def pictures_beside(file: Path) -> PictureFiles:
    """The files beside an unpacked export, or in LM Studio's folder."""
    folders = [file.parent, *(parent / _LM_STUDIO for parent in islice(file.parents, 4))]

    def names() -> Iterable[str]:
        for folder in folders:
            try:
                yield from (str(each) for each in islice(folder.iterdir(), _MAX_NAMES))
            except OSError:
                continue

    def read(name: str, most: int) -> bytes:
        path = Path(name)
        if path.is_symlink() or not path.is_file():
            return b""
        with path.open("rb") as handle:
            return handle.read(most)

    return PictureFiles(names(), read)
