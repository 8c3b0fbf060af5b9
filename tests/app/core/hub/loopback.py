"""A hub on this machine: a real HTTP server on 127.0.0.1 with the used part of the Hugging Face hub's protocol.

How to use it::

    with LoopbackHub() as hub:                        # or the pytest fixture `hub` of tests/app/core/hub/conftest.py
        hub.add_file("tiny/pair-GGUF", "target-Q4_K_M.gguf", Path(...))   # or bytes
        hub.add_file("tiny/pair-GGUF", "README.md", b"# A pair")
        hub.describe("tiny/pair-GGUF", downloads=12, tags=["license:mit"], gguf={"architecture": "llama"})
        client = HubClient(hub.url)                   # in another process: HF_ENDPOINT=hub.url

Faults: each GET of a file's bytes takes the next entry of ``hub.faults`` (a deque; empty: all goes well), as in
``hub.faults.append(Fault(cut_after=1000))``. ``hub.refusals`` is the same for HEAD and API requests. Switches:
``honours_range`` (False: always 200 and the whole file), ``gated[repo] = token``, ``cdn`` (another hub that file
requests are redirected to), ``bytes_per_s``, and ``answers[path]`` (a raw body for an API path: garbage, fuzz).
Recorded: ``hub.requests`` (method, path, headers) and ``hub.bytes_sent`` (by repository/path).
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import sys
import threading
import urllib.parse
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

BLOCK_BYTES = 1 << 16
LFS_BYTES = 1 << 16  # smaller files other than GGUF have a git hash as ETag, as on the real hub


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault of one answer. Byte counts refer to the body of this answer."""

    status: int = 0  # answer with this status and without the file
    path_part: str = ""  # apply a refusal only to paths with this part: the order of parallel requests is unknown
    headers: tuple[tuple[str, str], ...] = ()
    cut_after: int | None = None  # then close the connection properly
    reset_after: int | None = None  # then reset the TCP connection
    stall_after: int | None = None  # then send nothing for stall_s, and close
    stall_s: float = 60.0
    ignore_range: bool = False  # answer 200 with the whole file
    wrong_range: bool = False  # answer 206 with another start than requested
    corrupt: bool = False  # change a byte but not the length
    unannounced: bool = False  # omit Content-Length and the total of Content-Range


class Content:
    """The bytes of one file: in memory or on disk."""

    def __init__(self, source: bytes | Path, name: str) -> None:
        self._source = source
        self.size = len(source) if isinstance(source, bytes) else source.stat().st_size
        self.is_lfs = name.endswith(".gguf") or self.size >= LFS_BYTES
        if self.is_lfs:
            digest = hashlib.sha256()
        else:
            digest = hashlib.sha1(f"blob {self.size}\0".encode(), usedforsecurity=False)
        for start in range(0, self.size, 1 << 22):
            digest.update(self.read(start, min(start + (1 << 22), self.size)))
        self.etag = digest.hexdigest()

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end`` (exclusive)."""
        if isinstance(self._source, bytes):
            return self._source[start:end]
        with self._source.open("rb") as file:
            file.seek(start)
            return file.read(end - start)


@dataclass(slots=True)
class Repo:
    """A repository; every commit keeps its files."""

    commits: list[str] = field(default_factory=list)
    files: dict[str, dict[str, Content]] = field(default_factory=dict)  # by commit and path
    facts: dict[str, Any] = field(default_factory=dict)

    def at(self, revision: str) -> tuple[str, dict[str, Content]] | None:
        """The commit and the files of a revision."""
        commit = self.commits[-1] if revision == "main" and self.commits else revision
        return (commit, self.files[commit]) if commit in self.files else None


@dataclass(frozen=True, slots=True)
class HubRequest:
    """A received request."""

    method: str
    path: str
    headers: Mapping[str, str]  # lower-case names


class LoopbackHub:
    """A hub; runs from `start` to `close`, or as a context manager."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.faults: deque[Fault] = deque()
        self.refusals: deque[Fault] = deque()
        self.honours_range = True
        self.gated: dict[str, str] = {}
        self.cdn: LoopbackHub | None = None
        self.bytes_per_s = 0.0
        self.answers: dict[str, bytes] = {}
        self.requests: list[HubRequest] = []
        self.bytes_sent: Counter[str] = Counter()
        self.blobs: dict[str, Content] = {}
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.hub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="loopback hub")

    @property
    def url(self) -> str:
        """The address for HF_ENDPOINT."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> LoopbackHub:
        self._thread.start()
        return self

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> LoopbackHub:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def add_file(self, repo_id: str, path: str, source: bytes | Path | Content) -> Content:
        """Commit one file; committing a path again changes the file. Older commits stay as they were."""
        repo = self.repos.setdefault(repo_id, Repo())
        content = source if isinstance(source, Content) else Content(source, path)
        commit = hashlib.sha1(f"{repo_id}/{len(repo.commits)}".encode(), usedforsecurity=False).hexdigest()
        before = repo.files[repo.commits[-1]] if repo.commits else {}
        repo.files[commit] = {**before, path: content}
        repo.commits.append(commit)
        self.blobs[content.etag] = content
        return content

    def describe(self, repo_id: str, **facts: object) -> None:
        """Set fields of the repository in API answers: downloads, likes, tags, gguf, gated, lastModified, ..."""
        self.repos.setdefault(repo_id, Repo()).facts.update(facts)

    def sent(self, repo_id: str, path: str) -> int:
        """Bytes of this file's body that were sent in all answers."""
        return self.bytes_sent[f"{repo_id}/{path}"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hub: LoopbackHub

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Ignore clients that disconnect, as tests make them do; report all other errors."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # otherwise each body waits 40 ms for the delayed ACK of its headers
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Log nothing: tests read `requests`."""

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BLOCK_BYTES)

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def _serve(self) -> None:
        hub = self.server.hub
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        with hub.lock:
            hub.requests.append(HubRequest(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
            refusal = None
            is_first = bool(hub.refusals) and hub.refusals[0].path_part in path
            if is_first and (self.command == "HEAD" or path.startswith("/api/")):
                refusal = hub.refusals.popleft()
        if refusal is not None:
            self._send(refusal.status, b"out of order", dict(refusal.headers))
        elif path.startswith("/api/models"):
            self._api(path, urllib.parse.parse_qs(url.query))
        elif path.startswith("/blob-store/"):
            self._blob(path)
        elif "/resolve/" in path:
            self._resolve(path)
        else:
            self._error(404, "RepoNotFound")

    # ---- answers without a file's bytes --------------------------------------------------------------------------

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _json(self, answer: object) -> None:
        self._send(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _error(self, status: int, code: str) -> None:
        body = json.dumps({"error": code}).encode()
        self._send(status, body, {"X-Error-Code": code, "X-Error-Message": code, "Content-Type": "application/json"})

    def _refused(self, repo_id: str) -> bool:
        """Answer with an error, and return True, if the repository is gated and the request lacks its token."""
        token = self.server.hub.gated.get(repo_id)
        if token is None or self.headers.get("Authorization") == f"Bearer {token}":
            return False
        self._error(403 if self.headers.get("Authorization") else 401, "GatedRepo")
        return True

    def _api(self, path: str, query: dict[str, list[str]]) -> None:
        hub = self.server.hub
        if path in hub.answers:
            self._send(200, hub.answers[path], {"Content-Type": "application/json"})
            return
        words = path.removeprefix("/api/models").strip("/").split("/")
        if words == [""]:
            self._json(_search_results(hub, query))
            return
        repo_id, rest = "/".join(words[:2]), words[2:]
        revision = rest[1] if len(rest) == 2 and rest[0] == "revision" else "main"
        repo = hub.repos.get(repo_id)
        if repo is None:
            self._error(404, "RepoNotFound")
        elif (at := repo.at(revision)) is None:
            self._error(404, "RevisionNotFound")
        else:
            self._json(_facts(repo_id, repo, at, blobs="blobs" in query))

    # ---- a file's bytes ------------------------------------------------------------------------------------------

    def _resolve(self, path: str) -> None:
        hub = self.server.hub
        repo_id, _, rest = path.strip("/").partition("/resolve/")
        revision, _, name = rest.partition("/")
        repo = hub.repos.get(repo_id)
        at = repo.at(revision) if repo else None
        if repo is None:
            self._error(404, "RepoNotFound")
        elif at is None:
            self._error(404, "RevisionNotFound")
        elif name not in at[1]:
            self._error(404, "EntryNotFound")
        elif not self._refused(repo_id):
            content = at[1][name]
            headers = {"X-Repo-Commit": at[0], "Accept-Ranges": "bytes"}
            if hub.cdn is not None and content.is_lfs:
                hub.cdn.blobs[content.etag] = content
                location = f"{hub.cdn.url}/blob-store/{content.etag}?name={repo_id}/{name}&signature=once"
                linked = {"X-Linked-Etag": f'"{content.etag}"', "X-Linked-Size": str(content.size)}
                self._send(302, b"", {**headers, **linked, "Location": location})
            else:
                self._bytes(content, f'"{content.etag}"', f"{repo_id}/{name}", headers)

    def _blob(self, path: str) -> None:
        """The storage behind the redirect: like the real one, it serves the file with a different ETag."""
        content = self.server.hub.blobs.get(path.removeprefix("/blob-store/"))
        if content is None:
            self._send(404, b"", {})
            return
        name = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("name", [""])[0]
        self._bytes(content, f'"store-{content.etag[:12]}"', name, {"Accept-Ranges": "bytes"})

    def _bytes(self, content: Content, etag: str, key: str, headers: dict[str, str]) -> None:
        hub = self.server.hub
        if self.command == "HEAD":
            self._send(200, b"", {**headers, "ETag": etag, "Content-Length": str(content.size)})
            return
        with hub.lock:
            fault = hub.faults.popleft() if hub.faults else Fault()
        if fault.status:
            self._send(fault.status, b"out of order", dict(fault.headers))
            return
        asked = self._requested_range(content.size, etag) if hub.honours_range and not fault.ignore_range else None
        if asked is not None and asked[0] >= content.size:
            self._send(416, b"", {**headers, "ETag": etag, "Content-Range": f"bytes */{content.size}"})
            return
        start, end = asked or (0, content.size)
        announced = max(0, start - 7) if fault.wrong_range else start
        self.send_response(200 if asked is None else 206)
        for name, value in {**headers, "ETag": etag, **dict(fault.headers)}.items():
            self.send_header(name, value)
        if asked is not None:
            self.send_header(
                "Content-Range", f"bytes {announced}-{end - 1}/{'*' if fault.unannounced else content.size}"
            )
        if fault.unannounced:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(end - start))
        self.end_headers()
        self._body(content, (start, end), key, fault)

    def _requested_range(self, size: int, etag: str) -> tuple[int, int] | None:
        """First byte and end (exclusive) of the requested range; None if the whole file is requested."""
        words = self.headers.get("Range", "")
        if not words.startswith("bytes=") or self.headers.get("If-Range", etag) != etag:
            return None
        first, _, last = words.removeprefix("bytes=").partition("-")
        return int(first), min(int(last) + 1, size) if last else size

    def _body(self, content: Content, span: tuple[int, int], key: str, fault: Fault) -> None:
        hub = self.server.hub
        limits = [limit for limit in (fault.cut_after, fault.reset_after, fault.stall_after) if limit is not None]
        stop = min(span[1], span[0] + min(limits)) if limits else span[1]
        for at in range(span[0], stop, BLOCK_BYTES):
            data = content.read(at, min(at + BLOCK_BYTES, stop))
            if fault.corrupt and at == span[0]:
                data = bytes([data[0] ^ 1]) + data[1:]
            self.wfile.write(data)
            with hub.lock:
                hub.bytes_sent[key] += len(data)
            if hub.bytes_per_s and hub.closing.wait(len(data) / hub.bytes_per_s):
                return
        if fault.stall_after is not None:
            hub.closing.wait(fault.stall_s)
        if fault.reset_after is not None:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if limits:
            self.close_connection = True


def _search_results(hub: LoopbackHub, query: dict[str, list[str]]) -> list[dict[str, Any]]:
    words = query.get("search", [""])[0].lower().split()
    found = []
    for repo_id, repo in hub.repos.items():
        at = repo.at("main")
        if at and all(word in repo_id.lower() for word in words) and any(name.endswith(".gguf") for name in at[1]):
            found.append(_facts(repo_id, repo, at, blobs=False))
    order = query.get("sort", ["downloads"])[0]
    found.sort(key=lambda facts: facts.get(order) or 0, reverse=True)
    return found[: int(query.get("limit", ["1000"])[0])]


def _facts(repo_id: str, repo: Repo, at: tuple[str, dict[str, Content]], *, blobs: bool) -> dict[str, Any]:
    siblings: list[dict[str, Any]] = []
    for name, content in at[1].items():
        entry: dict[str, Any] = {"rfilename": name}
        if blobs:
            entry |= {"size": content.size, "blobId": content.etag[:40]}
            if content.is_lfs:
                entry["lfs"] = {"size": content.size, "sha256": content.etag, "pointerSize": 134}
        siblings.append(entry)
    facts = {"_id": "0", "id": repo_id, "modelId": repo_id, "sha": at[0], "private": False, "gated": False}
    return {**facts, "downloads": 0, "likes": 0, "tags": ["gguf"], "siblings": siblings, **repo.facts}
