"""Engines that others run: their records, and the names of models on them.

An engine is a program that answers as OpenAI's API does, mostly on another computer. A model on one is named like a
file is by its path: ``engine:http://192.168.1.5:8000#Qwen/Qwen3-8B``.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

SCHEME = "engine:"
MAX_ADDRESS_CHARS = 2_000
UNNAMED_DRAFTING = "spec_decode"  # of an engine that counts drafted tokens, and does not tell how it drafts
_PATH = re.compile(r"[/~]|[A-Za-z]:[\\/]|.*\.gguf$", re.IGNORECASE | re.DOTALL)  # how a path begins, or a file ends
_FILE_END = re.compile(r"(-\d{5}-of-\d{5})?\.gguf$", re.IGNORECASE)
AT = " @ "  # between a model's name and the host that has it: the name that its figures are kept under


class EngineKind(StrEnum):
    """The program of an engine, as identified."""

    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_SERVER = "llama-server"
    LM_STUDIO = "lm-studio"
    OLLAMA = "ollama"
    OTHER = "other"


KIND_NAMES = {
    EngineKind.VLLM: "vLLM",
    EngineKind.SGLANG: "SGLang",
    EngineKind.LLAMA_SERVER: "llama-server",
    EngineKind.LM_STUDIO: "LM Studio",
    EngineKind.OLLAMA: "Ollama",
    EngineKind.OTHER: "OpenAI-compatible",
}


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model that an engine offers; ``n_ctx``: the longest conversation in tokens, 0 where it does not tell.

    ``sees`` is False where the engine tells that the model takes no pictures; else they are passed on to it.
    """

    name: str
    n_ctx: int = 0
    sees: bool = True

    @property
    def title(self) -> str:
        """What a person reads: some engines name a model by the path of its file."""
        return _title(self.name)


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What an engine says of itself. ``drafting``: how it drafts, in its own words; empty where it tells nothing."""

    kind: EngineKind = EngineKind.OTHER
    version: str = ""
    models: tuple[RemoteModel, ...] = ()
    drafting: str = ""

    @property
    def title(self) -> str:
        """Program and version."""
        return f"{KIND_NAMES[self.kind]} {self.version}".strip()


@dataclass(frozen=True, slots=True)
class EngineRecord:
    """An engine that was added. ``url`` is its address without ``/v1``; the key is in the system's keyring only.

    ``allows_plain``: it was confirmed that messages go to it unencrypted.
    """

    url: str
    facts: EngineFacts = EngineFacts()
    allows_plain: bool = False

    @property
    def host(self) -> str:
        """Host and port, as a person tells engines apart."""
        return host_in(self.url)

    @property
    def is_here(self) -> bool:
        """Whether it runs on this computer."""
        return stays_here(self.url)


def _title(name: str) -> str:
    if not _PATH.match(name):
        return name
    last = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
    return _FILE_END.sub("", last) or name


def remote_path(url: str, model: str) -> str:
    """Name a model on an engine, to stand where a file's path does."""
    return f"{SCHEME}{url}#{model}"


def is_remote(path: str) -> bool:
    """Whether a path names a model on an engine."""
    return path.startswith(SCHEME)


def split_remote(path: str) -> tuple[str, str]:
    """Address of the engine and name of the model; the name is empty where the path has none."""
    url, _, model = path.removeprefix(SCHEME).partition("#")
    return url, model


def remote_name(path: str) -> str:
    """What a model on an engine is called where its figures are kept: ``Qwen/Qwen3-8B @ 192.168.1.5:8000``."""
    url, model = split_remote(path)
    return f"{_title(model)}{AT}{host_in(url)}"


def host_in(url: str) -> str:
    """Host and port of an address, without anything that might be secret."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


def stays_here(url: str) -> bool:
    """Whether an address is this computer itself."""
    try:
        return is_this_machine(urlsplit(url).hostname or "")
    except ValueError:
        return False


def is_this_machine(host: str) -> bool:
    """Whether a host is this computer itself, by its name or number alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
