"""A web server on this machine that serves files correctly or with the faults of arbitrary servers."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each path with the function that the test set."""

    disable_nagle_algorithm = True  # otherwise each body waits 40 ms for the delayed ACK of its headers
    protocol_version = "HTTP/1.1"
    server: LinkServer

    def do_GET(self) -> None:
        self.server.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        try:
            self.server.answers[self.path](self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, *_words: object) -> None:
        pass

    def head(self, status: int, **headers: str) -> None:
        """Send status and headers; ``_`` in a name stands for ``-``."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def wanted(self) -> tuple[int, int | None] | None:
        """The requested range: first byte, end (exclusive)."""
        text = self.headers.get("Range", "")
        if not text:
            return None
        first, _, last = text.removeprefix("bytes=").partition("-")
        return int(first), int(last) + 1 if last else None


class LinkServer(ThreadingHTTPServer):
    """Serves while its context is open. ``answers``: functions by path. ``requests``: paths and headers received."""

    daemon_threads = True

    def __init__(self, certificate: Path | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
            self.scheme = "https"

    def url(self, path: str) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that refuse a certificate or disconnect."""

    def __enter__(self) -> LinkServer:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()


def file(data: bytes, *, etag: str = '"v1"', ranges: bool = True, cut: int | None = None, **headers: str) -> Answer:
    """A regular file; ``cut`` closes the connection after this number of bytes of each answer."""

    def answer(handler: Handler) -> None:
        span = handler.wanted() if ranges else None
        valid = handler.headers.get("If-Range") in (None, etag)
        start, end = span if span is not None and valid else (0, None)
        body = data[start:end]
        common = {"Content_Length": str(len(body)), **({"ETag": etag} if etag else {}), **headers}
        if span is not None and valid:
            handler.head(206, Content_Range=f"bytes {start}-{start + len(body) - 1}/{len(data)}", **common)
        else:
            handler.head(200, **common)
        if cut is not None and len(body) > cut:
            handler.wfile.write(body[:cut])
            handler.close_connection = True
            return
        handler.wfile.write(body)

    return answer


def redirect(target: str, status: int = 302) -> Answer:
    return lambda handler: handler.head(status, Location=target, Content_Length="0")


def says(status: int, body: bytes = b"", **headers: str) -> Answer:
    """Answers every request with this status and body."""

    def answer(handler: Handler) -> None:
        handler.head(status, Content_Length=str(len(body)), **headers)
        handler.wfile.write(body)

    return answer


def endless(first: bytes) -> Answer:
    """Sends a body without a length and without an end."""

    def answer(handler: Handler) -> None:
        handler.head(200, Transfer_Encoding="chunked")
        while True:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(first), first))
            time.sleep(0.001)

    return answer


def longer(data: bytes, announced: int) -> Answer:
    """Announces ``announced`` bytes for range requests; a request for the rest gets endless chunks."""

    def answer(handler: Handler) -> None:
        span = handler.wanted()
        if span is not None and span[1] is not None:
            start, end = span[0], min(span[1], announced)
            body = (data * (end // len(data) + 1))[start:end]
            handler.head(206, Content_Range=f"bytes {start}-{end - 1}/{announced}", Content_Length=str(len(body)))
            handler.wfile.write(body)
        else:
            endless(data)(handler)

    return answer


def silent(seconds: float) -> Answer:
    """Sends nothing for this number of seconds."""
    return lambda _handler: time.sleep(seconds)
