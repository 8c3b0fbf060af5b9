"""Rules for addresses of the hub: which may get a token, and where redirects may lead; also checks of headers."""

import os
import re
import urllib.parse

from app.core.domain.engines import is_this_machine
from app.core.hub.errors import HubAnswerError, HubOfflineError, HubUnreachableError
from engine.sentences import i18n

DEFAULT_ENDPOINT = "https://huggingface.co"
ENDPOINT_VARIABLE = "HF_ENDPOINT"
OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
MAX_URL_CHARS = 8192

_PORTS = {"http": 80, "https": 443}
_CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")


def find_endpoint() -> str:
    """The hub's address: HF_ENDPOINT, or the default.

    Raises:
        HubUnreachableError: HF_ENDPOINT is no address.
    """
    text = os.environ.get(ENDPOINT_VARIABLE, "").strip().rstrip("/") or DEFAULT_ENDPOINT
    try:
        origin(text)
    except HubAnswerError as error:
        message = i18n("{variable} is not set to an http or https address.", variable=ENDPOINT_VARIABLE)
        raise HubUnreachableError(
            message, i18n("Correct {variable}, or unset it.", variable=ENDPOINT_VARIABLE)
        ) from error
    return text


def refuse_offline() -> None:
    """Raise if an environment variable (`OFFLINE_VARIABLES`) forbids connections.

    Raises:
        HubOfflineError: connections are forbidden.
    """
    for name in OFFLINE_VARIABLES:
        if os.environ.get(name, "").strip().upper() in ("1", "ON", "YES", "TRUE"):
            raise HubOfflineError(
                i18n("{name} is set, so the hub is not contacted.", name=name),
                i18n("Unset {name} to reach the hub.", name=name),
            )


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of an address.

    Raises:
        HubAnswerError: the address is not http or https, or contains a user name.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise HubAnswerError("The hub gave an invalid address.") from error
    if parts.scheme not in _PORTS or not _is_host(host) or "@" in parts.netloc or len(url) > MAX_URL_CHARS:
        raise HubAnswerError("The hub gave an invalid address.")
    return parts.scheme, host, _PORTS[parts.scheme] if port is None else port


def may_carry_token(url: str, endpoint: str) -> bool:
    """True if a token may be sent to ``url``: only to the hub itself, and over a network only encrypted."""
    scheme, host, _ = origin(url)
    return origin(url) == origin(endpoint) and (scheme == "https" or is_this_machine(host))


def redirect_target(url: str, target: str) -> str:
    """The address that a redirect from ``url`` leads to.

    Raises:
        HubAnswerError: the redirect is invalid, or drops encryption.
    """
    try:
        joined = urllib.parse.urljoin(url, target)
    except ValueError as error:
        raise HubAnswerError("The hub redirects to an invalid address.") from error
    if origin(joined)[0] == "http" and origin(url)[0] == "https":
        raise HubAnswerError("The hub redirects to an unencrypted address.")
    return joined


def content_range(text: str) -> tuple[int, int, int | None] | None:
    """First byte, end (exclusive) and total size in a Content-Range header; None if the header is invalid."""
    match = _CONTENT_RANGE.fullmatch(text.strip())
    if match is None:
        return None
    first, last, total = int(match[1]), int(match[2]), None if match[3] == "*" else int(match[3])
    return (first, last + 1, total) if first <= last and (total is None or last < total) else None


def host_of(url: str) -> str:
    """The host of an address, for messages and as the name of a key."""
    return origin(url)[1]


def _is_host(host: str) -> bool:
    """True if a host name is valid. The network library raises an unrelated error for an invalid one."""
    try:
        return bool(host) and (":" in host or bool(host.encode("idna")))
    except UnicodeError:
        return False
