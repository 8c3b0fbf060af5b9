"""Reads model headers, from the beginning of a remote file or from a local file.

Nothing is written; the engine parses the header.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.core.domain.models import RepoModel
from app.core.hub.client import FileSource
from app.core.hub.errors import HubUnreachableError
from app.core.hub.file_names import all_shards, model_name
from engine.errors import ModelHeaderError
from engine.gguf.head_files import head_method
from engine.gguf.header import GgufHeader, parse_header, read_header
from engine.gguf.hyperparameters import check_header, check_tokens
from engine.gguf.model_kind import check_writes_text
from engine.gguf.source import ReadAt, damaged_error, named_error, open_for_reading
from engine.gguf.token_weights import bytes_per_token
from engine.pictures.side_file import find_side_file

MAX_FETCHED_BYTES = 32 * 2**20  # the largest real headers, with 260,000 tokens and 500,000 merges, have about 20 MB
_ATTEMPTS = 3  # if the connection breaks


class CancelledReadError(ModelHeaderError):
    """The caller cancelled the read."""

    title = "Cancelled"
    default_advice = "Ask again if you need it."


class RemotePrefix:
    """The first bytes of a remote file, taken from a stream when a parser needs them."""

    def __init__(
        self, chunks: Iterator[bytes], file_size: int, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        self._chunks = chunks
        self._file_size = file_size
        self._should_stop = should_stop
        self._prefix = bytearray()

    def read_at(self, offset: int, num_bytes: int) -> bytes:
        """Return bytes as `ReadAt` does, up to the end of the file or the limit.

        Raises:
            ModelHeaderError: the limit is reached, or the source has fewer bytes than announced.
            CancelledReadError: the read was cancelled.
        """
        end = min(offset + num_bytes, self._file_size)
        while len(self._prefix) < end:
            if self._should_stop():
                raise CancelledReadError("Reading the header was cancelled.")
            have = len(self._prefix)
            if have >= MAX_FETCHED_BYTES:
                raise damaged_error("its header is longer than {max_bytes} MB", max_bytes=MAX_FETCHED_BYTES // 2**20)
            if not (chunk := next(self._chunks, b"")):
                size = self._file_size
                raise damaged_error("it ends after {have:,} of {file_size:,} bytes", have=have, file_size=size)
            self._prefix += chunk
        return bytes(self._prefix[offset:end])


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model with a known header; its weights need not be here. ``side``: the header of a local mmproj file."""

    name: str
    header: GgufHeader
    read_at: ReadAt  # up to the end of the header
    size_bytes: int  # sum of all parts
    num_parts: int = 1
    path: Path | None = None
    side: GgufHeader | None = None

    @property
    def weights_bytes(self) -> int:
        """Bytes of all tensors in all parts."""
        return self.header.weights_bytes if self.num_parts == 1 else max(self.size_bytes - self.header.data_offset, 0)

    @property
    def bytes_per_token(self) -> int:
        """Bytes of weights that a pass of one token reads; only used experts count."""
        read = bytes_per_token(self.header, self.weights_bytes if self.num_parts > 1 else None)
        return read if self.header.weights_bytes else self.weights_bytes


def read_remote_header(
    client: FileSource,
    repo_id: str,
    model: RepoModel,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    may_be_head: bool = False,
) -> KnownModel:
    """Read the header of a model on the hub, and close the connection at its end. Of several parts the first is read.

    ``may_be_head`` also accepts a head in a separate file (MTP, EAGLE-3).

    Raises:
        HubError: the hub could not deliver it.
        ModelFileError: it is no text model, or damaged; or the read was cancelled.
    """
    location = client.locate(repo_id, model.files[0].path)
    num_parts, size = len(model.files), location.size_bytes
    for attempt in range(_ATTEMPTS):
        if should_stop():
            raise CancelledReadError("Reading the header was cancelled.")
        try:
            with client.open(location, 0, min(MAX_FETCHED_BYTES, size)) as stream:
                read_at = RemotePrefix(stream.chunks(), size, should_stop).read_at
                header = _checked_header(read_at, size, model.name, may_be_head, is_whole=num_parts == 1)
        except HubUnreachableError:
            if attempt + 1 == _ATTEMPTS:
                raise
        except ModelHeaderError as error:
            raise named_error(error, model.name) from error
        else:
            all_bytes = model.size_bytes if model.size_bytes is not None and num_parts > 1 else size
            return KnownModel(model.name, header, read_at, max(all_bytes, 1), num_parts)
    raise AssertionError("the last attempt returns or raises")


def read_local_header(path: Path, *, may_be_head: bool = False) -> KnownModel:
    """Read the header of a local file; ``may_be_head`` as in `read_remote_header`.

    Raises:
        ModelFileError: it is no text model, damaged, or missing.
    """

    def read_again(offset: int, num_bytes: int) -> bytes:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(num_bytes)

    name, parts = model_name(path.name), all_shards(path)
    with open_for_reading(path) as (read_at, file_size):
        header = _checked_header(read_at, file_size, name, may_be_head, is_whole=len(parts) == 1)
        size_bytes = sum(part.stat().st_size for part in parts if part.exists())
    side = find_side_file(path)
    return KnownModel(name, header, read_again, size_bytes, len(parts), path, read_header(side) if side else None)


def _checked_header(read_at: ReadAt, file_size: int, name: str, may_be_head: bool, *, is_whole: bool) -> GgufHeader:
    header = parse_header(read_at, file_size)
    if not (may_be_head and head_method(header)):
        check_writes_text(header, name)
    if is_whole:  # the first of several parts may contain no weights
        check_header(header)
    check_tokens(header, read_at)
    return header
