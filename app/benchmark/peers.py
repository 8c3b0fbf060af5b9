"""Which peers there are, and how they are opened. Knows no protocol and no report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from app.benchmark import llama_server, lookup_peer
from app.benchmark.llama_server import LlamaServerPeer
from app.benchmark.lookup_peer import LookupPeer
from app.benchmark.runs import Contestant
from engine.records import EngineReady, LoadRequest

PEERS = (llama_server.ENGINE, lookup_peer.ENGINE)


@dataclass(frozen=True, slots=True)
class Wish:
    """A peer that is to take part; ``path`` is its program where it needs one; ``configs`` empty means all."""

    name: str
    path: str = ""
    configs: tuple[str, ...] = ()


def read_wishes(words: Sequence[str], configs: Sequence[str]) -> tuple[Wish, ...]:
    """From ``NAME=PATH`` or ``NAME`` and the names of configurations: each peer gets those that it can have.

    Raises:
        ValueError: an unknown peer, a missing path, or configurations that no peer here has.
    """
    wishes = []
    for word in words:
        name, _, path = word.partition("=")
        if name not in PEERS:
            raise ValueError(f"There is no peer called {name}; known are {' and '.join(PEERS)}.")
        if name == llama_server.ENGINE and not path:
            raise ValueError(f"--peer {name} needs the path of the program: {name}=PATH.")
        own = tuple(config for config in configs if lookup_peer.understands(config) is (name == lookup_peer.ENGINE))
        if "plain" in configs and "plain" not in own:
            own = ("plain", *own)
        if configs and not own:
            raise ValueError(f"None of {', '.join(configs)} is a configuration of {name}.")
        wishes.append(Wish(name, path, own))
    if configs and not wishes:
        raise ValueError("--peer-configs needs a --peer.")
    return tuple(wishes)


def open_peers(wishes: Sequence[Wish], load: LoadRequest, ready: EngineReady, stack: ExitStack) -> list[Contestant]:
    """Start them all; ``stack`` ends them.

    Raises:
        PeerError: one cannot be started.
    """
    opened: list[Contestant] = []
    for wish in wishes:
        peer: LlamaServerPeer | LookupPeer
        if wish.name == llama_server.ENGINE:
            peer = LlamaServerPeer(wish.path, load, ready, wish.configs)
        else:
            peer = LookupPeer(load, ready, wish.configs)
        stack.callback(peer.close)
        opened.append(peer)
    return opened
