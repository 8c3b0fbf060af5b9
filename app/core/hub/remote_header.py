"""Reads model headers, by ranges from the hub or from a local file.

Nothing is written; the engine parses the header.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.core.domain.models import DownloadRequest, RepoModel
from app.core.hub.client import DownloadSource
from app.core.hub.errors import HubAnswerError, HubUnreachableError
from app.core.hub.file_names import all_shards, model_name
from app.core.hub.links import LinkSource
from app.core.hub.records import RemoteLocation
from engine.errors import ModelHeaderError, ModelNotFoundError
from engine.gguf.head_files import head_method
from engine.gguf.header import GgufHeader, parse_header, read_header
from engine.gguf.hyperparameters import check_header, check_tokens
from engine.gguf.model_kind import check_writes_text
from engine.gguf.source import ReadAt, damaged_error, named_error, open_ordinary
from engine.gguf.token_weights import token_weights
from engine.pictures.side_file import find_side_file
from engine.sentences import i18n

MAX_FETCHED_BYTES = 32 * 2**20  # the largest real headers, with 260,000 tokens and 500,000 merges, have about 20 MB
FIRST_BLOCK_BYTES = 512 * 1024
LARGEST_BLOCK_BYTES = 4 * 2**20
FetchRange = Callable[[int, int], bytes]  # (start, end) -> bytes start to end (exclusive), or only the first ones
_ATTEMPTS = 3  # maximum requests for one range, if the connection breaks


# The start of a remote file is fetched in growing blocks, up to the end of its header.


class CancelledReadError(ModelHeaderError):
    """The caller cancelled the read."""

    title = "Cancelled"
    default_advice = "Ask again if you need it."


class RangeSource:
    """A source for `parse_header` that fetches more when the parser needs it.

    Every byte is fetched once, in order. Each block doubles the fetched length, within limits. So a header of n bytes
    needs at most 2 n bytes, and never more than n plus the largest block.
    """

    def __init__(
        self,
        fetch: FetchRange,
        file_size: int,
        max_bytes: int = MAX_FETCHED_BYTES,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._fetch = fetch
        self._file_size = file_size
        self._max_bytes = max_bytes
        self._should_stop = should_stop
        self._prefix = bytearray()

    @property
    def num_fetched(self) -> int:
        return len(self._prefix)

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
            if have >= self._max_bytes:
                raise damaged_error("its header is longer than {max_bytes} MB", max_bytes=self._max_bytes // 2**20)
            block = min(max(have, FIRST_BLOCK_BYTES), LARGEST_BLOCK_BYTES)
            data = self._fetch(have, min(have + block, self._file_size, self._max_bytes))
            if not data:
                raise damaged_error(
                    "it ends after {have:,} of {file_size:,} bytes", have=have, file_size=self._file_size
                )
            self._prefix += data[:block]
        return bytes(self._prefix[offset:end])


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model with a known header; its weights need not be on this machine. ``num_fetched``: bytes fetched for it.

    ``side``: the header of a local model's mmproj file.
    """

    name: str
    header: GgufHeader
    read_at: ReadAt  # up to the end of the header
    size_bytes: int  # sum of all parts
    num_parts: int = 1
    num_fetched: int = 0
    path: Path | None = None
    side: GgufHeader | None = None

    @property
    def weights_bytes(self) -> int:
        """Bytes of all tensors in all parts."""
        return self.header.weights_bytes if self.num_parts == 1 else max(self.size_bytes - self.header.data_offset, 0)

    @property
    def bytes_per_token(self) -> int:
        """Bytes of weights that a pass of one token reads; only used experts count."""
        read = token_weights(self.header, self.weights_bytes if self.num_parts > 1 else None).num_bytes
        return read if self.header.weights_bytes else self.weights_bytes


def read_remote_header(
    client: DownloadSource,
    repo_id: str,
    model: RepoModel,
    revision: str = "main",
    should_stop: Callable[[], bool] = lambda: False,
    *,
    may_be_head: bool = False,
) -> KnownModel:
    """Read the header of a model on the hub. Of a model in several parts only the first is read.

    ``may_be_head`` also accepts a head in a separate file (MTP, EAGLE-3).

    Raises:
        HubError: the hub could not deliver it.
        ModelFileError: it is no text model, or damaged; or the read was cancelled.
    """
    location = client.locate(repo_id, model.files[0].path, revision)
    return read_located_header(client, location, model, should_stop, may_be_head=may_be_head)


def read_located_header(
    client: DownloadSource,
    location: RemoteLocation,
    model: RepoModel,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    may_be_head: bool = False,
) -> KnownModel:
    """Read the header at a known location.

    Raises:
        HubError, ModelFileError: as in `read_remote_header`.
    """
    size = model.size_bytes if model.size_bytes is not None and len(model.files) > 1 else location.size_bytes
    source = RangeSource(_Ranges(client, location).fetch, location.size_bytes, MAX_FETCHED_BYTES, should_stop)
    return _read(source, location.size_bytes, KnownFile(model.name, max(size, 1), len(model.files)), may_be_head)


def judge_link(
    request: DownloadRequest, should_stop: Callable[[], bool] = lambda: False
) -> tuple[KnownModel, tuple[str, ...]]:
    """Read the header of a link's model; returns it with the contacted hosts, in order.

    Raises:
        HubError: the link cannot be used, or its server is unreachable.
        ModelFileError: the file is no text model or is damaged, or the check was cancelled.
    """
    source = LinkSource(request.url)
    try:
        located = source.inspect(request.repo_id, request.model.files[0].path)
        return read_located_header(source, located.location, request.model, should_stop), located.hosts
    finally:
        source.close()


def read_local_header(path: Path, *, may_be_head: bool = False) -> KnownModel:
    """Read the header of a local file; ``may_be_head`` as in `read_remote_header`.

    Raises:
        ModelFileError: it is no text model, damaged, or missing.
    """
    try:
        with open_ordinary(path) as file:
            size = file.seek(0, 2)

            def fetch(start: int, end: int) -> bytes:
                file.seek(start)
                return file.read(end - start)

            parts = all_shards(path)
            total = sum(part.stat().st_size for part in parts if part.exists())
            found = KnownFile(model_name(path.name), total, len(parts), path)
            known = _read(RangeSource(fetch, size), size, found, may_be_head)
            side = find_side_file(path)
            return known if side is None else replace(known, side=read_header(side))
    except OSError as error:
        raise ModelNotFoundError(
            i18n("{path} cannot be read: {reason}.", path=path, reason=error.strerror or error)
        ) from error


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A model before its header is read. The size is that of all its parts."""

    name: str
    size_bytes: int
    num_parts: int
    path: Path | None = None


def _read(source: RangeSource, file_size: int, file: KnownFile, may_be_head: bool) -> KnownModel:
    try:
        header = parse_header(source.read_at, file_size)
        if not (may_be_head and head_method(header)):
            check_writes_text(header, file.name)
        if file.num_parts == 1:  # the first of several parts may contain no weights
            check_header(header)
        check_tokens(header, source.read_at)
    except ModelHeaderError as error:
        raise named_error(error, file.name) from error
    return KnownModel(file.name, header, source.read_at, file.size_bytes, file.num_parts, source.num_fetched, file.path)


class _Ranges:
    """Ranges of one remote file, all of the same version."""

    def __init__(self, client: DownloadSource, location: RemoteLocation) -> None:
        self._client = client
        self._location = location
        self._etag = ""
        self._spent_bytes = 0

    @property
    def fetch(self) -> FetchRange:
        return self._fetch

    def _fetch(self, start: int, end: int) -> bytes:
        for attempt in range(_ATTEMPTS):
            try:
                return self._fetch_once(start, end)
            except HubUnreachableError:
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _fetch_once(self, start: int, end: int) -> bytes:
        data = bytearray()
        with self._client.open(self._location, start, end) as stream:
            if stream.start not in (0, start) or (self._etag and stream.etag != self._etag):
                raise HubAnswerError(i18n("{path} changed while its header was read.", path=self._location.path))
            self._etag = stream.etag
            skipped = start - stream.start  # a server without ranges sends the whole file
            self._spent_bytes += skipped + end - start
            if self._spent_bytes > MAX_FETCHED_BYTES and skipped:
                raise HubAnswerError("The server cannot send parts of files, so the header cannot be read on its own.")
            try:
                for chunk in stream.chunks():
                    data += chunk
                    if len(data) >= skipped + end - start:
                        break
            except HubUnreachableError:
                if len(data) <= skipped:  # the received bytes are kept, and the rest is requested again
                    raise
        return bytes(data[skipped : skipped + end - start])
