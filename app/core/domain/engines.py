"""Remote servers: their records and the names of their models.

A remote server is a program with OpenAI's API, usually on another computer. The name of its model takes the place of a
file path: ``engine:http://192.168.1.5:8000#Qwen/Qwen3-8B``.
"""

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

SCHEME = "engine:"
MAX_ADDRESS_CHARS = 2_000
_PATH = re.compile(r"[/~]|[A-Za-z]:[\\/]|.*\.gguf$", re.IGNORECASE | re.DOTALL)  # recognizes a path by its start or end
_FILE_END = re.compile(r"(-\d{5}-of-\d{5})?\.gguf$", re.IGNORECASE)
HOST_SEPARATOR = " @ "  # separates model and host in the name for statistics


class ServerKind(StrEnum):
    """The program of a remote server."""

    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_SERVER = "llama-server"
    LM_STUDIO = "lm-studio"
    OLLAMA = "ollama"
    OTHER = "other"


KIND_NAMES = {
    ServerKind.VLLM: "vLLM",
    ServerKind.SGLANG: "SGLang",
    ServerKind.LLAMA_SERVER: "llama-server",
    ServerKind.LM_STUDIO: "LM Studio",
    ServerKind.OLLAMA: "Ollama",
    ServerKind.OTHER: "OpenAI-compatible",
}


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model of a remote server; ``n_ctx`` is its context size in tokens, 0 if unknown.

    ``has_vision`` is False if the server says that the model takes no pictures; otherwise they are sent.
    """

    name: str
    n_ctx: int = 0
    has_vision: bool = True

    @property
    def title(self) -> str:
        """The name for display; a file path, which some servers report, is shortened."""
        return _title(self.name)


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Facts that a server reports. ``drafting``: its name for its drafting method; empty if unknown."""

    kind: ServerKind = ServerKind.OTHER
    version: str = ""
    models: tuple[RemoteModel, ...] = ()
    drafting: str = ""

    @property
    def title(self) -> str:
        return f"{KIND_NAMES[self.kind]} {self.version}".strip()


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """A remote server in the list. ``url`` is its address without ``/v1``; the key is in the system's keyring only.

    ``allows_plain``: the user allowed unencrypted connections to it.
    """

    url: str
    facts: ServerFacts = ServerFacts()
    allows_plain: bool = False

    @property
    def host(self) -> str:
        return host_in(self.url)

    @property
    def is_local(self) -> bool:
        """True if the server runs on this computer."""
        return is_local_url(self.url)


def _title(name: str) -> str:
    if not _PATH.match(name):
        return name
    last = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
    return _FILE_END.sub("", last) or name


def remote_model_id(url: str, model: str) -> str:
    """The name of a remote model that takes the place of a file path."""
    return f"{SCHEME}{url}#{model}"


def is_remote(path: str) -> bool:
    """True if a path names a remote model."""
    return path.startswith(SCHEME)


def split_remote(path: str) -> tuple[str, str]:
    """Split a remote model's name into server address and model; the model may be empty."""
    url, _, model = path.removeprefix(SCHEME).partition("#")
    return url, model


def remote_name(path: str) -> str:
    """The name of a remote model in statistics: ``Qwen/Qwen3-8B @ 192.168.1.5:8000``."""
    url, model = split_remote(path)
    return f"{_title(model)}{HOST_SEPARATOR}{host_in(url)}"


def host_in(url: str) -> str:
    """Host and port of an address, without secrets."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


def is_local_url(url: str) -> bool:
    """True if an address refers to this computer."""
    try:
        return is_this_machine(urlsplit(url).hostname or "")
    except ValueError:
        return False


def is_this_machine(host: str) -> bool:
    """True if a host name or address means this computer; nothing is looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
