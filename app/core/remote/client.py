"""HTTP to one server: small and streamed answers. Redirects are not followed, so the key is sent to one host only.

Every call blocks. The server is untrusted: each answer, line and message is limited in size.
"""

import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import app
from app.core.domain.engines import MAX_ADDRESS_CHARS, host_in, is_local_url
from app.core.hub.addresses import origin
from app.core.hub.client import http_client, http_library, small_body
from app.core.hub.errors import HubAnswerError
from app.core.hub.tokens import TokenStore
from app.core.remote.errors import (
    ConnectionLostError,
    ContextExceededError,
    InvalidResponseError,
    KeyRejectedError,
    ModelNotOfferedError,
    RemoteError,
    RequestRejectedError,
    ServerAddressError,
    ServerBusyError,
    ServerTimeoutError,
    ServerUnreachableError,
    UnencryptedAddressError,
)
from engine.sentences import i18n

MAX_REASON_CHARS = 300
# OpenAI: "context_length_exceeded"; llama-server: "exceed_context_size_error", "exceeds the available context size";
# vLLM: "maximum context length is ...", "max_tokens=... cannot be greater than max_model_len=..."; SGLang: "is longer
# than the model's context length"; LM Studio: "Trying to keep the first ... tokens when context the overflows",
# "n_keep: ...", "Context size has been exceeded"; Ollama: "the input length exceeds the context length"; others that
# speak this API: "prompt is too long: ... tokens > ... maximum".
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (?:length|size|window)|prompt is too long|n_keep|"
    r"longer than the maximum model length|maximum allowed length|input tokens exceed|max_model_len|"
    r"keep the first \d+ tokens",
    re.IGNORECASE,
)
_MODEL_NOT_FOUND = re.compile(
    r"model[^.]{0,200}(?:does not exist|not found|not loaded|not exist)|model_not_found", re.IGNORECASE
)
SERVICE = "paceline engine"
CONNECT_S, REQUEST_S = 10.0, 20.0
MAX_SILENCE_S = 600.0  # time limit without a byte: a slow server reads a long prompt, or loads the model first
MAX_BYTES = 16 << 20
MAX_ERROR_BYTES = 64 << 10
MAX_LINE_BYTES = 4 << 20
MAX_KEY_CHARS = 512
AMBIGUOUS_CHARS = frozenset('?#%<>"\\^`{|}')  # characters in an address that programs interpret differently
MIN_SECRET_CHARS = 6  # shorter keys are not removed from answers: they may be ordinary words


def status_error(status: int, body: bytes, host: str, *, had_key: bool) -> RemoteError:
    """The error for an answer with this status and body. The reason is shortened and has no control characters.

    For a failure within a stream, ``status`` is 500.
    """
    reason, code = _reason(body)
    if 300 <= status < 400:
        message = i18n("{host} redirects to another address. Paceline does not follow it.", host=host)
        return ServerAddressError(message, "Enter the server's new address.")
    if status in (401, 403) and had_key:
        return KeyRejectedError(i18n("{host} does not accept the key.", host=host))
    if status in (401, 403):
        return KeyRejectedError(i18n("{host} needs a key, and none is stored for it.", host=host), "Enter its key.")
    if _TOO_LONG.search(f"{reason} {code}") and status in (400, 413, 422, 500):
        return ContextExceededError(i18n("The conversation does not fit the context of {host}.", host=host))
    return _other_error(status, host, reason, code)


def _other_error(status: int, host: str, reason: str, code: str) -> RemoteError:
    if _MODEL_NOT_FOUND.search(f"{reason} {code}") or (status == 404 and (reason or code.strip())):
        return ModelNotOfferedError(i18n("{host} does not offer the model.", host=host))
    if status == 404:
        return InvalidResponseError(i18n("{host} does not have this address.", host=host))
    if status in (408, 429, 503, 529):
        return ServerBusyError(i18n("{host} accepts no requests at the moment ({status}).", host=host, status=status))
    if reason:
        return RequestRejectedError(i18n("{host}: {reason}", host=host, reason=reason))
    return RequestRejectedError(i18n("{host} answered with status {status}.", host=host, status=status))


def _reason(body: bytes) -> tuple[str, str]:
    """The message and the kind of an error body in any of the common formats."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    found = data.get("error", data) if isinstance(data, dict) else {}
    if isinstance(found, str):
        found = {"message": found}
    if not isinstance(found, dict):
        return "", ""
    message = found.get("message") or found.get("detail") or ""
    code = f"{found.get('code', '')} {found.get('type', '')}"
    text = str(message)
    plain = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * MAX_REASON_CHARS]).split())
    return plain if len(plain) <= MAX_REASON_CHARS else plain[: MAX_REASON_CHARS - 1] + "…", code[:200]


def normal_url(text: str) -> str:
    """Normalize a server's address: without ``/v1`` and slashes at the end; http is the default scheme.

    Raises:
        ServerAddressError: the address is not http or https, or contains a user, a query or a fragment.
    """
    text = text.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        scheme, _host, _port = origin(text)
        parts = urlsplit(text)
    except (HubAnswerError, ValueError) as error:
        raise ServerAddressError("This is not an http or https address.") from error
    has_odd = any(char.isspace() or not char.isprintable() or char in AMBIGUOUS_CHARS for char in text)
    if parts.query or parts.fragment or has_odd or len(text) > MAX_ADDRESS_CHARS:
        raise ServerAddressError("The address may contain only a host, a port and a path.")
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{scheme}://{parts.netloc.lower()}{path}"


def check_encrypted(url: str, *, allowed: bool) -> None:
    """Refuse unencrypted connections over a network, unless the user allowed them.

    Raises:
        UnencryptedAddressError: the address is http, on another machine, and not allowed.
    """
    if url.startswith("http://") and not is_local_url(url) and not allowed:
        message = i18n("Messages and the key would go to {host} unencrypted.", host=host_in(url))
        raise UnencryptedAddressError(message)


def _check_key(key: str) -> None:
    """Check that a key is valid in a header.

    Raises:
        KeyRejectedError: the key is invalid; the message does not contain it.
    """
    if len(key) > MAX_KEY_CHARS or not all("!" <= char <= "~" for char in key):
        message = i18n(
            "This is not a valid key: it contains spaces, line breaks or other invalid characters, or it is too long."
        )
        raise KeyRejectedError(message, "Copy it again, without anything around it. Nothing was sent.")


def server_key_store(url: str) -> TokenStore:
    """The keyring entry of a server's key, named by scheme, host and port, so that no other address gets the key."""
    scheme, host, port = origin(url)
    return TokenStore(f"{scheme}://{host}:{port}", SERVICE, "")


class RemoteClient:
    """An HTTP client for one server. ``key`` is sent to it only; `abort` may be called from another thread."""

    def __init__(
        self, url: str, key: str = "", *, allows_plain: bool = False, silence_s: float = MAX_SILENCE_S
    ) -> None:
        """Opens no connection yet.

        Raises:
            ServerAddressError: the address may not be used.
            KeyRejectedError: the key is malformed.
        """
        self.url = normal_url(url)
        check_encrypted(self.url, allowed=allows_plain)
        _check_key(key)
        self._key = key
        self._silence_s = silence_s
        self._lock = threading.Lock()
        self._streams: list[Any] = []  # network streams of the open connection; the TLS stream is last
        self._aborted = False

    @property
    def host(self) -> str:
        return host_in(self.url)

    def json(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Get a small JSON object, or post ``body`` for one; empty if the server has no object at this path.

        Raises:
            RemoteError: the server is unreachable or refused the request.
        """
        with self._sent("GET" if body is None else "POST", path, body, REQUEST_S) as answer:
            if answer.status_code in (400, 404, 405, 422, 501):
                return {}
            self._check(answer)
            text = self._body(answer, MAX_BYTES, within_s=REQUEST_S)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @contextmanager
    def answer(self, path: str, body: Mapping[str, object]) -> Iterator[Iterator[dict[str, Any]]]:
        """Post a request; yields an iterator over the objects of a stream, or over a single JSON object.

        Raises:
            RemoteError: the server is unreachable, refused, or broke off.
        """
        with self._sent("POST", path, body, self._silence_s) as answer:
            self._check(answer)
            kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            if kind == "application/json":
                yield iter((_object(self._body(answer, MAX_BYTES)),))
            elif kind == "text/event-stream":
                yield self._events(answer)
            else:
                raise InvalidResponseError(i18n("The answer of {host} is not JSON.", host=self.host))

    def abort(self) -> None:
        """End the current request, from another thread."""
        with self._lock:
            self._aborted = True
        self._shutdown_streams()

    def _shutdown_streams(self) -> None:
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            connection = stream.get_extra_info("socket")
            if isinstance(connection, socket.socket):
                with contextlib.suppress(OSError):  # it was closed meanwhile
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    # ---- one request -----------------------------------------------------------------------------------------------

    @contextmanager
    def _sent(self, method: str, path: str, body: Mapping[str, object] | None, silence_s: float) -> Iterator[Any]:
        library = http_library()
        timeout = library.Timeout(silence_s, connect=CONNECT_S)
        headers = {"User-Agent": f"paceline/{app.__version__}", "Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # Use a new client for each request, so that no request uses an aborted connection. A proxy may only get
        # encrypted requests, since it is another host.
        use_proxy = self.url.startswith("https:") and not is_local_url(self.url)
        with self._user_errors(), http_client(timeout, use_proxy=use_proxy) as client:
            extensions = {"trace": self._on_trace}
            request = client.build_request(method, self.url + path, headers=headers, json=body, extensions=extensions)
            answer = client.send(request, stream=True, follow_redirects=False)
            try:
                yield answer
            finally:
                answer.close()
                with self._lock:
                    self._streams.clear()

    def _on_trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember the connection for `abort`: while a server is silent, there is no response to close."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._streams.append(info["return_value"])
                aborted = self._aborted
            if aborted:
                self._shutdown_streams()

    @contextmanager
    def _user_errors(self) -> Iterator[None]:
        """Convert connection errors into errors with messages for the user."""
        library = http_library()
        host = self.host
        started = time.monotonic()
        try:
            yield
        except (library.ConnectTimeout, library.ConnectError, library.ProxyError) as error:
            raise ServerUnreachableError(i18n("{host} does not answer.", host=host)) from error
        except library.TimeoutException as error:
            seconds = round(time.monotonic() - started)
            raise ServerTimeoutError(
                i18n("{host} sent nothing for {seconds} seconds.", host=host, seconds=seconds)
            ) from error
        except library.TransportError as error:
            raise ConnectionLostError(i18n("The connection to {host} was lost.", host=host)) from error
        except (library.HTTPError, library.InvalidURL, library.StreamError, OSError, ImportError) as error:
            raise InvalidResponseError(i18n("The answer of {host} could not be read.", host=host)) from error

    def _check(self, answer: Any) -> None:  # noqa: ANN401 (a response)
        if answer.status_code == 200:
            return
        body = b"" if 300 <= answer.status_code < 400 else self._body(answer, MAX_ERROR_BYTES, is_cut=True)
        raise status_error(answer.status_code, body, self.host, had_key=bool(self._key))

    def _body(
        self,
        answer: Any,  # noqa: ANN401 (a response)
        max_bytes: int,
        *,
        is_cut: bool = False,
        within_s: float | None = None,
    ) -> bytes:
        body = small_body(answer, max_bytes, within_s or self._silence_s)
        if len(body) > max_bytes and not is_cut:
            raise InvalidResponseError(i18n("The answer of {host} is far too long.", host=self.host))
        return self._without_key(body[:max_bytes])

    def _without_key(self, text: bytes) -> bytes:
        """Remove the key from a text: some servers quote it in errors, which are shown, stored and exported."""
        return text.replace(self._key.encode(), b"[key]") if len(self._key) >= MIN_SECRET_CHARS else text

    def _events(self, answer: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 (a response)
        """The objects of a stream of server-sent events, up to its end mark.

        Raises:
            RemoteError: the server reports a failure, sends invalid JSON, or ends without the end mark.
        """
        for line in _lines(answer.iter_bytes(), self.host):
            field, _, value = self._without_key(line).partition(b":")
            value = value.strip()
            if field == b"error":
                raise status_error(500, value, self.host, had_key=bool(self._key))
            if field != b"data" or not value:
                continue
            if value == b"[DONE]":
                return
            event = _object(value)
            if event.get("error"):
                raise status_error(500, value, self.host, had_key=bool(self._key))
            yield event
        raise ConnectionLostError(i18n("{host} ended the answer early.", host=self.host))


def _lines(pieces: Iterator[bytes], host: str) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).replace(b"\r\n", b"\n").split(b"\n")
        yield from lines
        if len(rest) > MAX_LINE_BYTES:
            raise InvalidResponseError(i18n("A line of the answer of {host} is far too long.", host=host))
    if rest:
        yield rest


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidResponseError("The remote server's answer is not JSON.") from error
    if not isinstance(found, dict):
        raise InvalidResponseError("The remote server's answer is not a JSON object.")
    return found
