"""Downloads models from direct links, with the interface of a hub.

A link must be https, or http on this machine. No token or user name is ever sent. The server is untrusted: it has to
announce a length, and its answer must be a file. A redirect may lead to another host, but must not drop encryption, nor
lead from the internet to this machine or its local network.
"""

import hashlib
import ipaddress
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, urljoin, urlsplit

from app.core.domain.engines import is_this_machine
from app.core.domain.models import DownloadRequest, RepoFile
from app.core.hub.addresses import content_range, host_of, origin
from app.core.hub.client import (
    MAX_REDIRECTS,
    MAX_SIZE_BYTES,
    PLAIN_HEADERS,
    REDIRECTS,
    TIMEOUT_S,
    ByteStream,
    FileSource,
    busy_error,
    check_body,
    check_plain,
    strong_etag,
)
from app.core.hub.errors import HubAnswerError, HubBytesError, LinkRefusedError, UnsafeNameError
from app.core.hub.file_names import MAGIC, group_models, is_gguf, safe_parts, shard_of, short
from app.core.hub.records import RemoteLocation
from engine.sentences import i18n

# A type of the HTTP library, which only `app.core.hub.client` imports.
Response: TypeAlias = Any

UNNAMED = "model.gguf"
MIN_SIZE_BYTES = 32


def check_link(address: str) -> str:
    """Check an address; returns it without its fragment.

    Raises:
        LinkRefusedError: the address is not allowed.
    """
    text = address.strip().partition("#")[0]
    try:
        scheme, host, _port = origin(text)
    except HubAnswerError as error:
        raise LinkRefusedError(
            i18n("{address} is not an https address.", address=short(text)),
            "Copy the link of the file itself; it begins with https:// and names no user.",
        ) from error
    if scheme != "https" and not is_this_machine(host):
        raise LinkRefusedError(
            i18n("The link to {host} is not encrypted, so the file could be changed on its way.", host=host),
            "Use the https address. Plain http is for this computer only.",
        )
    return text


def request_of(address: str) -> DownloadRequest:
    """Make the download request of a link. A link to the first shard means all shards.

    Raises:
        LinkRefusedError: the address is not allowed, or is a later shard.
    """
    address = check_link(address)
    name = file_name(address)
    files: tuple[RepoFile, ...] = (RepoFile(name),)
    shard = shard_of(name)
    if shard is not None:
        stem, number, total = shard
        if number != 1:
            raise LinkRefusedError(
                i18n("{name} is part {number} of {total}.", name=short(name), number=number, total=total),
                "Give the link of the first part; the others are fetched with it.",
            )
        files = tuple(RepoFile(f"{stem}-{part:05d}-of-{total:05d}.gguf") for part in range(1, total + 1))
    # The library folder of a link: HOST/NAME, where NAME depends on the address.
    host = re.sub(r"[^A-Za-z0-9.-]", "-", origin(address)[1]).strip(".-")[-60:].strip(".-") or "link"
    host = host.encode("ascii", "replace").decode().replace("?", "-").replace("..", ".")
    folder = f"{host}/{hashlib.sha256(address.encode()).hexdigest()[:12]}"
    return DownloadRequest(folder, group_models(files)[0], url=address)


def file_name(address: str) -> str:
    """The file name of a link: the last component of its path, if valid."""
    name = unquote(urlsplit(address).path.rpartition("/")[2])
    try:
        return name if is_gguf(name) and len(safe_parts(name)) == 1 else UNNAMED
    except UnsafeNameError:
        return UNNAMED


class LinkSource(FileSource):
    """One link. Thread-safe."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S) -> None:
        """Opens nothing yet.

        Raises:
            LinkRefusedError: the address is not allowed.
        """
        super().__init__(timeout_s)
        self.address = check_link(address)
        self._name = file_name(self.address)

    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        """Request a file's current address and length with its first bytes, since some servers do not support HEAD.

        Raises:
            LinkRefusedError: the address has no usable file.
            HubError: the server is unreachable, busy, or its answer is invalid.
        """
        del revision
        ranged = {**PLAIN_HEADERS, "Range": f"bytes=0-{len(MAGIC) - 1}"}
        with self._answer(self._url_of(path), ranged) as (answer, sha256):
            headers, host = answer.headers, str(answer.url.host)
            check_plain(headers)
            size = _size_of(answer)
            if size is None:
                raise LinkRefusedError(
                    i18n("{host} does not say how long the file is, so it is not downloaded.", host=host),
                    "Look for another place that has it.",
                )
            if not MIN_SIZE_BYTES <= size <= MAX_SIZE_BYTES:
                raise LinkRefusedError(
                    i18n("The link leads to only {size} bytes, which cannot be a model.", size=size), "Check the link."
                )
            first = next(ByteStream(answer, 0).chunks(), b"")[: len(MAGIC)]
            if not first or not MAGIC.startswith(first):
                message = i18n("The link leads to something of {host} that is no GGUF file.", host=host)
                raise LinkRefusedError(message, "Copy the link of the download itself, not of the page around it.")
            validator = strong_etag(headers) or headers.get("Last-Modified", "")
            return RemoteLocation(repo_id, path, str(answer.url), sha256 or f"{validator}|{size}", size)

    @contextmanager
    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> Iterator[ByteStream]:
        """Open bytes ``start`` to ``end`` (exclusive; None: to the end), like `HubClient.open`.

        A download is resumed only if the server identifies the version of the file; otherwise the stream begins at 0.
        Without a checksum, bytes of two versions could be mixed.

        Raises:
            HubError: see `locate`.
        """
        headers = dict(PLAIN_HEADERS)
        if end is not None:
            headers["Range"] = f"bytes={start}-{end - 1}"
        elif start and if_range.startswith('"'):
            headers |= {"Range": f"bytes={start}-", "If-Range": if_range}
        with self._answer(self._url_of(location.path), headers) as (answer, _sha256):
            yield ByteStream(answer, check_body(answer, start, location.size_bytes))

    # ---- requests ------------------------------------------------------------------------------------------------

    def _url_of(self, path: str) -> str:
        """The address of one shard: in the folder of the first shard."""
        return self.address if path == self._name else urljoin(self.address, quote(path))

    @contextmanager
    def _answer(self, url: str, headers: Mapping[str, str]) -> Iterator[tuple[Response, str]]:
        """Request an address and follow allowed redirects.

        Yields the answer, with the status 200 or 206, and the SHA-256 if a host reported it.
        """
        sha256 = ""
        for _ in range(MAX_REDIRECTS):
            with self.send("GET", url, headers) as answer:
                sha256 = sha256 or _reported_sha256(answer.headers)
                if answer.status_code not in REDIRECTS:
                    _check_status(answer, host_of(url))
                    yield answer, sha256
                    return
                url = redirected(url, answer.headers.get("Location", ""))
        raise LinkRefusedError(i18n("{host} redirects without end.", host=host_of(url)), "Check the link.")


def redirected(url: str, target: str) -> str:
    """The address that a redirect from ``url`` leads to.

    Raises:
        LinkRefusedError: the redirect is invalid, drops encryption, or leads from the internet to this machine or its
            local network.
    """
    before = origin(url)[1]
    try:
        joined = urljoin(url, target)
        scheme, host, _port = origin(joined)
    except (ValueError, HubAnswerError) as error:
        raise LinkRefusedError(
            i18n("{host} redirects to an invalid address.", host=before),
            "Get a new link from the page where you found this one.",
        ) from error
    if is_near(host) and not is_near(before):
        raise LinkRefusedError(
            i18n("{host} redirects to {target}, which lies in your own network.", host=before, target=host),
            "Get a new link from the page where you found this one.",
        )
    if scheme != "https" and not (is_this_machine(host) and is_this_machine(before)):
        raise LinkRefusedError(
            i18n("{host} redirects to an unencrypted address.", host=before),
            "Get a new link from the page where you found this one.",
        )
    return joined


def is_near(host: str) -> bool:
    """True if a host name or address is this computer or in its local network; nothing is looked up."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


def _check_status(answer: Response, host: str) -> None:
    status = answer.status_code
    if error := busy_error(status, answer.headers, host):
        raise error
    if status not in (200, 206):
        raise LinkRefusedError(
            i18n("{host} refuses this file (HTTP {status}).", host=host, status=status),
            "Check the link; it may have expired. If it needs a sign-in, download the file with your browser and open "
            "it.",
        )


def _size_of(answer: Response) -> int | None:
    """The length of the whole file; None if the server does not say."""
    if answer.status_code == 206:
        span = content_range(answer.headers.get("Content-Range", ""))
        if span is None or span[0] != 0:
            raise HubBytesError("The server sent different bytes than requested.")
        return span[2]
    text = answer.headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def _reported_sha256(headers: Mapping[str, str]) -> str:
    """The SHA-256 in the header of the Hugging Face hub; empty if the server is another."""
    linked = headers.get("X-Linked-Etag", "").strip('"').lower()
    return linked if re.fullmatch(r"[0-9a-f]{64}", linked) else ""
