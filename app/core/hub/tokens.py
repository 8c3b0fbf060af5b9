"""Stores secrets of hosts in the system's keyring (or reads an environment variable), never in a file.

Secrets are for example the hub's access token or the key of a remote server. `app/core/hub/addresses.py` decides which
addresses may get one.
"""

import importlib
import logging
import os
import string
from typing import Any

from app.core.hub.errors import TokenStoreError
from engine.sentences import i18n

VARIABLE = "HF_TOKEN"
SERVICE = "paceline hub"
MAX_TOKEN_CHARS = 512

log = logging.getLogger(__name__)


class TokenStore:
    """The token of one host. The keyring is loaded at first use, which takes a while and may prompt the user.

    ``service``: the token's name in the keyring. ``variable``: an environment variable that takes precedence; may be
    empty.
    """

    def __init__(
        self, host: str, service: str = SERVICE, variable: str = VARIABLE, most_chars: int = MAX_TOKEN_CHARS
    ) -> None:
        self._host, self._service, self._variable, self._most = host, service, variable, most_chars

    def from_environment(self) -> str:
        """The token in the environment variable; empty if it is not set."""
        return _usable(os.environ.get(self._variable, ""), self._most) if self._variable else ""

    def find(self) -> str:
        """The token in the variable or the keyring; empty if neither has one."""
        token = self.from_environment()
        if token:
            return token
        try:
            keyring = _keyring()
        except TokenStoreError as error:
            log.info("No token of a keyring: %s", error.message)
            return ""
        try:
            return _usable(keyring.get_password(self._service, self._host) or "", self._most)
        except _keyring_errors() as error:
            log.warning("The keyring could not be asked for a token: %s", type(error).__name__)
            return ""

    def save(self, token: str) -> None:
        """Store a token in the keyring.

        Raises:
            TokenStoreError: the token is invalid, or there is no keyring.
        """
        if not _usable(token, self._most):
            raise TokenStoreError("This is not an access token: it is empty, or contains invalid characters.", "")
        keyring = _keyring()
        try:
            keyring.set_password(self._service, self._host, token.strip())
        except _keyring_errors() as error:
            raise TokenStoreError(i18n("The system's keyring refused ({kind}).", kind=type(error).__name__)) from error

    def forget(self) -> None:
        """Remove the token from the keyring.

        Raises:
            TokenStoreError: the keyring cannot be used.
        """
        keyring = _keyring()
        try:
            if keyring.get_password(self._service, self._host) is not None:
                keyring.delete_password(self._service, self._host)
        except _keyring_errors() as error:
            raise TokenStoreError(i18n("The system's keyring refused ({kind}).", kind=type(error).__name__)) from error


def tool_server_secret(url: str) -> TokenStore:
    """The store for an MCP server's sign-in, a text with several tokens."""
    return TokenStore(url, "paceline tools", "", 64 * 1024)


def _usable(token: str, most_chars: int) -> str:
    """The stripped token; empty if it is not valid in a header."""
    token = token.strip()
    good = set(string.ascii_letters + string.digits + string.punctuation)
    return token if len(token) <= most_chars and set(token) <= good else ""


def _keyring() -> Any:  # noqa: ANN401 (a module)
    try:
        keyring = importlib.import_module("keyring")
        backend = keyring.get_keyring()
    except Exception as error:
        raise TokenStoreError(
            i18n("The system's keyring could not be opened ({kind}).", kind=type(error).__name__)
        ) from error
    # Without a system keyring the library chooses a backend that fails or writes plain files.
    if backend.priority <= 0 or "file" in type(backend).__module__.lower():
        raise TokenStoreError("This system has no keyring that Paceline could use.")
    return keyring


def _keyring_errors() -> tuple[type[Exception], ...]:
    # Backends raise errors of system libraries; treat any of them as a refusal.
    return (importlib.import_module("keyring.errors").KeyringError, OSError, RuntimeError, ValueError)
