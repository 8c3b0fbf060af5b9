"""The only module that uses huggingface_hub: search, details, and file contents. Every call blocks."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import app
from app.core.domain.models import RepoFile, RepoSummary
from app.core.hub.addresses import (
    content_range,
    find_endpoint,
    host_of,
    may_carry_token,
    origin,
    redirect_target,
    refuse_offline,
)
from app.core.hub.errors import (
    HubAccessError,
    HubAnswerError,
    HubBusyError,
    HubBytesError,
    HubError,
    HubNotFoundError,
    HubRangeError,
    HubUnreachableError,
    UnsafeNameError,
)
from app.core.hub.file_names import check_repo_id, group_models, is_gguf, quantization_of, safe_parts
from app.core.hub.records import RemoteLocation, RepoDetails, moment_of
from app.core.hub.tokens import TokenStore
from engine.sentences import i18n

if TYPE_CHECKING:
    from huggingface_hub.utils import httpx


MAX_REPOS = 1000
MAX_FILES = 20_000
MAX_TAGS = 500
MAX_TEXT_CHARS = 120
MAX_COUNT = 1 << 62
_HEX = frozenset("0123456789abcdef")
TIMEOUT_S = 20.0  # maximum time without a byte
MAX_ANSWER_S = 120.0  # maximum time for a small answer, even if bytes keep arriving
MAX_API_BYTES = 16 << 20
MAX_REDIRECTS = 5
_EXPAND = ("gguf", "downloads", "likes", "siblings", "lastModified", "gated", "tags", "cardData")
MAX_SIZE_BYTES = 1 << 46
MAX_WAIT_S = 3600.0
_ETAG_CHARS = 200
# The codes are those of the hub's header X-Error-Code
# (https://huggingface.co/docs/huggingface_hub/package_reference/utilities).
REDIRECTS = (301, 302, 303, 307, 308)
PLAIN_HEADERS = {"Accept-Encoding": "identity"}  # uncompressed: bytes are counted and checksummed


# Functions from the hub's JSON to records. A missing, mistyped or absurd field is left out; an unusable answer raises
# an error.


def parse(body: bytes) -> object:
    """Parse untrusted JSON.

    Raises:
        HubAnswerError: the JSON is invalid or nested too deeply.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HubAnswerError("The hub sent something that is not JSON.") from error


def summaries_of(answer: object, limit: int) -> tuple[RepoSummary, ...]:
    """Read the answer to a search; entries without a repository name are left out.

    Raises:
        HubAnswerError: the answer is no list.
    """
    if not isinstance(answer, list):
        raise HubAnswerError("The hub's answer to the search is not a list.")
    found = (summary_of(entry) for entry in answer[:MAX_REPOS])
    return tuple(summary for summary in found if summary is not None)[:limit]


def summary_of(entry: object) -> RepoSummary | None:
    """Read one repository; None if its name is invalid."""
    if not isinstance(entry, dict):
        return None
    try:
        repo_id = check_repo_id(_text(entry.get("id")) or _text(entry.get("modelId")))
    except UnsafeNameError:
        return None
    tags, gguf = _texts(entry.get("tags")), _table(entry.get("gguf"))
    names = [file.path for file in _files(entry.get("siblings")) if is_gguf(file.path)]
    return RepoSummary(
        repo_id=repo_id,
        downloads=_count(entry.get("downloads")),
        updated=moment_of(_text(entry.get("lastModified"))),
        gated=entry.get("gated") in (True, "auto", "manual"),
        licence=_licence(entry, tags),
        architecture=_text(gguf.get("architecture")),
        num_parameters=_count(gguf.get("total")) or None,
        context_length=_count(gguf.get("context_length")) or None,
        quantizations=tuple(dict.fromkeys(filter(None, map(quantization_of, names)))),
    )


def details_of(answer: object, repo_id: str) -> RepoDetails:
    """Read one repository with its files. Files with unsafe names are counted but not included.

    Raises:
        HubAnswerError: the answer is no repository, or its name is invalid.
    """
    summary = summary_of(answer)
    if summary is None or not isinstance(answer, dict):
        raise HubAnswerError(i18n("The hub's answer about {repo_id} does not describe a repository.", repo_id=repo_id))
    return RepoDetails(summary, group_models(_files(answer.get("siblings"))))


def _files(siblings: object) -> list[RepoFile]:
    found: dict[str, RepoFile] = {}
    for entry in siblings[:MAX_FILES] if isinstance(siblings, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("rfilename"), str):
            continue
        path = entry["rfilename"]
        try:
            safe_parts(path)
        except UnsafeNameError:
            continue
        lfs = _table(entry.get("lfs"))
        digest = _text(lfs.get("sha256") or lfs.get("oid")).lower()
        sha256 = digest if len(digest) == 64 and set(digest) <= _HEX else ""
        size = _count(lfs.get("size"))
        found.setdefault(path, RepoFile(path, _count(entry.get("size")) if size is None else size, sha256))
    return list(found.values())


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    """A short text without control characters; empty for anything else."""
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS:
        return ""
    return value if value.isprintable() else ""


def _texts(value: object) -> list[str]:
    entries = value if isinstance(value, list) else [value]
    return [text for text in map(_text, entries[:MAX_TAGS]) if text]


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_COUNT:  # excludes NaN
        return None
    return int(value) if value == int(value) else None


def _licence(entry: dict[str, Any], tags: list[str]) -> str:
    card = _table(entry.get("cardData"))
    named = _texts(card.get("license")) or [tag.removeprefix("license:") for tag in tags if tag.startswith("license:")]
    return (_text(card.get("license_name")) if named[:1] == ["other"] else "") or (named[0] if named else "")


class ByteStream:
    """The body of an answer, read once.

    ``start``: offset of the first byte in the file. ``etag``: the sending server's (a storage server's differs from the
    hub's); empty if it does not identify bytes.
    """

    def __init__(self, response: httpx.Response, start: int) -> None:
        self._response = response
        self.start = start
        self.etag = strong_etag(response.headers)

    def chunks(self) -> Iterator[bytes]:
        """The bytes in chunks as they arrive. They are not buffered, so a broken connection loses none.

        Raises:
            HubUnreachableError: the connection broke or stalled, or `abort` was called.
        """
        with connection_errors(self._response.url.host):
            yield from self._response.iter_raw()

    def abort(self) -> None:
        """End a blocking read; called from another thread."""
        stream = self._response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if stream is not None else None
        if isinstance(connection, socket.socket):
            # `SSLSocket.shutdown` would also remove state that the reading thread uses.
            try:
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
            except OSError as error:  # the socket was closed meanwhile
                logging.getLogger(__name__).debug("nothing to abort: %s", error)


class FileSource:
    """A source of files: the hub (`HubClient`), or a link. Opens an HTTP client at its first use. Thread-safe."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._client: httpx.Client | None = None
        self._is_closed = False
        self._lock = threading.Lock()

    def client(self) -> httpx.Client:
        """The client, opened by the first call.

        Raises:
            HubUnreachableError: `close` was called, or the proxy is invalid.
        """
        with self._lock:
            if self._is_closed:
                raise HubUnreachableError("The connections were closed.")
            if self._client is None:
                try:
                    self._client = http_client(self._timeout_s)
                except (ImportError, ValueError) as error:
                    message = i18n("The proxy that this system names cannot be used.")
                    advice = i18n("Correct HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.")
                    raise HubUnreachableError(message, advice) from error
            return self._client

    @contextmanager
    def send(self, method: str, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Send one request without cookies; yields the answer, of any status."""
        with connection_errors(host_of(url)):
            client = self.client()
            client.cookies.clear()
            # The library's `build_hf_headers` would first request a list of programs from the hub.
            agent = {"User-Agent": f"paceline/{app.__version__}"}
            request = client.build_request(method, url, headers={**agent, **headers})
            answer = client.send(request, stream=True, follow_redirects=False)
        try:
            yield answer
        finally:
            answer.close()
            stream = answer.extensions.get("network_stream")
            if self._is_closed and stream is not None:  # closed while this connection was made: nothing else closes it
                stream.close()

    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        """The current address and length of a file."""
        raise NotImplementedError

    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> AbstractContextManager[ByteStream]:
        """Open bytes ``start`` to ``end`` (exclusive; None: to the end) of a file."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the client. Later calls fail, since they would open connections that are never closed."""
        with self._lock:
            self._is_closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()


class HubClient(FileSource):
    """A client of the hub or of the mirror in HF_ENDPOINT. Thread-safe."""

    def __init__(self, endpoint: str = "", timeout_s: float = TIMEOUT_S, tokens: TokenStore | None = None) -> None:
        """Imports and opens nothing yet. An empty ``endpoint`` means HF_ENDPOINT or the default hub.

        Raises:
            HubUnreachableError: HF_ENDPOINT is no address.
        """
        super().__init__(timeout_s)
        self.endpoint = endpoint.rstrip("/") or find_endpoint()
        self.tokens = tokens or TokenStore(host_of(self.endpoint))
        self._token_lock = threading.Lock()  # not the client's: the keyring may wait for the user
        self._token: str | None = None  # None: the keyring was not read yet

    def search(self, query: str, limit: int = 50) -> tuple[RepoSummary, ...]:
        """Search repositories with GGUF files, the most downloaded first.

        Raises:
            HubError: see its subclasses.
        """
        params = [("search", query), ("filter", "gguf"), ("apps", "llama.cpp")]
        params += [("sort", "downloads"), ("limit", str(limit))]
        params += [("expand", name) for name in _EXPAND]
        body = self._get_small(f"{self.endpoint}/api/models?{urlencode(params)}", "the search")
        return summaries_of(parse(body), limit)

    def details(self, repo_id: str) -> RepoDetails:
        """Read one repository with its models, sizes and checksums.

        Raises:
            HubError: see its subclasses.
            UnsafeNameError: the name is invalid.
        """
        address = f"{self.endpoint}/api/models/{check_repo_id(repo_id)}/revision/main?blobs=true"
        return details_of(parse(self._get_small(address, repo_id)), repo_id)

    def page_url(self, repo_id: str) -> str:
        return f"{self.endpoint}/{check_repo_id(repo_id)}"

    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        """Request a file's current address, size and ETag with a HEAD request.

        Raises:
            HubError: see its subclasses.
            UnsafeNameError: a name is invalid.
        """
        url, what = self._file_url(repo_id, path, revision), f"{repo_id}/{path}"
        with self._follow("HEAD", url, what, PLAIN_HEADERS) as (answer, last_url):
            is_redirect = answer.status_code in REDIRECTS
            address = redirect_target(last_url, answer.headers.get("Location", "")) if is_redirect else last_url
            return location_of(answer.headers, repo_id, path, address, self._file_url)

    @contextmanager
    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> Iterator[ByteStream]:
        """Open bytes ``start`` to ``end`` (exclusive; None: to the end) of a file.

        The stream's ``start`` is 0 if the server ignored the range, or if ``if_range`` (the ETag of an earlier stream)
        is outdated. A token is sent to the hub's own host only, never to the target of a redirect.

        Raises:
            HubError: see its subclasses.
        """
        headers = dict(PLAIN_HEADERS)
        if start or end is not None:
            headers["Range"] = f"bytes={start}-{'' if end is None else end - 1}"
            if if_range.startswith('"'):  # not a weak ETag, which does not identify bytes
                headers["If-Range"] = if_range
        with self._follow("GET", location.url, f"{location.repo_id}/{location.path}", headers) as (answer, _url):
            yield ByteStream(answer, check_body(answer, start, location.size_bytes))

    def token_changed(self) -> None:
        """Read the keyring again when a token is needed next."""
        with self._token_lock:
            self._token = None

    # ---- requests ------------------------------------------------------------------------------------------------

    def _file_url(self, repo_id: str, path: str, revision: str) -> str:
        from huggingface_hub import hf_hub_url  # noqa: PLC0415 (startup time)

        check_repo_id(repo_id)
        safe_parts(path)
        safe_parts(revision)
        return hf_hub_url(repo_id, path, revision=revision, endpoint=self.endpoint)

    def _get_small(self, url: str, what: str) -> bytes:
        with self._follow("GET", url, what, {}) as (answer, _url), connection_errors(host_of(url)):
            body = small_body(answer, MAX_API_BYTES)
        if len(body) > MAX_API_BYTES:
            raise HubAnswerError(i18n("The hub's answer about {what} is far too long.", what=what))
        return body

    @contextmanager
    def _follow(
        self, method: str, url: str, what: str, headers: Mapping[str, str]
    ) -> Iterator[tuple[httpx.Response, str]]:
        """Send a request and follow redirects; yields the answer and its address.

        A redirect that describes the file ends a HEAD request: a storage server's address is short-lived, and its ETag
        differs.
        """
        for _ in range(MAX_REDIRECTS):
            with self._request(method, url, what, headers) as answer:
                if answer.status_code not in REDIRECTS or (method == "HEAD" and "X-Linked-Size" in answer.headers):
                    yield answer, url
                    return
                url = redirect_target(url, answer.headers.get("Location", ""))
        raise HubAnswerError(i18n("The hub redirects without end for {what}.", what=what))

    @contextmanager
    def _request(self, method: str, url: str, what: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Send one request, with a token if the hub requires it; yields a successful answer or a redirect."""
        refuse_offline()
        own = origin(url) == origin(self.endpoint)
        token = (self._token or self.tokens.from_environment()) if may_carry_token(url, self.endpoint) else ""
        while True:
            own_headers = {**headers, "Authorization": f"Bearer {token}"} if token else headers
            with self.send(method, url, own_headers) as answer:
                error = status_error(answer.status_code, answer.headers, what, own=own)
                if error is None:
                    yield answer
                    return
            # Read the keyring only if the hub refuses an anonymous request: the user may have to unlock it.
            token = self._stored_token(url) if not token and answer.status_code in (401, 403) else ""
            if not token:
                raise error

    def _stored_token(self, url: str) -> str:
        if not may_carry_token(url, self.endpoint):
            return ""
        with self._token_lock:
            if self._token is None:
                self._token = self.tokens.find()
            return self._token


def status_error(status: int, headers: Mapping[str, str], what: str, *, own: bool) -> HubError | None:
    """The error for a status; None for a success. ``own``: the hub itself answered, not a storage server."""
    code = headers.get("X-Error-Code", "")
    error: HubError | None
    if status in (200, 206) or 300 <= status < 400:
        error = None
    elif busy := busy_error(status, headers, what):
        error = busy
    elif not own and status in (401, 403, 404, 410):
        error = HubUnreachableError(i18n("The link to {what} has expired.", what=what))
    elif status in (401, 403):
        error = _no_access(status, code, what)
    elif status in (404, 410):
        error = HubNotFoundError(i18n("{what} does not exist.", what=what))
    else:
        error = HubAnswerError(i18n("The hub answered {what} with HTTP {status}.", what=what, status=status))
    return error


def _no_access(status: int, code: str, what: str) -> HubError:
    if code == "RepoNotFound":
        return HubNotFoundError(i18n("{what} does not exist, or is private.", what=what))
    if code == "GatedRepo":
        return HubAccessError(i18n("{what} is shared only with those who accepted its terms.", what=what))
    return HubAccessError(
        i18n("The hub requires a valid access token for {what} (HTTP {status}).", what=what, status=status)
    )


def location_of(
    headers: Mapping[str, str], repo_id: str, path: str, url: str, pinned: Callable[[str, str, str], str]
) -> RemoteLocation:
    """Read the answer to a HEAD request. ``pinned`` makes the address of a file in a commit.

    Raises:
        HubAnswerError: the answer has no size or no ETag.
    """
    what = f"{repo_id}/{path}"
    linked = "X-Linked-Size" in headers
    size = headers.get("X-Linked-Size" if linked else "Content-Length", "")
    etag = (headers.get("X-Linked-Etag") or headers.get("ETag", "")).removeprefix("W/").strip('"')
    if not size.isascii() or not size.isdecimal() or len(size) > 18 or int(size) > MAX_SIZE_BYTES:
        raise HubAnswerError(i18n("The hub does not say how big {what} is.", what=what))
    if not etag or len(etag) > _ETAG_CHARS or not etag.isascii() or not etag.isprintable():
        raise HubAnswerError(i18n("The hub does not give a checksum for {what}.", what=what))
    commit = headers.get("X-Repo-Commit", "").lower()
    if len(commit) != 40 or not set(commit) <= _HEX:
        commit = ""
    address = pinned(repo_id, path, commit) if commit and not linked else url
    return RemoteLocation(repo_id, path, address, etag, int(size))


def busy_error(status: int, headers: Mapping[str, str], what: str) -> HubError | None:
    """The error for a status after which another request may succeed; None for other statuses."""
    if status == 416:
        return HubRangeError(i18n("The server no longer has these bytes of {what}.", what=what))
    if status not in (408, 429) and status < 500:
        return None
    text = headers.get("Retry-After", "")
    wait_s = min(float(text), MAX_WAIT_S) if text.isascii() and text.isdecimal() and len(text) < 9 else None
    return HubBusyError(i18n("The server of {what} is busy (HTTP {status}).", what=what, status=status), None, wait_s)


def http_library() -> Any:  # noqa: ANN401 (a module)
    """The HTTP library that the installed huggingface_hub uses."""
    from huggingface_hub.utils import httpx  # noqa: PLC0415 (startup time)

    return httpx


def small_body(answer: Any, max_bytes: int, within_s: float = MAX_ANSWER_S) -> bytes:  # noqa: ANN401 (a response)
    """Read an answer. The result has more than ``max_bytes`` bytes if the answer is too long.

    Raises:
        ReadTimeout: (of the HTTP library) reading took longer than ``within_s`` seconds.
    """
    body, ends_s = bytearray(), time.monotonic() + within_s
    for piece in answer.iter_bytes():
        body += piece
        if len(body) > max_bytes:
            break
        if time.monotonic() > ends_s:
            raise http_library().ReadTimeout("a small answer took too long")
    return bytes(body)


def http_client(timeout: object, *, use_proxy: bool = True) -> httpx.Client:
    """Make a client that follows no redirects and logs no addresses.

    Raises:
        ImportError, ValueError: the system's proxy cannot be used.
    """
    library = http_library()
    # Do not log addresses: a reader of the log could use signed ones.
    for name in (library.__name__, library.__name__.replace("httpx", "httpcore")):
        logging.getLogger(name).setLevel(logging.WARNING)
    client: httpx.Client = library.Client(
        timeout=timeout, follow_redirects=False, trust_env=use_proxy, verify=_tls_context()
    )
    return client


@cache
def _tls_context() -> Any:  # noqa: ANN401 (an ssl.SSLContext)
    """The trusted certificates; cached, since reading them takes longer than many requests."""
    return http_library().create_ssl_context()


@contextmanager
def connection_errors(host: str) -> Iterator[None]:
    """Convert connection errors into errors with messages for the user."""
    library = http_library()
    try:
        yield
    except library.TimeoutException as error:
        raise HubUnreachableError(i18n("{host} did not answer in time.", host=host)) from error
    except library.ConnectError as error:
        if "CERTIFICATE" in str(error):
            raise HubUnreachableError(
                i18n("{host} shows a certificate that is not trusted here.", host=host),
                "The connection may be intercepted. Ask the operator of the server or of your network.",
            ) from error
        raise HubUnreachableError(i18n("Could not connect to {host}.", host=host)) from error
    except library.TransportError as error:
        raise HubUnreachableError(i18n("The connection to {host} was lost.", host=host)) from error
    except (library.HTTPError, library.InvalidURL, library.StreamError, OSError, UnicodeError) as error:
        raise HubAnswerError(i18n("The answer of {host} could not be read.", host=host)) from error


def check_body(answer: httpx.Response, start: int, size_bytes: int) -> int:
    """Check the headers of an answer; returns the offset of its first byte.

    Raises:
        HubBytesError: the headers are wrong.
    """
    headers: Any = answer.headers
    check_plain(headers)
    if answer.status_code == 206:
        span = content_range(headers.get("Content-Range", ""))
        if span is None or span[0] != start or span[2] not in (None, size_bytes):
            raise HubBytesError("The server sent different bytes than requested.")
        return start
    length = headers.get("Content-Length")
    if length not in (None, str(size_bytes)):
        raise HubBytesError("The server sent a different number of bytes than announced.")
    return 0


def check_plain(headers: Mapping[str, str]) -> None:
    """Refuse a compressed body.

    Raises:
        HubBytesError: the body is compressed.
    """
    if headers.get("Content-Encoding", "").strip().lower() not in ("", "identity"):
        raise HubBytesError("The server sent the file compressed, although it was asked not to.")


def strong_etag(headers: Mapping[str, str]) -> str:
    """The ETag if it identifies bytes; empty for a weak or invalid one."""
    etag = headers.get("ETag", "")
    return etag if etag.startswith('"') and len(etag) <= _ETAG_CHARS and etag.isascii() and etag.isprintable() else ""
